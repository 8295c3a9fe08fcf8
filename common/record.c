#include <config.h>

#include "common/record.h"

#include <string.h>

enum {
    HEAD_BYTES = 4096,
    RANK_LAST = 99, /* of the column itself: where it has aliases, it is one of them */
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* As many bytes as it takes to see one that is no blank. */
static bool
read_head(struct stream *stream, char *head, size_t *ret_size, char *ret_first, struct error *err)
{
    size_t size = 0, at = 0, got = 1;

    *ret_first = '\0';
    while (got && size < HEAD_BYTES && !*ret_first) {
        if (!stream_read(stream, head + size, HEAD_BYTES - size, &got, err))
            return false;
        size += got;
        if (size < 3 && got)
            continue;
        if (at == 0 && size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
            at = 3;
        while (at < size && is_blank(head[at]))
            at++;
        *ret_first = at < size ? head[at] : '\0';
    }
    *ret_size = size;
    return true;
}

bool
record_open(struct record *record, struct stream *stream, char delimiter, struct error *err)
{
    char head[HEAD_BYTES], first;
    size_t size = 0;

    *record = (struct record){NULL, NULL};
    if (!read_head(stream, head, &size, &first, err))
        return false;
    if (size >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2))) {
        error_set(err, ERR_INPUT, "the file is UTF-16");
        return error_hint(err, "Save it as UTF-8: iconv -f UTF-16 -t UTF-8 does that.");
    }
    if (first == '{' || first == '[')
        return jsonl_open(&record->jsonl, stream, (struct field){head, size}, err);
    return csv_open_delimited(&record->csv, stream, (struct field){head, size}, delimiter, err);
}

void
record_close(struct record *record)
{
    csv_close(record->csv);
    jsonl_close(record->jsonl);
    *record = (struct record){NULL, NULL};
}

/* ---------------------------------------------------------------- columns */

size_t
record_columns(const struct record *record)
{
    return record->csv ? csv_columns(record->csv) : jsonl_columns(record->jsonl);
}

const char *
record_name(const struct record *record, size_t column)
{
    return record->csv ? csv_name(record->csv, column) : jsonl_name(record->jsonl, column);
}

int
record_find(const struct record *record, const char *name)
{
    return record->csv ? csv_find_translated(record->csv, name) : jsonl_find(record->jsonl, name);
}

void
record_want(struct record *record, const int *want, size_t count)
{
    if (record->csv) {
        csv_want(record->csv, want, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        jsonl_want(record->jsonl, i, want[i] < 0 ? NULL : jsonl_name(record->jsonl, (size_t)want[i]), RANK_LAST);
}

void
record_alias(struct record *record, size_t slot, const char *name, unsigned order)
{
    if (record->jsonl)
        jsonl_want(record->jsonl, slot, name, order);
}

void
record_gather(struct record *record, const char *const *prefixes, size_t first, size_t most)
{
    if (record->jsonl)
        jsonl_gather(record->jsonl, prefixes, first, most);
}

size_t
record_gathered(const struct record *record)
{
    return record->jsonl ? jsonl_gathered(record->jsonl) : 0;
}

const char *
record_gathered_name(const struct record *record, size_t number)
{
    return jsonl_gathered_name(record->jsonl, number);
}

/* ---------------------------------------------------------------- the record */

const char *
record_reason(const struct record *record)
{
    return record->csv ? csv_reason(record->csv) : jsonl_reason(record->jsonl);
}

const char *
record_note(const struct record *record)
{
    return record->csv ? csv_note(record->csv) : record->jsonl ? jsonl_note(record->jsonl) : "";
}

uint64_t
record_line(const struct record *record)
{
    return record->csv ? csv_line(record->csv) : jsonl_line(record->jsonl);
}

struct field
record_raw(const struct record *record)
{
    return record->csv ? csv_raw(record->csv) : jsonl_raw(record->jsonl);
}
