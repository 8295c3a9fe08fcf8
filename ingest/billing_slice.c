/*
 * One slice being loaded: new tables, items and charges on their way into them, totals, and the
 * swap. Rows gather here and go out some thousands at a time, since one connection serves all
 * slices of a source.
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/billing_private.h"

struct bill_pending_item {
    int32_t no;
    enum bill_role role;
    bool counts_gpus;
    int unit_seconds;
    const char *provider, *service, *charge_category, *charge_class, *commitment_id, *commitment_status, *currency,
        *pricing, *instance_type, *gpu_count, *gpu_model, *priced_by;
    struct bill_item item;
};

struct pending_charge {
    int64_t from, to, line;
    int32_t item_no;
    int16_t load_no;
    uint32_t size[4]; /* quantity, billed, effective, list: text one after the other */
};

struct bill_total {
    struct decimal_sum billed, effective, list;
    uint64_t rows;
};

static const char *const role_names[] = {
    [BILL_GPU_USE] = "gpu_use",
    [BILL_GPU_MONEY] = "gpu_money",
    [BILL_CORRECTION] = "correction",
    [BILL_COMMITMENT_UNUSED] = "commitment_unused",
    [BILL_COMMITMENT_PURCHASE] = "commitment_purchase",
};

/* ---------------------------------------------------------------- making */

bool
bill_slice_named(struct bill_load_run *load, const char *period, const char **ret_slice_id, struct error *err)
{
    const char *const param[] = {arena_printf(load->arena, "%d", load->run->source_id), period, NULL, NULL};

    return db_text(load->run->db, load->arena, "sql/slice.sql", 4, param, ret_slice_id, err);
}

bool
bill_slice_find(struct bill_load_run *load, int64_t start, struct bill_slice **ret_slice, struct error *err)
{
    struct arena *arena = load->arena;
    struct bill_slice *slice;
    char period[CALENDAR_TEXT];
    int zone = load->format->zone_seconds;

    start = month_start(start);
    for (slice = load->slices; slice; slice = slice->next)
        if (slice->from == start + zone) {
            *ret_slice = slice;
            return true;
        }
    slice = arena_alloc(arena, sizeof *slice);
    month_format(start, period);
    slice->period = arena_strdup(arena, period);
    slice->from = start + zone;
    slice->to = month_next(start) + zone;
    slice->is_skipped = slice->to <= load->run->settings->window.from;
    slice->last_load = &slice->loads;
    slice->next_item = 1;
    const char *const param[] = {
        arena_printf(arena, "%d", load->run->source_id),
        slice->period,
        arena_printf(arena, "%" PRId64, slice->from),
        arena_printf(arena, "%" PRId64, slice->to),
    };
    if (!db_text(load->run->db, arena, "sql/slice.sql", 4, param, &slice->slice_id, err))
        return false;
    slice->next = load->slices;
    load->slices = slice;
    *ret_slice = slice;
    return true;
}

static bool
make_table(struct bill_load_run *load, const struct bill_slice *slice, const char *table, struct error *err)
{
    const char *const param[] = {
        table,
        arena_printf(load->arena, "%s_s%s_new", table, slice->slice_id),
        slice->slice_id,
    };
    const char *sql;

    return db_text(load->run->db, load->arena, "sql/billing_table.sql", 3, param, &sql, err)
        && db_exec(load->run->db, sql, err);
}

bool
bill_slice_open(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    if (slice->is_open)
        return true;
    slice->is_open = true;
    return make_table(load, slice, "billing_item", err) && make_table(load, slice, "billing_charge", err);
}

bool
bill_slice_part(struct bill_slice *slice, struct arena *arena, size_t object, struct error *err)
{
    struct bill_part_load *part;

    if (slice->load && slice->load->object == object)
        return true;
    if (slice->load_count == BILL_LOADS_MOST)
        return error_set(err, ERR_INPUT, "billing period %s comes in more than %d files", slice->period, BILL_LOADS_MOST);
    part = arena_alloc(arena, sizeof *part);
    part->object = object;
    part->last = &part->first;
    *slice->last_load = slice->load = part;
    slice->last_load = &part->next;
    slice->load_count++;
    return true;
}

/* ---------------------------------------------------------------- copying */

