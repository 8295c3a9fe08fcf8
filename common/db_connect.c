/* Opening a session: the connection string, the connection, what every session has set. */
#include <config.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/db_private.h"
#include "common/log.h"

enum {
    POLL_MS = 200,
    CONNECT_SECONDS = 30,   /* without connect_timeout in the connection string */
    SERVER_VERSION_LEAST = 130000,
};

/* lock_timeout is long since a load may wait for another command's analysis; it only keeps two
 * programs from waiting for ever. */
static const char session_sql[] = "SET search_path TO audit; SET timezone TO 'UTC'; SET datestyle TO 'ISO, YMD';"
                                  " SET standard_conforming_strings TO on; SET extra_float_digits TO 1;"
                                  " SET bytea_output TO hex; SET intervalstyle TO iso_8601;"
                                  " SET statement_timeout TO 0; SET lock_timeout TO '10min'; SET jit TO off;"
                                  " SET client_min_messages TO notice";

static void
take_notice(void *context, const PGresult *result)
{
    (void)context;
    log_debug("database says: %s: %s", PQresultErrorField(result, PG_DIAG_SEVERITY),
              PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
}

/* A URL's user and password end at its only "@": a password with "@" or "/" in it as they are makes
 * libpq take the rest for host, port or database, and say so in a message. */
static bool
has_stray_at(const char *conninfo)
{
    const char *start = strstr(conninfo, "://");
    size_t whole = start ? strcspn(start + 3, "?") : 0, host = start ? strcspn(start + 3, "/?") : 0;
    const char *at = start ? memchr(start + 3, '@', whole) : NULL;

    return at && ((size_t)(at - start - 3) > host || memchr(at + 1, '@', (size_t)(start + 3 + whole - at - 1)));
}

/* Its parts, when it is "key=value …" or a URL; NULL in *ret_options when it is just the name of a
 * database. libpq's own message about a malformed one quotes it with its password, so that message
 * goes no further. */
static bool
conninfo_parse(const char *conninfo, PQconninfoOption **ret_options, struct error *err)
{
    *ret_options = NULL;
    if (!strchr(conninfo, '=') && strncmp(conninfo, "postgres://", 11) != 0 && strncmp(conninfo, "postgresql://", 13) != 0) {
        return true;
    }
    *ret_options = has_stray_at(conninfo) ? NULL : PQconninfoParse(conninfo, NULL);
    if (*ret_options) {
        return true;
    }
    error_set(err, ERR_CONFIG, "the database connection string is malformed");
    return error_hint(err, "Write it as postgresql://USER@HOST:PORT/DATABASE or as host=… dbname=… user=…, "
                           "and percent-encode special characters of a URL.");
}

static bool
is_password(const PQconninfoOption *option)
{
    return strcmp(option->keyword, "password") == 0 || strcmp(option->keyword, "sslpassword") == 0;
}

static bool
conninfo_check(const char *conninfo, struct error *err)
{
    PQconninfoOption *options;

    if (!conninfo_parse(conninfo, &options, err)) {
        return false;
    }
    for (const PQconninfoOption *option = options; option && option->keyword; option++) {
        if (option->val && *option->val && is_password(option)) {
            log_secret(option->val);
        }
    }
    PQconninfoFree(options);
    return true;
}

static void
add_option(struct buf *into, const char *keyword, const char *first, const char *second)
{
    buf_printf(into, "%s%s='", into->size ? " " : "", keyword);
    for (const char *at = first; *at; at++) {
        if (*at == '\'' || *at == '\\') {
            buf_putc(into, '\\');
        }
        buf_putc(into, *at);
    }
    buf_printf(into, "%s%s'", *first && *second ? " " : "", second);
}

bool
db_conninfo_public(struct arena *arena, const char *conninfo, const char *options, const char **ret_conninfo,
                   const char **ret_password, struct error *err)
{
    struct buf text = {0};
    PQconninfoOption *parts;
    const char *own_options = "";

    if (!conninfo_parse(conninfo, &parts, err)) {
        return false;
    }
    *ret_password = NULL;
    for (const PQconninfoOption *part = parts; part && part->keyword; part++) {
        if (!part->val) {
            continue;
        }
        if (is_password(part)) {
            *ret_password = strcmp(part->keyword, "password") == 0 ? arena_strdup(arena, part->val) : *ret_password;
        } else if (strcmp(part->keyword, "options") == 0) {
            own_options = arena_strdup(arena, part->val);
        } else {
            add_option(&text, part->keyword, part->val, "");
        }
    }
    if (!parts) {
        add_option(&text, "dbname", conninfo, "");
    }
    if (*own_options || options) {
        add_option(&text, "options", own_options, options ? options : "");
    }
    *ret_conninfo = arena_strdup(arena, text.data);
    PQconninfoFree(parts);
    buf_free(&text);
    return true;
}

static int64_t
connect_deadline(PGconn *conn)
{
    PQconninfoOption *options = PQconninfo(conn);
    long seconds = 0;

    for (const PQconninfoOption *option = options; option && option->keyword; option++) {
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val) {
            seconds = strtol(option->val, NULL, 10);
        }
    }
    PQconninfoFree(options);
    return db_clock_ms() + 1000 * (seconds > 0 && seconds < 3600 ? seconds : CONNECT_SECONDS);
}

