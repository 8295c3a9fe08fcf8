#include <config.h>

#include "ingest/rollup.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "common/calendar.h"
#include "ingest/rollup_private.h"

enum { TABLE_LEAST = 256, ROLLUP_FULL = 3, HOUR_MS = 3600 * 1000 };

static const double MILLIONTHS = 1e6;

const char *
rollup_reason(enum rollup_verdict verdict)
{
    switch (verdict) {
    case ROLLUP_RANGE:
        return "not a number, or outside the physical range";
    case ROLLUP_NO_COUNT:
        return "no count of samples for this series and hour";
    case ROLLUP_OFF_HOUR:
        return "does not end on a full hour";
    case ROLLUP_SECOND:
        return "another value for the same series and hour";
    case ROLLUP_BACKWARDS:
        return "not after the sample before it";
    case ROLLUP_NO_UUID:
        return "no label holds the UUID of the GPU";
    default:
        return "kept";
    }
}

/* A pass begins: an empty table, everything of the one before is freed. */
static void
begin(struct rollup *rollup)
{
    arena_free(&rollup->arena);
    rollup->free_blocks = NULL;
    rollup->free_planes = NULL;
    rollup->used_bytes = rollup->count = 0;
    arena_free(&rollup->table_arena);
    rollup->room = TABLE_LEAST;
    rollup->table = arena_alloc(&rollup->table_arena, rollup->room * sizeof(rollup->table[0]));
}

struct rollup *
rollup_open(struct arena *arena, int64_t from, int64_t to, size_t budget_bytes)
{
    struct rollup *rollup = arena_alloc(arena, sizeof(*rollup));

    rollup->from = from;
    rollup->to = to;
    rollup->days = (size_t)((to - from + DAY_SECONDS - 1) / DAY_SECONDS);
    rollup->budget_bytes = budget_bytes ? budget_bytes : ROLLUP_BUDGET_BYTES;
    rollup->end = rollup->width = ROLLUP_BUCKETS;
    /* Labels come from outside: nobody shall be able to make two series look like one. */
    if (getrandom(rollup->seed, sizeof(rollup->seed), 0) != (ssize_t)sizeof(rollup->seed)) {
        rollup->seed[0] = (uintptr_t)rollup;
    }
    begin(rollup);
    return rollup;
}

void
rollup_close(struct rollup *rollup)
{
    if (!rollup) {
        return;
    }
    arena_free(&rollup->arena);
    arena_free(&rollup->table_arena);
}

static uint64_t
hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    }
    return hash;
}

static uint64_t
mix(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return hash ^ hash >> 33;
}

unsigned
rollup_bucket(const char *uuid)
{
    return (unsigned)(mix(hash_text(0xcbf29ce484222325ULL, uuid)) % ROLLUP_BUCKETS);
}

bool
rollup_wants(const struct rollup *rollup, unsigned bucket)
{
    return bucket >= rollup->first && bucket < rollup->end;
}

/* Labels added up, so that their order does not matter; 128 bits, so that two series do not meet.
 */
static void
series_key(const struct rollup *rollup, const struct label *labels, size_t count, int rank,
           uint64_t ret_key[2])
{
    ret_key[0] = mix((uint64_t)rank + 1);
    ret_key[1] = mix((uint64_t)rank + 1001);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(labels[i].name, "__name__") == 0 || !labels[i].value[0]) {
            continue;
        }
        for (int half = 0; half < 2; half++) {
            uint64_t hash = hash_text(rollup->seed[half] + (uint64_t)half, labels[i].name);

            ret_key[half] += mix(hash_text(mix(hash), labels[i].value));
        }
    }
}

/* Where a key stands, or would. */
static struct rollup_series **
find(const struct rollup *rollup, const uint64_t key[2])
{
    size_t at = key[0] & (rollup->room - 1);

    while (rollup->table[at] &&
           memcmp(rollup->table[at]->key, key, sizeof(rollup->table[at]->key)) != 0) {
        at = (at + 1) & (rollup->room - 1);
    }
    return &rollup->table[at];
}

static void
rebuild(struct rollup *rollup, size_t room)
{
    struct rollup_series **old = rollup->table;
    struct arena old_arena = rollup->table_arena;
    size_t old_room = rollup->room;

    rollup->table_arena = (struct arena){0};
    rollup->table = arena_alloc(&rollup->table_arena, room * sizeof(old[0]));
    rollup->room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i] && rollup_wants(rollup, old[i]->bucket)) {
            *find(rollup, old[i]->key) = old[i];
        }
    }
    arena_free(&old_arena);
}

