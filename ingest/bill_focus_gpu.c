/* Which rows of FOCUS bill a GPU: what names it, and which part of the machine they pay for. */
#include <config.h>

#include <string.h>

#include "common/decimal.h"
#include "ingest/bill_focus.h"
#include "ingest/gpu_name.h"

struct evidence {
    const struct gpu_types *types;
    const struct field *cell;
    const char *provider;
    struct field hint;       /* machine type among the tags */
    struct field sku;        /* empty where the SKU is none of the cells a class goes by */
    struct field type;       /* GPU instance type; empty: none found */
    struct field gpu_count;  /* as the bill says */
};

static bool
is_gpu_type(const struct evidence *e, struct field type)
{
    return gpu_type_known(e->types, e->provider, type) || (type.size && gpu_type_family(e->provider, type));
}

static struct field
without_prefix(struct field text, const char *prefix)
{
    size_t size = strlen(prefix);

    if (text.size > size && !strncmp(text.text, prefix, size))
        return (struct field){text.text + size, text.size - size};
    return text;
}

/* "USE1-BoxUsage:p5.48xlarge" -> the part behind the colon, where the part before it is one of an
 * instance that runs or stands reserved and idle. */
struct field
focus_usage_instance(struct field usage)
{
    static const char *const running[] = {"boxusage", "spotusage", "dedicatedusage", "unusedbox", "unusedded"};
    const char *colon = usage.size ? memchr(usage.text, ':', usage.size) : NULL;
    struct field kind = {usage.text, colon ? (size_t)(colon - usage.text) : usage.size};
    struct field rest = {colon ? colon + 1 : "", colon ? usage.size - kind.size - 1 : 0};

    for (size_t i = 0; i < sizeof running / sizeof *running; i++)
        if (bill_contains(kind, running[i]))
            return rest;
    if (!strncmp(rest.text, "ml.", rest.size < 3 ? rest.size : 3) && rest.size > 3)
        return without_prefix(rest, "ml."); /* SageMaker names its machines so */
    return (struct field){"", 0};
}

/* "NC24ads A100 v4 Spot" -> Standard_NC24ads_A100_v4. */
static struct field
azure_meter(struct arena *arena, struct field meter)
{
    static const char *const tails[] = {" spot", " low priority"};
    char *type;

    for (int i = 0; i < 2; i++) {
        size_t size = strlen(tails[i]);

        if (meter.size > size && bill_is((struct field){meter.text + meter.size - size, size}, tails[i]))
            meter.size -= size;
    }
    type = arena_printf(arena, "Standard_%.*s", (int)(meter.size < 100 ? meter.size : 0), meter.text);
    for (char *at = type; *at; at++)
        if (*at == ' ')
            *at = '_';
    return (struct field){type, strlen(type)};
}

/* The first column that names a GPU type, most reliable first. */
static void
find_type(struct arena *arena, struct evidence *e)
{
    const struct field *cell = e->cell;
    enum { EXACT_GUESSED = 7 };
    struct field exact[] = {
        without_prefix(bill_json_member(cell[FOCUS_DETAILS], "InstanceType"), "ml."),
        bill_json_member(cell[FOCUS_SKU_DETAILS], "ServiceType"),
        cell[FOCUS_SERVICE_TYPE],
        focus_usage_instance(cell[FOCUS_USAGE_TYPE]),
        e->hint,
        e->sku,
        cell[FOCUS_RESOURCE_TYPE],
        strcmp(e->provider, "azure") ? (struct field){"", 0} : azure_meter(arena, cell[FOCUS_METER]),
    };

    for (size_t i = 0; i < sizeof exact / sizeof *exact && !e->type.size; i++)
        if (is_gpu_type(e, exact[i]))
            e->type = exact[i];
    if (!e->type.size)
        e->type = gpu_type_in(e->types, e->provider, cell[FOCUS_METER]);
    if (!e->type.size)
        e->type = gpu_type_in(e->types, e->provider, cell[FOCUS_DESCRIPTION]);
    e->gpu_count = bill_json_member(cell[FOCUS_DETAILS], "GpuCount");
    if (decimal_sign(e->gpu_count.text, e->gpu_count.size) <= 0)
        e->gpu_count = (struct field){"", 0};
    for (size_t i = 0; i < sizeof exact / sizeof *exact && e->gpu_count.size && !e->type.size; i++)
        if (i != EXACT_GUESSED)
            e->type = exact[i]; /* a type nobody knows yet, with GPUs by the bill's own word */
}

/* ---------------------------------------------------------------- which part of it */

static bool
any_of(struct field text, const char *const *words)
{
    for (; *words; words++)
        if (bill_contains(text, *words))
            return true;
    return false;
}

