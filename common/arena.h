/*
 * Memory that is freed at once. One arena lives as long as a command, one scratch arena is reset
 * after each record. Allocation never fails: the program ends with status 71 instead, so no
 * caller checks. malloc and free appear in common/ only. With ARENA_DEBUG (--enable-sanitize)
 * every allocation is a malloc of its own, so that ASan sees its ends.
 *
 * A reset keeps one block for the next record, so every arena ends in arena_free.
 */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head; /* zero-initialised is a valid empty arena */
    struct arena_block *spare;
};
struct arena_mark {
    struct arena_block *head;
    size_t used;
};

void *arena_alloc(struct arena *arena, size_t size);       /* zeroed, aligned for any type */
char *arena_strdup(struct arena *arena, const char *text); /* NULL stays NULL */
char *arena_strndup(struct arena *arena, const char *text, size_t size);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct arena_mark arena_mark(const struct arena *arena);
void arena_reset(struct arena *arena, struct arena_mark mark); /* frees what was allocated since */
void arena_free(struct arena *arena);

/* For growing arrays owned by one struct: realloc that exits with 71 instead of failing. */
void *mem_resize(void *block, size_t count, size_t size);
void mem_free(void *block); /* NULL is fine */

#endif
