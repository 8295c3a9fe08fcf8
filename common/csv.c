#include <config.h>

#include "common/csv_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct masks {
    uint64_t quote, comma, line;
};

#ifdef __SSE2__
static inline uint64_t
find16(__m128i bytes, char c)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

static inline struct masks
find(const char *text, char delimiter)
{
    struct masks found = {0, 0, 0};

    for (int i = 0; i < CSV_BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + i));

        found.quote |= find16(bytes, '"') << i;
        found.comma |= find16(bytes, delimiter) << i;
        found.line |= find16(bytes, '\n') << i;
    }
    return found;
}
#else
static inline struct masks
find(const char *text, char delimiter)
{
    struct masks found = {0, 0, 0};

    for (int i = 0; i < CSV_BLOCK; i++) {
        found.quote |= (uint64_t)(text[i] == '"') << i;
        found.comma |= (uint64_t)(text[i] == delimiter) << i;
        found.line |= (uint64_t)(text[i] == '\n') << i;
    }
    return found;
}
#endif

/* Bit n: an odd number of bits of x stand at or below n. A doubled quote cancels itself out. */
static inline uint64_t
parity(uint64_t x)
{
    for (int shift = 1; shift < CSV_BLOCK; shift <<= 1)
        x ^= x << shift;
    return x;
}

static void
load_block(struct csv *csv)
{
    struct masks found = find(csv->window + csv->next, csv->delimiter);
    uint64_t quoted = csv->in_quotes;

    if (csv->size - csv->next < CSV_BLOCK) {
        uint64_t valid = (1ULL << (csv->size - csv->next)) - 1;

        found.quote &= valid;
        found.comma &= valid;
        found.line &= valid;
    }
    if (found.quote)
        quoted ^= parity(found.quote);
    csv->in_quotes = (uint64_t)((int64_t)quoted >> 63);
    csv->line_ends = found.line & ~quoted;
    csv->separators = (found.comma & ~quoted) | csv->line_ends;
    csv->quoted_lines = found.line & quoted;
    csv->block = csv->next;
    csv->next = csv->size - csv->next < CSV_BLOCK ? csv->size : csv->next + CSV_BLOCK;
}

/* More bytes behind the current record, which moves to the front of the window. */
static bool
refill(struct csv *csv, struct error *err)
{
    size_t got;

    if (csv->record) {
        csv->size -= csv->record;
        memmove(csv->window, csv->window + csv->record, csv->size);
        csv->next -= csv->record;
        csv->block = 0; /* its masks are spent */
        csv->record = 0;
    }
    if (csv->room - csv->size < CSV_READ_BYTES) {
        csv->room = csv->size + 2 * CSV_READ_BYTES;
        csv->window = mem_resize(csv->window, csv->room + CSV_BLOCK, 1);
    }
    if (!stream_read(csv->stream, csv->window + csv->size, csv->room - csv->size, &got, err))
        return false;
    csv->at_end = !got;
    content_add(&csv->content, csv->window + csv->size, got);
    csv->size += got;
    csv->taken += got;
    memset(csv->window + csv->size, 0, CSV_BLOCK);
    return true;
}

/* Goes on at an offset of the window as if a record began there. */
static void
restart(struct csv *csv, size_t at)
{
    csv->record = csv->next = csv->block = at;
    csv->separators = csv->line_ends = csv->quoted_lines = csv->in_quotes = 0;
}

/* Consumes separators of the block; true at the end of the record. */
static inline bool
scan_block(struct csv *csv)
{
    uint64_t left = csv->separators;
    uint32_t base = (uint32_t)(csv->block - csv->record);
    size_t cells = csv->cells;

    while (left) {
        int bit = __builtin_ctzll(left);

        left &= left - 1;
        csv->end[cells] = base + (uint32_t)bit;
        cells += cells < CSV_COLUMNS_MOST;
        if (csv->line_ends >> bit & 1) {
            csv->separators = left;
            csv->cells = cells;
            csv->record_size = base + (uint32_t)bit;
            return true;
        }
    }
    csv->separators = 0;
    csv->cells = cells;
    return false;
}

static void
count_lines(struct csv *csv, size_t end)
{
    uint64_t before = end >= csv->block + CSV_BLOCK ? ~0ULL : (1ULL << (end - csv->block)) - 1;

    csv->next_line += (uint64_t)__builtin_popcountll(csv->quoted_lines & before);
    csv->quoted_lines &= ~before;
}

/* Finds the end of the record that begins at csv->record: CSV_RECORD, CSV_END or CSV_ERROR, or
 * CSV_BAD when it is too long or ends inside quotes. */
