/*
 * Settings: one table (settings_table.c) holds each option's section, key, type, range, default and
 * help; --help, the configuration file, the environment and the manual page follow from it.
 * Precedence: command line, then GPU_AUDIT_… in the environment, then file, then default.
 *
 * The file is INI (libinih). Sections with a name ("[billing bills]") are sources, any number of
 * each kind. An unknown key is an error that names file, line and the nearest known key.
 * Values may reference nothing; "; comment" after a value is a comment when a blank precedes it.
 * A value that is empty counts as absent. Relative paths are relative to the file that names them.
 */
#ifndef COMMON_SETTINGS_H
#define COMMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/calendar.h"
#include "common/error.h"

struct setting {
    const char *key, *value;
    int line;           /* 0: from the command line or the environment */
    const char *origin; /* "FILE line 12", "--quarter", "GPU_AUDIT_QUARTER": errors begin with it */
    struct setting *next;
};

struct section {
    const char *kind; /* "billing", "telemetry", "tracker", "inventory", "audit", "mail", … */
    const char *name; /* "bills"; "" for a section without a name */
    int line;
    struct setting *settings;
    struct section *next;
};

struct given; /* options of the command line */

struct settings {
    struct arena *arena;      /* owns every string below */
    const char *file;         /* NULL when none was read */
    struct section *sections; /* in file order */
    struct window window;
    int64_t now;          /* --as-of, else the clock */
    const char *database; /* "" for the private cluster, else a conninfo */
    const char *currency; /* report currency, ISO 4217 */
    const char *format;   /* --format: NULL, "table", "json", "csv"; --json makes it "json" */
    int verbosity;        /* -1, 0, 1, 2 */
    bool log_json, draft, no_mail, dry_run;
    const char *fail_on; /* NULL or the kind of finding that makes exit status 1 */
    const char *command; /* NULL when none was named */
    int argc;            /* what the command itself takes: arguments left over */
    const char **argv;   /* NULL-ended */
    struct given *given;
};

/* Reads the command line: options may stand before and after the command; "--" ends them.
 * Sets verbosity, log_json, command, argc, argv. */
bool settings_parse(struct settings *settings, struct arena *arena, int argc, char *const *argv,
                    struct error *err) MUST_CHECK;
/* ERR_USAGE when an option was given that neither every command takes nor `names` (NULL-ended or
 * NULL) lists. */
bool settings_permit(const struct settings *settings, const char *const *names,
                     struct error *err) MUST_CHECK;
/* Finds and reads the file (unless told not to), puts environment and command line before it,
 * checks every value, and sets what is left of the struct. After settings_parse. */
bool settings_load(struct settings *settings, bool with_file, struct error *err) MUST_CHECK;
/* The keys of a source's section against those its format takes (NULL-ended) and source_keys. One
 * that ends in '.' is the beginning of keys that go on as the user likes: "column.tags.". */
bool settings_check_source(const struct settings *settings, const struct section *section,
                           const char *const *keys, struct error *err) MUST_CHECK;
bool settings_is_source(const struct section *section);

/* An option as the command line, else the environment gives it; NULL when neither does. Flags are
 * "1". */
const char *settings_option(const struct settings *settings, const char *name);

/* The first value of key in section, else the default of the table, else NULL. */
const char *section_get(const struct section *section, const char *key);
/* Untouched when the key is absent. */
bool section_int(const struct section *section, const char *key, long least, long most,
                 long *ret_value, struct error *err) MUST_CHECK;
bool section_number(const struct section *section, const char *key, double least, double most,
                    double *ret_value, struct error *err) MUST_CHECK;
/* In the settings' arena; an address ("s3://…") and an absolute path stay as they are. NULL when
 * absent. */
const char *section_path(const struct settings *settings, const struct section *section,
                         const char *key);
/* "FILE line 12" of the key, else of the section: for the beginning of an error. */
const char *section_origin(const struct settings *settings, const struct section *section,
                           const char *key);
/* An unnamed section such as "audit", "tags", "mail": never NULL, empty when absent. */
const struct section *settings_section(const struct settings *settings, const char *kind);
/* "KEY" itself, from the file KEY-file names (a bare name is looked up in systemd's credentials
 * first), the environment KEY-env names, or the output of KEY-command: exactly one; registered
 * with log_secret. NULL value when none is configured. */
bool section_secret(struct settings *settings, const struct section *section, const char *key,
                    const char **ret_secret, struct error *err) MUST_CHECK;

#endif
