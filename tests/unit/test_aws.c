/* AWS cost and usage reports: what a row is by its cells, and what it costs. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/calendar.h"
#include "ingest/bill_aws.h"

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static struct gpu_types *
some_types(struct arena *arena)
{
    struct gpu_types *types = gpu_types_new(arena);

    gpu_types_add(types, "aws", "p4d.24xlarge");
    gpu_types_add(types, "aws", "g5.xlarge");
    gpu_types_add(types, "aws", "p3.2xlarge");
    return types;
}

struct usage_case {
    const char *product, *usage, *operation, *type, *description;
    enum aws_part part;
    const char *want; /* instance type */
    bool is_gpu;
};

static const struct usage_case usage_cases[] = {
    {"AmazonEC2", "USW2-BoxUsage:p4d.24xlarge", "RunInstances", "", "", AWS_MACHINE, "p4d.24xlarge", true},
    {"AmazonEC2", "BoxUsage:p4d.24xlarge", "", "", "", AWS_MACHINE, "p4d.24xlarge", true},
    {"AmazonEC2", "EUC1-SpotUsage:g5.xlarge", "RunInstances:SV001", "", "", AWS_SPOT, "g5.xlarge", true},
    {"AmazonEC2", "SpotUsage", "RunInstances", "", "g5.xlarge Linux/UNIX Spot Instance-hour", AWS_SPOT, "g5.xlarge", true},
    {"AmazonEC2", "BoxUsage:g5.xlarge", "RunInstances", "m5.large", "", AWS_MACHINE, "g5.xlarge", true},
    {"AmazonEC2", "USE1-DedicatedUsage:p3.2xlarge", "RunInstances", "", "", AWS_MACHINE, "p3.2xlarge", true},
    {"AmazonEC2", "USE1-HostBoxUsage:p3.2xlarge", "RunInstances", "", "", AWS_MACHINE, "p3.2xlarge", true},
    {"AmazonEC2", "USE1-HostUsage:g4dn", "RunInstances", "", "", AWS_HOST, "g4dn", true},
    {"AmazonEC2", "USE1-HostUsage:m5", "RunInstances", "", "", AWS_HOST, "m5", false},
    {"AmazonEC2", "USE1-Reservation:p4d.24xlarge", "RunInstances", "", "", AWS_INFORMATION, "p4d.24xlarge", true},
    {"AmazonEC2", "USE1-DedicatedRes:p4d.24xlarge", "RunInstances", "", "", AWS_INFORMATION, "p4d.24xlarge", true},
    {"AmazonEC2", "USE1-UnusedBox:p4d.24xlarge", "RunInstances", "", "", AWS_IDLE, "p4d.24xlarge", true},
    {"AmazonEC2", "UnusedDed:p4d.24xlarge", "RunInstances", "", "", AWS_IDLE, "p4d.24xlarge", true},
    {"AmazonEC2", "USE2-CapacityBlockFee:p5.48xlarge", "", "", "", AWS_BLOCK, "p5.48xlarge", true},
    {"AmazonEC2", "USW2-HeavyUsage:p4d.24xlarge", "RunInstances", "", "", AWS_RESERVATION, "p4d.24xlarge", true},
    {"AmazonEC2", "USW2-EBS:VolumeUsage.gp3", "CreateVolume-Gp3", "", "", AWS_NOTHING, "", false},
    {"AmazonEC2", "USW2-EBSOptimized:p3.2xlarge", "Hourly", "p3.2xlarge", "", AWS_NOTHING, "p3.2xlarge", true},
    {"AmazonEC2", "USW2-BoxUsage:p9.999xlarge", "RunInstances", "", "", AWS_MACHINE, "p9.999xlarge", true},
    {"AmazonEC2", "USW2-BoxUsage:m5.large", "RunInstances", "", "", AWS_MACHINE, "m5.large", false},
    {"AmazonEC2", "USW2-BoxUsage:trn1.32xlarge", "RunInstances", "", "", AWS_MACHINE, "trn1.32xlarge", false},
    {"AmazonEC2", "USW2-BoxUsage:inf2.xlarge", "RunInstances", "", "", AWS_MACHINE, "inf2.xlarge", false},
    {"AmazonEC2", "USW2-EKS-EC2-Accelerator-Hours", "EKSPod-EC2", "", "", AWS_POD, "", false},
    {"AmazonECS", "USW2-ECS-EC2-vCPU-Hours", "ECSTask-EC2", "", "", AWS_POD, "", false},
    {"ElasticMapReduce", "USW2-BoxUsage:g5.xlarge", "RunInstances", "g5.xlarge", "", AWS_NOTHING, "g5.xlarge", true},
    {"AmazonSageMaker", "USW2-Train:ml.p3.2xlarge", "", "ml.p3.2xlarge-Training", "", AWS_MACHINE, "p3.2xlarge", true},
    {"AmazonSageMaker", "USW2-TrSpt:ml.p3.2xlarge", "", "", "", AWS_SPOT, "p3.2xlarge", true},
    {"AmazonSageMaker", "Studio:KernelGateway-ml.g5.xlarge", "", "", "", AWS_MACHINE, "g5.xlarge", true},
    {"AmazonSageMaker", "USW2-Cluster:ml.p5.48xlarge", "", "", "", AWS_MACHINE, "p5.48xlarge", true},
    {"AmazonSageMaker", "USW2-Notebk:VolumeUsage.gp2", "", "", "", AWS_NOTHING, "", false},
    {"AmazonSageMaker", "USW2-BoxUsage:g5.xlarge", "", "", "", AWS_NOTHING, "", false},
    {"", "BoxUsage:g5.xlarge", "RunInstances", "", "", AWS_NOTHING, "", false},
    {"AmazonEC2", "", "", "", "", AWS_NOTHING, "", false},
    {"AmazonEC2", ":", "", "", "", AWS_NOTHING, "", false},
};

