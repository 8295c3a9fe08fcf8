/* Names of columns: found, found twice, and those that no record has a cell for. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/csv_private.h"

enum { SURVEY_RECORDS = 100 };

/* ---------------------------------------------------------------- cells that are not there */

/* Cells of the record at `text`; 0 when it does not end in a line end. *ret_end: behind it. */
static size_t
count_cells(const char *text, const char *end, char delimiter, const char **ret_end)
{
    size_t cells = 1;
    bool quoted = false;

    for (; text < end; text++) {
        quoted ^= *text == '"';
        if (quoted)
            continue;
        cells += *text == delimiter;
        if (*text == '\n') {
            *ret_end = text + 1;
            return cells;
        }
    }
    return 0;
}

static bool
is_blank(const char *text, const char *end)
{
    return text < end && (*text == '\n' || (*text == '\r' && text + 1 < end && text[1] == '\n'));
}

/* How many cells all of the first records have; 0 when they do not agree. Only whole records count:
 * a file cut short must not look like one that lacks a column. */
static size_t
survey(const struct csv *csv)
{
    const char *at = csv->window + csv->record + csv->record_size, *end = csv->window + csv->size;
    size_t agreed = 0;

    for (int i = 0; i < SURVEY_RECORDS && at < end; i++) {
        const char *start = at + 1 < end && i == 0 && *at == '\n' ? at + 1 : at;
        size_t cells = count_cells(start, end, csv->delimiter, &at);

        if (!cells)
            break;
        if (is_blank(start, end))
            continue;
        if (agreed && cells != agreed)
            return 0;
        agreed = cells;
    }
    return agreed;
}

static void
add_note(struct csv *csv, const char *text, const char *name)
{
    size_t used = strlen(csv->note);

    snprintf(csv->note + used, sizeof csv->note - used, "%s%s%s", used ? "; " : "", text, name);
}

/* ---------------------------------------------------------------- names */

void
csv_header_keep(struct csv *csv)
{
    size_t present = survey(csv);
    char text[128];

    csv->name = mem_resize(NULL, csv->cells, sizeof *csv->name);
    for (size_t i = 0; i < csv->cells; i++) {
        struct field raw = csv_cell(csv, i), name;
        char *copy = mem_resize(NULL, 2, raw.size + 1);

        (void)csv_decode(raw, copy + raw.size + 1, &name);
        name = csv_trim(name);
        memmove(copy, name.text, name.size);
        copy[name.size] = '\0';
        csv->name[i] = copy;
    }
    csv->columns = csv->cells;
    if (!present || present >= csv->columns)
        return;
    snprintf(text, sizeof text, "the header has %zu columns and every row %zu cells: taken as not there: ", csv->columns,
             present);
    add_note(csv, text, csv->name[present]);
    while (csv->columns > present)
        free(csv->name[--csv->columns]);
}

size_t
csv_columns(const struct csv *csv)
{
    return csv->columns;
}

const char *
csv_name(const struct csv *csv, size_t column)
{
    return csv->name[column];
}

int
csv_find(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (!strcmp(csv->name[i], name))
            return (int)i;
    for (size_t i = 0; i < csv->columns; i++)
        if (!strcasecmp(csv->name[i], name))
            return (int)i;
    return -1;
}

int
csv_find_translated(const struct csv *csv, const char *name)
{
    int at = csv_find(csv, name);
    size_t size = strlen(name);

    for (size_t i = 0; i < csv->columns && at < 0; i++) {
        const char *open = strrchr(csv->name[i], '(');

        if (open && open != csv->name[i] && !strncasecmp(open + 1, name, size) && !strcmp(open + 1 + size, ")"))
            at = (int)i;
    }
    return at;
}

/* ---------------------------------------------------------------- names that stand twice */

static bool
is_wanted(const struct csv *csv, size_t column)
{
    for (size_t i = 0; i < csv->wanted; i++)
        if (csv->want[i] == (int)column)
            return true;
    return false;
}

static void
find_twins(struct csv *csv, size_t slot)
{
    const char *name = csv->name[csv->want[slot]];

    for (size_t column = 0; column < csv->columns; column++) {
        if (column == (size_t)csv->want[slot] || strcmp(csv->name[column], name) || is_wanted(csv, column))
            continue;
        csv->twins = mem_resize(csv->twins, csv->twin_count + 1, sizeof *csv->twins);
        csv->twins[csv->twin_count++] = (struct csv_twin){slot, column};
        add_note(csv, "two columns have the name, the first is taken: ", name);
    }
}

void
csv_want(struct csv *csv, const int *want, size_t count)
{
    csv->want = mem_resize(csv->want, count ? count : 1, sizeof *csv->want);
    memcpy(csv->want, want, count * sizeof *want);
    csv->wanted = count;
    for (size_t slot = 0; slot < count; slot++)
        if (want[slot] >= 0)
            find_twins(csv, slot);
}

bool
csv_header_differs(struct csv *csv)
{
    for (size_t i = 0; i < csv->twin_count; i++) {
        size_t column = (size_t)csv->want[csv->twins[i].slot];
        struct field first = csv_cell(csv, column), other = csv_cell(csv, csv->twins[i].column);

        if (first.size == other.size && !memcmp(first.text, other.text, first.size))
            continue;
        snprintf(csv->reason, sizeof csv->reason, "two columns %.40s that differ", csv->name[column]);
        return true;
    }
    return false;
}

const char *
csv_note(const struct csv *csv)
{
    return csv->note;
}

void
csv_header_free(struct csv *csv)
{
    for (size_t i = 0; i < csv->columns; i++)
        free(csv->name[i]);
    free(csv->name);
    free(csv->twins);
}
