/*
 * Records of sacct -P. Nothing in it is quoted: a job's name may hold bars and line breaks. So a line
 * that does not begin as a record does belongs to the record before it, and fields that are too many
 * belong to the column of free text that lets the others be what they should.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "ingest/slurm.h"

enum { BLOCK_BYTES = 1 << 16 };

static const struct slurm_zone any_zone = {NULL, NULL, 0};

/* ---------------------------------------------------------------- lines */

/* More bytes behind `used`; what was read already moves to the front. */
static bool
fill(struct slurm_text *text, struct error *err)
{
    size_t size = 0;

    if (text->at > 0 && text->at >= text->used / 2) {
        memmove(text->data, text->data + text->at, text->used - text->at);
        text->used -= text->at;
        text->at = 0;
    }
    if (text->room - text->used < BLOCK_BYTES) {
        text->room = text->used + 2 * BLOCK_BYTES;
        text->data = mem_resize(text->data, text->room, 1);
    }
    if (!text->input.read(text->input.context, text->data + text->used, text->room - text->used, &size, err)) {
        return false;
    }
    text->used += size;
    text->is_at_end = size == 0;
    return true;
}

/* The line that begins `from` bytes after at, without its end; *ret_next: where the one after it
 * begins. Not found at the end of the text: size 0 and *ret_next == from. */
static bool
line_at(struct slurm_text *text, size_t from, struct field *ret_line, size_t *ret_next, struct error *err)
{
    size_t seen = from;
    const char *end;

    for (;;) {
        size_t have = text->used - text->at;

        end = seen < have ? memchr(text->data + text->at + seen, '\n', have - seen) : NULL;
        if (end || text->is_at_end || have - from > SLURM_RECORD_MOST) {
            break;
        }
        seen = have > from ? have : from;
        if (!fill(text, err)) {
            return false;
        }
    }
    const char *start = text->data ? text->data + text->at + from : "";
    size_t size = end ? (size_t)(end - start) : text->used - text->at - from;

    *ret_next = from + size + (end ? 1 : 0);
    *ret_line = (struct field){start, size > 0 && start[size - 1] == '\r' ? size - 1 : size};
    return true;
}

/* ---------------------------------------------------------------- fields */

static size_t
split(const struct slurm_layout *layout, struct field line, struct field *fields, size_t most)
{
    size_t count = 0;

    while (count < most) {
        const char *end = layout->delimiter_size ? memmem(line.text, line.size, layout->delimiter, layout->delimiter_size)
                                                 : NULL;

        fields[count].text = line.text;
        fields[count++].size = end ? (size_t)(end - line.text) : line.size;
        if (!end) {
            break;
        }
        line.size -= (size_t)(end - line.text) + layout->delimiter_size;
        line.text = end + layout->delimiter_size;
    }
    return count;
}

/* Could this stand in that column? Only what has a form is looked at. */
static bool
fits(int column, struct field cell)
{
    struct slurm_when when;
    struct slurm_id id;

    switch (column) {
    case SLURM_JOB_ID:
    case SLURM_JOB_ID_RAW:
        return slurm_id_parse(cell, &id);
    case SLURM_SUBMIT:
    case SLURM_ELIGIBLE:
    case SLURM_START:
    case SLURM_END:
        return slurm_when(&any_zone, cell, &when);
    case SLURM_ELAPSED:
    case SLURM_ELAPSED_RAW:
        return cell.size == 0 || slurm_duration(cell) >= 0;
    case SLURM_ALLOC_TRES:
    case SLURM_REQ_TRES:
        return cell.size == 0 || memchr(cell.text, '=', cell.size);
    default:
        return true;
    }
}

/* Does a line begin as a record does? It does where the number of a job stands in the column for it,
 * though the rest be broken: then it is told as broken, and no part of the name before it. Where no
 * such column comes before free text, each line is a record. */
