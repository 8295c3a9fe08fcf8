/* How many GPUs a job holds: TRES lists (gres/gpu:a100=4,gres/gpu=4) and older GRES (gpu:tesla:2). */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/slurm.h"

enum { COUNT_MOST = 100000, CHIP_SLICES = 7, SMALL_CHIP_SLICES = 4, NUMBER_MOST = 40 };
#define ONE_GPU INT64_C(1000000000000)

/* What a list says: untyped GPUs, typed ones, shares. */
struct tally {
    int64_t untyped, typed, shards; /* -1: not named */
    int64_t trillionths;             /* of the typed ones */
    char type[SLURM_TYPE_MOST];
};

static bool
whole(struct field text, int64_t *ret_value)
{
    int64_t value = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.text[i] < '0' || text.text[i] > '9' || value > COUNT_MOST) {
            return false;
        }
        value = value * 10 + (text.text[i] - '0');
    }
    *ret_value = value;
    return text.size > 0 && value <= COUNT_MOST;
}

static bool
has_word(struct field text, const char *word)
{
    return memmem(text.text, text.size, word, strlen(word)) != NULL;
}

/* Of how many slices a type is: "1g.5gb" and "a100_3g.20gb" are, "a100" is not (0). A30 chips have
 * four, as have the PRO 6000; all others have seven. */
static int
mig_slices(struct field type, int *ret_chip)
{
    static const char *const small[] = {"1g.6gb", "2g.12gb", "4g.24gb", "2g.48gb", "4g.96gb", NULL};

    for (size_t i = 0; i + 2 < type.size; i++) {
        bool is_start = i == 0 || memchr("_-:. ", type.text[i - 1], 5);

        if (!is_start || type.text[i] < '1' || type.text[i] > '7' || type.text[i + 1] != 'g' || type.text[i + 2] != '.') {
            continue;
        }
        *ret_chip = has_word(type, "rtx") || has_word(type, "a30_") ? SMALL_CHIP_SLICES : CHIP_SLICES;
        for (size_t k = 0; small[k]; k++) {
            if (type.size - i >= strlen(small[k]) && memcmp(type.text + i, small[k], strlen(small[k])) == 0) {
                *ret_chip = SMALL_CHIP_SLICES;
            }
        }
        return type.text[i] - '0';
    }
    return 0;
}

static bool
add_typed(struct tally *tally, struct field type, int64_t count)
{
    int chip = 1, slices = mig_slices(type, &chip);
    size_t used = strlen(tally->type);

    tally->typed = (tally->typed < 0 ? 0 : tally->typed) + count;
    tally->trillionths += slices ? count * slices * ONE_GPU / chip : count * ONE_GPU;
    if (count && used + type.size + 2 < sizeof(tally->type)) {
        snprintf(tally->type + used, sizeof(tally->type) - used, "%s%.*s", used ? "," : "", (int)type.size, type.text);
    }
    return tally->typed <= COUNT_MOST;
}

/* name: gpu, gpu:TYPE or shard. Anything else (gpumem, gpuutil, gpu_mem) counts nothing. */
static bool
add_named(struct tally *tally, struct field name, struct field number)
{
    bool is_typed = name.size > 4 && memcmp(name.text, "gpu:", 4) == 0;
    bool is_gpu = name.size == 3 && memcmp(name.text, "gpu", 3) == 0;
    bool is_shard = (name.size == 5 || (name.size > 6 && name.text[5] == ':')) && memcmp(name.text, "shard", 5) == 0;
    int64_t count = 0;

    if (!is_typed && !is_gpu && !is_shard) {
        return true;
    }
    if (!whole(number, &count)) {
        return false;
    }
    if (is_typed) {
        return add_typed(tally, (struct field){name.text + 4, name.size - 4}, count);
    }
    if (is_gpu) {
        tally->untyped = count;
    } else if (name.size == 5 || tally->shards < 0) {
        tally->shards = count;
    }
    return true;
}