static void
test_usage(void **state)
{
    struct arena arena = {0};
    struct gpu_types *types = some_types(&arena);

    (void)state;
    for (size_t i = 0; i < sizeof usage_cases / sizeof *usage_cases; i++) {
        const struct usage_case *c = &usage_cases[i];
        struct field cell[AWS_COLUMNS];
        struct aws_row row;

        for (size_t n = 0; n < AWS_COLUMNS; n++)
            cell[n] = of("");
        cell[AWS_LINE_TYPE] = of("Usage");
        cell[AWS_PRODUCT_CODE] = of(c->product);
        cell[AWS_USAGE_TYPE] = of(c->usage);
        cell[AWS_OPERATION] = of(c->operation);
        cell[AWS_INSTANCE_TYPE] = of(c->type);
        cell[AWS_DESCRIPTION] = of(c->description);
        aws_row_read(&arena, types, cell, &row);
        if (row.part != c->part || row.is_gpu != c->is_gpu)
            fail_msg("%s: part %d, GPU %d", c->usage, row.part, row.is_gpu);
        assert_string_equal(arena_strndup(&arena, row.type.text, row.type.size), c->want);
    }
    arena_free(&arena);
}

/* The bill's own word makes a GPU of a type nobody knows, but never of another accelerator. */
static void
test_gpu_count(void **state)
{
    static const struct {
        const char *type, *column, *product, *want;
        bool is_gpu;
    } cases[] = {
        {"x9g.8xlarge", "4", "", "4", true},  {"x9g.8xlarge", "", "{\"gpu\": \"4\"}", "4", true},
        {"x9g.8xlarge", "0", "", "", false},  {"x9g.8xlarge", "", "{\"gpu\": \"NaN\"}", "", false},
        {"x9g.8xlarge", "-1", "", "", false}, {"trn2.48xlarge", "16", "", "16", false},
        {"g6f.large", "0", "", "", true},     {"x9g.8xlarge", "99999999999999999999", "", "", false},
        {"x9g.8xlarge", "1E9", "", "", false}, {"x9g.8xlarge", "1000", "", "", false}, {"x9g.large", "0.125", "", "0.125", true},
    };
    struct arena arena = {0};
    struct gpu_types *types = some_types(&arena);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field cell[AWS_COLUMNS];
        struct aws_row row;

        for (size_t n = 0; n < AWS_COLUMNS; n++)
            cell[n] = of("");
        cell[AWS_LINE_TYPE] = of("usage");
        cell[AWS_PRODUCT_CODE] = of("AmazonEC2");
        cell[AWS_USAGE_TYPE] = of(arena_printf(&arena, "BoxUsage:%s", cases[i].type));
        cell[AWS_GPU] = of(cases[i].column);
        cell[AWS_PRODUCT] = of(cases[i].product);
        aws_row_read(&arena, types, cell, &row);
        assert_int_equal(row.is_gpu, cases[i].is_gpu);
        assert_int_equal(row.line, AWS_LINE_USE);
        assert_string_equal(arena_strndup(&arena, row.gpu_count.text, row.gpu_count.size), cases[i].want);
    }
    arena_free(&arena);
}

