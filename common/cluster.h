/*
 * The private PostgreSQL: where it lives, making it, starting it, who stops it.
 *
 * It lives in $XDG_DATA_HOME/gpu-audit/pg/MAJOR (default ~/.local/share; as root /var/lib unless
 * XDG_DATA_HOME is set), listens on a Unix socket only, and as root runs as user postgres.
 * Every program that uses it holds a shared lock on the file `users`; the one that can turn its
 * lock into an exclusive one is the last and stops the server, unless `db start` left the file
 * `keep`. Making, starting and stopping happen under an exclusive lock on the file `lock`.
 * With settings->database set nothing of this is touched, and that server is used.
 */
#ifndef COMMON_CLUSTER_H
#define COMMON_CLUSTER_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "common/settings.h"

/* The first connection; makes and starts the private server when it has to. */
bool cluster_open(struct settings *settings, struct db **ret_db, const char *application, struct error *err) MUST_CHECK;
/* A further connection to the same server, after cluster_open. */
bool cluster_connect(struct settings *settings, struct db **ret_db, const char *application, struct error *err) MUST_CHECK;
/* Stops the private server if nobody else uses it. Safe to call at any time, more than once. */
void cluster_close(void);

/* For the command db: none of them makes a cluster but cluster_start. */
bool cluster_start(struct settings *settings, struct error *err) MUST_CHECK;   /* and leaves it running */
bool cluster_stop(struct settings *settings, bool *ret_was_running, struct error *err) MUST_CHECK;
bool cluster_destroy(struct settings *settings, bool *ret_existed, struct error *err) MUST_CHECK; /* with all it holds */
/* What db_open takes, perhaps with a password in it: for db_conninfo_public. In arena. */
bool cluster_conninfo(struct settings *settings, struct arena *arena, const char **ret_conninfo, struct error *err) MUST_CHECK;
/* Full path of a program of PostgreSQL ("psql", "pg_dump"), in arena; an error names the package. */
bool cluster_program(struct arena *arena, const char *name, const char **ret_path, struct error *err) MUST_CHECK;

#endif