bool
bill_copy_abandon(struct copy *copy)
{
    struct error told_already = {0};

    bool ended = copy_end(copy, "a row could not be sent", &told_already);

    (void)ended;
    return false;
}

static void
copy_some(struct copy *copy, const char *text)
{
    copy_cstring(copy, text && *text ? text : NULL);
}

static void
copy_item(struct copy *copy, int32_t slice_id, const struct bill_pending_item *p)
{
    const struct bill_item *item = &p->item;
    const char *const before[] = {item->account_id, item->account_name, item->resource_id};
    const char *const place[] = {item->region, item->zone, p->service, item->sku, item->description};
    const char *const commitment[] = {p->commitment_id, item->commitment_name, item->commitment_type,
                                      item->commitment_category, p->commitment_status};

    copy_int4(copy, slice_id);
    copy_int4(copy, p->no);
    copy_cstring(copy, role_names[p->role]);
    copy_cstring(copy, p->provider);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        copy_some(copy, before[i]);
    copy_cstring(copy, item->resource_key);
    copy_some(copy, item->resource_name);
    copy_some(copy, p->instance_type);
    if (p->gpu_count && *p->gpu_count)
        copy_numeric(copy, p->gpu_count, strlen(p->gpu_count));
    else
        copy_null(copy);
    copy_bool(copy, p->counts_gpus);
    if (p->unit_seconds)
        copy_int4(copy, p->unit_seconds);
    else
        copy_null(copy);
    for (size_t i = 0; i < sizeof place / sizeof *place; i++)
        copy_some(copy, place[i]);
    copy_cstring(copy, p->charge_category);
    copy_some(copy, p->charge_class);
    copy_some(copy, item->charge_frequency);
    copy_cstring(copy, p->pricing);
    for (size_t i = 0; i < sizeof commitment / sizeof *commitment; i++)
        copy_some(copy, commitment[i]);
    copy_cstring(copy, p->currency);
    copy_some(copy, item->invoice_id);
    if (item->tags)
        copy_jsonb(copy, item->tags, strlen(item->tags));
    else
        copy_null(copy);
    copy_some(copy, p->gpu_model);
    copy_some(copy, p->priced_by);
}

static bool
flush_items(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    int32_t id = (int32_t)strtol(slice->slice_id, NULL, 10);
    struct copy *copy;
    const char *sql;

    if (!slice->pending_count)
        return true;
    sql = arena_printf(&slice->arena,
                       "COPY audit.billing_item_s%s_new (slice_id, item_no, role, provider, account_id, account_name, "
                       "resource_id, resource_key, resource_name, instance_type, gpu_count, counts_gpus, unit_seconds, "
                       "region, zone, service, sku, description, charge_category, charge_class, charge_frequency, "
                       "pricing, commitment_id, commitment_name, commitment_type, commitment_category, "
                       "commitment_status, currency, invoice_id, tags, gpu_model, priced_by) FROM STDIN (FORMAT binary)",
                       slice->slice_id);
    if (!copy_begin(&copy, load->run->db, sql, 32, err))
        return false;
    for (size_t i = 0; i < slice->pending_count; i++) {
        copy_item(copy, id, &slice->pending[i]);
        if (!copy_row(copy, err))
            return bill_copy_abandon(copy);
    }
    slice->pending_count = 0;
    slice->pending = NULL;
    arena_reset(&slice->arena, (struct arena_mark){NULL, 0});
    return copy_end(copy, NULL, err);
}

static void
copy_number(struct copy *copy, const char **at, uint32_t size)
{
    if (size)
        copy_numeric(copy, *at, size);
    else
        copy_null(copy);
    *at += size;
}

