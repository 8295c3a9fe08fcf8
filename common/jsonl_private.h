/*
 * Within the reader of JSON lines: where records are (jsonl.c), what is in one (jsonl_scan.c),
 * which names are wanted (jsonl_path.c), strings (jsonl_string.c).
 */
#ifndef COMMON_JSONL_PRIVATE_H
#define COMMON_JSONL_PRIVATE_H

#include "common/arena.h"
#include "common/jsonl.h"

enum {
#ifdef SMALL_BUFFERS /* fuzzers, whose files are small, come to their ends so */
    JSONL_RECORD_MOST = 8 << 10,
    JSONL_READ_BYTES = 512,
#else
    JSONL_RECORD_MOST = 1 << 20,
    JSONL_READ_BYTES = 256 << 10,
#endif
    JSONL_PADDING = 64,       /* zeroed behind the window */
    JSONL_LEVELS = 64,
    JSONL_NAMES = 8192,
    JSONL_SLOTS = 2048,
    JSONL_SURVEY_RECORDS = 1000,
    JSONL_RANK_NONE = 255,
};

/* Where the value of a name goes. */
struct jsonl_target {
    size_t slot;
    unsigned char rank;
    bool is_gathered;         /* of an object: no, what is in it is gathered */
    struct jsonl_target *next;
};

/* A key under the keys it stands in. Records repeat themselves: each key knows who came after it. */
struct jsonl_path {
    const struct jsonl_path *parent;
    struct jsonl_path *follower;
    const char *key;          /* as it stands in the file, quotes and all */
    size_t key_size;
    const char *name;         /* "service.id" */
    struct jsonl_target *targets;
    bool is_descended;        /* something in it is wanted */
};

struct jsonl_wish {
    size_t slot;
    const char *name;
    unsigned rank;
};

struct jsonl {
    struct stream *stream;
    struct content content;
    char *window;             /* size bytes, then JSONL_PADDING zeros */
    size_t room, size;
    size_t record, record_size, next;
    bool at_end, is_array, is_surveying;
    bool is_discarding;       /* within a line that was too long */
    bool comma_due, has_ended; /* within an array */
    uint64_t line, next_line;
    const char *reason;
    char reason_text[160];

    struct arena arena;       /* names and paths */
    const char **names;       /* of the survey */
    size_t name_count;
    struct jsonl_path root;
    struct jsonl_path **paths; /* open addressing */
    size_t path_count;
    struct jsonl_wish *wishes;
    size_t wish_count;
    bool has_new_wishes;      /* the paths do not know of */
    const char *const *prefixes;
    size_t gather_first, gather_most, gathered;
    const char **gathered_names;
    bool has_ungathered;      /* there were more */

    size_t slots;             /* all that may be set */
    unsigned char rank[JSONL_SLOTS]; /* of what stands in the slot */
    char *decoded;            /* strings with escapes, room as the window's */
    size_t decoded_size;
};

enum jsonl_found { JSONL_WHOLE, JSONL_BROKEN, JSONL_SHORT };

/* The object at `text`, which ends before `end`. JSONL_WHOLE: *ret_end is behind it, and
 * jsonl->reason is NULL, or why it is no good all the same. JSONL_SHORT: it goes on beyond end. */
enum jsonl_found jsonl_scan(struct jsonl *jsonl, const char *text, const char *end, struct field *fields,
                            const char **ret_end);

/* The path of a key (with its quotes) within parent, made when it is new; NULL when there are too many. */
struct jsonl_path *jsonl_path_find(struct jsonl *jsonl, const struct jsonl_path *parent, struct field key);
/* Forgets all paths: they are found again with what is wanted now. */
void jsonl_path_forget(struct jsonl *jsonl);

/* Where the string whose text begins at `text` ends (its closing quote), or the byte that may not
 * stand in one, or end. */
const char *jsonl_string_end(const char *text, const char *end, bool *ret_escaped, bool *ret_ascii);
/* Decoded into room for as many bytes; SIZE_MAX when an escape or the text is no good. */
size_t jsonl_string_decode(struct field text, char *into);
bool jsonl_is_utf8(struct field text);

#endif
