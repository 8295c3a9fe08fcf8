#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/ingest.h"

static void
test_resource_key(void **state)
{
    static const char *const cases[][3] = {
        {"aws", "i-0AbC", "i-0abc"},
        {"aws", " i-0abc\n", "i-0abc"},
        {"aws", "arn:aws:ec2:us-east-1:123456789012:instance/i-0abc", "i-0abc"},
        {"aws", "us-east-1/i-0abc", "i-0abc"},
        {"aws", "aws:///us-east-1a/i-0abc", "i-0abc"},
        {"", "arn:aws-cn:ec2:cn-north-1:1:instance/i-9", "i-9"},
        {"aws", "arn:aws:savingsplans::1:savingsplan/plan-7", "arn:aws:savingsplans::1:savingsplan/plan-7"},
        {"aws", "arn:aws:ec2:us-east-1:1:capacity-reservation/cr-1", "cr-1"},
        {"aws", "arn:aws-us-gov:ec2:us-gov-west-1:1:dedicated-host/h-1", "h-1"},
        {"aws", "arn:aws:sagemaker:us-east-1:1:endpoint/Prod", "arn:aws:sagemaker:us-east-1:1:endpoint/prod"},
        {"aws", "arn:aws:sagemaker:us-east-1:2:endpoint/prod", "arn:aws:sagemaker:us-east-1:2:endpoint/prod"},
        {"aws", "arn:", "arn:"},
        {"aws", "arn:aws:x:", "arn:aws:x:"},
        {"azure", "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/VM",
         "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/vm"},
        {"azure", "subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/vm/",
         "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/vm"},
        {"azure", "https://management.azure.com/subscriptions/S/resourceGroups/G/providers/x/virtualMachines/vm?api-version=2024-07-01",
         "/subscriptions/s/resourcegroups/g/providers/x/virtualmachines/vm"},
        {"azure", "azure:///subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/aks/virtualMachines/0",
         "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/aks"},
        {"azure", "/Subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/AKS",
         "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/aks"},
        {"azure", "vm-1", "vm-1"},
        {"azure", "/", "/"},
        {"oracle", "ocid1.instance.oc1.iad.ANUWCLJ", "ocid1.instance.oc1.iad.anuwclj"},
        {"gcp", "//compute.googleapis.com/projects/123/zones/us-central1-a/instance/456", "projects/123/zones/us-central1-a/instances/456"},
        {"gcp", "https://compute.googleapis.com/compute/beta/projects/p/zones/z/instances/n/", "projects/p/zones/z/instances/n"},
        {"gcp", "gce://p/us-central1-a/gpu-1", "projects/p/zones/us-central1-a/instances/gpu-1"},
        {"gcp", "gce://p", "gce://p"},
        {"gcp", "myprojects/p/zones/z/instances/n", "myprojects/p/zones/z/instances/n"},
        {"gcp", "//compute.googleapis.com/projects/p/zones/us-central1-a/instances/gpu-1",
         "projects/p/zones/us-central1-a/instances/gpu-1"},
        {"gcp", "https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/N", "projects/p/zones/z/instances/n"},
        {"gcp", "projects/p/zones/z/instances/n", "projects/p/zones/z/instances/n"},
        {"gcp", "projects/p/regions/r/disks/d", "projects/p/regions/r/disks/d"},
        {"lambda", "Inst-77", "inst-77"},
        {"coreweave", "ns/i-7", "ns/i-7"},
        {"aws", "", ""},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(resource_key(&arena, cases[i][0], cases[i][1], strlen(cases[i][1])), cases[i][2]);
    arena_free(&arena);
}

static void
test_provider_key(void **state)
{
    static const char *const cases[][2] = {
        {"AWS", "aws"},           {"Amazon Web Services, Inc.", "aws"}, {"Microsoft", "azure"},
        {"Azure", "azure"},       {"Microsoft Azure", "azure"},         {"Google Cloud", "gcp"},
        {"GCP", "gcp"},           {"Lambda Labs", "lambdalabs"},        {"CoreWeave", "coreweave"},
        {"Oracle ", "oracle"},    {"Oracle Cloud Infrastructure", "oracle"}, {"", ""},                             {"on-prem", "onprem"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(provider_key(&arena, cases[i][0], strlen(cases[i][0])), cases[i][1]);
    arena_free(&arena);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_resource_key), cmocka_unit_test(test_provider_key)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
