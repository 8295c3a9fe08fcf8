#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/bill_gcp.h"

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static const char *
some(const char *text)
{
    return text ? text : "-";
}

static void
test_skus(void **state)
{
    static const struct {
        const char *text;
        enum gcp_share share;
        const char *model, *family, *part;
        int gpus;
        bool is_spot;
    } cases[] = {
        {"Nvidia Tesla A100 GPU running in Americas", GCP_GPU, "A100-40GB", "a2", "", 0, false},
        {"NVIDIA TESLA A100 80GB Gpu running in Iowa", GCP_GPU, "A100-80GB", "a2", "", 0, false},
        {"Nvidia H100 80GB GPU running in Americas", GCP_GPU, "H100-80GB", "a3", "", 0, false},
        {"Nvidia H100 80GB Plus GPU running in Americas", GCP_GPU, "H100-80GB", "a3plus", "", 0, false},
        {"Nvidia H200 141GB GPU running in Americas", GCP_GPU, "H200", "a3ultra", "", 0, false},
        {"Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", GCP_GPU, "L4", "g2", "", 0, true},
        {"Nvidia Tesla T4 GPU running in Americas", GCP_GPU, "T4", "-", "", 0, false},
        {"Spot Preemptible Nvidia Tesla P100 GPU", GCP_GPU, "P100", "-", "", 0, true},
        {"RTX 6000 96GB running in Americas", GCP_GPU, "RTX-PRO-6000", "g4", "", 0, false},
        {"Nvidia X900 GPU running in Americas", GCP_GPU, "-", "-", "", 0, false},
        {"A4 Nvidia B200 (1 gpu slice) running in Americas", GCP_SLICE, "B200", "a4", "", 1, false},
        {"DWS Calendar Mode A4 Nvidia B200 (8 gpu slice)", GCP_SLICE, "B200", "a4", "", 8, false},
        {"A2 Instance Core running in Americas", GCP_HOST, "-", "a2", "cpu", 0, false},
        {"Spot Preemptible G2 Instance Ram running in Iowa", GCP_HOST, "L4", "g2", "ram", 0, true},
        {"A3Plus Instance Core running in Americas", GCP_HOST, "H100-80GB", "a3plus", "cpu", 0, false},
        {"N1 Predefined Instance Core running in Americas", GCP_HOST, "-", "-", "cpu", 0, false},
        {"Commitment v1: Nvidia L4 GPU running in Netherlands for 1 Year", GCP_COMMITMENT, "L4", "g2", "", 0, false},
        {"Commitment v1: A2 Cpu in Americas for 3 Years", GCP_COMMITMENT, "-", "a2", "cpu", 0, false},
        {"Reserved Nvidia Tesla A100 GPU in Milan", GCP_NONE, "A100-40GB", "a2", "", 0, false},
        {"Licensing Fee for NVIDIA RTX Virtual Workstation with T4", GCP_NONE, "T4", "-", "", 0, false},
        {"Autopilot NVIDIA T4 Pod accelerator premium", GCP_NONE, "T4", "-", "", 0, false},
        {"Sole Tenancy Premium for A2 Sole Tenancy Instance Core", GCP_NONE, "-", "a2", "cpu", 0, false},
        {"TpuV5e running in Americas", GCP_TPU, "-", "-", "", 0, false},
        {"Spot Tpu-v5p in Iowa", GCP_TPU, "-", "-", "", 0, true},
        {"Standard Storage US Regional", GCP_NONE, "-", "-", "", 0, false},
        {"Nvidia L40 something", GCP_NONE, "-", "-", "", 0, false},
        {"", GCP_NONE, "-", "-", "", 0, false},
        {" gpu slice", GCP_GPU, "-", "-", "", 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcp_sku sku;

        gcp_sku_read(of(cases[i].text), &sku);
        assert_int_equal(sku.share, cases[i].share);
        assert_string_equal(some(sku.model), cases[i].model);
        assert_string_equal(some(sku.family), cases[i].family);
        assert_string_equal(sku.part, cases[i].part);
        assert_int_equal(sku.gpus, cases[i].gpus);
        assert_int_equal(sku.is_spot, cases[i].is_spot);
    }
}

static void
test_credits(void **state)
{
    static const char *const refused[] = {
        "[{\"name\":\"x\"}]",           "[{\"amount\":\"NaN\"}]",   "[{\"amount\":-1}", "[{'amount': -1}]", "none",
        "[{\"amount\":-1},{\"amount\":", "[{\"amount\":1,\"amount", "[1]",              "{",
        "[{\"amount\":-1}] x",         "{\"amount\":-1}]",
    };
    static const char *const empty[] = {"", "[]", " [ ] "};
    struct arena arena = {0};
    struct gcp_credits credits;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(gcp_credits_read(&arena, of(refused[i]), &credits));
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        assert_true(gcp_credits_read(&arena, of(empty[i]), &credits));
        assert_int_equal(credits.all.size, 0);
    }
    assert_true(gcp_credits_read(&arena, of("[{\"name\":\"a } b\",\"amount\":\"-0.1\",\"full_name\":\"\",\"type\":\"PROMOTION\"},"
                                            "{\"name\":\"\\\"}\",\"amount\":-2e-1,\"type\":\"COMMITTED_USAGE_DISCOUNT\"},"
                                            "{\"amount\":0.05,\"type\":\"DISCOUNT\"}]"), &credits));
    assert_string_equal(credits.all.text, "-0.25");
    assert_string_equal(arena_strndup(&arena, credits.promotion.text, credits.promotion.size), "-0.1");
    assert_string_equal(arena_strndup(&arena, credits.used.text, credits.used.size), "-2e-1");
    assert_int_equal(credits.spent.size, 0);
    assert_true(gcp_credits_read(&arena, of("[{\"\"name\"\":\"\"\"\",\"\"amount\"\":-1.5,\"\"type\"\":\"\"FEE_UTILIZATION_OFFSET\"\"}]"), &credits));
    assert_string_equal(arena_strndup(&arena, credits.all.text, credits.all.size), "-1.5");
    assert_true(credits.offsets_fee);
    assert_string_equal(gcp_negative(&arena, of("1.5")).text, "-1.5");
    assert_string_equal(gcp_negative(&arena, of("-1.5")).text, "1.5");
    assert_int_equal(gcp_negative(&arena, of("")).size, 0);
    arena_free(&arena);
}

