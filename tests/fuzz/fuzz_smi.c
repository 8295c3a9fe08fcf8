/*
 * Fuzzes lines of nvidia-smi: the first is a header, in each other one a header again or a row. Cells
 * must lie within their line, values be finite numbers of metrics, none more than there are signals.
 */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/nvidia_smi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_row(struct field line, const struct smi_row *row)
{
    int64_t local_ms;

    if (row->value_count > SIGNAL_COUNT)
        abort();
    for (size_t i = 0; i < row->value_count; i++)
        if (!row->value[i].metric || !isfinite(row->value[i].value))
            abort();
    for (int i = 0; i < SMI_TEXTS; i++)
        if (row->text[i].size && (row->text[i].text < line.text || row->text[i].text + row->text[i].size > line.text + line.size))
            abort();
    (void)smi_time(row->text[SMI_TIMESTAMP], &local_ms);
}

/* Each line is an allocation of its own, whose ends ASan watches. */
static void
take_line(struct field line, struct smi_columns *columns, bool *has_columns)
{
    char *copy = malloc(line.size ? line.size : 1);
    struct smi_row row;

    if (!copy)
        abort();
    memcpy(copy, line.text, line.size);
    line.text = copy;
    if (!*has_columns || smi_is_header(line)) {
        *has_columns = smi_header(line, columns);
    } else {
        const char *reason = smi_row(columns, line, &row);

        if (reason && !*reason)
            abort();
        if (!reason)
            check_row(line, &row);
    }
    free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    struct smi_columns columns;
    bool has_columns = false;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        stop = stop ? stop : end;
        take_line((struct field){at, (size_t)(stop - at)}, &columns, &has_columns);
        at = stop < end ? stop + 1 : end;
    }
    return 0;
}
