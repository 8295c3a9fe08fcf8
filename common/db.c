#include <config.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/asset.h"
#include "common/db_private.h"
#include "common/log.h"
#include "common/utf8.h"

enum {
    POLL_MS = 200,          /* how late a signal that slipped past poll is noticed */
    DRAIN_MS = 5000,        /* a server that ignores a cancel longer than this is given up */
};

int64_t
db_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* libpq's messages end in a line break and hold several lines: one line each is joined by "; ". */
void
db_message_tidy(const char *message, char *into, size_t room)
{
    size_t used = 0;

    for (const char *at = message ? message : ""; *at && used + 3 < room; at++) {
        if (*at != '\n') {
            into[used++] = *at;
        } else if (at[1]) {
            into[used++] = ';';
            into[used++] = ' ';
        }
    }
    into[used] = '\0';
}

/* ---------------------------------------------------------------- errors */

static void
hint_for(const char *sqlstate, struct error *err)
{
    if (strcmp(sqlstate, "53100") == 0) {
        error_hint(err, "Free some space on the disk of the database and run the same command again; what was loaded before stays.");
    } else if (strcmp(sqlstate, "55P03") == 0) {
        error_hint(err, "Another command holds what this one needs. Wait until it ends and try again.");
    } else if (strcmp(sqlstate, "42501") == 0) {
        error_hint(err, "The database user lacks a right. Use the owner of schema audit, or have it granted.");
    } else if (strncmp(sqlstate, "57P0", 4) == 0 || strncmp(sqlstate, "08", 2) == 0) {
        error_hint(err, "The database server ended the connection. Run the same command again; nothing is half done.");
    }
}

static const char *
result_field(const PGresult *result, int code)
{
    const char *text = PQresultErrorField(result, code);

    return text ? text : "";
}

