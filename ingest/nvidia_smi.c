#include <config.h>

#include "ingest/nvidia_smi.h"

#include <math.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/billing.h"
#include "ingest/matrix.h"

struct smi_measure {
    const char *name;
    const char *unit; /* "" for none */
    struct metric metric;
};

/* Best first: of several columns of one signal the first that is there is taken. */
static const struct smi_measure measures[] = {
    {"utilization.gpu", "%", {"utilization.gpu", SIGNAL_UTIL, SCALE_ONE, 0, false}},
    {"memory.used", "MiB", {"memory.used", SIGNAL_MEMORY, SCALE_ONE, 0, false}},
    {"memory.total", "MiB", {"memory.total", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 0, false}},
    {"power.draw", "W", {"power.draw", SIGNAL_POWER, SCALE_ONE, 0, false}},
    {"power.draw.average", "W", {"power.draw.average", SIGNAL_POWER, SCALE_ONE, 0, false}},
    {"power.draw.instant", "W", {"power.draw.instant", SIGNAL_POWER, SCALE_ONE, 0, false}},
    {"temperature.gpu", "", {"temperature.gpu", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false}},
    {"clocks_event_reasons_counters.sw_power_cap", "us",
     {"clocks_event_reasons_counters.sw_power_cap", SIGNAL_THROTTLE_POWER, SCALE_MICRO, 0, false}},
    {"clocks_event_reasons.sw_power_cap", "",
     {"clocks_event_reasons.sw_power_cap", SIGNAL_THROTTLE_POWER, SCALE_HOUR_SHARE, 0, false}},
    {"clocks_throttle_reasons.sw_power_cap", "",
     {"clocks_throttle_reasons.sw_power_cap", SIGNAL_THROTTLE_POWER, SCALE_HOUR_SHARE, 0, false}},
    {"clocks_event_reasons_counters.sw_thermal_slowdown", "us",
     {"clocks_event_reasons_counters.sw_thermal_slowdown", SIGNAL_THROTTLE_THERMAL, SCALE_MICRO, 0, false}},
    {"clocks_event_reasons.sw_thermal_slowdown", "",
     {"clocks_event_reasons.sw_thermal_slowdown", SIGNAL_THROTTLE_THERMAL, SCALE_HOUR_SHARE, 0, false}},
    {"clocks_throttle_reasons.sw_thermal_slowdown", "",
     {"clocks_throttle_reasons.sw_thermal_slowdown", SIGNAL_THROTTLE_THERMAL, SCALE_HOUR_SHARE, 0, false}},
};

enum { MEASURES = sizeof measures / sizeof *measures };

static const char *const texts[SMI_TEXTS][3] = {
    [SMI_TIMESTAMP] = {"timestamp", NULL},
    [SMI_INDEX] = {"index", NULL},
    [SMI_UUID] = {"uuid", "gpu_uuid", NULL},
    [SMI_NAME] = {"name", "gpu_name", NULL},
    [SMI_BUS] = {"pci.bus_id", "gpu_bus_id", NULL},
    [SMI_HOST] = {"hostname", NULL},
};

/* ---------------------------------------------------------------- cells */

/* Takes the next cell off a line. False at its end. */
static bool
next_cell(struct field *line, struct field *ret_cell)
{
    const char *comma;

    if (!line->text)
        return false;
    comma = line->size ? memchr(line->text, ',', line->size) : NULL;
    *ret_cell = csv_trim((struct field){line->text, comma ? (size_t)(comma - line->text) : line->size});
    *line = comma ? (struct field){comma + 1, line->size - (size_t)(comma + 1 - line->text)} : (struct field){NULL, 0};
    return true;
}

/* "power.draw [W]" without its unit, which goes to *ret_unit. */
static struct field
without_unit(struct field cell, struct field *ret_unit)
{
    const char *open = cell.size ? memchr(cell.text, '[', cell.size) : NULL;

    *ret_unit = (struct field){"", 0};
    if (!open || cell.text[cell.size - 1] != ']')
        return cell;
    *ret_unit = (struct field){open + 1, cell.size - (size_t)(open - cell.text) - 2};
    return csv_trim((struct field){cell.text, (size_t)(open - cell.text)});
}

/* ---------------------------------------------------------------- header */

