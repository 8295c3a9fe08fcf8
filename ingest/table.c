#include <config.h>

#include "ingest/table.h"

#include <stdio.h>
#include <string.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "common/log.h"

enum { STAGE_FIXED = 3, PROGRESS_ROWS = 1024 };

struct table_file { /* one file on its way into the stage */
    struct dimension *dim;
    const struct table *table;
    size_t object;
    struct csv *csv;
    struct copy *copy;
    struct arena scratch;
};

struct field
field_trim(struct field field)
{
    while (field.size > 0 && strchr(" \t\r\n", field.text[0])) {
        field.text++;
        field.size--;
    }
    while (field.size > 0 && strchr(" \t\r\n", field.text[field.size - 1])) {
        field.size--;
    }
    return field;
}

static bool
month_parse(struct field cell, int64_t *ret_time)
{
    char text[16];
    int64_t time = 0;

    if (cell.size == 7) {
        snprintf(text, sizeof(text), "%.7s-01", cell.text);
        cell = (struct field){text, 10};
    }
    if (!time_parse(cell.text, cell.size, &time)) {
        return false;
    }
    *ret_time = month_start(time);
    return true;
}

/* Above zero: no sign, and a digit that is not 0 before an exponent. */
static bool
is_above_zero(struct field cell)
{
    for (size_t i = 0; i < cell.size && cell.text[i] != 'e' && cell.text[i] != 'E'; i++) {
        if (cell.text[i] == '-') {
            return false;
        }
        if (cell.text[i] >= '1' && cell.text[i] <= '9') {
            return true;
        }
    }
    return false;
}

bool
cell_valid(enum cell_kind kind, struct field cell, int64_t *ret_time)
{
    switch (kind) {
    case CELL_TEXT:
        return true;
    case CELL_NUMBER:
        return decimal_valid(cell.text, cell.size);
    case CELL_COUNT:
        return decimal_valid(cell.text, cell.size) && is_above_zero(cell);
    case CELL_TIME:
    case CELL_DATE:
        return time_parse(cell.text, cell.size, ret_time);
    case CELL_MONTH:
        return month_parse(cell, ret_time);
    }
    return false;
}

static const char *
kind_words(enum cell_kind kind)
{
    switch (kind) {
    case CELL_NUMBER:
        return "a number such as 12.5";
    case CELL_COUNT:
        return "a number above 0";
    case CELL_TIME:
        return "a time such as 2026-07-01T00:00:00Z";
    case CELL_DATE:
        return "a date such as 2026-07-01";
    case CELL_MONTH:
        return "a month such as 2026-07";
    default:
        return "text";
    }
}

/* ---------------------------------------------------------------- header */

static int
column_find(const struct csv *csv, const struct table_column *column)
{
    int at = csv_find(csv, column->name);

    return at < 0 && column->other ? csv_find(csv, column->other) : at;
}

static const struct table_column *
column_missing(const struct csv *csv, const struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_needed && column_find(csv, &table->columns[i]) < 0) {
            return &table->columns[i];
        }
    }
    return NULL;
}

static bool
header_refused(const struct table_file *file, const struct table *table, struct error *err)
{
    const struct dimension_object *object = &file->dim->objects[file->object];
    const struct table_column *missing = column_missing(file->csv, table);
    char there[400] = "";
    size_t used = 0;

    for (size_t i = 0; i < csv_columns(file->csv) && used + 80 < sizeof(there); i++) {
        used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%.60s", i ? ", " : "",
                                 csv_name(file->csv, i));
    }
    error_set(err, ERR_INPUT, "%s line 1: no column \"%s\", which %s needs",
              object->path ? object->path : object->name, missing->name, table->title);
    error_detail(err, "its columns are: %s", there);
    return error_hint(
        err, "Give the file a header line with that column; names are compared without case.");
}