static bool
connect_failed(PGconn *conn, bool is_late, struct error *err)
{
    char plain[900];

    db_message_tidy(is_late ? "timeout expired" : PQerrorMessage(conn), plain, sizeof(plain));
    error_set(err, ERR_DB, "could not connect to the database");
    error_detail(err, "%s", plain);
    return error_hint(err, "Check that the server runs and that --database (or \"database\" in [audit]) names it; "
                           "a password belongs in ~/.pgpass or PGPASSWORD.");
}

static bool
connect_wait(PGconn *conn, struct error *err)
{
    int64_t deadline = connect_deadline(conn);
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    while (PQstatus(conn) != CONNECTION_BAD && status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        struct pollfd waiting = {.fd = PQsocket(conn), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};

        if (!interrupt_check(err)) {
            return false;
        }
        if (db_clock_ms() > deadline) {
            return connect_failed(conn, true, err);
        }
        if (poll(&waiting, 1, POLL_MS) > 0) {
            status = PQconnectPoll(conn);
        }
    }
    return status == PGRES_POLLING_OK || connect_failed(conn, false, err);
}

static bool
session_begin(struct db *db, struct error *err)
{
    int version = PQserverVersion(db->conn);

    if (version < SERVER_VERSION_LEAST) {
        error_set(err, ERR_DB, "the server is PostgreSQL %d; 13 or later is needed", version / 10000);
        return error_hint(err, "Name a newer server with --database, or leave it out for a private one.");
    }
    if (PQsetnonblocking(db->conn, 1) != 0) {
        return db_lost(db, err);
    }
    return db_exec(db, session_sql, err);
}

bool
db_open(struct db **ret_db, const char *conninfo, const char *application, struct error *err)
{
    const char *const keywords[] = {"dbname", "application_name", "client_encoding", NULL};
    const char *const values[] = {conninfo, application, "UTF8", NULL};
    struct db *db;

    if (!conninfo_check(conninfo, err)) {
        return false;
    }
    db = mem_resize(NULL, 1, sizeof(*db));
    db->conn = PQconnectStartParams(keywords, values, 1);
    if (!db->conn) {
        free(db);
        return error_set(err, ERR_MEMORY, "out of memory");
    }
    PQsetNoticeReceiver(db->conn, take_notice, NULL);
    if (!connect_wait(db->conn, err) || !session_begin(db, err)) {
        db_close(db);
        return false;
    }
    *ret_db = db;
    return true;
}

void
db_close(struct db *db)
{
    if (db) {
        PQfinish(db->conn);
        free(db);
    }
}