static void
take_name(struct field cell, int column, struct smi_columns *columns, int best[SIGNAL_COUNT])
{
    struct field unit, name = without_unit(cell, &unit);

    for (int text = 0; text < SMI_TEXTS; text++)
        for (int i = 0; texts[text][i]; i++)
            if (columns->text[text] < 0 && bill_is(name, texts[text][i]))
                columns->text[text] = column;
    for (int i = 0; i < MEASURES; i++) {
        enum signal signal = measures[i].metric.signal;

        if (!bill_is(name, measures[i].name) || i >= best[signal])
            continue;
        if (unit.size && !bill_is(unit, measures[i].unit))
            continue; /* in a unit nobody has seen: unknown is better than wrong */
        best[signal] = i;
        columns->of_signal[signal] = column;
        columns->measure[signal] = &measures[i];
    }
}

bool
smi_header(struct field line, struct smi_columns *ret_columns)
{
    struct field cell;
    int best[SIGNAL_COUNT], column = 0;
    bool is_any = false;

    for (int i = 0; i < SMI_TEXTS; i++)
        ret_columns->text[i] = -1;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        ret_columns->of_signal[i] = -1;
        best[i] = MEASURES;
    }
    while (next_cell(&line, &cell) && column < SMI_COLUMNS_MOST)
        take_name(cell, column++, ret_columns, best);
    ret_columns->count = (size_t)column;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        is_any |= ret_columns->of_signal[i] >= 0;
    return is_any;
}

bool
smi_is_header(struct field line)
{
    struct smi_columns columns;
    struct field cell;

    /* names are lower case; rows begin with a time, a number or a model */
    if (!line.size || line.text[0] < 'a' || line.text[0] > 'z')
        return false;
    for (struct field rest = line; next_cell(&rest, &cell);)
        if (bill_is(cell, "timestamp"))
            return true;
    return smi_header(line, &columns);
}

/* ---------------------------------------------------------------- rows */

static bool
is_absent(struct field cell)
{
    return !cell.size || cell.text[0] == '[' || bill_is(cell, "N/A") || bill_is(cell, "Not Supported");
}

/* "38 %", "40211", "Active". */
static bool
cell_value(struct field cell, const char *unit, double *ret_value)
{
    const char *blank = memchr(cell.text, ' ', cell.size);
    struct field number = {cell.text, blank ? (size_t)(blank - cell.text) : cell.size};

    if (bill_is(cell, "Active") || bill_is(cell, "Not Active")) {
        *ret_value = cell.size == 6;
        return true;
    }
    if (blank && !bill_is(csv_trim((struct field){blank, cell.size - number.size}), unit))
        return false;
    return matrix_number(number.text, number.size, ret_value) && isfinite(*ret_value);
}

static void
take_cell(const struct smi_columns *columns, int column, struct field cell, struct smi_row *row)
{
    if (is_absent(cell))
        return;
    for (int i = 0; i < SMI_TEXTS; i++)
        if (columns->text[i] == column)
            row->text[i] = cell;
    for (int signal = 0; signal < SIGNAL_COUNT; signal++) {
        struct smi_value *value = &row->value[row->value_count];

        if (columns->of_signal[signal] != column)
            continue;
        value->metric = &columns->measure[signal]->metric;
        if (cell_value(cell, columns->measure[signal]->unit, &value->value))
            row->value_count++;
        else
            row->odd = value->metric->name;
    }
}

const char *
smi_row(const struct smi_columns *columns, struct field line, struct smi_row *ret_row)
{
    struct field cell;
    int column = 0;

    memset(ret_row, 0, sizeof *ret_row);
    while (next_cell(&line, &cell) && column < SMI_COLUMNS_MOST)
        take_cell(columns, column++, cell, ret_row);
    return (size_t)column == columns->count ? NULL : "not as many cells as the header has names";
}

bool
smi_time(struct field text, int64_t *ret_local_ms)
{
    char iso[20];
    int64_t seconds;
    int milliseconds = 0;

    if (text.size < 19 || text.text[4] != '/' || text.text[7] != '/')
        return false;
    memcpy(iso, text.text, 19);
    iso[4] = iso[7] = '-';
    if (!time_parse(iso, 19, &seconds))
        return false;
    if (text.size > 19) {
        if (text.size != 23 || text.text[19] != '.')
            return false;
        for (int i = 20; i < 23; i++) {
            if (text.text[i] < '0' || text.text[i] > '9')
                return false;
            milliseconds = milliseconds * 10 + (text.text[i] - '0');
        }
    }
    *ret_local_ms = seconds * 1000 + milliseconds;
    return true;
}
