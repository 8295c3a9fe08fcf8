/* The header of a bill: which column of the file stands in which slot of its format. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ingest/billing_private.h"

static int
column_of(const struct csv *csv, const struct bill_column *column)
{
    for (int i = 0; i < BILL_ALIASES && column->names[i]; i++) {
        int at = csv_find(csv, column->names[i]);

        if (at >= 0)
            return at;
    }
    return -1;
}

static bool
missing(const struct bill_reader *reader, const struct bill_column *column, struct error *err)
{
    const char *const *alias = column->names;
    char there[512] = "";
    size_t used = 0, columns = csv_columns(reader->csv);

    for (size_t i = 0; i < columns && used < sizeof there; i++)
        used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i ? ", " : "", csv_name(reader->csv, i));
    error_set(err, ERR_INPUT, "no column %s", alias[0]);
    error_detail(err, "%s%s%s%s%sthe file has %zu columns: %s%s", alias[1] ? "known too as " : "", alias[1] ? alias[1] : "",
                 alias[1] && alias[2] ? ", " : "", alias[1] && alias[2] ? alias[2] : "", alias[1] ? "; " : "", columns, there,
                 used >= sizeof there ? " ..." : "");
    return error_hint(err, "%s", reader->format->version_hint);
}

static enum bill_part
part_of(const struct bill_reader *reader, size_t slot)
{
    return slot < reader->format->count ? reader->format->columns[slot].part : BILL_ITEM;
}

/* Groups the slots of a part by their place in the file. */
static void
find_ranges(struct bill_reader *reader, enum bill_part part)
{
    size_t count = 0;
    int last = -2;

    for (int column = 0; column < (int)csv_columns(reader->csv); column++)
        for (size_t slot = 0; slot < reader->slots; slot++) {
            if (reader->want[slot] != column || part_of(reader, slot) != part)
                continue;
            if (column == last + 1)
                reader->ranges[part - BILL_CLASS][count - 1].last = slot;
            else
                reader->ranges[part - BILL_CLASS][count++] = (struct bill_range){slot, slot};
            last = column;
            break;
        }
    reader->range_count[part - BILL_CLASS] = count;
}

/* Slots for the columns that begin with a prefix the format asks for and are no slot yet. */
static bool
gather(struct bill_reader *reader, struct error *err)
{
    for (size_t column = 0; column < csv_columns(reader->csv); column++) {
        const char *name = csv_name(reader->csv, column);
        size_t prefix = 0;

        for (const char *const *at = reader->format->gather; *at && !prefix; at++)
            prefix = strncasecmp(name, *at, strlen(*at)) ? 0 : strlen(*at);
        for (size_t slot = 0; slot < reader->slots; slot++)
            prefix = reader->want[slot] == (int)column ? 0 : prefix;
        if (!prefix)
            continue;
        if (reader->slots == reader->format->count + BILL_GATHERED)
            return error_set(err, ERR_INPUT, "more than %d columns of tags", BILL_GATHERED);
        reader->gathered[reader->slots - reader->format->count].name = name + prefix;
        reader->want[reader->slots++] = (int)column;
    }
    return true;
}

bool
bill_header_read(struct bill_reader *reader, struct error *err)
{
    const struct bill_format *format = reader->format;

    for (size_t i = 0; i < format->count; i++) {
        reader->want[i] = column_of(reader->csv, &format->columns[i]);
        if (reader->want[i] < 0 && format->columns[i].is_required)
            return missing(reader, &format->columns[i], err);
    }
    reader->slots = format->count;
    reader->has_invoice = format->invoice && reader->want[format->invoice] >= 0;
    if (format->gather && !gather(reader, err))
        return false;
    csv_want(reader->csv, reader->want, reader->slots);
    find_ranges(reader, BILL_CLASS);
    find_ranges(reader, BILL_ITEM);
    return true;
}
