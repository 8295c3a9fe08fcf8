/*
 * Hours of GPUs from a table of the user's own: what no other source reads. One row is a GPU (or a
 * MIG slice) in a clock hour; the columns are those of audit.gpu_series and audit.gpu_hour, all but
 * gpu_uuid, hour and samples may be missing or empty, and empty is unknown.
 */
#include <config.h>

#include <string.h>

#include "common/calendar.h"
#include "common/csv.h"
#include "ingest/telemetry_files.h"

enum { SECOND_MS = 1000, IDENTITIES = 9, HOUR = IDENTITIES, SAMPLES, VALUES };

static const char *const identities[IDENTITIES][2] = { /* column, label */
    {"gpu_uuid", "uuid"},      {"mig_id", "GPU_I_ID"},    {"mig_profile", "GPU_I_PROFILE"},
    {"host", "hostname"},      {"instance_id", "instance_id"}, {"gpu_index", "gpu"},
    {"model_name", "model_name"}, {"namespace", "namespace"}, {"pod", "pod"},
};

struct value_column {
    const char *name;
    struct metric metric;
    enum statistic statistic;
};

/* Counts come first: a mean is nothing without them. */
static const struct value_column values[] = {
    {"util_samples", {"util_samples", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_COUNT},
    {"sm_samples", {"sm_samples", SIGNAL_SM, SCALE_ONE, 0, false}, STATISTIC_COUNT},
    {"util_mean_pct", {"util_mean_pct", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"util_max_pct", {"util_max_pct", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_MAX},
    {"sm_mean_pct", {"sm_mean_pct", SIGNAL_SM, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"sm_max_pct", {"sm_max_pct", SIGNAL_SM, SCALE_ONE, 0, false}, STATISTIC_MAX},
    {"memory_max_mib", {"memory_max_mib", SIGNAL_MEMORY, SCALE_ONE, 0, false}, STATISTIC_MAX},
    {"memory_total_mib", {"memory_total_mib", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 0, false}, STATISTIC_MAX},
    {"power_mean_w", {"power_mean_w", SIGNAL_POWER, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"temperature_max_c", {"temperature_max_c", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false}, STATISTIC_MAX},
    {"tensor_mean_pct", {"tensor_mean_pct", SIGNAL_TENSOR, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"dram_mean_pct", {"dram_mean_pct", SIGNAL_DRAM, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"pcie_tx_mean_b_s", {"pcie_tx_mean_b_s", SIGNAL_PCIE_TX, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"pcie_rx_mean_b_s", {"pcie_rx_mean_b_s", SIGNAL_PCIE_RX, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"nvlink_tx_mean_b_s", {"nvlink_tx_mean_b_s", SIGNAL_NVLINK_TX, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"nvlink_rx_mean_b_s", {"nvlink_rx_mean_b_s", SIGNAL_NVLINK_RX, SCALE_ONE, 0, false}, STATISTIC_AVG},
    {"throttle_power_s", {"throttle_power_s", SIGNAL_THROTTLE_POWER, SCALE_SECONDS, 0, false}, STATISTIC_INCREASE},
    {"throttle_thermal_s", {"throttle_thermal_s", SIGNAL_THROTTLE_THERMAL, SCALE_SECONDS, 0, false}, STATISTIC_INCREASE},
    {"xid_changes", {"xid_changes", SIGNAL_XID, SCALE_LAST, 0, false}, STATISTIC_CHANGES},
};

enum { VALUE_COUNT = sizeof values / sizeof *values, SLOTS = VALUES + VALUE_COUNT, UTIL_MEAN = 2, SM_MEAN = 4 };

struct hours_file {
    struct telemetry_file *file;
    struct telemetry_feed *feed;
    struct csv *csv;
    struct field cell[SLOTS];
    bool is_taking;
};

/* ---------------------------------------------------------------- rows */

static size_t
labels_of(const struct hours_file *hours, struct arena *arena, struct label labels[IDENTITIES])
{
    size_t count = 0;

    for (int i = 0; i < IDENTITIES; i++) {
        struct field cell = csv_trim(hours->cell[i]);

        if (cell.size)
            labels[count++] = (struct label){identities[i][1], arena_strndup(arena, cell.text, cell.size)};
    }
    return count;
}

/* The one count of a row serves every mean of it that has none of its own: counts and means stand
 * in the order util, sm. */
static struct field
value_cell(const struct hours_file *hours, int i)
{
    struct field cell = csv_trim(hours->cell[VALUES + i]);

    if (i >= SIGNAL_SUMMED || cell.size || !csv_trim(hours->cell[VALUES + (i ? SM_MEAN : UTIL_MEAN)]).size)
        return cell;
    return csv_trim(hours->cell[SAMPLES]);
}

static const char *
take_values(struct hours_file *hours, const struct label *labels, size_t count, int64_t time_ms, bool *ret_good,
            struct error *err)
{
    for (int i = 0; i < VALUE_COUNT; i++) {
        struct field cell = value_cell(hours, i);
        double value;

        if (!cell.size)
            continue;
        if (!matrix_number(cell.text, cell.size, &value))
            return values[i].name;
        *ret_good = telemetry_value(hours->feed, labels, count, &values[i].metric, values[i].statistic,
                                    (struct matrix_value){time_ms, value}, hours->is_taking, err);
        if (!*ret_good)
            return NULL;
    }
    return NULL;
}

static void
reject(struct hours_file *hours, int64_t time_ms, const char *reason)
{
    struct field raw = csv_raw(hours->csv);

    if (hours->is_taking)
        telemetry_reject_line(hours->feed, time_ms > 0 ? time_ms : hours->file->object.first_ms, csv_line(hours->csv),
                              reason, raw.text, raw.size);
}

static bool
take_row(struct hours_file *hours, struct error *err)
{
    struct arena scratch = {0};
    struct label labels[IDENTITIES];
    struct field hour = csv_trim(hours->cell[HOUR]);
    const char *odd;
    int64_t time;
    bool good = true;

    hours->feed->line = csv_line(hours->csv);
    if (!time_parse(hour.text, hour.size, &time)) {
        reject(hours, 0, "hour is no time");
        return true;
    }
    odd = take_values(hours, labels, labels_of(hours, &scratch, labels), (time + HOUR_SECONDS) * SECOND_MS, &good, err);
    if (odd)
        reject(hours, (time + HOUR_SECONDS) * SECOND_MS, arena_printf(&scratch, "%s is no number", odd));
    arena_free(&scratch);
    return good;
}

static bool
find_columns(struct hours_file *hours, struct error *err)
{
    int want[SLOTS];

    for (int i = 0; i < IDENTITIES; i++)
        want[i] = csv_find(hours->csv, identities[i][0]);
    want[HOUR] = csv_find(hours->csv, "hour");
    want[SAMPLES] = csv_find(hours->csv, "samples");
    for (int i = 0; i < VALUE_COUNT; i++)
        want[VALUES + i] = csv_find(hours->csv, values[i].name);
    if (want[0] < 0 || want[HOUR] < 0 || want[SAMPLES] < 0) {
        error_set(err, ERR_INPUT, "no column %s", want[0] < 0 ? "gpu_uuid" : want[HOUR] < 0 ? "hour" : "samples");
        return error_hint(err, "A table of hours needs gpu_uuid, hour (when it begins, UTC) and samples (measurements of the "
                               "hour); gpu-audit.conf(5) lists the others.");
    }
    csv_want(hours->csv, want, SLOTS);
    return true;
}

static bool
read_rows(struct hours_file *hours, struct error *err)
{
    enum csv_status status;

    if (!csv_columns(hours->csv))
        return true;
    if (!find_columns(hours, err))
        return false;
    while ((status = csv_next(hours->csv, hours->cell, err)) != CSV_END) {
        if (status == CSV_ERROR)
            return false;
        if (status == CSV_BAD)
            reject(hours, 0, csv_reason(hours->csv));
        else if (!take_row(hours, err))
            return false;
    }
    return true;
}

static bool
read_file(const struct telemetry_files *files, struct telemetry_file *file, struct stream *stream,
          struct telemetry_feed *feed, bool is_taking, struct error *err)
{
    struct hours_file hours = {.file = file, .feed = feed, .is_taking = is_taking};
    bool good;

    (void)files;
    good = csv_open(&hours.csv, stream, err) && read_rows(&hours, err);
    csv_close(hours.csv);
    return good;
}

/* ---------------------------------------------------------------- source */

static bool
gpu_hours_ingest(struct source_run *run, struct error *err)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", NULL};
    static const struct telemetry_files_format format = {
        .suffixes = suffixes,
        .unusable_hint = "Mend the table, or take the file out of the folder; nothing of it was loaded.",
        .read = read_file,
    };

    return telemetry_files_load(run, &format, NULL, err);
}

static const char *const keys[] = {"path", "sample-interval", NULL};

const struct source source_gpu_hours = {
    .format = "csv",
    .title = "hours of GPUs from a table of your own",
    .kind = SOURCE_TELEMETRY,
    .keys = keys,
    .ingest = gpu_hours_ingest,
};