static bool
begins_record(const struct slurm_layout *layout, struct field line)
{
    struct field fields[SLURM_FIELDS_MOST];
    size_t count = split(layout, line, fields, layout->count), ids = 0;

    for (size_t i = 0; i < layout->count && !layout->is_free[i]; i++) {
        bool is_id = layout->column[i] == SLURM_JOB_ID || layout->column[i] == SLURM_JOB_ID_RAW;

        if (is_id && (i >= count || !fits(layout->column[i], fields[i]))) {
            return false;
        }
        ids += is_id;
    }
    return ids == 0 || count > 1 || layout->count == 1;
}

/* Fields with `extra` of them joined to the column `free_at`. */
static bool
assign(const struct slurm_layout *layout, const struct field *fields, size_t extra, size_t free_at,
       struct slurm_record *ret_record)
{
    struct slurm_record record = *ret_record;

    for (size_t i = 0; i < layout->count; i++) {
        struct field cell = fields[i > free_at ? i + extra : i];

        if (i == free_at && extra) {
            const struct field *last = &fields[i + extra];

            cell.size = (size_t)(last->text + last->size - cell.text);
        }
        if (!fits(layout->column[i], cell)) {
            return false;
        }
        if (layout->column[i] >= 0) {
            record.cell[layout->column[i]] = cell;
        }
    }
    *ret_record = record;
    return true;
}

/* A field that does not fit is found again, and told, where the job is made. */
static void
assign_plainly(const struct slurm_layout *layout, const struct field *fields, struct slurm_record *record)
{
    for (size_t i = 0; i < layout->count; i++) {
        if (layout->column[i] >= 0) {
            record->cell[layout->column[i]] = fields[i];
        }
    }
}

static enum slurm_status
split_record(struct slurm_text *text, struct slurm_record *record, const char **ret_reason)
{
    const struct slurm_layout *layout = &text->layout;
    struct field fields[2 * SLURM_FIELDS_MOST];
    size_t count = split(layout, record->raw, fields, 2 * SLURM_FIELDS_MOST), extra;

    if (count == layout->count + 1 && fields[count - 1].size == 0) {
        count--; /* sacct -p */
    }
    if (count < layout->count || count == 2 * SLURM_FIELDS_MOST) {
        *ret_reason = arena_printf(&text->scratch, "%zu fields, where there are %zu columns", count, layout->count);
        return SLURM_READ_BAD;
    }
    extra = count - layout->count;
    if (!extra) {
        assign_plainly(layout, fields, record);
        return SLURM_READ_RECORD;
    }
    for (size_t i = layout->count; i-- > 0;) {
        if (layout->is_free[i] && assign(layout, fields, extra, i, record)) {
            return SLURM_READ_RECORD;
        }
    }
    *ret_reason = arena_printf(&text->scratch, "%zu fields, where there are %zu columns", count, layout->count);
    return SLURM_READ_BAD;
}

/* ---------------------------------------------------------------- records */

static bool
is_header(const struct slurm_text *text, struct field line)
{
    return text->header.size && line.size == text->header.size && memcmp(line.text, text->header.text, line.size) == 0;
}

static uint64_t
count_lines(struct field raw)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < raw.size; i++) {
        lines += raw.text[i] == '\n';
    }
    return lines;
}

/* The lines of a record: its own and those after it that begin none. */
static bool
gather(struct slurm_text *text, struct field *ret_raw, size_t *ret_next, struct error *err)
{
    struct field line;
    size_t end, next;

    if (!line_at(text, 0, &line, &next, err)) {
        return false;
    }
    end = line.size;
    while (next <= SLURM_RECORD_MOST) {
        size_t after;

        if (!line_at(text, next, &line, &after, err)) {
            return false;
        }
        if (after == next || begins_record(&text->layout, line) || is_header(text, line)) {
            break;
        }
        end = line.size ? next + line.size : end;
        next = after;
    }
    *ret_raw = (struct field){text->data + text->at, end};
    *ret_next = next;
    return true;
}