static void
drop_block(struct rollup *rollup, struct rollup_block *block)
{
    for (int i = 0; i < GAUGE_COUNT; i++) {
        if (block->gauge[i]) {
            block->gauge[i]->next_free = rollup->free_planes;
            rollup->free_planes = block->gauge[i];
            rollup->used_bytes -= sizeof(struct rollup_plane);
            block->gauge[i] = NULL;
        }
    }
    block->next_free = rollup->free_blocks;
    rollup->free_blocks = block;
    rollup->used_bytes -= sizeof(struct rollup_block);
}

/* Leaves the upper quarter of the buckets to a later pass. */
static void
narrow(struct rollup *rollup)
{
    unsigned width = rollup->end - rollup->first;

    rollup->end = rollup->first + width - (width + 3) / 4;
    for (size_t i = 0; i < rollup->room; i++) {
        struct rollup_series *series = rollup->table[i];

        if (!series || rollup_wants(rollup, series->bucket)) {
            continue;
        }
        for (size_t day = 0; day < rollup->days; day++) {
            if (series->day[day]) {
                drop_block(rollup, series->day[day]);
            }
        }
        rollup->count--;
    }
    rebuild(rollup, rollup->room);
}

struct rollup_series *
rollup_series(struct rollup *rollup, const struct label *labels, size_t count,
              const struct gpu_identity *identity, int rank)
{
    size_t size = sizeof(struct rollup_series) + rollup->days * sizeof(struct rollup_block *);
    unsigned bucket = rollup_bucket(identity->text[IDENTITY_UUID]);
    struct rollup_series **place, *series;
    uint64_t key[2];

    /* One bucket is held whatever its size: it cannot be parted. */
    while (rollup->used_bytes > rollup->budget_bytes && rollup->end - rollup->first > 1) {
        narrow(rollup);
    }
    if (!rollup_wants(rollup, bucket)) {
        return NULL;
    }
    series_key(rollup, labels, count, rank, key);
    place = find(rollup, key);
    if (*place) {
        return *place;
    }
    series = arena_alloc(&rollup->arena, size);
    memcpy(series->key, key, sizeof(key));
    series->bucket = (uint8_t)bucket;
    series->rank = (uint8_t)rank;
    series->order = rollup->made++;
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        series->identity[i] = arena_strdup(&rollup->arena, identity->text[i]);
        rollup->used_bytes += identity->text[i] ? strlen(identity->text[i]) + 1 : 0;
    }
    rollup->used_bytes += size + 2 * sizeof(series);
    *place = series;
    if (++rollup->count > rollup->room / 2) {
        rebuild(rollup, rollup->room * 2);
    }
    return series;
}

static struct rollup_block *
new_block(struct rollup *rollup)
{
    struct rollup_block *block = rollup->free_blocks;

    if (block) {
        rollup->free_blocks = block->next_free;
    } else {
        block = arena_alloc(&rollup->arena, sizeof(*block));
    }
    rollup->used_bytes += sizeof(*block);
    for (int i = 0; i < DAY_HOURS; i++) {
        block->cell[i] = (struct rollup_cell){.max = {NAN, NAN}};
    }
    return block;
}

static struct rollup_plane *
new_plane(struct rollup *rollup)
{
    struct rollup_plane *plane = rollup->free_planes;

    if (plane) {
        rollup->free_planes = plane->next_free;
    } else {
        plane = arena_alloc(&rollup->arena, sizeof(*plane));
    }
    rollup->used_bytes += sizeof(*plane);
    for (int i = 0; i < DAY_HOURS; i++) {
        plane->hour[i] = (struct rollup_gauge){.value = NAN};
    }
    return plane;
}

static struct rollup_block *
block_at(struct rollup *rollup, struct rollup_series *series, int64_t hour)
{
    size_t day = (size_t)((hour - rollup->from) / DAY_SECONDS);

    if (!series->day[day]) {
        series->day[day] = new_block(rollup);
    }
    return series->day[day];
}

static size_t
hour_of_day(const struct rollup *rollup, int64_t hour)
{
    return (size_t)((hour - rollup->from) / HOUR_SECONDS) % DAY_HOURS;
}

static struct rollup_cell *
cell_at(struct rollup *rollup, struct rollup_series *series, int64_t hour)
{
    return &block_at(rollup, series, hour)->cell[hour_of_day(rollup, hour)];
}