static bool
flush_charges(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    const struct pending_charge *charge = (const void *)slice->charges.data;
    size_t count = slice->charges.size / sizeof *charge;
    int32_t id = (int32_t)strtol(slice->slice_id, NULL, 10);
    const char *at = slice->charge_text.data;
    struct copy *copy;

    if (!count)
        return true;
    if (!copy_begin(&copy, load->run->db,
                    arena_printf(load->arena, "COPY audit.billing_charge_s%s_new (slice_id, item_no, load_no, line, "
                                 "charge_from, charge_to, quantity, billed_cost, effective_cost, list_cost) "
                                 "FROM STDIN (FORMAT binary)", slice->slice_id), 10, err))
        return false;
    for (; count; count--, charge++) {
        copy_int4(copy, id);
        copy_int4(copy, charge->item_no);
        copy_int2(copy, charge->load_no);
        copy_int8(copy, charge->line);
        copy_time(copy, charge->from);
        copy_time(copy, charge->to);
        for (int i = 0; i < 4; i++)
            copy_number(copy, &at, charge->size[i]);
        if (!copy_row(copy, err))
            return bill_copy_abandon(copy);
    }
    buf_clear(&slice->charges);
    buf_clear(&slice->charge_text);
    return copy_end(copy, NULL, err);
}

/* ---------------------------------------------------------------- rows */

