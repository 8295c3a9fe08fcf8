/*
 * A file that appears whole or not at all: written under a temporary name in the same folder,
 * flushed to disk, renamed. Folders on the way are made.
 */
#ifndef REPORTS_OUTPUT_H
#define REPORTS_OUTPUT_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"

struct output {
    const char *path, *temporary;
};

/* Makes the folder and an empty temporary file of mode 0666 less umask. */
bool output_open(struct output *ret_output, struct arena *arena, const char *path,
                 struct error *err) MUST_CHECK;
bool output_commit(const struct output *output,
                   struct error *err) MUST_CHECK; /* fsync, rename, fsync of the folder */
void output_discard(const struct output *output); /* removes the temporary file */
/* All three for text at hand. */
bool output_write(struct arena *arena, const char *path, const struct buf *text,
                  struct error *err) MUST_CHECK;

#endif
