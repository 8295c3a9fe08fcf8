/* What the files of settings share. */
#ifndef COMMON_SETTINGS_PRIVATE_H
#define COMMON_SETTINGS_PRIVATE_H

#include "common/option.h"
#include "common/settings.h"

struct given {
    const struct option *option;
    const char *value; /* "1" for a flag */
    const char *origin;
    struct given *next; /* the latest first */
};

/* settings_file.c: sections and settings of an INI file, checked against the table. */
bool settings_read_file(struct settings *settings, const char *path, struct error *err) MUST_CHECK;
/* The first of the usual places that there is; NULL when there is none. */
const char *settings_find_file(struct settings *settings);

/* settings_secret.c: a password in an address of a database never comes into a message. */
void settings_hide_password(struct settings *settings, const char *conninfo);

/* settings.c */
struct setting *section_find(const struct section *section, const char *key);
struct section *settings_add_section(struct settings *settings, const char *kind, const char *name,
                                     int line);
struct section *settings_unnamed(struct settings *settings,
                                 const char *kind); /* added when absent */

#endif
