/*
 * An error is a fixed-size value: a code, one sentence, and a hint that says what to do next.
 *
 * A function that can fail returns bool and takes `struct error *` last. It sets the error where
 * it happened; callers add context ("FILE line N") or pass it on; only cli/main.c prints it.
 * Outputs named ret_x stay untouched on failure. Codes are the exit statuses in README.md.
 */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include <stdbool.h>
#include <stdint.h>

enum error_code {
    ERR_NONE = 0,
    ERR_FINDINGS = 1, /* done, with findings that --fail-on names */
    ERR_USAGE = 2,
    ERR_CONFIG = 3,
    ERR_INPUT = 4,
    ERR_DB = 5,
    ERR_NET = 6,
    ERR_REPORT = 7,
    ERR_PARTIAL = 8, /* some sources failed, the rest was done */
    ERR_BUG = 70,
    ERR_MEMORY = 71,
    ERR_INTERRUPTED = 130,
};

struct error {
    enum error_code code;
    char sqlstate[6];  /* five characters when the server refused, else "" */
    char text[1024];   /* lower case, no full stop */
    char detail[1024]; /* "" or what the other side said */
    char hint[512];    /* "" or a sentence with the next step */
};

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* All return false, so that callers may write `return error_set(err, ...);`. */
bool error_set(struct error *err, enum error_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool error_detail(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool error_hint(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts "CONTEXT: " in front of text. */
bool error_context(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_clear(struct error *err);

/* SIGINT and SIGTERM set a flag (interrupt_install); loops ask once per batch and stop with 130. */
void interrupt_install(void);
/* False and ERR_INTERRUPTED once a signal came. */
bool interrupt_check(struct error *err) MUST_CHECK;
/* Waits; the same once a signal came. */
bool interrupt_sleep(int64_t milliseconds, struct error *err) MUST_CHECK;

#endif