static void
test_labels(void **state)
{
    static const char array[] = "[{\"key\":\"team\",\"value\":\"a\"},{\"key\":\"Team\",\"value\":\"b\"},{\"key\":\"n\",\"value\":null}]";
    struct arena arena = {0};
    struct field none = of("[]");
    struct field value = gcp_label(of(array), "team");

    (void)state;
    assert_string_equal(arena_strndup(&arena, value.text, value.size), "a");
    value = gcp_label(of("{\"machine\": \"a2\"}"), "machine");
    assert_string_equal(arena_strndup(&arena, value.text, value.size), "a2");
    assert_int_equal(gcp_label(of("[{\"key\":"), "team").size, 0);
    assert_string_equal(gcp_tags(&arena, of(array), none, none), "{\"team\":\"a\",\"Team\":\"b\"}");
    assert_string_equal(gcp_tags(&arena, none, of("[{\"key\":\"x\",\"value\":\"1\",\"inherited\":true}]"), of("{\"x\":\"2\",\"y\":\"3\"}")),
                        "{\"x\":\"1\",\"y\":\"3\"}");
    assert_null(gcp_tags(&arena, none, of("nonsense"), of("")));
    assert_null(gcp_tags(&arena, of("[[]]"), of("[1,{}]"), of("[{\"key\":1,\"value\":2}]")));
    arena_free(&arena);
}

static void
test_groups(void **state)
{
    static const char *const cases[][2] = {
        {"Nvidia Tesla A100 GPU running in Americas", "us A100-40GB"},
        {"Commitment v1: Nvidia Tesla A100 GPU running in Americas for 1 Year", "us A100-40GB"},
        {"A2 Instance Core running in Americas", "us a2 cpu"},
        {"Commitment v1: A2 Cpu in Americas for 3 Years", "us a2 cpu"},
        {"N1 Predefined Instance Ram running in Americas", "us general ram"},
        {"Commitment v1: Ram in Americas for 1 Year", "us general ram"},
        {"N2 Instance Core running in Americas", "us n2 cpu"},
        {"Commitment - dollar based v1: Compute Flexible for 1 year", "spend"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gcp_sku sku;

        gcp_sku_read(of(cases[i][0]), &sku);
        assert_string_equal(gcp_group_name(&arena, of("us"), &sku), cases[i][1]);
    }
    arena_free(&arena);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skus),
        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
