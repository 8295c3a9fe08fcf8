/* The header of a bill: which column of the file stands in which slot of its format. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ingest/billing_private.h"

static int
column_of(const struct record *record, const struct bill_column *column)
{
    for (int i = 0; i < BILL_ALIASES && column->names[i]; i++) {
        int at = record_find(record, column->names[i]);

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
    size_t used = 0, columns = record_columns(&reader->record);

    for (size_t i = 0; i < columns && used < sizeof there; i++)
        used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i ? ", " : "", record_name(&reader->record, i));
    error_set(err, ERR_INPUT, "no column %s", alias[0]);
    error_detail(err, "%s%s%s%s%sthe file has %zu columns: %s%s", alias[1] ? "known too as " : "", alias[1] ? alias[1] : "",
                 alias[1] && alias[2] ? ", " : "", alias[1] && alias[2] ? alias[2] : "", alias[1] ? "; " : "", columns, there,
                 used >= sizeof there ? " ..." : "");
    return error_hint(err, "%s%s", reader->format->version_hint,
                      strstr(reader->format->version_hint, "map") || strstr(reader->format->version_hint, "format = csv")
                          ? "" : " Any other table of charges can be read with format = csv and a map of its columns.");
}

static enum bill_part
part_of(const struct bill_reader *reader, size_t slot)
{
    return slot < reader->format->count ? reader->format->columns[slot].part : BILL_ITEM;
}

/* In JSON keys stand in any order: each slot by itself. */
static void
find_singles(struct bill_reader *reader, enum bill_part part)
{
    size_t count = 0;

    for (size_t slot = 0; slot < reader->slots; slot++)
        if (part_of(reader, slot) == part)
            reader->ranges[part - BILL_CLASS][count++] = (struct bill_range){slot, slot};
    reader->range_count[part - BILL_CLASS] = count;
}

/* Groups the slots of a part by their place in the file. */
static void
find_ranges(struct bill_reader *reader, enum bill_part part)
{
    size_t count = 0;
    int last = -2;

    for (int column = 0; column < (int)record_columns(&reader->record); column++)
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

static size_t
prefix_of(const struct bill_format *format, const char *name)
{
    for (const char *const *at = format->gather; *at; at++)
        if (!strncasecmp(name, *at, strlen(*at)))
            return strlen(*at);
    return 0;
}

/* As record_find looks for names, and no less: of a name with more than the name, any part. */
bool
bill_header_wants(const void *context, const char *name)
{
    const struct bill_format *format = context;
    bool is_more = strpbrk(name, "( \t");

    if (format->gather && prefix_of(format, name + strspn(name, " \t")))
        return true;
    for (size_t i = 0; i < format->count; i++)
        for (int k = 0; k < BILL_ALIASES && format->columns[i].names[k]; k++) {
            const char *alias = format->columns[i].names[k];

            if (is_more ? strcasestr(name, alias) != NULL : !strcasecmp(name, alias))
                return true;
        }
    return false;
}

/* Slots for the columns that begin with a prefix the format asks for and are no slot yet. */
static bool
gather_columns(struct bill_reader *reader, struct error *err)
{
    for (size_t column = 0; column < record_columns(&reader->record); column++) {
        const char *name = record_name(&reader->record, column);
        size_t prefix = prefix_of(reader->format, name);

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

/* All names a slot may have: a record may have one that those before it had not. */
static void
want_names(struct bill_reader *reader)
{
    const struct bill_format *format = reader->format;

    for (size_t i = 0; i < format->count; i++)
        for (unsigned order = 0; order < BILL_ALIASES && format->columns[i].names[order]; order++)
            record_alias(&reader->record, i, format->columns[i].names[order], order);
    if (format->gather)
        record_gather(&reader->record, format->gather, format->count, BILL_GATHERED);
    find_singles(reader, BILL_CLASS);
    find_singles(reader, BILL_ITEM);
}

bool
bill_header_read(struct bill_reader *reader, struct error *err)
{
    const struct bill_format *format = reader->format;

    for (size_t i = 0; i < format->count; i++) {
        reader->want[i] = column_of(&reader->record, &format->columns[i]);
        if (reader->want[i] < 0 && format->columns[i].is_required)
            return missing(reader, &format->columns[i], err);
    }
    reader->slots = format->count;
    reader->has_invoice = format->invoice && reader->want[format->invoice] >= 0;
    if (format->gather && !record_is_json(&reader->record) && !gather_columns(reader, err))
        return false;
    record_want(&reader->record, reader->want, reader->slots);
    if (record_is_json(&reader->record)) {
        want_names(reader);
        return true;
    }
    find_ranges(reader, BILL_CLASS);
    find_ranges(reader, BILL_ITEM);
    return true;
}

void
bill_header_grow(struct bill_reader *reader)
{
    while (reader->slots < reader->format->count + record_gathered(&reader->record)) {
        size_t number = reader->slots++ - reader->format->count;
        const char *name = record_gathered_name(&reader->record, number);

        reader->gathered[number].name = name + prefix_of(reader->format, name);
    }
    find_singles(reader, BILL_ITEM);
}