static enum csv_status
find_record(struct csv *csv, struct error *err)
{
    csv->cells = 0;
    csv->line = csv->next_line;
    for (;;) {
        if (scan_block(csv)) {
            if (csv->quoted_lines)
                count_lines(csv, csv->record + csv->record_size);
            csv->next_line++;
            return CSV_RECORD;
        }
        if (csv->quoted_lines)
            count_lines(csv, csv->block + CSV_BLOCK);
        if (csv->next - csv->record > CSV_RECORD_MOST)
            return CSV_BAD;
        while (csv->size - csv->next < CSV_BLOCK && !csv->at_end)
            if (!refill(csv, err))
                return CSV_ERROR;
        if (csv->next == csv->size) {
            csv->record_size = csv->size - csv->record;
            csv->end[csv->cells] = (uint32_t)csv->record_size;
            csv->cells += csv->cells < CSV_COLUMNS_MOST;
            if (!csv->record_size)
                return CSV_END;
            return csv->in_quotes ? CSV_BAD : CSV_RECORD;
        }
        load_block(csv);
    }
}

static size_t
trim_return(const char *text, size_t size)
{
    return size && text[size - 1] == '\r' ? size - 1 : size;
}

/* Sets the reader behind the current record. Where it is bad and runs over several lines: behind
 * its first line, as long as that does not read the file many times over. Where it is too long:
 * behind the next line end. */
static void
skip(struct csv *csv, bool bad)
{
    const char *text = csv->window + csv->record;
    const char *line_end = bad ? memchr(text, '\n', csv->record_size) : NULL;

    if (line_end && csv->rescanned < csv->taken + CSV_RESCAN_FREE) {
        csv->rescanned += csv->record_size;
        csv->record_size = (size_t)(line_end - text);
        csv->next_line = csv->line + 1;
        restart(csv, csv->record + csv->record_size + 1);
    } else if (csv->record_size > CSV_RECORD_MOST) {
        restart(csv, csv->next);
        csv->discarding = true;
    } else if (csv->record + csv->record_size < csv->size) {
        csv->record += csv->record_size + 1;
    } else {
        restart(csv, csv->size);
    }
}

static enum csv_status
bad(struct csv *csv)
{
    bool is_open = csv->at_end && csv->next == csv->size;

    snprintf(csv->reason, sizeof csv->reason, "%s", is_open ? "quotes are not closed" : "record is longer than 1 MiB");
    if (!is_open)
        csv->record_size = csv->next - csv->record;
    return CSV_BAD;
}

static bool
discard_line(struct csv *csv, struct error *err)
{
    while (csv->discarding) {
        const char *text = csv->window + csv->record;
        const char *line_end = memchr(text, '\n', csv->size - csv->record);

        csv->discarding = !line_end;
        restart(csv, line_end ? (size_t)(line_end - csv->window) + 1 : csv->size);
        if (line_end)
            csv->next_line++;
        else if (csv->at_end)
            break;
        else if (!refill(csv, err))
            return false;
    }
    return true;
}

/* One record, blank lines passed over. The record stays at window + record until the next call. */
static enum csv_status
next_record(struct csv *csv, struct error *err)
{
    for (;;) {
        enum csv_status status = find_record(csv, err);

        if (status == CSV_BAD)
            return bad(csv);
        if (status != CSV_RECORD || csv->columns == 1 || trim_return(csv->window + csv->record, csv->record_size))
            return status;
        skip(csv, false);
    }
}

struct field
csv_cell(const struct csv *csv, size_t column)
{
    size_t start = column ? csv->end[column - 1] + 1 : 0;
    const char *text = csv->window + csv->record + start;
    size_t size = csv->end[column] - start;

    return (struct field){text, column + 1 == csv->cells ? trim_return(text, size) : size};
}

enum csv_status
csv_next_raw(struct csv *csv, struct field *ret_fields, struct error *err)
{
    enum csv_status status;

    skip(csv, csv->reason[0]);
    csv->reason[0] = '\0';
    csv->record_size = 0;
    if (csv->discarding && !discard_line(csv, err))
        return CSV_ERROR;
    status = next_record(csv, err);
    if (status != CSV_RECORD)
        return status;
    if (csv->cells != csv->columns) {
        snprintf(csv->reason, sizeof csv->reason, "%zu columns where the header has %zu", csv->cells, csv->columns);
        return CSV_BAD;
    }
    for (size_t i = 0; i < csv->wanted; i++)
        ret_fields[i] = csv->want[i] < 0 ? (struct field){"", 0} : csv_cell(csv, (size_t)csv->want[i]);
    return csv->twin_count && csv_header_differs(csv) ? CSV_BAD : CSV_RECORD;
}