static struct bill_item
copy_of(struct arena *arena, const struct bill_item *item)
{
    struct bill_item copy = *item;
    const char **texts[] = {
        &copy.account_id, &copy.account_name,     &copy.resource_id,     &copy.resource_key,    &copy.resource_name,
        &copy.region,     &copy.zone,             &copy.sku,             &copy.description,     &copy.charge_frequency,
        &copy.tags,       &copy.commitment_name,  &copy.commitment_type, &copy.commitment_category, &copy.invoice_id,
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_strdup(arena, *texts[i]);
    return copy;
}

bool
bill_slice_item(struct bill_load_run *load, struct bill_slice *slice, const struct bill_class *class,
                const struct bill_charge *charge, const struct bill_item *item, uint32_t *ret_no, struct error *err)
{
    struct arena *arena = &slice->arena;

    if (slice->pending_count == BILL_ITEMS_FLUSH && !flush_items(load, slice, err))
        return false;
    if (!slice->pending)
        slice->pending = arena_alloc(arena, BILL_ITEMS_FLUSH * sizeof *slice->pending);
    slice->pending[slice->pending_count++] = (struct bill_pending_item){
        .no = slice->next_item,
        .role = charge->role,
        .counts_gpus = class->counts_gpus,
        .unit_seconds = charge->role == BILL_GPU_MONEY ? 0 : charge->unit_seconds,
        .provider = arena_strdup(arena, class->provider),
        .service = arena_strdup(arena, class->service),
        .charge_category = arena_strdup(arena, class->charge_category),
        .charge_class = arena_strdup(arena, class->charge_class),
        .commitment_id = arena_strdup(arena, class->commitment_id),
        .commitment_status = arena_strdup(arena, class->commitment_status),
        .currency = arena_strdup(arena, class->currency),
        .pricing = arena_strdup(arena, class->pricing),
        .instance_type = arena_strdup(arena, class->instance_type),
        .gpu_count = arena_strdup(arena, class->gpu_count),
        .gpu_model = arena_strdup(arena, class->gpu_model),
        .priced_by = arena_strdup(arena, charge->priced_by),
        .item = copy_of(arena, item),
    };
    *ret_no = (uint32_t)slice->next_item++;
    return true;
}

bool
bill_slice_charge(struct bill_load_run *load, struct bill_slice *slice, uint32_t item_no, uint64_t line,
                  const struct bill_charge *charge, struct error *err)
{
    const struct field *number[] = {&charge->quantity, &charge->billed, &charge->effective, &charge->list};
    struct pending_charge pending = {
        .from = charge->from,
        .to = charge->to,
        .line = (int64_t)line,
        .item_no = (int32_t)item_no,
        .load_no = (int16_t)(slice->load_count - 1),
    };

    for (int i = 0; i < 4; i++) {
        pending.size[i] = (uint32_t)number[i]->size;
        buf_add(&slice->charge_text, number[i]->text, number[i]->size);
    }
    buf_add(&slice->charges, &pending, sizeof pending);
    if (slice->charges.size < BILL_CHARGES_FLUSH * sizeof pending && slice->charge_text.size < 4U << 20)
        return true;
    return flush_charges(load, slice, err);
}

static struct bill_total *
total_at(struct bill_load_run *load, struct bill_slice *slice, uint32_t no)
{
    if (no >= slice->total_room) {
        size_t room = slice->total_room ? slice->total_room * 2 : 64;
        struct bill_total **grown;

        while (room <= no)
            room *= 2;
        grown = arena_alloc(load->arena, room * sizeof(struct bill_total *));
        if (slice->total_room)
            memcpy(grown, slice->totals, slice->total_room * sizeof(struct bill_total *));
        slice->totals = grown;
        slice->total_room = room;
    }
    if (!slice->totals[no])
        slice->totals[no] = arena_alloc(load->arena, sizeof(struct bill_total));
    return slice->totals[no];
}

/* charge() has seen to it that the numbers fit, so that nothing is half added. */
void
bill_slice_total(struct bill_load_run *load, struct bill_slice *slice, uint32_t total_no,
                 const struct bill_charge *charge)
{
    struct bill_total *total = total_at(load, slice, total_no);

    total->rows++;
    (void)decimal_add(&total->billed, charge->billed.text, charge->billed.size);
    (void)decimal_add(&total->effective, charge->effective.text, charge->effective.size);
    if (charge->list.size)
        (void)decimal_add(&total->list, charge->list.text, charge->list.size);
}

void
bill_slice_aside(struct bill_load_run *load, struct bill_slice *slice, uint32_t total_no, struct field billed)
{
    (void)decimal_add(&total_at(load, slice, total_no)->billed, billed.text, billed.size);
}

/* ---------------------------------------------------------------- sealing */

static void
copy_sum(struct copy *copy, const struct decimal_sum *sum)
{
    char text[DECIMAL_TEXT];

    decimal_format(sum, text);
    copy_numeric(copy, text, strlen(text));
}

static bool
write_totals(struct bill_load_run *load, const struct bill_slice *slice, struct error *err)
{
    struct copy *copy;

    if (!copy_begin(&copy, load->run->db,
                    "COPY audit.billing_total (slice_id, provider, service, charge_category, charge_class, "
                    "commitment_id, commitment_status, currency, row_count, billed_cost, effective_cost, list_cost) "
                    "FROM STDIN (FORMAT binary)", 12, err))
        return false;
    for (uint32_t no = 0; no < load->total_count && no < slice->total_room; no++) {
        const struct bill_total *total = slice->totals[no];

        if (!total)
            continue;
        copy_int4(copy, (int32_t)strtol(slice->slice_id, NULL, 10));
        for (int i = 0; i < 7; i++)
            copy_cstring(copy, load->totals[no].text[i]);
        copy_int8(copy, (int64_t)total->rows);
        copy_sum(copy, &total->billed);
        copy_sum(copy, &total->effective);
        copy_sum(copy, &total->list);
        if (!copy_row(copy, err))
            return bill_copy_abandon(copy);
    }
    return copy_end(copy, NULL, err);
}

static bool
swap(struct bill_load_run *load, const struct bill_slice *slice, const char *table, struct error *err)
{
    const char *id = slice->slice_id;

    return db_exec(load->run->db,
                   arena_printf(load->arena,
                                "DROP TABLE IF EXISTS audit.%s_s%s; "
                                "ALTER TABLE audit.%s_s%s_new RENAME TO %s_s%s; "
                                "ALTER TABLE audit.%s ATTACH PARTITION audit.%s_s%s FOR VALUES IN (%s); "
                                "ANALYZE audit.%s_s%s",
                                table, id, table, id, table, id, table, table, id, id, table, id), err);
}

bool
bill_slice_seal(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    const char *const param[] = {slice->slice_id};

    return flush_items(load, slice, err) && flush_charges(load, slice, err)
        && db_run(load->run->db, "sql/billing_replaced.sql", 1, param, err) && write_totals(load, slice, err)
        && bill_loads_write(load, slice, err) && bill_period_write(load, slice, err) && swap(load, slice, "billing_item", err)
        && swap(load, slice, "billing_charge", err)
        && (!load->format->sealed || load->format->sealed(load->format->state, slice->slice_id, slice->period, err));
}

bool
bill_slice_drop(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    return db_exec(load->run->db,
                   arena_printf(load->arena, "DROP TABLE audit.billing_item_s%s_new, audit.billing_charge_s%s_new",
                                slice->slice_id, slice->slice_id), err);
}

void
bill_slice_free(struct bill_slice *slice)
{
    arena_free(&slice->arena);
    arena_free(&slice->items_arena);
    arena_free(&slice->period_arena);
    buf_free(&slice->charges);
    buf_free(&slice->charge_text);
}