/* A column nobody reads may be a misspelt one. */
static void
header_warn(const struct table_file *file)
{
    const struct table *table = file->table;

    for (size_t i = 0; i < csv_columns(file->csv); i++) {
        bool is_known = !*csv_name(file->csv, i);

        for (size_t j = 0; j < table->column_count && !is_known; j++) {
            is_known = column_find(file->csv, &table->columns[j]) == (int)i;
        }
        if (!is_known) {
            log_warning("%s: column \"%s\" is not one of %s and was not read",
                        file->dim->objects[file->object].name, csv_name(file->csv, i),
                        table->title);
        }
    }
}

static bool
header_read(struct table_file *file, const struct table *const *tables, size_t table_count,
            struct error *err)
{
    int want[TABLE_COLUMNS];

    for (size_t i = 0; i < table_count && !file->table; i++) {
        file->table = column_missing(file->csv, tables[i]) ? NULL : tables[i];
    }
    if (!file->table) {
        return header_refused(file, tables[table_count - 1], err);
    }
    for (size_t i = 0; i < file->table->column_count; i++) {
        want[i] = column_find(file->csv, &file->table->columns[i]);
    }
    csv_want(file->csv, want, file->table->column_count);
    header_warn(file);
    return true;
}

/* ---------------------------------------------------------------- records */

/* Trims and checks the cells; times[i] is set where the kind is a time. */
static bool
cells_check(const struct table *table, struct field *cells, int64_t *times,
            char reason[TABLE_REASON])
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];

        cells[i] = field_trim(cells[i]);
        if (cells[i].size == 0 && column->is_needed) {
            snprintf(reason, TABLE_REASON, "%s is empty", column->name);
            return false;
        }
        if (cells[i].size > 0 && !cell_valid(column->kind, cells[i], &times[i])) {
            snprintf(reason, TABLE_REASON, "%s is \"%.*s\", not %s", column->name,
                     (int)(cells[i].size < 60 ? cells[i].size : 60), cells[i].text,
                     kind_words(column->kind));
            return false;
        }
    }
    return true;
}

static void
cell_copy(struct copy *copy, enum cell_kind kind, struct field cell, int64_t time)
{
    if (cell.size == 0) {
        copy_null(copy);
    } else if (kind == CELL_NUMBER || kind == CELL_COUNT) {
        copy_numeric(copy, cell.text, cell.size);
    } else if (kind == CELL_TIME) {
        copy_time(copy, time);
    } else if (kind == CELL_DATE || kind == CELL_MONTH) {
        copy_date(copy, time);
    } else {
        copy_text(copy, cell.text, cell.size);
    }
}

static bool
record_stage(struct table_file *file, struct field *cells, struct error *err)
{
    const struct table *table = file->table;
    struct field raw = csv_raw(file->csv);
    const char *extra[TABLE_EXTRA] = {NULL};
    char reason[TABLE_REASON] = "";
    int64_t times[TABLE_COLUMNS] = {0};

    if (!cells_check(table, cells, times, reason) ||
        (table->derive && !table->derive(file->dim->run, &file->scratch, cells, extra, reason))) {
        dimension_reject(file->dim, file->object, csv_line(file->csv), raw, "%s", reason);
        return true;
    }
    copy_int4(file->copy, (int32_t)file->object);
    copy_int8(file->copy, (int64_t)csv_line(file->csv));
    copy_text(file->copy, raw.text,
              raw.size < DIMENSION_RECORD_BYTES ? raw.size : DIMENSION_RECORD_BYTES);
    for (size_t i = 0; i < table->column_count; i++) {
        cell_copy(file->copy, table->columns[i].kind, cells[i], times[i]);
    }
    for (size_t i = 0; i < table->extra_count; i++) {
        copy_cstring(file->copy, extra[i]);
    }
    return copy_row(file->copy, err);
}