enum slurm_status
slurm_text_next(struct slurm_text *text, struct slurm_record *ret_record, const char **ret_reason, struct error *err)
{
    struct field line;
    size_t next;

    arena_reset(&text->scratch, (struct arena_mark){0});
    *ret_record = slurm_record_empty();
    for (;;) {
        if (!line_at(text, 0, &line, &next, err)) {
            return SLURM_READ_ERROR;
        }
        if (next == 0) {
            return SLURM_READ_END;
        }
        if (line.size > 0 && !is_header(text, line)) {
            break;
        }
        text->at += next;
        text->line++;
    }
    if (!gather(text, &ret_record->raw, &next, err)) {
        return SLURM_READ_ERROR;
    }
    ret_record->line = text->line;
    text->line += count_lines((struct field){text->data + text->at, next});
    text->at += next;
    if (ret_record->raw.size > SLURM_RECORD_MOST) {
        *ret_reason = "longer than 1 MiB";
        return SLURM_READ_BAD;
    }
    return split_record(text, ret_record, ret_reason);
}

/* ---------------------------------------------------------------- begin and end */

static bool
refuse(struct error *err, const char *reason)
{
    error_set(err, ERR_INPUT, "no accounting data of Slurm: %s", reason);
    return error_hint(err, "Make it with \"sacct -aXDP -o JobID,JobIDRaw,State,Submit,Eligible,Start,End,ElapsedRaw,"
                           "AllocTRES,NodeList,User,Account,Partition,JobName\", or set columns to what it has.");
}

static bool
read_layout(struct slurm_text *text, struct field first, const char *columns, const char *delimiter, bool *ret_is_header,
            struct error *err)
{
    struct field given = {columns, strlen(columns)};
    char reason[ALLOCATION_REASON] = "";
    const char *missing;

    if (given.size) {
        struct slurm_layout unused;

        if (!slurm_layout_parse(given, ",", &text->layout, reason)) {
            error_set(err, ERR_CONFIG, "columns: %s", reason);
            return error_hint(err, "List the columns in the order of the file, parted by commas.");
        }
        text->layout.delimiter_size = strlen(*delimiter ? delimiter : "|");
        snprintf(text->layout.delimiter, sizeof(text->layout.delimiter), "%s", *delimiter ? delimiter : "|");
        *ret_is_header = slurm_layout_parse(first, text->layout.delimiter, &unused, reason);
    } else if (slurm_layout_parse(first, delimiter, &text->layout, reason)) {
        *ret_is_header = true;
    } else {
        return refuse(err, reason);
    }
    missing = slurm_layout_missing(&text->layout);
    return !missing || refuse(err, arena_printf(&text->scratch, "it has no column %s", missing));
}

bool
slurm_text_open(struct slurm_text *text, struct slurm_input input, const char *columns, const char *delimiter,
                struct error *err)
{
    struct field first;
    size_t next;
    bool is_header = false;

    *text = (struct slurm_text){.input = input, .line = 1};
    if (!line_at(text, 0, &first, &next, err)) {
        return false;
    }
    if (first.size >= 3 && memcmp(first.text, "\xEF\xBB\xBF", 3) == 0) {
        text->at = 3;
        next -= 3;
        first = (struct field){first.text + 3, first.size - 3};
    }
    if (first.size == 0 && next == 0) {
        return *columns || refuse(err, "it is empty") ? true : false;
    }
    if (!read_layout(text, first, columns, delimiter, &is_header, err)) {
        return false;
    }
    if (is_header) {
        /* Kept apart from scratch, which is reset record by record. */
        char *copy = mem_resize(NULL, first.size + 1, 1);

        memcpy(copy, first.text, first.size);
        text->header = (struct field){copy, first.size};
        text->at += next;
        text->line++;
    }
    return true;
}

void
slurm_text_close(struct slurm_text *text)
{
    mem_free((void *)(uintptr_t)text->header.text);
    mem_free(text->data);
    arena_free(&text->scratch);
}
