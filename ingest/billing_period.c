/* How complete a billing period is as delivered, and the exchange rates its rows carry. */
#include <config.h>

#include <string.h>

#include "ingest/billing_private.h"

enum { DAY = 86400, DAYS = 64 };

static void
note_fx(struct bill_slice *slice, const struct bill_class *class)
{
    unsigned count = 0;
    struct bill_fx *fx;

    for (fx = slice->fx; fx; fx = fx->next, count++)
        if (!strcmp(fx->rate, class->fx_rate) && !strcmp(fx->from, class->fx_from) && !strcmp(fx->to, class->currency)) {
            fx->rows++;
            return;
        }
    if (count == BILL_FX_MOST || !decimal_fits(class->fx_rate, strlen(class->fx_rate))
        || decimal_sign(class->fx_rate, strlen(class->fx_rate)) <= 0)
        return;
    fx = arena_alloc(&slice->period_arena, sizeof *fx);
    *fx = (struct bill_fx){
        .from = arena_strdup(&slice->period_arena, class->fx_from),
        .to = arena_strdup(&slice->period_arena, class->currency),
        .rate = arena_strdup(&slice->period_arena, class->fx_rate),
        .rows = 1,
        .next = slice->fx,
    };
    slice->fx = fx;
}

void
bill_period_note(struct bill_slice *slice, const struct bill_class *class, const struct bill_charge *charge)
{
    /* a charge of no length is of the day it begins on; one that ends at midnight is not of the next */
    int64_t first = (charge->from - slice->from) / DAY, last = (charge->to - 1 - slice->from) / DAY;

    if (class->fx_rate)
        note_fx(slice, class);
    if (!charge->is_use || charge->from < slice->from)
        return;
    for (int64_t day = first; day < DAYS && (day == first || day <= last); day++)
        slice->days |= UINT64_C(1) << day;
}

static bool
write_fx(struct bill_load_run *load, const struct bill_slice *slice, struct error *err)
{
    for (const struct bill_fx *fx = slice->fx; fx; fx = fx->next) {
        const char *rows = arena_printf(load->arena, "%llu", (unsigned long long)fx->rows);
        const char *const param[] = {slice->slice_id, fx->from, fx->to, fx->rate, rows};

        if (!db_run(load->run->db, "sql/billing_fx.sql", 5, param, err))
            return false;
    }
    return true;
}

/* NULL when no row could tell. */
static const char *
count_text(const struct bill_load_run *load, const struct bill_slice *slice, uint64_t count)
{
    bool can_tell = slice->invoiced || slice->not_invoiced;

    return can_tell ? arena_printf(load->arena, "%llu", (unsigned long long)count) : NULL;
}

static const char *
delivered_text(const struct bill_load_run *load, const struct bill_slice *slice)
{
    int64_t newest = 0;

    for (const struct bill_part_load *part = slice->loads; part; part = part->next)
        if (load->objects[part->object].delivered > newest)
            newest = load->objects[part->object].delivered;
    return newest ? arena_printf(load->arena, "%lld", (long long)newest) : NULL;
}

bool
bill_period_write(struct bill_load_run *load, const struct bill_slice *slice, struct error *err)
{
    char days[DAYS + 1] = {0};
    const char *const param[] = {
        slice->slice_id,
        days,
        count_text(load, slice, slice->invoiced),
        count_text(load, slice, slice->not_invoiced),
        delivered_text(load, slice),
    };

    for (int day = 0; day < DAYS; day++)
        days[day] = slice->days >> day & 1 ? '1' : '0';
    return db_run(load->run->db, "sql/billing_period.sql", 5, param, err) && write_fx(load, slice, err);
}
