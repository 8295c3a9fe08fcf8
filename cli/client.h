/* PostgreSQL's own client programs on the audit database: psql, pg_dump. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdbool.h>

#include "cli/command.h"

enum { CLIENT_ARGUMENTS_MOST = 16 };

/*
 * Runs the program with `arguments` (NULL-ended, at most CLIENT_ARGUMENTS_MOST) and "-d" with
 * the connection, on this program's terminal, and waits for it: this program's use of the private
 * server keeps the server running. A password goes by the environment. `options` are those of the
 * session, "-c name=value", or NULL.
 */
bool client_run(struct command_run *run, const char *program, const char *const *arguments, const char *options,
                struct error *err) MUST_CHECK;

#endif
