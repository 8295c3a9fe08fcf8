/*
 * JSON lines, or one array of objects, as records of named cells. Nested objects are flattened:
 * {"service": {"id": 1}} has the names "service" (the object as it stands, JSON text) and
 * "service.id". Arrays are their JSON text, numbers their exact text, null is empty, true and false
 * are words, strings are decoded.
 *
 * Names are matched by key in every record, in any order: what stands in no early record is found
 * where it first comes. A wanted name that has two different values in a record makes it bad, as
 * does text that is no UTF-8 and a surrogate alone. A broken line costs that line. In an array one
 * cannot tell where the next object begins unless it begins a line: else a broken object is an
 * error, and so is an array that is cut short.
 * Limits: a record of 1 MiB, 64 levels, 8192 names.
 */
#ifndef COMMON_JSONL_H
#define COMMON_JSONL_H

#include "common/csv.h"

struct jsonl;

/* head: bytes of the stream that were read already; they are copied. Looks at the first records. */
bool jsonl_open(struct jsonl **ret_jsonl, struct stream *stream, struct field head, struct error *err) MUST_CHECK;
size_t jsonl_columns(const struct jsonl *jsonl); /* names in the first records */
const char *jsonl_name(const struct jsonl *jsonl, size_t column);
int jsonl_find(const struct jsonl *jsonl, const char *name); /* among these, as csv_find */

/* All before the first jsonl_next; names stay the caller's. A slot takes, of the wanted names a
 * record has, that of the lowest rank (below 100), written as wanted rather than in other case. A NULL
 * name only says that the slot is there: empty. */
void jsonl_want(struct jsonl *jsonl, size_t slot, const char *name, unsigned rank);
/* Slots from `first` on (behind all others), at most `most`, go to names that begin with one of the prefixes
 * (NULL-ended) as they come; names that are wanted otherwise are not among them. */
void jsonl_gather(struct jsonl *jsonl, const char *const *prefixes, size_t first, size_t most);
size_t jsonl_gathered(const struct jsonl *jsonl); /* how many there are by now */
const char *jsonl_gathered_name(const struct jsonl *jsonl, size_t number); /* whole, prefix and all */

/* Sets every slot that is wanted or gathered. Fields live until the next call. */
enum csv_status jsonl_next(struct jsonl *jsonl, struct field *ret_fields, struct error *err);
struct content jsonl_content(const struct jsonl *jsonl);
bool jsonl_is_cut(const struct jsonl *jsonl); /* as csv_is_cut */
const char *jsonl_reason(const struct jsonl *jsonl);
const char *jsonl_note(const struct jsonl *jsonl); /* what was put up with so far; "" when nothing */
uint64_t jsonl_line(const struct jsonl *jsonl);
struct field jsonl_raw(const struct jsonl *jsonl);
void jsonl_close(struct jsonl *jsonl);

#endif
