/*
 * Settings: one table (settings.c) holds each option's section, key, type, range, default and
 * help; --help, the configuration file, the environment and the manual page follow from it.
 * Precedence: command line, then GPU_AUDIT_… in the environment, then file, then default.
 *
 * The file is INI (libinih). Sections with a name ("[billing bills]") are sources, any number of
 * each kind. An unknown key is an error that names file, line and the nearest known key.
 * Values may reference nothing; "; comment" after a value is a comment when a blank precedes it.
 * Relative paths are relative to the file that names them.
 */
#ifndef COMMON_SETTINGS_H
#define COMMON_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/calendar.h"
#include "common/error.h"

struct setting {
    const char *key, *value;
    int line;
    struct setting *next;
};

struct section {
    const char *kind; /* "billing", "telemetry", "tracker", "inventory", "binding", "mail", "tags", "audit", … */
    const char *name; /* "bills"; "" for a section without a name */
    int line;
    struct setting *settings;
    struct section *next;
};

struct settings {
    struct arena *arena;       /* owns every string below */
    const char *file;          /* NULL when none was read */
    struct section *sections;  /* in file order */
    struct window window;
    int64_t now;               /* --as-of, else the clock */
    const char *database;      /* "" for the private cluster, else a conninfo */
    const char *currency;      /* report currency, ISO 4217 */
    const char *format;        /* --format: NULL, "table", "json", "csv" */
    int verbosity;             /* -1, 0, 1, 2 */
    bool log_json, draft, no_mail, dry_run;
    const char *fail_on;       /* NULL or the kind of finding that makes exit status 1 */
    int argc;                  /* what the command itself takes: arguments left over */
    const char **argv;
};

/* The first value of key in section, else the default of the table, else NULL. */
const char *section_get(const struct section *section, const char *key);
bool section_int(const struct section *section, const char *key, long least, long most, long *ret_value,
                 struct error *err) MUST_CHECK; /* untouched when the key is absent */
bool section_number(const struct section *section, const char *key, double least, double most, double *ret_value,
                    struct error *err) MUST_CHECK;
const char *section_path(const struct settings *settings, const struct section *section, const char *key);
/* An unnamed section such as "audit", "tags", "mail": never NULL, empty when absent. */
const struct section *settings_section(const struct settings *settings, const char *kind);
/* "KEY" from the file KEY-file names, the environment KEY-env names, or the output of KEY-command:
 * exactly one; registered with log_secret. NULL value when none is configured. */
bool section_secret(struct settings *settings, const struct section *section, const char *key, const char **ret_secret,
                    struct error *err) MUST_CHECK;

#endif
