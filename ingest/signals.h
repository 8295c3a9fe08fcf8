/*
 * What is measured of a GPU, and under which names: metrics, labels and units of every era of
 * dcgm-exporter and of its neighbours, in one table each. Adding a name is a line in signals.c.
 */
#ifndef INGEST_SIGNALS_H
#define INGEST_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

enum signal {
    SIGNAL_UTIL,             /* percent */
    SIGNAL_SM,               /* percent */
    SIGNAL_MEMORY,           /* MiB in use */
    SIGNAL_POWER,            /* W */
    SIGNAL_TEMPERATURE,      /* degrees Celsius */
    SIGNAL_TENSOR,           /* percent: tensor pipes active */
    SIGNAL_DRAM,             /* percent: memory interface active */
    SIGNAL_MEMORY_TOTAL,     /* MiB */
    SIGNAL_PCIE_TX,          /* bytes a second */
    SIGNAL_PCIE_RX,
    SIGNAL_NVLINK_TX,
    SIGNAL_NVLINK_RX,
    SIGNAL_THROTTLE_POWER,   /* seconds an hour at lower clocks, for want of power */
    SIGNAL_THROTTLE_THERMAL, /* the same, for heat */
    SIGNAL_XID,              /* errors the driver reported */
    SIGNAL_COUNT
};

/* util and sm are kept as sums and counts, since everything is made of them; the others, gauges,
 * as one number an hour. */
enum { SIGNAL_SUMMED = SIGNAL_SM + 1, GAUGE_COUNT = SIGNAL_COUNT - SIGNAL_SUMMED };
enum gauge_kind {
    GAUGE_MAX,   /* the highest */
    GAUGE_MEAN,  /* the mean */
    GAUGE_TOTAL, /* an amount of the hour, added up */
};
bool signal_is_summed(enum signal signal);
enum gauge_kind signal_gauge(enum signal signal); /* of those from SIGNAL_SUMMED on */

/* How a value became: one sample, or a function of the samples of an hour. */
enum statistic {
    STATISTIC_SAMPLE,
    STATISTIC_COUNT,
    STATISTIC_SUM,
    STATISTIC_AVG,
    STATISTIC_MAX,
    STATISTIC_INCREASE, /* of a counter */
    STATISTIC_CHANGES,  /* how often the value became another one */
    STATISTIC_COUNT_OF
};

/* SCALE_AUTO: a share that some call 0..1 and some 0..100 under one name. A day on which any GPU
 * shows more than SHARE_RATIO_MOST is a day of percents. */
enum scale {
    SCALE_ONE,
    SCALE_RATIO,
    SCALE_AUTO,
    SCALE_BYTES,       /* where MiB are meant */
    SCALE_MILLI,       /* milliwatts */
    SCALE_NANO,        /* a counter of nanoseconds */
    SCALE_MICRO,       /* a counter of microseconds */
    SCALE_SECONDS,     /* a counter of seconds */
    SCALE_HOUR_SHARE,  /* 0 or 1: is it so now; its mean is a share of the hour */
    SCALE_LAST,        /* the last error there was: each change is one */
};

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

/* The one function of an hour's samples that tells a gauge of this scale. */
enum statistic signal_statistic(enum signal signal, enum scale scale);
/* Whether a value of this scale grows, so that only what it grew by says anything. */
bool signal_is_counter(enum scale scale);
/* A value as delivered in the unit of its signal. */
double signal_value(enum scale scale, double value);

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