static void
test_capacity_id(void **state)
{
    static const char *const cases[][2] = {
        {"arn:aws:ec2:us-east-1:1:capacity-reservation/cr-0a1b", "cr-0a1b"}, {"cr-0a1b", "cr-0a1b"}, {"i-0123", ""},
        {"arn:aws:ec2:us-east-1:1:capacity-reservation/", ""},               {"", ""},           {"ocr-1", ""},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field id = aws_capacity_id(of(cases[i][0]));

        assert_string_equal(arena_strndup(&arena, id.text, id.size), cases[i][1]);
    }
    arena_free(&arena);
}

/* A row of one line type: what is billed, set aside, amortized and unused. */
struct money_case {
    enum aws_line line;
    enum bill_role role;
    bool is_gross;
    const char *cost, *net, *total, *used, *effective_cell;
    const char *billed, *aside, *effective, *unused;
};

static const struct money_case money_cases[] = {
    {AWS_LINE_USE, BILL_GPU_USE, false, "2.5E-1", "", "", "", "", "2.5E-1", "", "2.5E-1", ""},
    {AWS_LINE_USE, BILL_GPU_USE, false, "10", "9", "", "", "", "9", "", "9", ""},
    {AWS_LINE_USE, BILL_GPU_USE, false, "10", "0", "", "", "", "0", "", "0", ""},
    {AWS_LINE_USE, BILL_GPU_USE, true, "10", "9", "", "", "", "10", "", "10", ""},
    {AWS_LINE_RESERVED, BILL_GPU_USE, false, "0", "", "", "", "4", "0", "", "4", ""},
    {AWS_LINE_RESERVED, BILL_GPU_USE, false, "0", "", "", "", "", "0", "", "", ""},
    {AWS_LINE_COVERED, BILL_GPU_USE, false, "98.32", "", "", "", "", "0", "98.32", "", ""},
    {AWS_LINE_NEGATION, BILL_OTHER, false, "-98.32", "", "", "", "", "-98.32", "", "0", ""},
    {AWS_LINE_PLAN_FEE, BILL_COMMITMENT_PURCHASE, false, "5", "", "5.000000000000000001", "4", "", "5", "", "0",
     "1.000000000000000001"},
    {AWS_LINE_PLAN_FEE, BILL_COMMITMENT_PURCHASE, false, "5", "", "5", "5", "", "5", "", "0", ""},
    {AWS_LINE_PLAN_FEE, BILL_COMMITMENT_PURCHASE, false, "5", "", "5", "", "", "5", "", "0", ""},
    {AWS_LINE_PLAN_UPFRONT, BILL_COMMITMENT_PURCHASE, false, "1000", "", "", "", "", "1000", "", "0", ""},
    {AWS_LINE_FEE, BILL_OTHER, false, "100", "", "", "", "", "100", "", "100", ""},
    {AWS_LINE_OTHER, BILL_OTHER, false, "-3", "", "", "", "", "-3", "", "-3", ""},
};

static void
assert_field(struct arena *arena, struct field got, const char *want)
{
    assert_string_equal(arena_strndup(arena, got.text, got.size), want);
}

