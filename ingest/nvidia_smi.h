/*
 * Lines of `nvidia-smi --query-gpu=… --format=csv`: cells by a comma and a blank, never quoted;
 * units in the header or behind the values; what is absent in square brackets. A loop that was
 * restarted begins with its header again, maybe another one.
 * Format: nvidia-smi --help-query-gpu, and logs of drivers 535 to 610.
 */
#ifndef INGEST_NVIDIA_SMI_H
#define INGEST_NVIDIA_SMI_H

#include "common/arena.h"
#include "common/csv.h"
#include "ingest/signals.h"

enum { SMI_COLUMNS_MOST = 1024, SMI_TEXTS = 6 };

/* Columns that are no measurement. */
enum smi_text { SMI_TIMESTAMP, SMI_INDEX, SMI_UUID, SMI_NAME, SMI_BUS, SMI_HOST };

struct smi_measure; /* a row of the table of columns */

struct smi_columns {
    size_t count;
    int text[SMI_TEXTS];          /* column of each; -1: none */
    int of_signal[SIGNAL_COUNT];  /* column of the measurement to take; -1: none */
    const struct smi_measure *measure[SIGNAL_COUNT];
};

/* A header line, or the names a `columns` key gives. False: it is no header: it names none of ours. */
bool smi_header(struct field line, struct smi_columns *ret_columns);
/* Is this line, in a file with such columns, a header again? */
bool smi_is_header(struct field line);

struct smi_value {
    const struct metric *metric;
    double value;
};
struct smi_row {
    struct field text[SMI_TEXTS]; /* empty: absent */
    struct smi_value value[SIGNAL_COUNT];
    size_t value_count;
    const char *odd;              /* NULL, or the name of a measurement that is neither a number nor absent */
};
/* NULL, or why the line is no row. */
const char *smi_row(const struct smi_columns *columns, struct field line, struct smi_row *ret_row);

/* "2026/07/14 08:12:38.696" of a clock in some zone: milliseconds since 1970 as if it were UTC. */
bool smi_time(struct field text, int64_t *ret_local_ms);

#endif
