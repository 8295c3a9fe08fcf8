/*
 * What a zip file holds, from its central directory. Members that are stored or deflated are read
 * by a stream (common/stream.h); zip64 is known. Nothing is ever unpacked to a folder, but a name
 * that would leave one, an encrypted member, members that overlap, or one that would become
 * hundreds of times its size is the mark of a file that was made to do harm: ERR_INPUT.
 */
#ifndef COMMON_ZIP_H
#define COMMON_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"

struct zip_member {
    const char *name;
    uint64_t data;         /* where its bytes begin */
    uint64_t packed, size; /* bytes as stored, and as they were */
    uint32_t crc;
    bool is_stored;        /* else deflated */
};

struct zip_list {
    struct zip_member *member;
    size_t count;
};

/* True when the file begins as a zip file does. */
bool zip_is(int fd);
/* The members whose names end in one of `suffixes`, in the order of the directory; ERR_INPUT when there is none.
 * `name` is that of the file, for messages. */
bool zip_open(struct arena *arena, int fd, const char *name, const char *const *suffixes, struct zip_list *ret_list,
              struct error *err) MUST_CHECK;

#endif