static void
test_money(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof money_cases / sizeof *money_cases; i++) {
        const struct money_case *c = &money_cases[i];
        struct arena arena = {0};
        struct aws_seen seen = {0};
        struct aws_state state = {.is_gross = c->is_gross, .seen = &seen};
        struct aws_class own = {.line = c->line, .part = AWS_MACHINE, .is_gpu = true};
        struct bill_class class = {.role = c->role, .own = &own};
        struct bill_context context = {.arena = &arena, .state = &state};
        struct field cell[AWS_COLUMNS];
        struct bill_charge charge;

        for (size_t n = 0; n < AWS_COLUMNS; n++)
            cell[n] = of("");
        cell[AWS_FROM] = of("2026-08-03T00:00:00Z");
        cell[AWS_TO] = of("2026-08-03 01:00:00.000");
        cell[AWS_AMOUNT] = of("1");
        cell[AWS_COST] = of(c->cost);
        cell[AWS_NET_COST] = of(c->net);
        cell[AWS_SP_TOTAL] = of(c->total);
        cell[AWS_SP_USED] = of(c->used);
        cell[AWS_RI_EFFECTIVE] = of(c->effective_cell);
        assert_null(aws_charge(&context, &class, cell, &charge));
        assert_field(&arena, charge.billed, c->billed);
        assert_field(&arena, charge.aside, c->aside);
        assert_field(&arena, charge.effective, c->effective);
        assert_field(&arena, charge.unused, c->unused);
        arena_free(&arena);
    }
}

static void
test_rejected(void **unused)
{
    static const struct {
        enum aws_column column;
        const char *text, *reason;
    } cases[] = {
        {AWS_COST, "NaN", "UnblendedCost is no number"},    {AWS_COST, "Infinity", "UnblendedCost is no number"},
        {AWS_COST, "", "UnblendedCost is empty"},           {AWS_COST, "1,000", "UnblendedCost is no number"},
        {AWS_FROM, "yesterday", "UsageStartDate is no time"}, {AWS_TO, "2026-08-02T00:00:00Z", "UsageEndDate is before UsageStartDate"},
        {AWS_TO, "2046-08-02T00:00:00Z", "the charge period is longer than ten years"},
        {AWS_AMOUNT, "1E30", "UsageAmount or UnusedQuantity is more than ten million hours"},
        {AWS_AMOUNT, "1E999", "UsageAmount is no number"},  {AWS_AMOUNT, "one", "UsageAmount is no number"},
        {AWS_SP_EFFECTIVE, "x", "SavingsPlanEffectiveCost is no number"},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct aws_seen seen = {0};
        struct aws_state state = {.seen = &seen};
        struct aws_class own = {.line = AWS_LINE_USE, .part = AWS_MACHINE};
        struct bill_class class = {.role = BILL_GPU_USE, .own = &own};
        struct bill_context context = {.arena = &arena, .state = &state};
        struct field cell[AWS_COLUMNS];
        struct bill_charge charge;

        for (size_t n = 0; n < AWS_COLUMNS; n++)
            cell[n] = of("");
        cell[AWS_FROM] = of("2026-08-03T00:00:00Z");
        cell[AWS_TO] = of("2026-08-03T01:00:00Z");
        cell[AWS_AMOUNT] = of("1");
        cell[AWS_COST] = of("1");
        cell[cases[i].column] = of(cases[i].text);
        assert_string_equal(aws_charge(&context, &class, cell, &charge), cases[i].reason);
        arena_free(&arena);
    }
}

/* Rows that must be told apart by more than their class. */
static void
test_hint(void **unused)
{
    struct field raw[AWS_COLUMNS];
    struct field hint;

    (void)unused;
    for (size_t n = 0; n < AWS_COLUMNS; n++)
        raw[n] = of("");
    raw[AWS_USAGE_TYPE] = of("BoxUsage:p5.48xlarge");
    raw[AWS_RESOURCE] = of("\"i-1\"");
    raw[AWS_COST] = of("0.0");
    assert_int_equal(aws_hint(raw).size, 0);
    raw[AWS_CAPACITY] = of("arn:aws:ec2:us-east-1:1:capacity-reservation/cr-1");
    assert_int_equal(aws_hint(raw).size, 4);
    raw[AWS_COST] = of("32.7");
    assert_int_equal(aws_hint(raw).size, 0);
    raw[AWS_OPERATION] = of("EKSPod-EC2");
    hint = aws_hint(raw);
    assert_int_equal(hint.size, 3);
    assert_memory_equal(hint.text, "i-1", 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage), cmocka_unit_test(test_gpu_count), cmocka_unit_test(test_capacity_id),
        cmocka_unit_test(test_money), cmocka_unit_test(test_rejected),  cmocka_unit_test(test_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
