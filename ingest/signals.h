/*
 * What is measured of a GPU, and under which names: metrics, labels and units of every era of
 * dcgm-exporter and of its neighbours, in one table each. Adding a name is a line in signals.c.
 */
#ifndef INGEST_SIGNALS_H
#define INGEST_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

enum signal {
    SIGNAL_UTIL,
    SIGNAL_SM,
    SIGNAL_MEMORY,
    SIGNAL_POWER,
    SIGNAL_TEMPERATURE,
    SIGNAL_COUNT
};

/* How a value became: one sample, or a function of the samples of an hour. */
enum statistic {
    STATISTIC_SAMPLE,
    STATISTIC_COUNT,
    STATISTIC_SUM,
    STATISTIC_AVG,
    STATISTIC_MAX,
    STATISTIC_COUNT_OF
};

/* SCALE_AUTO: a share that some call 0..1 and some 0..100 under one name. A day on which any GPU
 * shows more than SHARE_RATIO_MOST is a day of percents. */
enum scale { SCALE_ONE, SCALE_RATIO, SCALE_AUTO, SCALE_BYTES };

struct metric {
    const char *name;
    enum signal signal;
    enum scale scale;
    int rank;       /* of several names of one signal that a GPU has, the lowest wins */
    bool is_engine; /* graphics engine activity: stands in where the driver has no utilization (MIG)
                     */
};

enum identity {
    IDENTITY_UUID,
    IDENTITY_MIG_ID,
    IDENTITY_MIG_PROFILE,
    IDENTITY_HOST,
    IDENTITY_INSTANCE_ID,
    IDENTITY_GPU_INDEX,
    IDENTITY_MODEL,
    IDENTITY_NAMESPACE,
    IDENTITY_POD,
    IDENTITY_COUNT,
};

struct label {
    const char *name, *value; /* NUL-terminated */
};

struct gpu_identity {
    const char *text[IDENTITY_COUNT]; /* NULL where no label says; into the labels, or into host */
    char host[256];                   /* where the host had to be taken out of an address */
};

extern const struct metric signal_metrics[]; /* ends with a NULL name */
extern const double SHARE_RATIO_MOST;

const struct metric *signal_metric(const char *name); /* NULL: none of ours */
const char *signal_name(enum signal signal);          /* "util": in file names and messages */

/* "util_avg-2026-07-000.json.gz" -> SIGNAL_UTIL, STATISTIC_AVG. False: the name says nothing. */
bool signal_of_file(const char *file_name, struct metric *ret_metric,
                    enum statistic *ret_statistic);

/* Whether a value as delivered can be: inside the physical range of its signal and scale, a number.
 * Vendor blanks (2147483632, 9223372036854775794, 140737488355328) are outside of every range. */
bool signal_in_range(enum signal signal, enum scale scale, double value);

/* Who reported a series. False without a UUID. */
bool signal_identity(const struct label *labels, size_t count, struct gpu_identity *ret_identity);

/* Every label that signal_identity reads, for by (...); NULL-ended. */
extern const char *const signal_labels[];

#endif
