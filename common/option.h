/*
 * The option table: what may stand on the command line, in the environment and in the unnamed
 * sections of the file; each with its type, range, default and help. --help, the checks and the
 * manual page follow from it. To add an option is to add a row in settings_table.c.
 */
#ifndef COMMON_OPTION_H
#define COMMON_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

enum option_type {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_INTEGER,
    OPTION_NUMBER,
    OPTION_CHOICE, /* one of choices */
    OPTION_QUARTER,
    OPTION_DATE,   /* 2026-07-01 */
    OPTION_TIME,   /* ISO 8601 */
    OPTION_SECRET, /* KEY-file, KEY-env, KEY-command too; see section_secret */
};

enum option_place {
    ON_COMMAND_LINE = 1, /* --KEY */
    ON_EVERY_COMMAND = 2 | ON_COMMAND_LINE,
    IN_ENVIRONMENT = 4, /* GPU_AUDIT_KEY, GPU_AUDIT_SECTION_KEY outside [audit] */
    IN_FILE = 8,
};

struct option {
    const char *section; /* of the file; "audit" also for what is not in the file */
    const char *key;
    const char
        *sets; /* the key of the file that this option of the command line stands for, if another */
    char letter; /* -v; 0: none */
    enum option_type type;
    unsigned places;
    const char *argument; /* its name in the help; NULL for a flag */
    const char *choices;  /* "text|json" */
    double least, most;   /* of a number */
    const char *fallback; /* NULL: none */
    const char *help;     /* one sentence without its full stop */
};

extern const struct option option_table[]; /* ends with a NULL key */

/* What source sections may be called, and the keys that any of them may hold; NULL-ended. */
extern const char *const source_kinds[];
extern const char *const source_keys[];
extern const char *const billing_source_keys[]; /* those of bills beside */

const struct option *option_find(const char *section, const char *key); /* NULL if there is none */
const struct option *option_named(const char *name); /* on the command line: --NAME */
const struct option *option_lettered(char letter);
/* "GPU_AUDIT_MAIL_SERVER", into a buffer of the caller's. */
void option_environment(const struct option *option, char *ret_name, size_t room);
/* Type and range. The error begins with origin ("--days", "FILE line 3"). */
bool option_check(const struct option *option, const char *value, const char *origin,
                  enum error_code code, struct error *err) MUST_CHECK;
bool option_is_secret_key(const struct option *option,
                          const char *key); /* KEY-file, KEY-env, KEY-command */
/* Help for the options that every command takes (names NULL), else for those named. */
void option_help(struct buf *buf, const char *const *names);

bool number_parse(const char *text,
                  double *ret_value); /* plain decimals, nothing after; no nan, no hex */
bool integer_parse(const char *text, long *ret_value);

#endif