/* The untyped count is what was given out; types say which. What they leave of it is whole GPUs. */
static void
settle(const struct tally *tally, int shards_per_gpu, struct slurm_gpus *ret_gpus)
{
    int64_t typed = tally->typed < 0 ? 0 : tally->typed;
    int64_t devices = tally->untyped >= 0 ? tally->untyped : typed;
    int64_t shards = tally->shards < 0 ? 0 : tally->shards;
    struct slurm_gpus gpus = {
        .is_named = devices > 0 || shards > 0,
        .is_sized = shards == 0 || shards_per_gpu > 0,
        .is_by_type = tally->untyped < 0 && devices > 0,
        .devices = devices + shards,
    };

    gpus.trillionths = typed <= devices ? tally->trillionths + (devices - typed) * ONE_GPU : devices * ONE_GPU;
    if (shards_per_gpu > 0) {
        gpus.trillionths += shards * ONE_GPU / shards_per_gpu;
    }
    memcpy(gpus.type, tally->type, sizeof(gpus.type));
    *ret_gpus = gpus;
}

/* Up to the next comma that is not in parentheses, as in gpu:a100:2(IDX:0,3). */
static struct field
next_item(struct field *list)
{
    struct field item = *list;
    int depth = 0;

    for (size_t i = 0; i < list->size; i++) {
        depth += list->text[i] == '(' ? 1 : list->text[i] == ')' ? -1 : 0;
        if (list->text[i] == ',' && depth <= 0) {
            item.size = i;
            break;
        }
    }
    list->text += item.size + (item.size < list->size);
    list->size -= item.size + (item.size < list->size);
    return csv_trim(item);
}

bool
slurm_tres_gpus(struct field tres, int shards_per_gpu, struct slurm_gpus *ret_gpus)
{
    struct tally tally = {.untyped = -1, .typed = -1, .shards = -1};

    while (tres.size > 0) {
        struct field item = next_item(&tres);
        const char *equals = memchr(item.text, '=', item.size);

        if (!equals || item.size < 5 || memcmp(item.text, "gres/", 5) != 0) {
            continue;
        }
        struct field name = {item.text + 5, (size_t)(equals - item.text) - 5};
        struct field number = {equals + 1, item.size - name.size - 6};

        if (!add_named(&tally, name, number)) {
            return false;
        }
    }
    settle(&tally, shards_per_gpu, ret_gpus);
    return true;
}

/* gpu, gpu:2, gpu:tesla:2, each perhaps after gres: and before (S:0-1). */
bool
slurm_gres_gpus(struct field gres, int shards_per_gpu, struct slurm_gpus *ret_gpus)
{
    static const struct field one = {"1", 1};
    struct tally tally = {.untyped = -1, .typed = -1, .shards = -1};

    while (gres.size > 0) {
        struct field item = next_item(&gres), number = one;
        const char *bracket = memchr(item.text, '(', item.size);
        const char *colon;

        item.size = bracket ? (size_t)(bracket - item.text) : item.size;
        if (item.size > 5 && (memcmp(item.text, "gres:", 5) == 0 || memcmp(item.text, "gres/", 5) == 0)) {
            item = (struct field){item.text + 5, item.size - 5};
        }
        colon = item.size ? memrchr(item.text, ':', item.size) : NULL;
        if (colon && colon + 1 < item.text + item.size && colon[1] >= '0' && colon[1] <= '9' &&
            !memchr(colon, '.', (size_t)(item.text + item.size - colon))) {
            number = (struct field){colon + 1, (size_t)(item.text + item.size - colon - 1)};
            item.size = (size_t)(colon - item.text);
        }
        if (!add_named(&tally, item, number)) {
            return false;
        }
    }
    settle(&tally, shards_per_gpu, ret_gpus);
    return true;
}

double
slurm_tres_value(struct field tres, const char *name)
{
    size_t size = strlen(name);

    while (tres.size > 0) {
        struct field item = next_item(&tres);

        if (item.size > size + 1 && item.size < size + NUMBER_MOST && memcmp(item.text, name, size) == 0 &&
            item.text[size] == '=') {
            char number[NUMBER_MOST + 1], *end;
            size_t rest = item.size - size - 1;

            memcpy(number, item.text + size + 1, rest);
            number[rest] = '\0';
            double value = strtod(number, &end);

            return end > number && *end == '\0' && value >= 0 && value < 1e9 ? value : -1;
        }
    }
    return -1;
}

const char *
slurm_gpus_text(struct arena *arena, int64_t trillionths)
{
    char *text = arena_printf(arena, "%lld.%012lld", (long long)(trillionths / ONE_GPU), (long long)(trillionths % ONE_GPU));
    size_t size = strlen(text);

    while (text[size - 1] == '0') {
        size--;
    }
    text[text[size - 1] == '.' ? size - 1 : size] = '\0';
    return text;
}
