/*
 * The look through all files: which general machines have GPUs attached, and what committed use cost
 * beside what it covered, for each kind, region and invoice month.
 */
#include <config.h>

#include "ingest/bill_gcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/decimal.h"
#include "ingest/bill_product.h"
#include "ingest/billing_private.h"

struct group {
    struct decimal_sum fee, covered;       /* money; covered is positive */
    double bought_hours, covered_hours;    /* of resources: for how much of it was used */
    struct gcp_group result;
};

struct gcp_notes {
    struct arena *arena;
    bool is_settled;
    struct bill_key_table machine_keys, group_keys;
    struct gcp_sku *skus;                  /* of attached GPUs, by number */
    size_t sku_count;
    struct group *groups;
    size_t group_count, group_room;
};

enum { SKUS_MOST = 64 };

struct gcp_notes *
gcp_notes_new(struct arena *arena)
{
    struct gcp_notes *notes = arena_alloc(arena, sizeof *notes);

    *notes = (struct gcp_notes){.arena = arena};
    notes->skus = arena_alloc(arena, SKUS_MOST * sizeof *notes->skus);
    return notes;
}

const char *
gcp_group_name(struct arena *arena, struct field region, const struct gcp_sku *sku)
{
    const char *machine = sku->family ? sku->family : sku->series;
    const char *kind = *sku->part || !sku->model ? machine : sku->model;

    if (!kind && !*sku->part)
        return gcp_spend_name(arena, region);
    return arena_printf(arena, "%.*s %s%s%s", (int)(region.size < 100 ? region.size : 100), region.text, kind ? kind : "general",
                        *sku->part ? " " : "", sku->part);
}

/* An amount that is committed to is spent wherever one likes. */
const char *
gcp_spend_name(struct arena *arena, struct field region)
{
    (void)region;
    return arena_strdup(arena, "spend");
}

/* ---------------------------------------------------------------- cells as they stand */

static struct field
plain(struct field raw)
{
    if (raw.size >= 2 && raw.text[0] == '"' && raw.text[raw.size - 1] == '"')
        raw = (struct field){raw.text + 1, raw.size - 2};
    return csv_trim(raw);
}

static double
number(struct field cell)
{
    char text[64] = {0};

    if (!decimal_valid(cell.text, cell.size) || cell.size >= sizeof text)
        return 0;
    memcpy(text, cell.text, cell.size);
    return strtod(text, NULL);
}

/* ---------------------------------------------------------------- machines with GPUs attached */

static struct bill_key
key_of(const char *text, size_t size, struct field more)
{
    struct bill_key key = bill_key_new();

    bill_key_add(&key, text, size);
    bill_key_add(&key, more.text, more.size);
    return key;
}

static void
note_machine(struct gcp_notes *notes, struct field resource, const struct gcp_sku *sku)
{
    struct bill_key key = key_of(resource.text, resource.size, (struct field){"", 0});
    size_t i = 0;

    if (!resource.size || bill_key_find(&notes->machine_keys, key))
        return;
    while (i < notes->sku_count && strcmp(notes->skus[i].attached, sku->attached))
        i++;
    if (i == SKUS_MOST)
        return;
    if (i == notes->sku_count)
        notes->skus[notes->sku_count++] = *sku;
    bill_key_put(&notes->machine_keys, notes->arena, key, (uint32_t)i);
}

const struct gcp_sku *
gcp_attached(const struct gcp_notes *notes, struct field resource)
{
    const uint32_t *known = resource.size ? bill_key_find(&notes->machine_keys,
                                                          key_of(resource.text, resource.size, (struct field){"", 0})) : NULL;

    return known ? &notes->skus[*known] : NULL;
}

/* ---------------------------------------------------------------- committed use */

static struct group *
group_at(struct gcp_notes *notes, const char *name, struct field month)
{
    struct bill_key key = key_of(name, strlen(name), month);
    const uint32_t *known = bill_key_find(&notes->group_keys, key);

    if (known)
        return &notes->groups[*known];
    if (notes->group_count == notes->group_room) {
        size_t room = notes->group_room ? notes->group_room * 2 : 32;
        struct group *grown = arena_alloc(notes->arena, room * sizeof *grown);

        if (notes->group_count)
            memcpy(grown, notes->groups, notes->group_count * sizeof *grown);
        notes->groups = grown;
        notes->group_room = room;
    }
    bill_key_put(&notes->group_keys, notes->arena, key, (uint32_t)notes->group_count);
    notes->groups[notes->group_count] = (struct group){.result = {.share = {"", 0}, .unused = {"", 0}}};
    return &notes->groups[notes->group_count++];
}

