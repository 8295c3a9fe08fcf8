/*
 * RFC 4180 over a stream: quotes, doubled quotes, line breaks in quotes, CR LF or LF, a UTF-8 BOM,
 * a last line without an end. Separators are found 64 bytes at a time; only wanted columns are
 * unescaped. Fields point into the reader's window and live until the next csv_next.
 * Limits: a record of 1 MiB, 4096 columns; beyond is a rejected record, not an end.
 * Blank lines are passed over. A record with the wrong number of columns costs its first line
 * only: reading goes on with the line after, so that a stray quote loses no others.
 * Where the first records all lack the same last cells, those columns are taken as not there, and a
 * record that has them is the one with the wrong number. Where a name stands twice, the first is
 * taken; a record whose two cells differ is bad.
 */
#ifndef COMMON_CSV_H
#define COMMON_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/content.h"
#include "common/error.h"
#include "common/stream.h"

struct field {
    const char *text; /* not NUL-terminated */
    size_t size;
};

struct csv;

/* Reads the header. An empty stream has no columns and no records. */
bool csv_open(struct csv **ret_csv, struct stream *stream, struct error *err) MUST_CHECK;
/* The same where bytes of the stream were read already; they are copied. */
bool csv_open_head(struct csv **ret_csv, struct stream *stream, struct field head, struct error *err) MUST_CHECK;
/* The same with another character between cells: ';', '|' or a tab. 0 is a comma. */
bool csv_open_delimited(struct csv **ret_csv, struct stream *stream, struct field head, char delimiter,
                        struct error *err) MUST_CHECK;
size_t csv_columns(const struct csv *csv);
const char *csv_name(const struct csv *csv, size_t column); /* header name, trimmed */
/* The column of that name (case as given first, else without case); -1 if absent. */
int csv_find(const struct csv *csv, const char *name);
/* The same, else the column whose name has it in parentheses: "Maßeinheit (UnitOfMeasure)". */
int csv_find_translated(const struct csv *csv, const char *name);
/* What is odd about the file and has been put up with; "" when nothing is. After csv_want. */
const char *csv_note(const struct csv *csv);
/* want[i] = column of the header for output slot i (-1: always empty). Call once, before csv_next. */
void csv_want(struct csv *csv, const int *want, size_t count);

enum csv_status { CSV_RECORD, CSV_BAD, CSV_END, CSV_ERROR };
/* CSV_RECORD: fields[0..count). CSV_BAD: this record is unusable, csv_reason says why; go on. */
enum csv_status csv_next(struct csv *csv, struct field *ret_fields, struct error *err);
/* The same with cells as they stand, quotes and all: for those who compare before they decode. */
enum csv_status csv_next_raw(struct csv *csv, struct field *ret_fields, struct error *err);
/* Takes the quotes off a raw cell; doubled quotes go through into (room raw.size), which is touched
 * only then. False when quotes do not pair: raw is what it says then, byte for byte. */
bool csv_decode(struct field raw, char *into, struct field *ret_field);
struct field csv_trim(struct field field); /* without blanks and tabs at its ends */
struct content csv_content(const struct csv *csv); /* of the whole text, after CSV_END */
/* After CSV_BAD: the record is the last of the file and has no line end, as when a file is cut short. */
bool csv_is_cut(const struct csv *csv);
const char *csv_reason(const struct csv *csv);
uint64_t csv_line(const struct csv *csv); /* line on which the current record begins, from 1 */
struct field csv_raw(const struct csv *csv); /* the current record as it stands in the file */
void csv_close(struct csv *csv); /* not the stream; NULL is fine */

#endif
