/*
 * What people and machines read on stderr: error, detail, hint; warnings; information (-v), debug
 * (-vv). --log-format json prints one object per line. Nobody but main logs an error.
 * Secrets never come here: a module that holds one registers it (log_secret) and every message
 * is searched for it. Control characters of foreign text are shown as \xNN.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1, LOG_DEBUG = 2 };

void log_open(enum log_level level, bool json);
bool log_wants(enum log_level level);
bool log_is_json(void);
void log_error(const struct error *err); /* error, detail, hint */
void log_warning(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_note(const char *fmt, ...) PRINTF_LIKE(1, 2);  /* always but with -q */
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);  /* -v */
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2); /* -vv */
/* Later messages show *** in its place; NULL and "" are fine. */
void log_secret(const char *secret);
/* Text as a message would show it: without secrets and control characters. */
void log_mask(struct buf *buf, const char *text);
void log_before(void (*hook)(void)); /* called before each message: progress clears its line */
void log_close(void);                /* forgets the secrets */

#endif