/* Google's SKU texts. */
static enum focus_share
google_share(const struct evidence *e)
{
    static const char *const not_running[] = {"sole tenancy", "reserved", "premium", "suspended", "commitment", NULL};
    static const char *const parts[] = {"instance core", "instance ram", "core running", "ram running", NULL};
    static const char *const families[] = {"a2 instance", "a3 instance", "a4 instance", "a4x instance", "g2 instance",
                                           "g4 instance", "a3plus instance", "a3ultra instance", NULL};
    struct field text = e->cell[FOCUS_METER].size ? e->cell[FOCUS_METER] : e->cell[FOCUS_DESCRIPTION];

    if (any_of(text, not_running))
        return SHARE_NONE;
    if (bill_contains(text, "gpu"))
        return SHARE_ACCELERATOR;
    if (any_of(text, parts))
        return e->type.size || any_of(text, families) ? SHARE_REST : SHARE_NONE;
    return gpu_type_in(e->types, e->provider, text).size ? SHARE_MACHINE : SHARE_NONE;
}

static enum focus_share
aws_share(const struct evidence *e)
{
    static const char *const hours[] = {"instance hour", "instance-hour", "instance usage", NULL};
    static const char *const machines[] = {"elastic compute cloud", "amazonec2", "sagemaker", NULL};

    if (!any_of(e->cell[FOCUS_SERVICE], machines) && !any_of(e->cell[FOCUS_SERVICE_CODE], machines))
        return SHARE_NONE;
    if (e->cell[FOCUS_USAGE_TYPE].size)
        return focus_usage_instance(e->cell[FOCUS_USAGE_TYPE]).size ? SHARE_MACHINE : SHARE_NONE;
    if (any_of(e->cell[FOCUS_DESCRIPTION], hours) || bill_json_member(e->cell[FOCUS_DETAILS], "InstanceType").size)
        return SHARE_MACHINE;
    return SHARE_NONE;
}

/* What a third party sells on a provider's marketplace repeats the hours of the machine it runs on. */
static bool
is_compute(const struct field *cell)
{
    static const char *const licences[] = {"licen", "software", NULL};

    if (bill_is(cell[FOCUS_PUBLISHER_CATEGORY], "Vendor") || bill_is(cell[FOCUS_PUBLISHER_CATEGORY], "Marketplace"))
        return false;
    for (int i = 0; i < 4; i++)
        if (any_of(cell[(const int[]){FOCUS_SERVICE, FOCUS_METER_CATEGORY, FOCUS_METER, FOCUS_DESCRIPTION}[i]], licences))
            return false;
    return !cell[FOCUS_SERVICE_CATEGORY].size || bill_is(cell[FOCUS_SERVICE_CATEGORY], "Compute")
        || bill_is(cell[FOCUS_SERVICE_CATEGORY], "AI and Machine Learning");
}

/* The unit itself counts GPUs: "GPU Hours", Oracle's "GPU Per Hour". */
static bool
counts_gpu_time(const struct field *cell)
{
    bool gpu_time = false;

    return (bill_unit_seconds(cell[FOCUS_UNIT], &gpu_time) && gpu_time)
        || (bill_unit_seconds(cell[FOCUS_PRICE_UNIT], &gpu_time) && gpu_time);
}

static enum focus_share
share(const struct evidence *e)
{
    bool is_aws = !strcmp(e->provider, "aws");

    if (!is_compute(e->cell))
        return SHARE_NONE;
    if (!strcmp(e->provider, "gcp"))
        return google_share(e);
    if (!is_aws && counts_gpu_time(e->cell))
        return SHARE_ACCELERATOR;
    if (!e->type.size)
        return SHARE_NONE;
    return is_aws ? aws_share(e) : SHARE_MACHINE;
}

/* ---------------------------------------------------------------- which chip */

/* The first column that names a chip the table of names knows. Not for machines of a provider whose
 * type names are letters and digits of its own: "g4dn" is no "G4". */
static void
find_model(const struct evidence *e, struct focus_gpu *gpu)
{
    const struct field *cell = e->cell;
    const struct field named[] = {
        gpu->type, cell[FOCUS_METER], cell[FOCUS_RESOURCE_TYPE], cell[FOCUS_DESCRIPTION], e->sku, cell[FOCUS_SERVICE],
    };
    struct gpu_name name;
    bool is_google = !strcmp(e->provider, "gcp");

    if (gpu->share == SHARE_NONE || !strcmp(e->provider, "aws") || !strcmp(e->provider, "azure"))
        return;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (gpu_name_find(named[i], &name)) {
            gpu->model = name.model;
            gpu->model_count = name.count;
            break;
        }
    if (is_google && !strcmp(gpu->model, "A100"))
        gpu->model = "A100-40GB"; /* Google says 80GB where it is that */
}

struct focus_gpu
focus_gpu_find(const struct gpu_types *types, struct arena *arena, const struct field *cell, const char *provider,
               struct field hint, bool by_sku)
{
    struct evidence e = {.types = types, .cell = cell, .provider = provider, .hint = hint};
    struct focus_gpu gpu = {.model = ""};

    e.sku = by_sku ? cell[FOCUS_SKU] : (struct field){"", 0};
    find_type(arena, &e);
    gpu.share = share(&e);
    gpu.type = e.type;
    gpu.gpu_count = e.gpu_count;
    find_model(&e, &gpu);
    return gpu;
}
