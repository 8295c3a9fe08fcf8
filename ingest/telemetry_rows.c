/* Rows of gpu_hour and gpu_series, and what a load says of itself. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/telemetry_private.h"

enum { HOUR_COLUMNS = 11 + GAUGE_COUNT, SERIES_COLUMNS = 11, REJECT_COLUMNS = 4 };

static void
copy_share(struct copy *copy, bool is_known, uint32_t samples, int64_t sum, float most_pct)
{
    if (is_known) {
        copy_int4(copy, (int32_t)samples);
        copy_int8(copy, sum);
    } else {
        copy_null(copy);
        copy_null(copy);
    }
    if (isnan(most_pct)) {
        copy_null(copy);
    } else {
        copy_float4(copy, most_pct);
    }
}

static void
copy_float(struct copy *copy, float value)
{
    if (isnan(value)) {
        copy_null(copy);
    } else {
        copy_float4(copy, value);
    }
}

/* Gauges in the order of enum signal. */
static bool
send_row(void *context, int series_no, const struct rollup_row *row, struct error *err)
{
    struct telemetry_slice *slice = context;
    struct copy *copy = slice->copy;

    copy_int4(copy, slice->slice_id);
    copy_int4(copy, series_no);
    copy_time(copy, row->hour);
    copy_share(copy, row->has_util, row->util_samples, row->util_sum, row->util_max_pct);
    copy_share(copy, row->has_sm, row->sm_samples, row->sm_sum, row->sm_max_pct);
    copy_null(copy); /* idle_samples: no function of Prometheus tells them */
    for (int i = 0; i < GAUGE_COUNT; i++) {
        copy_float(copy, row->gauge[i]);
    }
    if (row->samples) {
        copy_int4(copy, (int32_t)row->samples);
    } else {
        copy_null(copy);
    }
    return copy_row(copy, err);
}

/* A live slice keeps the numbers it has given; a replaced one names each identity once. */
static bool
number_identity(void *context, const char *const identity[IDENTITY_COUNT], int *ret_series_no,
                struct error *err)
{
    struct telemetry_slice *slice = context;
    int series_no = slice->known ? series_map_find(slice->known, identity) : -1;

    (void)err;
    if (series_no < 0) {
        struct telemetry_series *series = arena_alloc(&slice->scratch, sizeof(*series));

        series_no = slice->series_next++;
        memcpy(series->identity, identity, sizeof(series->identity));
        series->series_no = series_no;
        *slice->last_fresh = series;
        slice->last_fresh = &series->next;
        if (slice->known) {
            series_map_add(slice->known, identity, series_no);
        }
    }
    *ret_series_no = series_no;
    return true;
}

/* Where the rows of this transaction go: the new table of a replaced slice, a live one's partition.
 */
static bool
copy_into(struct telemetry_slice *slice, const char *table, const char *columns, int count,
          struct error *err)
{
    char sql[800];

    snprintf(sql, sizeof(sql), "COPY audit.%s_s%d%s (%s) FROM STDIN (FORMAT binary%s)", table,
             slice->slice_id, slice->known ? "" : "_new", columns, slice->known ? "" : ", FREEZE");
    return copy_begin(&slice->copy, slice->run->db, sql, count, err);
}

static bool
copy_finish(struct telemetry_slice *slice, bool is_good, struct error *err)
{
    struct copy *copy = slice->copy;
    struct error ignored = {0};

    slice->copy = NULL;
    if (is_good) {
        return copy_end(copy, NULL, err);
    }
    (void)!copy_end(copy, "a row could not be sent", &ignored);
    return false;
}

static bool
send_hours(struct telemetry_slice *slice, struct rollup *rollup, struct error *err)
{
    const struct rollup_sink sink = {slice, number_identity, send_row};

    if (!copy_into(slice, "gpu_hour",
                   "slice_id, series_no, hour, util_samples, util_sum, util_max_pct, sm_samples, "
                   "sm_sum, sm_max_pct, "
                   "idle_samples, memory_max_mib, power_mean_w, temperature_max_c, tensor_mean_pct, "
                   "dram_mean_pct, memory_total_mib, pcie_tx_mean_b_s, pcie_rx_mean_b_s, nvlink_tx_mean_b_s, "
                   "nvlink_rx_mean_b_s, throttle_power_s, throttle_thermal_s, xid_changes, samples",
                   HOUR_COLUMNS, err)) {
        return false;
    }
    return copy_finish(slice, rollup_emit(rollup, &sink, err), err);
}

static bool
send_series(struct telemetry_slice *slice, const struct telemetry_series *series, struct error *err)
{
    copy_int4(slice->copy, slice->slice_id);
    copy_int4(slice->copy, series->series_no);
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        copy_cstring(slice->copy, series->identity[i]);
    }
    return copy_row(slice->copy, err);
}

