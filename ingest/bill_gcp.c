/* Google's SKU texts: which part of which machine, and which GPU. */
#include <config.h>

#include "ingest/bill_gcp.h"

#include <string.h>
#include <strings.h>

static bool
in_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* As a word of its own: "l4" is not in "L40". */
static bool
has_word(struct field text, const char *word)
{
    size_t size = strlen(word);

    for (size_t at = 0; at + size <= text.size; at++)
        if ((text.text[at] | 0x20) == *word && !strncasecmp(text.text + at, word, size) && (!at || !in_word(text.text[at - 1]))
            && (at + size == text.size || !in_word(text.text[at + size])))
            return true;
    return false;
}

static bool
has_any(struct field text, const char *const *words)
{
    for (; *words; words++)
        if (has_word(text, *words))
            return true;
    return false;
}

struct gpu {
    const char *word, *too; /* too: a second word, or NULL */
    const char *model, *attached, *family;
};

/* The special ones first. An A100 without its memory is the one of 40 GB. */
static const struct gpu gpus[] = {
    {"gb300", NULL, "GB300", NULL, "a4x"},
    {"gb200", NULL, "GB200", NULL, "a4x"},
    {"b300", NULL, "B300", NULL, NULL},
    {"b200", NULL, "B200", NULL, "a4"},
    {"h200", NULL, "H200", NULL, "a3ultra"},
    {"h100", "mega", "H100-80GB", NULL, "a3plus"},
    {"h100", "plus", "H100-80GB", NULL, "a3plus"},
    {"h100", NULL, "H100-80GB", NULL, "a3"},
    {"a100", "80gb", "A100-80GB", NULL, "a2"},
    {"a100", NULL, "A100-40GB", NULL, "a2"},
    {"rtx", "6000", "RTX-PRO-6000", NULL, "g4"},
    {"l4", NULL, "L4", NULL, "g2"},
    {"t4", NULL, "T4", "n1+nvidia-tesla-t4x1", NULL},
    {"v100", NULL, "V100", "n1+nvidia-tesla-v100x1", NULL},
    {"p100", NULL, "P100", "n1+nvidia-tesla-p100x1", NULL},
    {"p4", NULL, "P4", "n1+nvidia-tesla-p4x1", NULL},
    {"k80", NULL, "K80", "n1+nvidia-tesla-k80x1", NULL},
};

/* Families of machines that all have GPUs; the model where it is one. */
static const struct {
    const char *family, *model;
} families[] = {
    {"a4x", NULL}, {"a4", "B200"}, {"a3ultra", "H200"}, {"a3plus", "H100-80GB"}, {"a3mega", "H100-80GB"},
    {"a3", "H100-80GB"}, {"a2", NULL}, {"g2", "L4"}, {"g4", "RTX-PRO-6000"},
};

static const struct gpu *
find_gpu(struct field text)
{
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (has_word(text, gpus[i].word) && (!gpus[i].too || has_word(text, gpus[i].too)))
            return &gpus[i];
    return NULL;
}

static void
find_family(struct field text, struct gcp_sku *sku)
{
    static const char *const ultra[] = {"ultra", NULL}, *const plus[] = {"plus", "mega", NULL};

    for (size_t i = 0; i < sizeof families / sizeof *families && !sku->family; i++)
        if (has_word(text, families[i].family)) {
            sku->family = families[i].family;
            sku->model = families[i].model;
        }
    if (sku->family && !strcmp(sku->family, "a3") && has_any(text, ultra)) {
        sku->family = "a3ultra";
        sku->model = "H200";
    } else if (sku->family && !strcmp(sku->family, "a3") && has_any(text, plus)) {
        sku->family = "a3plus";
    }
}

/* "(8 gpu slice)" */
static int
slice_gpus(struct field text)
{
    static const char mark[] = " gpu slice";
    int number = 0;

    for (size_t at = 1; at + sizeof mark - 1 <= text.size; at++)
        if (!strncasecmp(text.text + at, mark, sizeof mark - 1)) {
            size_t from = at;

            while (from && text.text[from - 1] >= '0' && text.text[from - 1] <= '9')
                from--;
            for (; from < at && number < 1000; from++)
                number = number * 10 + (text.text[from] - '0');
            return number ? number : 1;
        }
    return 0;
}

static const char *
find_tpu(struct field text)
{
    static const struct {
        const char *word, *name;
    } kinds[] = {{"v6e", "TPU v6e"}, {"v5e", "TPU v5e"}, {"v5p", "TPU v5p"}, {"v5lite", "TPU v5e"}, {"v4", "TPU v4"},
                 {"v3", "TPU v3"},   {"v2", "TPU v2"},   {"v7", "TPU v7"},   {"ironwood", "TPU v7"}};

    if (!has_word(text, "tpu") && !bill_contains(text, "tpuv") && !bill_contains(text, "tpu-v") && !has_word(text, "tpus"))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bill_contains(text, kinds[i].word))
            return kinds[i].name;
    return "TPU";
}

/* Things that name a GPU or a core and are no running one. */
static bool
is_something_else(struct field text)
{
    static const char *const words[] = {"reserved", "premium", "suspended", "licensing", "license", "fee", NULL};

    return has_any(text, words) || bill_contains(text, "sole tenancy");
}

static const char *
host_part(struct field text)
{
    static const char *const cores[] = {"core", "cores", "cpu", "vcpu", NULL}, *const memory[] = {"ram", "memory", NULL};

    return has_any(text, cores) ? "cpu" : has_any(text, memory) ? "ram" : "";
}

static const char *
find_series(struct field text)
{
    static const char *const series[] = {"n2", "n2d", "n4", "e2", "c2", "c2d", "c3", "c3d", "c4", "t2d", "t2a",
                                         "m1", "m2", "m3", "h3", "z3", NULL};

    for (const char *const *at = series; *at; at++)
        if (has_word(text, *at))
            return *at;
    return NULL;
}

void
gcp_sku_read(struct field text, struct gcp_sku *ret)
{
    static const char *const general[] = {"n1", "custom", NULL}, *const spot[] = {"spot", "preemptible", NULL};
    struct gcp_sku sku = {.part = host_part(text), .tpu = find_tpu(text), .series = find_series(text),
                          .is_spot = has_any(text, spot)};
    const struct gpu *gpu = find_gpu(text);

    find_family(text, &sku);
    sku.is_scheduled = has_word(text, "dws");
    if (gpu && !*sku.part) {
        sku.model = gpu->model;
        sku.attached = gpu->attached;
        sku.family = gpu->family ? gpu->family : sku.family;
    }
    if (has_word(text, "commitment"))
        sku.share = GCP_COMMITMENT;
    else if (is_something_else(text))
        sku.share = GCP_NONE;
    else if (sku.tpu)
        sku.share = GCP_TPU;
    else if ((sku.gpus = slice_gpus(text)))
        sku.share = GCP_SLICE;
    else if (*sku.part && (has_word(text, "instance") || has_word(text, "running")))
        sku.share = GCP_HOST;
    else if (!*sku.part && (has_word(text, "gpu") || (gpu && !strcmp(gpu->word, "rtx"))))
        sku.share = GCP_GPU;
    sku.is_general = sku.share == GCP_HOST && !sku.family && !sku.series && has_any(text, general);
    *ret = sku;
}
