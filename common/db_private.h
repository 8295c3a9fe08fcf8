/*
 * What db.c, rows.c and copy.c share, and nobody else: the connection and the one loop that waits
 * for the server. The connection is non-blocking, so that a signal is noticed while a query runs:
 * the query is then cancelled, its results are thrown away and the error is ERR_INTERRUPTED.
 */
#ifndef COMMON_DB_PRIVATE_H
#define COMMON_DB_PRIVATE_H

#include <libpq-fe.h>

#include "common/db.h"

struct db {
    PGconn *conn;
};

/* `what` names the query in errors: an asset, or the start of its text. */
bool db_send(struct db *db, const char *what, const char *sql, int nparam, const char *const *param,
             struct error *err) MUST_CHECK;
/* Until everything is sent and a result can be had without blocking. */
bool db_wait(struct db *db, struct error *err) MUST_CHECK;
/* Until everything is sent; answers are taken in, not looked at. */
bool db_flush(struct db *db, struct error *err) MUST_CHECK;
/* The next result; NULL in *ret_result once the query is done. A refusal is an error. */
bool db_result(struct db *db, const char *what, PGresult **ret_result, struct error *err) MUST_CHECK;
/* Throws away what is left of a query or COPY, cancelling it first; a few seconds at most. */
void db_drain(struct db *db, const char *reason);


/* The connection broke: the error is what the server said before it went, if anything. Returns false. */
bool db_lost(struct db *db, struct error *err);
/* libpq's messages end in a line break and hold several lines: joined by "; ". */
void db_message_tidy(const char *message, char *into, size_t room);
int64_t db_clock_ms(void);

#endif