/* In the order of enum identity. */
static bool
send_fresh(struct telemetry_slice *slice, struct error *err)
{
    bool good = true;

    if (!slice->fresh) {
        return true;
    }
    if (!copy_into(slice, "gpu_series",
                   "slice_id, series_no, gpu_uuid, mig_id, mig_profile, host, instance_id, "
                   "gpu_index, model_name, "
                   "namespace, pod",
                   SERIES_COLUMNS, err)) {
        return false;
    }
    for (const struct telemetry_series *series = slice->fresh; good && series;
         series = series->next) {
        good = send_series(slice, series, err);
    }
    return copy_finish(slice, good, err);
}

/* Counts and rejects of buckets that were dropped come again in the pass that has them. */
static void
take_counts(struct telemetry_slice *slice, const struct rollup *rollup,
            struct telemetry_object *const *objects, size_t count)
{
    struct telemetry_reject **link = &slice->rejects;
    unsigned first, end;

    rollup_range(rollup, &first, &end);
    for (size_t i = 0; i < count; i++) {
        if (!objects[i]->pass) {
            continue;
        }
        for (unsigned bucket = first; bucket < end; bucket++) {
            objects[i]->read += (*objects[i]->pass)[bucket][0];
            objects[i]->rejected += (*objects[i]->pass)[bucket][1];
        }
        memset(objects[i]->pass, 0, sizeof(*objects[i]->pass));
    }
    while (*link) {
        if ((*link)->bucket < end) {
            link = &(*link)->next;
        } else {
            *link = (*link)->next;
            slice->reject_count--;
        }
    }
    slice->last_reject = link;
}

bool
telemetry_pass_end(struct telemetry_slice *slice, struct rollup *rollup,
                   struct telemetry_object *const *objects, size_t count, struct error *err)
{
    bool good;

    slice->fresh = NULL;
    slice->last_fresh = &slice->fresh;
    good = send_hours(slice, rollup, err) && send_fresh(slice, err);
    slice->fresh = NULL;
    arena_free(&slice->scratch);
    take_counts(slice, rollup, objects, count);
    return good;
}

static const char *
number(struct arena *arena, int64_t value)
{
    return arena_printf(arena, "%" PRId64, value);
}

static bool
write_rejects(struct telemetry_slice *slice, const struct telemetry_object *object, int64_t load_id,
              struct error *err)
{
    bool good = true;

    if (!object->rejected) {
        return true;
    }
    if (!copy_begin(&slice->copy, slice->run->db,
                    "COPY audit.reject (load_id, line, reason, record) FROM STDIN (FORMAT binary)",
                    REJECT_COLUMNS, err)) {
        return false;
    }
    for (const struct telemetry_reject *reject = slice->rejects; good && reject;
         reject = reject->next) {
        if (reject->object == object) {
            copy_int8(slice->copy, load_id);
            copy_int8(slice->copy, (int64_t)reject->line);
            copy_cstring(slice->copy, reject->reason);
            copy_cstring(slice->copy, reject->record);
            good = copy_row(slice->copy, err);
        }
    }
    return copy_finish(slice, good, err);
}

static bool
write_load(struct telemetry_slice *slice, const struct telemetry_object *object, struct error *err)
{
    struct source_run *run = slice->run;
    struct arena *arena = &slice->scratch;
    const char *load_id = NULL;
    int64_t load_no = 0;
    const char *param[] = {
        slice->slice_text,
        object->name,
        object->size_bytes < 0 ? NULL : number(arena, object->size_bytes),
        object->sha256[0] ? object->sha256 : NULL,
        number(arena, (int64_t)object->read),
        number(arena, (int64_t)object->rejected),
        object->to ? number(arena, object->from) : NULL,
        object->to ? number(arena, object->to) : NULL,
        object->is_incomplete ? "f" : "t",
        object->problem,
        number(arena, slice->started),
        PACKAGE_VERSION,
    };

    if (!db_text(run->db, arena, "sql/telemetry_load.sql", 12, param, &load_id, err)) {
        return false;
    }
    if (!load_id || sscanf(load_id, "%" SCNd64, &load_no) != 1) {
        return error_set(err, ERR_BUG, "a load has no number");
    }
    run->counts.objects++;
    run->counts.read += object->read;
    run->counts.rejected += object->rejected;
    run->counts.kept += object->read - object->rejected;
    return write_rejects(slice, object, load_no, err);
}

bool
telemetry_loads_write(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                      size_t count, struct error *err)
{
    bool good = true;

    for (size_t i = 0; good && i < count; i++) {
        good = write_load(slice, objects[i], err);
    }
    arena_free(&slice->scratch);
    return good;
}