/* The server said no. */
static bool
refused(const char *what, const PGresult *result, struct error *err)
{
    const char *sqlstate = result_field(result, PG_DIAG_SQLSTATE);
    const char *primary = result_field(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = result_field(result, PG_DIAG_MESSAGE_HINT);
    const char *detail = result_field(result, PG_DIAG_MESSAGE_DETAIL);
    const char *context = result_field(result, PG_DIAG_CONTEXT);
    const char *line = strstr(PQresultErrorMessage(result), "\nLINE ");
    char plain[512];

    db_message_tidy(*primary ? primary : PQresultErrorMessage(result), plain, sizeof(plain));
    error_set(err, ERR_DB, "database: %s: %s", what, plain);
    if (*detail || *context) {
        error_detail(err, "%s%s%s", detail, *detail && *context ? "; " : "", context);
    } else if (line) {
        error_detail(err, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
    }
    if (*hint) {
        error_hint(err, "%s", hint);
    }
    hint_for(sqlstate, err);
    snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate);
    return false;
}

/* The connection broke. What the server said before it went, if anything, is the better message. */
bool
db_lost(struct db *db, struct error *err)
{
    PGresult *result = PQgetResult(db->conn);
    char plain[512];

    if (result && *result_field(result, PG_DIAG_SQLSTATE)) {
        refused("connection lost", result, err);
    } else {
        db_message_tidy(PQerrorMessage(db->conn), plain, sizeof(plain));
        error_set(err, ERR_DB, "connection to the database was lost");
        error_detail(err, "%s", plain);
        hint_for("08006", err);
    }
    PQclear(result);
    return false;
}

/* ---------------------------------------------------------------- waiting */

/* Waits for the socket; false when the connection broke. */
static bool
take_in(struct db *db, bool is_writing, int timeout_ms)
{
    struct pollfd waiting = {.fd = PQsocket(db->conn), .events = POLLIN};

    if (is_writing) {
        waiting.events |= POLLOUT;
    }
    if (waiting.fd < 0 || (poll(&waiting, 1, timeout_ms) < 0 && errno != EINTR)) {
        return false;
    }
    return !(waiting.revents & (POLLIN | POLLERR | POLLHUP)) || PQconsumeInput(db->conn);
}

bool
db_flush(struct db *db, struct error *err)
{
    for (;;) {
        int left = PQflush(db->conn);

        if (left == 0) {
            return true;
        }
        if (!interrupt_check(err)) {
            db_drain(db, "interrupted");
            return false;
        }
        if (left < 0 || !take_in(db, true, POLL_MS)) {
            return db_lost(db, err);
        }
    }
}

bool
db_wait(struct db *db, struct error *err)
{
    for (;;) {
        int left = PQflush(db->conn);

        if (left == 0 && !PQisBusy(db->conn)) {
            return true;
        }
        if (!interrupt_check(err)) {
            db_drain(db, "interrupted");
            return false;
        }
        if (left < 0 || !take_in(db, left > 0, POLL_MS)) {
            return db_lost(db, err);
        }
    }
}

/* As db_wait, but a signal does not end it: cleaning up must come through. */
static bool
settle(struct db *db, int64_t deadline)
{
    for (;;) {
        int left = PQflush(db->conn);
        int64_t rest = deadline - db_clock_ms();

        if (left == 0 && !PQisBusy(db->conn)) {
            return true;
        }
        if (left < 0 || rest <= 0 || !take_in(db, left > 0, (int)rest)) {
            return false;
        }
    }
}

static void
cancel(struct db *db)
{
    PGcancel *handle = PQgetCancel(db->conn);
    char problem[256];

    if (handle && !PQcancel(handle, problem, (int)sizeof(problem))) {
        log_debug("could not cancel the query: %s", problem);
    }
    PQfreeCancel(handle);
}

static void
drain(struct db *db, const char *reason)
{
    int64_t deadline = db_clock_ms() + DRAIN_MS;

    while (settle(db, deadline)) {
        PGresult *result = PQgetResult(db->conn);
        ExecStatusType status = PQresultStatus(result);

        PQclear(result);
        if (!result) {
            return;
        }
        if (status == PGRES_COPY_IN && PQputCopyEnd(db->conn, reason) < 0) {
            break;
        }
    }
    log_debug("the server did not end the query; the connection is given up");
}

void
db_drain(struct db *db, const char *reason)
{
    if (PQstatus(db->conn) == CONNECTION_OK && PQtransactionStatus(db->conn) == PQTRANS_ACTIVE) {
        cancel(db);
        drain(db, reason);
    }
}

/* Bytes that are no UTF-8, such as those of a file's name, would fail the statement: each becomes "?".
 * NULL where nothing is to change. */
static char *
clean_copy(const char *text)
{
    size_t left = strlen(text);
    char *copy = NULL;

    for (size_t at = 0, size; left; at += size, left -= size) {
        size = utf8_size(text + at, left);
        if (size == 0) {
            size = 1;
            if (!copy) {
                copy = mem_resize(NULL, at + left + 1, 1);
                memcpy(copy, text, at + left + 1);
            }
            copy[at] = '?';
        }
    }
    return copy;
}

static bool
send_params(struct db *db, const char *sql, int nparam, const char *const *param)
{
    const char **clean = mem_resize(NULL, (size_t)nparam, sizeof(*clean));
    char **copies = mem_resize(NULL, (size_t)nparam, sizeof(*copies));
    bool sent;

    for (int i = 0; i < nparam; i++) {
        copies[i] = param[i] ? clean_copy(param[i]) : NULL;
        clean[i] = copies[i] ? copies[i] : param[i];
    }
    sent = PQsendQueryParams(db->conn, sql, nparam, NULL, clean, NULL, NULL, 0);
    for (int i = 0; i < nparam; i++) {
        free(copies[i]);
    }
    free(copies);
    free(clean);
    return sent;
}

bool
db_send(struct db *db, const char *what, const char *sql, int nparam, const char *const *param, struct error *err)
{
    bool sent;

    if (PQtransactionStatus(db->conn) == PQTRANS_ACTIVE) {
        return error_set(err, ERR_BUG, "database: %s was asked while another query is running", what);
    }
    log_debug("database: %s", what);
    sent = nparam ? send_params(db, sql, nparam, param) : PQsendQuery(db->conn, sql);
    return sent ? true : db_lost(db, err);
}

bool
db_result(struct db *db, const char *what, PGresult **ret_result, struct error *err)
{
    PGresult *result;

    if (!db_wait(db, err)) {
        return false;
    }
    result = PQgetResult(db->conn);
    switch (PQresultStatus(result)) {
    case PGRES_EMPTY_QUERY:
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
    case PGRES_COPY_IN:
        break;
    default:
        if (result) {
            refused(what, result, err);
            PQclear(result);
            drain(db, "failed");
            return false;
        }
    }
    *ret_result = result;
    return true;
}

/* ---------------------------------------------------------------- statements */

static bool
run_text(struct db *db, const char *what, const char *sql, int nparam, const char *const *param, struct error *err)
{
    PGresult *result = NULL;

    if (!db_send(db, what, sql, nparam, param, err)) {
        return false;
    }
    do {
        PQclear(result);
        if (!db_result(db, what, &result, err)) {
            return false;
        }
        if (PQresultStatus(result) == PGRES_COPY_IN) {
            PQclear(result);
            db_drain(db, "COPY is not for db_run");
            return error_set(err, ERR_BUG, "database: %s: COPY outside copy_begin", what);
        }
    } while (result);
    return true;
}

bool
db_run(struct db *db, const char *asset, int nparam, const char *const *param, struct error *err)
{
    return run_text(db, asset, asset_text(asset), nparam, param, err);
}

bool
db_exec(struct db *db, const char *sql, struct error *err)
{
    char what[64];

    snprintf(what, sizeof(what), "%.*s", (int)strcspn(sql, ";\n"), sql);
    return run_text(db, what, sql, 0, NULL, err);
}

bool
db_begin(struct db *db, struct error *err)
{
    return db_exec(db, "BEGIN", err);
}

/* COMMIT of a failed transaction answers ROLLBACK and is no error to the server; it is one here. */
bool
db_commit(struct db *db, struct error *err)
{
    if (PQtransactionStatus(db->conn) == PQTRANS_INERROR) {
        db_rollback(db);
        return error_set(err, ERR_DB, "database: the transaction had failed and was rolled back");
    }
    return db_exec(db, "COMMIT", err);
}

void
db_rollback(struct db *db)
{
    PGTransactionStatusType status;

    db_drain(db, "rolled back");
    status = PQtransactionStatus(db->conn);
    if ((status == PQTRANS_INTRANS || status == PQTRANS_INERROR) && PQsendQuery(db->conn, "ROLLBACK")) {
        int64_t deadline = db_clock_ms() + DRAIN_MS;
        PGresult *result;

        while (settle(db, deadline) && (result = PQgetResult(db->conn))) {
            PQclear(result);
        }
    }
}

bool
db_text(struct db *db, struct arena *arena, const char *asset, int nparam, const char *const *param,
        const char **ret_text, struct error *err)
{
    struct rows *rows;

    if (!rows_open(&rows, db, asset, nparam, param, err)) {
        return false;
    }
    *ret_text = rows_next(rows, err) ? arena_strdup(arena, rows_text(rows, 0)) : NULL;
    rows_close(rows);
    return true;
}

char *
db_identifier(struct db *db, struct arena *arena, const char *name)
{
    char *quoted = PQescapeIdentifier(db->conn, name, strlen(name));
    char *kept = arena_strdup(arena, quoted ? quoted : "\"\"");

    PQfreemem(quoted);
    return kept;
}
