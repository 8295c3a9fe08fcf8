/*
 * Records of named cells from an object, whatever it is written in: CSV (csv.h) or JSON (jsonl.h),
 * told apart by the first byte that is no blank. Cells stand as the file has them until record_cell
 * decodes them, so that one can compare before one decodes.
 *
 * CSV has its columns in the header; in JSON any record may have others. So a slot is wanted by
 * column, and for JSON by all names it may have: record_alias, which a header has no use for.
 */
#ifndef COMMON_RECORD_H
#define COMMON_RECORD_H

#include <string.h>

#include "common/csv.h"
#include "common/jsonl.h"

struct record {
    struct csv *csv;     /* exactly one is there */
    struct jsonl *jsonl;
};

/* delimiter: of CSV, 0: a comma. Nothing is open where it fails; UTF-16 is told in so many words. */
bool record_open(struct record *record, struct stream *stream, char delimiter, struct error *err) MUST_CHECK;
void record_close(struct record *record); /* not the stream; what is zero is closed */

size_t record_columns(const struct record *record);
const char *record_name(const struct record *record, size_t column);
/* The column of that name: as given, else without case, else with the name in parentheses; -1 if absent. */
int record_find(const struct record *record, const char *name);
/* Call once, before record_next: want[i] = column of slot i, -1: none. */
void record_want(struct record *record, const int *want, size_t count);
/* After it: a name that slot takes where a record has no better one; 0 is the best order. */
void record_alias(struct record *record, size_t slot, const char *name, unsigned order);
/* For JSON: slots from `first` on, at most `most`, go to names that begin with a prefix. */
void record_gather(struct record *record, const char *const *prefixes, size_t first, size_t most);
/* How many of them there are by now, and their names; always 0 for CSV, whose header says it all. */
size_t record_gathered(const struct record *record);
const char *record_gathered_name(const struct record *record, size_t number);

static inline bool
record_is_json(const struct record *record)
{
    return record->jsonl;
}

/* Cells as they stand; those of JSON are decoded already. */
static inline enum csv_status
record_next(struct record *record, struct field *ret_fields, struct error *err)
{
    return record->csv ? csv_next_raw(record->csv, ret_fields, err) : jsonl_next(record->jsonl, ret_fields, err);
}

/* What a cell says, blanks and all; false when its quotes do not pair or a NUL byte is in it, which no
 * text of the database may hold and where our own would end. As csv_decode. */
static inline bool
record_cell(const struct record *record, struct field raw, char *into, struct field *ret_field)
{
    if (record->csv)
        return csv_decode(raw, into, ret_field) && !(ret_field->size && memchr(ret_field->text, '\0', ret_field->size));
    *ret_field = raw;
    return true;
}

static inline struct content
record_content(const struct record *record)
{
    return record->csv ? csv_content(record->csv) : jsonl_content(record->jsonl);
}

/* After CSV_BAD: the record is the last of the file and has no line end, as when a file is cut short. */
static inline bool
record_is_cut(const struct record *record)
{
    return record->csv ? csv_is_cut(record->csv) : jsonl_is_cut(record->jsonl);
}

const char *record_reason(const struct record *record);
const char *record_note(const struct record *record); /* what was put up with; "" when nothing. At the end */
uint64_t record_line(const struct record *record);    /* on which the record begins, from 1 */
struct field record_raw(const struct record *record); /* as it stands in the file */

#endif
