/*
 * One live line on a terminal, one line every ten seconds elsewhere, silent with -q; and a closing
 * table of steps with their times (progress_summary). The clock is read rarely: progress_at is
 * cheap enough to call once per batch of records.
 */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdint.h>

struct progress; /* one step, e.g. "ingest billing bills" */

struct progress *progress_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_at(struct progress *step, uint64_t done, uint64_t total,
                 const char *unit); /* total 0: unknown */
void progress_note(struct progress *step, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *step, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* outcome */
/* Every ended step: outcome, seconds; peak memory of the program. Frees the ended steps. */
void progress_summary(void);

#endif
