/*
 * A command is one file cli/cmd_NAME.c that ends in one const struct command, and a line in
 * Makefile.am (COMMANDS_C): help, dispatch and completion follow. Only main.c exits.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "common/settings.h"

enum command_needs {
    NEEDS_NOTHING = 0,
    NEEDS_CONFIG = 1,   /* a configuration file must have been found */
    NEEDS_DATABASE = 2, /* db is open and migrated */
    NEEDS_NO_FILE = 4,  /* the configuration file is not even read */
};

struct command_run {
    struct settings *settings;
    struct db *db;           /* NULL without NEEDS_DATABASE */
    struct arena *arena;
};

struct command {
    const char *name;        /* "figures" */
    const char *arguments;   /* "[SOURCE…]" or "" */
    const char *title;       /* one line for --help */
    const char *help;        /* paragraphs for `gpu-audit NAME --help` */
    const char *const *options; /* names of the options it takes beside the common ones, NULL-ended, or NULL */
    unsigned needs;
    bool (*run)(struct command_run *run, struct error *err);
};

extern const struct command *const commands[]; /* written from COMMANDS_C; NULL-ended */

#endif
