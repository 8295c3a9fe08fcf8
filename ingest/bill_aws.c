/* AWS cost and usage reports: what a row is. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "common/decimal.h"
#include "ingest/bill_aws.h"

struct field
aws_unquoted(struct field raw)
{
    if (raw.size >= 2 && raw.text[0] == '"' && raw.text[raw.size - 1] == '"')
        raw = (struct field){raw.text + 1, raw.size - 2};
    return csv_trim(raw);
}

static bool
begins(struct field text, const char *start)
{
    size_t size = strlen(start);

    return text.size >= size && !strncasecmp(text.text, start, size);
}

static bool
ends(struct field text, const char *end)
{
    size_t size = strlen(end);

    return text.size >= size && !strncasecmp(text.text + text.size - size, end, size);
}

static struct field
behind(struct field text, char c)
{
    const char *at = text.size ? memchr(text.text, c, text.size) : NULL;

    if (!at)
        return (struct field){"", 0};
    return (struct field){at + 1, (size_t)(text.text + text.size - at - 1)};
}

/* ---------------------------------------------------------------- lines */

struct line {
    const char *name;
    enum aws_line line;
    const char *category, *frequency;
};

static const struct line lines[] = {
    {"Usage", AWS_LINE_USE, "Usage", "Usage-Based"},
    {"DiscountedUsage", AWS_LINE_RESERVED, "Usage", "Usage-Based"},
    {"SavingsPlanCoveredUsage", AWS_LINE_COVERED, "Usage", "Usage-Based"},
    {"SavingsPlanNegation", AWS_LINE_NEGATION, "SavingsPlanNegation", "Usage-Based"},
    {"SavingsPlanRecurringFee", AWS_LINE_PLAN_FEE, "Purchase", "Recurring"},
    {"SavingsPlanUpfrontFee", AWS_LINE_PLAN_UPFRONT, "Purchase", "One-Time"},
    {"RIFee", AWS_LINE_RI_FEE, "Purchase", "Recurring"},
    {"Fee", AWS_LINE_FEE, "Purchase", "One-Time"},
    {"FlatRateSubscription", AWS_LINE_OTHER, "Purchase", "Recurring"},
    {"Credit", AWS_LINE_OTHER, "Credit", "One-Time"},
    {"Refund", AWS_LINE_REFUND, "Refund", "One-Time"},
    {"Tax", AWS_LINE_OTHER, "Tax", "Usage-Based"},
};

bool
aws_is_discount(struct field line_type)
{
    return ends(line_type, "Discount"); /* EdpDiscount, PrivateRateDiscount, BundledDiscount, Discount … */
}

/* A type nobody knows is money of that name, and only totalled. */
static void
read_line(struct arena *arena, struct field type, struct aws_row *row)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (bill_is(type, lines[i].name)) {
            row->line = lines[i].line;
            row->category = lines[i].category;
            row->frequency = lines[i].frequency;
            return;
        }
    row->line = AWS_LINE_OTHER;
    row->category = aws_is_discount(type) ? "Discount" : bill_text(arena, type);
    row->frequency = "Usage-Based";
}

/* ---------------------------------------------------------------- usage types */

struct usage {
    const char *end; /* of what stands before the colon, the longer ones first */
    enum aws_part part;
};

/* "USW2-BoxUsage:p5.48xlarge": what it is, behind a region that may be missing. */
static const struct usage usages[] = {
    {"hostboxusage", AWS_MACHINE},   {"hostusage", AWS_HOST},           {"boxusage", AWS_MACHINE},
    {"spotusage", AWS_SPOT},         {"dedicatedusage", AWS_MACHINE},   {"unusedbox", AWS_IDLE},
    {"unusedded", AWS_IDLE},         {"dedicatedres", AWS_INFORMATION}, {"reservation", AWS_INFORMATION},
    {"heavyusage", AWS_RESERVATION}, {"capacityblockfee", AWS_BLOCK},
};

static struct field
kind_of(struct field usage_type)
{
    const char *colon = usage_type.size ? memchr(usage_type.text, ':', usage_type.size) : NULL;

    return (struct field){usage_type.text, colon ? (size_t)(colon - usage_type.text) : usage_type.size};
}

/* SageMaker's machines are those whose usage type names one: "USE1-Train:ml.p4d.24xlarge",
 * "Studio:KernelGateway-ml.g5.xlarge". Disks, sessions and requests of the same groups name none. */
static struct field
sagemaker_type(struct field usage_type)
{
    struct field rest = behind(usage_type, ':');

    for (size_t at = 0; at + 4 < rest.size; at++)
        if ((!at || rest.text[at - 1] == '-') && !strncasecmp(rest.text + at, "ml.", 3))
            return (struct field){rest.text + at, rest.size - at};
    return (struct field){"", 0};
}

static enum aws_part
sagemaker_part(struct field usage_type)
{
    if (!sagemaker_type(usage_type).size)
        return AWS_NOTHING;
    return bill_contains(kind_of(usage_type), "trspt") ? AWS_SPOT : AWS_MACHINE;
}

/* Software and services that are billed by a machine's hours (Marketplace, EMR, EKS) have the machine's
 * usage type or instance type beside a product of their own: only EC2 and SageMaker rent machines. */
static enum aws_part
read_part(const struct field *cell)
{
    struct field kind = kind_of(cell[AWS_USAGE_TYPE]);

    if (begins(cell[AWS_OPERATION], "EKSPod") || begins(cell[AWS_OPERATION], "ECSTask"))
        return AWS_POD;
    if (bill_is(cell[AWS_ENTITY], "AWS Marketplace"))
        return AWS_NOTHING;
    if (bill_is(cell[AWS_PRODUCT_CODE], "AmazonSageMaker"))
        return sagemaker_part(cell[AWS_USAGE_TYPE]);
    if (!bill_is(cell[AWS_PRODUCT_CODE], "AmazonEC2"))
        return AWS_NOTHING;
    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++)
        if (ends(kind, usages[i].end))
            return usages[i].part;
    return AWS_NOTHING;
}