static struct rollup_gauge *
gauge_at(struct rollup *rollup, struct rollup_series *series, enum signal signal, int64_t hour)
{
    struct rollup_plane **plane = &block_at(rollup, series, hour)->gauge[signal - SIGNAL_SUMMED];

    if (!*plane) {
        *plane = new_plane(rollup);
    }
    return &(*plane)->hour[hour_of_day(rollup, hour)];
}

/* What is set stays; to be told the same again is no fault. */
static enum rollup_verdict
set_float(float *into, double value)
{
    if (isnan(*into)) {
        *into = (float)value;
    }
    return *into == (float)value ? ROLLUP_KEPT : ROLLUP_SECOND;
}

static enum rollup_verdict
set_count(struct rollup_cell *cell, enum signal signal, double value)
{
    uint32_t flag = (uint32_t)CELL_COUNT << signal;

    if (!(value >= 0 && value <= UINT32_MAX) || value != floor(value)) {
        return ROLLUP_RANGE;
    }
    if (cell->flags & flag) {
        return cell->count[signal] == (uint32_t)value ? ROLLUP_KEPT : ROLLUP_SECOND;
    }
    cell->flags |= flag;
    cell->count[signal] = (uint32_t)value;
    return ROLLUP_KEPT;
}

/* A sum in delivered units; its mean must be in range. Of the two signals' counts the other's
 * serves where only that was asked for. */
static enum rollup_verdict
set_sum(struct rollup_cell *cell, enum signal signal, enum scale scale, double value, bool is_mean)
{
    uint32_t flag = (uint32_t)CELL_SUM << signal;
    int counted = cell->flags & (uint32_t)CELL_COUNT << signal ? (int)signal : 1 - (int)signal;
    uint32_t count = cell->flags & (uint32_t)CELL_COUNT << counted ? cell->count[counted] : 0;
    int64_t sum;

    if (!isfinite(value)) {
        return ROLLUP_RANGE;
    }
    if (!count) {
        return ROLLUP_NO_COUNT;
    }
    if (!signal_in_range(signal, scale, is_mean ? value : value / count)) {
        return ROLLUP_RANGE;
    }
    sum = llround(signal_value(scale, value) * (is_mean ? count : 1) * MILLIONTHS);
    if (cell->flags & flag) {
        return cell->sum[signal] == sum ? ROLLUP_KEPT : ROLLUP_SECOND;
    }
    cell->flags |= flag;
    cell->sum[signal] = sum;
    return ROLLUP_KEPT;
}

static void
raise_float(float *into, double value)
{
    if (!(*into >= (float)value)) {
        *into = (float)value;
    }
}

static void
add_summed_sample(struct rollup_cell *cell, enum signal signal, enum scale scale, double value)
{
    cell->flags |= (uint32_t)(CELL_COUNT | CELL_SUM) << signal;
    cell->count[signal]++;
    cell->sum[signal] += llround(signal_value(scale, value) * MILLIONTHS);
    raise_float(&cell->max[signal], signal_value(scale, value));
}

static void
add_mean(struct rollup_gauge *gauge, double value)
{
    gauge->value = gauge->samples++ ? (float)((double)gauge->value + (value - (double)gauge->value) / gauge->samples)
                                    : (float)value;
}

static void
add_amount(struct rollup_gauge *gauge, double amount)
{
    gauge->value = (float)((isnan(gauge->value) ? 0 : (double)gauge->value) + amount);
    gauge->samples++;
}

/* What a counter's sample adds to the one before; a counter that fell was begun anew. A last error
 * that is another one, and is one, is one more. */
static double
amount_since(enum scale scale, bool has_last, double last, double value)
{
    if (!has_last) {
        return 0;
    }
    if (scale == SCALE_LAST) {
        return value != last && value != 0;
    }
    return signal_value(scale, value >= last ? value - last : value);
}

static void
add_gauge_sample(struct rollup *rollup, struct rollup_series *series, enum signal signal, enum scale scale,
                 int64_t hour, double value)
{
    struct rollup_gauge *gauge = gauge_at(rollup, series, signal, hour);
    double *last = &series->last_total[signal - SIGNAL_SUMMED];

    switch (signal_statistic(signal, scale)) {
    case STATISTIC_MAX:
        raise_float(&gauge->value, signal_value(scale, value));
        break;
    case STATISTIC_AVG:
        add_mean(gauge, signal_value(scale, value));
        break;
    default:
        add_amount(gauge, amount_since(scale, series->last_sample_ms[signal] > 0, *last, value));
        *last = value;
        break;
    }
}

