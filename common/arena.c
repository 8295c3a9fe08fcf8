#include <config.h>

#include "common/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

enum { BLOCK_LEAST = 8 * 1024, BLOCK_MOST = 256 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t used, room;
    max_align_t data[];
};

/* Nothing can be cleaned up without memory; the server rolls back what was open. */
static void __attribute__((noreturn)) out_of_memory(void)
{
    static const char message[] = "gpu-audit: error: out of memory\n";

    if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0) {
        /* there is nobody left to tell */
    }
    _exit(ERR_MEMORY);
}

void *
mem_resize(void *block, size_t count, size_t size)
{
    size_t total;
    void *grown;

    if (__builtin_mul_overflow(count, size, &total))
        out_of_memory();
    grown = realloc(block, total ? total : 1);
    if (!grown)
        out_of_memory();
    return grown;
}

void
mem_free(void *block)
{
    free(block);
}

#ifndef ARENA_DEBUG
static size_t
round_up(size_t size)
{
    const size_t unit = sizeof(max_align_t);

    if (size > SIZE_MAX / 2)
        out_of_memory();
    return size ? (size + unit - 1) / unit * unit : unit;
}
#endif

/* Blocks double up to a limit, so that small arenas stay small; with ARENA_DEBUG each allocation
 * is a block. */
static size_t
block_room(const struct arena *arena, size_t size)
{
#ifdef ARENA_DEBUG
    (void)arena;
    return size;
#else
    size_t room = BLOCK_LEAST;

    if (arena->head)
        room = arena->head->room < BLOCK_MOST / 2 ? arena->head->room * 2 : BLOCK_MOST;
    return room > size ? room : size;
#endif
}

static struct arena_block *
add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->spare;

    if (block && block->room >= size) {
        arena->spare = NULL;
    } else {
        size_t room = block_room(arena, size);

        if (room > SIZE_MAX - sizeof(*block))
            out_of_memory();
        block = mem_resize(NULL, 1, sizeof(*block) + room);
        block->room = room;
    }
    block->used = 0;
    block->next = arena->head;
    arena->head = block;
    return block;
}

/* At least size bytes, not zeroed. */
static void *
take(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->head;
#ifdef ARENA_DEBUG
    size_t need = size ? size : 1;
#else
    size_t need = round_up(size);
#endif
    void *taken;

    if (!block || block->room - block->used < need)
        block = add_block(arena, need);
    taken = (char *)block->data + block->used;
    block->used += need;
    return taken;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
    return memset(take(arena, size), 0, size);
}

char *
arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *
arena_strndup(struct arena *arena, const char *text, size_t size)
{
    char *copy;

    if (size > SIZE_MAX / 4)
        out_of_memory();
    copy = take(arena, size + 1);
    if (size)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *
arena_printf(struct arena *arena, const char *fmt, ...)
{
    char text[256];
    char *copy;
    va_list args, again;
    int size;

    va_start(args, fmt);
    va_copy(again, args);
    size = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (size < 0) { /* a wide character that has no multibyte form: we never format those */
        size = 0;
        text[0] = '\0';
    }
    if ((size_t)size < sizeof(text)) {
        copy = arena_strndup(arena, text, (size_t)size);
    } else {
        copy = take(arena, (size_t)size + 1);
        vsnprintf(copy, (size_t)size + 1, fmt, again);
    }
    va_end(again);
    return copy;
}

struct arena_mark
arena_mark(const struct arena *arena)
{
    return (struct arena_mark){arena->head, arena->head ? arena->head->used : 0};
}

/* The roomiest ordinary block is kept; outsize ones go back, so one long record costs no memory
 * for ever. */
static void
release_block(struct arena *arena, struct arena_block *block)
{
#ifndef ARENA_DEBUG
    if (block->room <= BLOCK_MOST && (!arena->spare || arena->spare->room < block->room)) {
        struct arena_block *smaller = arena->spare;

        arena->spare = block;
        block = smaller;
    }
#else
    (void)arena;
#endif
    free(block);
}

void
arena_reset(struct arena *arena, struct arena_mark mark)
{
    while (arena->head != mark.head) {
        struct arena_block *block = arena->head;

        arena->head = block->next;
        release_block(arena, block);
    }
    if (arena->head)
        arena->head->used = mark.used;
}

void
arena_free(struct arena *arena)
{
    arena_reset(arena, (struct arena_mark){NULL, 0});
    free(arena->spare);
    arena->spare = NULL;
}