/* ---------------------------------------------------------------- types */

/* "ml.p3.2xlarge-Training" -> "p3.2xlarge". */
static struct field
bare_type(struct field type)
{
    const char *dash;

    if (!begins(type, "ml."))
        return type;
    type = (struct field){type.text + 3, type.size - 3};
    for (dash = type.size ? memchr(type.text, '.', type.size) : NULL; dash && dash < type.text + type.size; dash++)
        if (*dash == '-')
            return (struct field){type.text, (size_t)(dash - type.text)};
    return type;
}

/* What stands behind the colon is what was billed; product columns may be empty (Spot) or say another. */
static struct field
read_type(const struct gpu_types *types, const struct field *cell, enum aws_part part)
{
    bool is_sagemaker = bill_is(cell[AWS_PRODUCT_CODE], "AmazonSageMaker");
    struct field named = is_sagemaker ? sagemaker_type(cell[AWS_USAGE_TYPE]) : behind(cell[AWS_USAGE_TYPE], ':');
    struct field candidates[] = {
        part == AWS_NOTHING || part == AWS_POD ? (struct field){"", 0} : named,
        cell[AWS_INSTANCE_TYPE],
        bill_json_member(cell[AWS_PRODUCT], "instance_type"),
        bill_json_member(cell[AWS_PRODUCT], "instanceType"),
    };

    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i].size)
            return bare_type(candidates[i]);
    return part == AWS_NOTHING || part == AWS_POD ? (struct field){"", 0}
                                                  : gpu_type_in(types, "aws", cell[AWS_DESCRIPTION]);
}

/* Trainium, Inferentia, Gaudi, media and FPGA cards: accelerators, but no GPUs, whatever a column says. */
static bool
is_other_accelerator(struct field type)
{
    static const char *const starts[] = {"trn", "inf", "dl1", "dl2", "vt1", "f1.", "f2."};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(type, starts[i]))
            return true;
    return false;
}

static bool
has_gpus(struct arena *arena, const struct gpu_types *types, const struct aws_row *row)
{
    const char *whole;

    if (!row->type.size || is_other_accelerator(row->type))
        return false;
    if (gpu_type_known(types, "aws", row->type) || gpu_type_family("aws", row->type) || row->gpu_count.size)
        return true;
    if (row->part != AWS_HOST)
        return false;
    whole = arena_printf(arena, "%.*s.metal", (int)(row->type.size < 40 ? row->type.size : 40), row->type.text);
    return gpu_type_family("aws", (struct field){whole, strlen(whole)}); /* a host is of a family: "g4dn" */
}

/* "8", "0.125"; nothing that no machine could have. */
static struct field
gpus_of(const struct field *cell)
{
    enum { GPUS_TEXT_MOST = 6 };
    struct field count = cell[AWS_GPU].size ? cell[AWS_GPU] : bill_json_member(cell[AWS_PRODUCT], "gpu");
    struct field whole = {count.text, 0};

    while (whole.size < count.size && count.text[whole.size] >= '0' && count.text[whole.size] <= '9')
        whole.size++;
    if (count.size > GPUS_TEXT_MOST || whole.size > 3 || decimal_sign(count.text, count.size) <= 0
        || memchr(count.text, 'e', count.size) || memchr(count.text, 'E', count.size))
        return (struct field){"", 0};
    return count;
}

void
aws_row_read(struct arena *arena, const struct gpu_types *types, const struct field *cell, struct aws_row *ret)
{
    struct aws_row row = {.part = read_part(cell), .gpu_count = gpus_of(cell)};

    read_line(arena, cell[AWS_LINE_TYPE], &row);
    row.type = read_type(types, cell, row.part);
    row.is_gpu = has_gpus(arena, types, &row);
    row.is_plan_refund = row.line == AWS_LINE_REFUND && bill_contains(cell[AWS_PRODUCT_CODE], "savingsplan")
        && begins(cell[AWS_DESCRIPTION], "Refund for one-time fee for Savings Plan");
    *ret = row;
}

bool
aws_is_machine(const struct aws_row *row)
{
    return row->part == AWS_MACHINE || row->part == AWS_SPOT || row->part == AWS_HOST;
}

/* ---------------------------------------------------------------- what tells rows apart */

struct field
aws_capacity_id(struct field text)
{
    for (size_t at = 0; at + 3 <= text.size; at++)
        if (!strncasecmp(text.text + at, "cr-", 3) && (!at || text.text[at - 1] == '/' || text.text[at - 1] == ':'))
            return (struct field){text.text + at, text.size - at};
    return (struct field){"", 0};
}

static bool
holds(struct field text, const char *word)
{
    return text.size && memmem(text.text, text.size, word, strlen(word));
}

struct field
aws_hint(const struct field *raw)
{
    struct field usage = raw[AWS_USAGE_TYPE], cost = aws_unquoted(raw[AWS_COST]), nothing = {"", 0};

    if (holds(raw[AWS_OPERATION], "EKSPod") || holds(raw[AWS_OPERATION], "ECSTask") || holds(usage, "Unused")
        || holds(usage, "CapacityBlock"))
        return aws_unquoted(raw[AWS_RESOURCE]);
    if (!aws_unquoted(raw[AWS_CAPACITY]).size || !cost.size || decimal_sign(cost.text, cost.size))
        return nothing;
    return (struct field){"free", 4};
}