static void
note_fee(struct gcp_notes *notes, struct arena *arena, const struct field *cell, const struct gcp_sku *sku,
         const struct gcp_credits *credits)
{
    struct field fee = bill_sum(arena, cell[GCP_COST], bill_sum(arena, credits->all, gcp_negative(arena, credits->promotion)));
    struct group *group;

    if (credits->offsets_fee || !decimal_fits(cell[GCP_COST].text, cell[GCP_COST].size))
        return;
    group = group_at(notes, gcp_group_name(arena, cell[GCP_REGION], sku), cell[GCP_MONTH]);
    (void)decimal_add(&group->fee, fee.text, fee.size);
    group->bought_hours += number(cell[GCP_PRICED]);
}

/* A credit is the whole price of what is covered: its part of the cost is the part of the quantity. */
static void
note_use(struct gcp_notes *notes, struct arena *arena, const struct field *cell, const struct gcp_sku *sku,
         const struct gcp_credits *credits)
{
    struct field used = gcp_negative(arena, credits->used), spent = gcp_negative(arena, credits->spent);
    double cost = number(cell[GCP_COST]);

    if (used.size) {
        struct group *group = group_at(notes, gcp_group_name(arena, cell[GCP_REGION], sku), cell[GCP_MONTH]);

        (void)decimal_add(&group->covered, used.text, used.size);
        group->covered_hours += cost > 0 ? number(cell[GCP_PRICED]) * number(used) / cost : 0;
    }
    if (spent.size)
        (void)decimal_add(&group_at(notes, gcp_spend_name(arena, cell[GCP_REGION]), cell[GCP_MONTH])->covered, spent.text, spent.size);
}

void
gcp_survey(void *state, struct bill_context *context, const struct field *raw)
{
    struct gcp_notes *notes = state;
    struct field cell[GCP_COLUMNS];
    struct gcp_sku sku;
    struct gcp_credits credits;
    static const char mark[] = "COMMITTED_USAGE";
    bool is_covered = raw[GCP_CREDITS].size && memmem(raw[GCP_CREDITS].text, raw[GCP_CREDITS].size, mark, sizeof mark - 1);
    bool is_fee = bill_contains(raw[GCP_SKU], "commitment");

    if (!is_covered && !is_fee && !bill_contains(raw[GCP_SKU], "gpu"))
        return;
    for (int i = 0; i < GCP_COLUMNS; i++)
        cell[i] = plain(raw[i]);
    gcp_sku_read(cell[GCP_SKU], &sku);
    if (sku.share == GCP_GPU && sku.attached)
        note_machine(notes, cell[GCP_RESOURCE], &sku);
    if ((!is_covered && !is_fee) || !gcp_credits_read(context->arena, cell[GCP_CREDITS], &credits))
        return;
    if (sku.share == GCP_COMMITMENT)
        note_fee(notes, context->arena, cell, &sku, &credits);
    else
        note_use(notes, context->arena, cell, &sku, &credits);
}

/* ---------------------------------------------------------------- settling */

/* A few millionths are what the export rounds away. */
static double
used_part(const struct group *group, bool has_cover)
{
    double part = group->covered_hours > 0 && group->bought_hours > 0 ? group->covered_hours / group->bought_hours : 1;

    return !has_cover ? 0 : part > 0.99999 ? 1 : part;
}

static void
settle_group(struct arena *arena, struct group *group)
{
    char fee[DECIMAL_TEXT], covered[DECIMAL_TEXT], part_text[32];
    struct field fees, credit, part;
    double used;

    decimal_format(&group->fee, fee);
    decimal_format(&group->covered, covered);
    fees = (struct field){fee, strlen(fee)};
    credit = (struct field){covered, strlen(covered)};
    used = used_part(group, decimal_sign(covered, strlen(covered)) > 0);
    if (decimal_sign(fee, strlen(fee)) <= 0)
        return;
    snprintf(part_text, sizeof part_text, "%.9f", used);
    part = (struct field){part_text, strlen(part_text)};
    if (used > 0)
        group->result.share = bill_ratio(arena, bill_product(arena, fees, part), credit);
    snprintf(part_text, sizeof part_text, "%.9f", 1 - used);
    if (used < 1)
        group->result.unused = (struct field){arena_strdup(arena, part_text), strlen(part_text)};
}

bool
gcp_settle(void *state, size_t object, const char *path, struct error *err)
{
    struct gcp_notes *notes = state;

    (void)object;
    (void)path;
    (void)err;
    for (size_t i = 0; i < notes->group_count && !notes->is_settled; i++)
        settle_group(notes->arena, &notes->groups[i]);
    notes->is_settled = true;
    return true;
}

const struct gcp_group *
gcp_group(const struct gcp_notes *notes, const char *name, struct field month)
{
    const uint32_t *known = bill_key_find(&notes->group_keys, key_of(name, strlen(name), month));

    return known ? &notes->groups[*known].result : NULL;
}