static bool
records_stage(struct table_file *file, struct error *err)
{
    struct field cells[TABLE_COLUMNS];
    struct dimension_object *object = &file->dim->objects[file->object];
    enum csv_status status;

    while ((status = csv_next(file->csv, cells, err)) == CSV_RECORD || status == CSV_BAD) {
        struct arena_mark mark = arena_mark(&file->scratch);
        bool good = true;

        object->read++;
        if (status == CSV_BAD) {
            dimension_reject(file->dim, file->object, csv_line(file->csv), csv_raw(file->csv), "%s",
                             csv_reason(file->csv));
        } else {
            good = record_stage(file, cells, err);
        }
        arena_reset(&file->scratch, mark);
        if (!good || (object->read % PROGRESS_ROWS == 0 && !interrupt_check(err))) {
            return false;
        }
    }
    return status == CSV_END;
}

/* ---------------------------------------------------------------- files */

static bool
stage_copy(struct table_file *file, struct error *err)
{
    struct error ignored = {0};
    const struct table *table = file->table;

    if (!db_run(file->dim->run->db, table->stage, 0, NULL, err) ||
        !copy_begin(&file->copy, file->dim->run->db, table->copy_sql,
                    (int)(STAGE_FIXED + table->column_count + table->extra_count), err)) {
        return false;
    }
    if (!records_stage(file, err)) {
        (void)!copy_end(file->copy, err->text, &ignored);
        return false;
    }
    return copy_end(file->copy, NULL, err);
}

/* What was hashed must be what was read. */
static bool
file_same(const struct dimension_object *object, const struct stream *stream, struct error *err)
{
    char sha256[65];

    stream_sha256(stream, sha256);
    if (strcmp(sha256, object->sha256) != 0) {
        error_set(err, ERR_INPUT, "%s changed while it was read", object->path);
        return error_hint(err, "Run the command again once the file is complete.");
    }
    return true;
}

static bool
file_stage(struct dimension *dim, size_t object, const struct table *const *tables,
           size_t table_count, const struct table **ret_table, struct error *err)
{
    struct table_file file = {.dim = dim, .object = object};
    struct stream *stream = NULL;
    bool good =
        stream_open(&stream, dim->objects[object].path, err) && csv_open(&file.csv, stream, err);

    if (!good) {
        error_context(err, "%s", dim->objects[object].name);
    }
    good = good && header_read(&file, tables, table_count, err) && stage_copy(&file, err) &&
           file_same(&dim->objects[object], stream, err);
    csv_close(file.csv);
    stream_close(stream);
    arena_free(&file.scratch);
    if (good) {
        *ret_table = file.table;
    }
    return good;
}

static bool
stages_finish(struct dimension *dim, const struct table *const *tables, size_t table_count,
              const bool *is_used, struct error *err)
{
    for (size_t i = 0; i < table_count; i++) {
        const struct table *table = tables[i];

        /* an empty stage still replaces: rows that left the file leave the table */
        if ((!is_used[i] && !db_run(dim->run->db, table->stage, 0, NULL, err)) ||
            (table->refuse && !dimension_refuse(dim, table->refuse, err)) ||
            !db_run(dim->run->db, table->replace, 0, NULL, err)) {
            return false;
        }
    }
    return true;
}

bool
table_load(struct dimension *dim, const struct table *const *tables, size_t table_count,
           struct error *err)
{
    bool is_used[8] = {false};
    bool good = table_count <= 8 && dimension_begin(dim, err);

    for (size_t i = 0; good && i < dim->count; i++) {
        const struct table *table = NULL;

        good = file_stage(dim, i, tables, table_count, &table, err);
        for (size_t j = 0; good && j < table_count; j++) {
            is_used[j] = is_used[j] || tables[j] == table;
        }
    }
    good =
        good && stages_finish(dim, tables, table_count, is_used, err) && dimension_commit(dim, err);
    if (!good) {
        dimension_failed(dim, err);
    }
    return good;
}

bool
table_ingest(struct source_run *run, const struct table *const *tables, size_t table_count,
             struct error *err)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", NULL};
    struct dimension dim;
    bool is_unchanged = false;

    if (!dimension_open(&dim, run, err)) {
        return false;
    }
    if (!dimension_files(&dim, suffixes, err) || !dimension_unchanged(&dim, &is_unchanged, err)) {
        dimension_failed(&dim, err);
        return false;
    }
    return is_unchanged || table_load(&dim, tables, table_count, err);
}