enum csv_status
csv_next(struct csv *csv, struct field *ret_fields, struct error *err)
{
    enum csv_status status = csv_next_raw(csv, ret_fields, err);
    char *into;

    if (status != CSV_RECORD)
        return status;
    if (csv->unescaped_room < csv->record_size) {
        csv->unescaped_room = 2 * csv->record_size;
        csv->unescaped = mem_resize(csv->unescaped, csv->unescaped_room, 1);
    }
    into = csv->unescaped;
    for (size_t i = 0; i < csv->wanted; i++) {
        struct field raw = ret_fields[i];

        if (!csv_decode(raw, into, &ret_fields[i])) {
            snprintf(csv->reason, sizeof csv->reason, "stray quote in column %d", csv->want[i] + 1);
            return CSV_BAD;
        }
        if (ret_fields[i].text == into)
            into += ret_fields[i].size;
    }
    return CSV_RECORD;
}

/* The first bytes, as many as a look at the first records takes. */
static bool
begin(struct csv *csv, struct field head, struct error *err)
{
    csv->room = head.size + 2 * CSV_READ_BYTES;
    csv->window = mem_resize(NULL, csv->room + CSV_BLOCK, 1);
    if (head.size)
        memcpy(csv->window, head.text, head.size);
    content_add(&csv->content, csv->window, head.size);
    csv->size = csv->taken = head.size;
    while (csv->size < CSV_SURVEY_BYTES && !csv->at_end)
        if (!refill(csv, err))
            return false;
    memset(csv->window + csv->size, 0, CSV_BLOCK);
    if (csv->size >= 3 && !memcmp(csv->window, "\xef\xbb\xbf", 3))
        restart(csv, 3);
    return true;
}

static bool
read_header(struct csv *csv, struct error *err)
{
    enum csv_status status = next_record(csv, err);

    if (status == CSV_ERROR)
        return false;
    if (status == CSV_BAD || csv->cells == CSV_COLUMNS_MOST) {
        error_set(err, ERR_INPUT, "header is no CSV: %s", status == CSV_BAD ? csv->reason : "too many columns");
        return error_hint(err, "Check that the file is comma-separated text with a header line.");
    }
    for (size_t i = 0; status == CSV_RECORD && i < csv->cells; i++) {
        struct field cell = csv_cell(csv, i);

        if (cell.size && cell.text[0] != '"' && memchr(cell.text, '\r', cell.size)) {
            error_set(err, ERR_INPUT, "its lines end in carriage returns, which makes all of it one header");
            return error_hint(err, "End them in line feeds: tr '\\r' '\\n' does that.");
        }
    }
    if (status == CSV_RECORD)
        csv_header_keep(csv);
    return true;
}

bool
csv_open_head(struct csv **ret_csv, struct stream *stream, struct field head, struct error *err)
{
    return csv_open_delimited(ret_csv, stream, head, ',', err);
}

bool
csv_open_delimited(struct csv **ret_csv, struct stream *stream, struct field head, char delimiter, struct error *err)
{
    struct csv *csv = mem_resize(NULL, 1, sizeof *csv);

    memset(csv, 0, sizeof *csv);
    csv->stream = stream;
    csv->delimiter = delimiter ? delimiter : ',';
    csv->next_line = 1;
    csv->end = mem_resize(NULL, CSV_COLUMNS_MOST + 1, sizeof *csv->end);
    if (!begin(csv, head, err) || !read_header(csv, err)) {
        csv_close(csv);
        return false;
    }
    *ret_csv = csv;
    return true;
}

bool
csv_open(struct csv **ret_csv, struct stream *stream, struct error *err)
{
    return csv_open_head(ret_csv, stream, (struct field){"", 0}, err);
}

struct content
csv_content(const struct csv *csv)
{
    return csv->content;
}

bool
csv_is_cut(const struct csv *csv)
{
    return csv->at_end && csv->record + csv->record_size == csv->size && !memchr(csv->window + csv->record, '\n', csv->record_size);
}

const char *
csv_reason(const struct csv *csv)
{
    return csv->reason;
}

uint64_t
csv_line(const struct csv *csv)
{
    return csv->line;
}

struct field
csv_raw(const struct csv *csv)
{
    const char *text = csv->window + csv->record;

    return (struct field){text, trim_return(text, csv->record_size)};
}

void
csv_close(struct csv *csv)
{
    if (!csv)
        return;
    csv_header_free(csv);
    free(csv->window);
    free(csv->end);
    free(csv->want);
    free(csv->unescaped);
    free(csv);
}