static enum rollup_verdict
set_statistic(struct rollup_cell *cell, enum signal signal, enum scale scale,
              enum statistic statistic, double value)
{
    if (statistic == STATISTIC_COUNT) {
        return set_count(cell, signal, value);
    }
    if (statistic != STATISTIC_MAX) {
        return set_sum(cell, signal, scale, value, statistic == STATISTIC_AVG);
    }
    return set_float(&cell->max[signal], signal_value(scale, value));
}

/* A function of an hour is in the unit of the signal but for its scale; changes are counted already. */
static double
gauge_value(enum scale scale, enum statistic statistic, double value)
{
    return statistic == STATISTIC_CHANGES ? value : signal_value(scale, value);
}

bool
rollup_takes(enum signal signal, enum statistic statistic)
{
    bool is_amount = statistic == STATISTIC_INCREASE || statistic == STATISTIC_CHANGES;

    if (statistic == STATISTIC_SAMPLE) {
        return true;
    }
    if (signal_is_summed(signal)) {
        return !is_amount;
    }
    switch (signal_gauge(signal)) {
    case GAUGE_MAX:
        return statistic == STATISTIC_MAX;
    case GAUGE_MEAN:
        return statistic == STATISTIC_AVG;
    default:
        return is_amount || statistic == STATISTIC_AVG;
    }
}

/* Sums and counts are judged where they are set; a counter's value says nothing by itself. */
static bool
in_range(enum signal signal, enum scale scale, enum statistic statistic, double value)
{
    bool is_counter = statistic == STATISTIC_SAMPLE && signal_is_counter(scale);

    if (statistic == STATISTIC_COUNT || statistic == STATISTIC_SUM) {
        return true;
    }
    return is_counter ? isfinite(value) && value >= 0 : signal_in_range(signal, scale, value);
}

static enum rollup_verdict
add_raw(struct rollup *rollup, struct rollup_series *series, enum signal signal, enum scale scale, int64_t hour,
        int64_t time_ms, double value)
{
    if (time_ms <= series->last_sample_ms[signal]) {
        return ROLLUP_BACKWARDS;
    }
    if (signal_is_summed(signal)) {
        add_summed_sample(cell_at(rollup, series, hour), signal, scale, value);
    } else {
        add_gauge_sample(rollup, series, signal, scale, hour, value);
    }
    series->last_sample_ms[signal] = time_ms;
    return ROLLUP_KEPT;
}

enum rollup_verdict
rollup_add(struct rollup *rollup, struct rollup_series *series, enum signal signal,
           enum scale scale, enum statistic statistic, int64_t time_ms, double value)
{
    int64_t hour = (time_ms + HOUR_MS - 1) / HOUR_MS * HOUR_SECONDS - HOUR_SECONDS;

    if (hour < rollup->from || hour >= rollup->to) {
        return ROLLUP_OUTSIDE;
    }
    if (!in_range(signal, scale, statistic, value)) {
        return ROLLUP_RANGE;
    }
    if (statistic == STATISTIC_SAMPLE) {
        return add_raw(rollup, series, signal, scale, hour, time_ms, value);
    }
    if (time_ms % HOUR_MS != 0) {
        return ROLLUP_OFF_HOUR;
    }
    if (signal_is_summed(signal)) {
        return set_statistic(cell_at(rollup, series, hour), signal, scale, statistic, value);
    }
    return set_float(&gauge_at(rollup, series, signal, hour)->value, gauge_value(scale, statistic, value));
}

bool
rollup_is_full(const struct rollup *rollup)
{
    return rollup->used_bytes > ROLLUP_FULL * rollup->budget_bytes;
}

void
rollup_range(const struct rollup *rollup, unsigned *ret_first, unsigned *ret_end)
{
    *ret_first = rollup->first;
    *ret_end = rollup->end;
}

bool
rollup_next(struct rollup *rollup)
{
    if (rollup->end == ROLLUP_BUCKETS) {
        return false;
    }
    rollup->width = rollup->end - rollup->first;
    rollup->first = rollup->end;
    rollup->end = rollup->first + rollup->width < ROLLUP_BUCKETS ? rollup->first + rollup->width
                                                                 : ROLLUP_BUCKETS;
    begin(rollup);
    return true;
}
