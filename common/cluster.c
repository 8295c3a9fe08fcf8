#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cluster.h"
#include "common/cluster_private.h"
#include "common/log.h"

enum {
    TICK_MS = 5,
    USERS_MS = 1000,
    LOCK_SECONDS = 300,   /* another program may be in initdb, or the server in recovery */
    SERVER_SECONDS = 600, /* recovery after a crash may take as long as max_wal_size needs */
};

/* The one private cluster of this program. users >= 0 while it counts as one that uses it. */
static struct {
    struct arena arena;
    struct place place;
    int users;
    pid_t supervisor; /* of the server, where this program started it; else 0 */
} state = {.users = -1};

static bool
is_foreign(const struct settings *settings)
{
    return settings->database && *settings->database;
}

/* ---------------------------------------------------------------- locks */

/* Takes a lock without ever blocking in the kernel, so that a signal ends the wait. */
static bool
take_lock(int file, int mode, struct error *err)
{
    for (int waited = 0; flock(file, mode | LOCK_NB) != 0; waited += TICK_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return error_set(err, ERR_DB, "could not lock a file in \"%s\": %s", state.place.home, strerror(errno));
        }
        if (!interrupt_check(err)) {
            return false;
        }
        if (waited >= LOCK_SECONDS * 1000) {
            error_set(err, ERR_DB, "another gpu-audit has been starting or stopping the private database for %d seconds", LOCK_SECONDS);
            return error_hint(err, "See what it is doing, or end it, and try again.");
        }
        server_pause(TICK_MS);
    }
    return true;
}

static int
open_lock(const char *path, struct error *err)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (file < 0) {
        error_set(err, ERR_DB, "could not open \"%s\": %s", path, strerror(errno));
    }
    return file;
}

/* The lock under which the server is made, started and stopped; -1 is an error. */
static int
enter(struct error *err)
{
    int lock = open_lock(arena_printf(&state.arena, "%s/lock", state.place.home), err);

    if (lock >= 0 && !take_lock(lock, LOCK_EX, err)) {
        close(lock);
        return -1;
    }
    return lock;
}

static bool
become_user(struct error *err)
{
    if (state.users < 0) {
        state.users = open_lock(state.place.users, err);
    }
    return state.users >= 0 && take_lock(state.users, LOCK_SH, err);
}

/* ---------------------------------------------------------------- connecting */

static void
add_encoded(struct buf *url, const char *text)
{
    for (; *text; text++) {
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/", *text)) {
            buf_putc(url, *text);
        } else {
            buf_printf(url, "%%%02X", (unsigned)(unsigned char)*text);
        }
    }
}

static const char *
own_conninfo(const char *database)
{
    struct buf url = {0};
    const char *kept;

    buf_printf(&url, "postgresql:///%s?host=", database);
    add_encoded(&url, state.place.socket_dir);
    buf_printf(&url, "&port=%d&user=gpu_audit", CLUSTER_PORT);
    kept = arena_strdup(&state.arena, url.data);
    buf_free(&url);
    return kept;
}

/* The database is made on the first connection, so that a program killed between initdb and here
 * leaves nothing that the next one could trip over. */
static bool
make_database(struct error *err)
{
    struct db *db;
    bool made;

    if (!db_open(&db, own_conninfo("postgres"), "gpu-audit", err)) {
        return false;
    }
    /* Another program, or the backend of a killed one, may just have made it: 42P04, 23505. */
    made = db_exec(db, "CREATE DATABASE gpu_audit", err) || strcmp(err->sqlstate, "42P04") == 0 ||
           strcmp(err->sqlstate, "23505") == 0;
    db_close(db);
    return made;
}

static bool
connect_own(struct db **ret_db, const char *application, struct error *err)
{
    if (db_open(ret_db, own_conninfo("gpu_audit"), application, err)) {
        return true;
    }
    if (!strstr(err->detail, "database \"gpu_audit\" does not exist") || !make_database(err)) {
        return false;
    }
    error_clear(err);
    return db_open(ret_db, own_conninfo("gpu_audit"), application, err);
}

/* Is the socket there and does something answer? Until then the server is still starting. */
static bool
has_socket(void)
{
    struct stat found;

    return stat(arena_printf(&state.arena, "%s/.s.PGSQL.%d", state.place.socket_dir, CLUSTER_PORT), &found) == 0;
}

static bool
is_starting(const struct error *err)
{
    return strstr(err->detail, "starting up") || strstr(err->detail, "Connection refused") || strstr(err->detail, "recovery") ||
           strstr(err->detail, "No such file") || strstr(err->detail, "not yet accepting");
}

/* `alive` reads end-of-file once the server that was started has ended; -1: somebody else's. */
static bool
has_ended(int alive)
{
    struct pollfd waiting = {.fd = alive, .events = POLLIN};

    if (alive < 0) {
        return server_pid(&state.place, NULL) == 0;
    }
    return poll(&waiting, 1, 0) > 0;
}

static bool
connect_patiently(struct db **ret_db, const char *application, int alive, struct error *err)
{
    for (int waited = 0; waited < SERVER_SECONDS * 1000; waited += TICK_MS) {
        if (has_socket()) {
            if (connect_own(ret_db, application, err)) {
                error_clear(err);
                return true;
            }
            if (err->code == ERR_INTERRUPTED || (!is_starting(err) && !has_ended(alive))) {
                return false;
            }
        }
        if (!interrupt_check(err)) {
            return false;
        }
        if (has_ended(alive)) {
            return server_log_error(&state.place, err);
        }
        if (waited == 2000) {
            log_note("the private database is recovering from a crash");
        }
        server_pause(TICK_MS);
    }
    return server_log_error(&state.place, err);
}

/* ---------------------------------------------------------------- making, starting */

/* A server that is shutting down has a process, but takes no connection any more. */
static bool
connect_running(struct db **ret_db, const char *application, bool *ret_is_gone, struct error *err)
{
    *ret_is_gone = false;
    if (connect_patiently(ret_db, application, -1, err)) {
        return true;
    }
    *ret_is_gone = err->code != ERR_INTERRUPTED && server_pid(&state.place, NULL) == 0;
    if (!*ret_is_gone && strstr(err->detail, "shutting down")) {
        *ret_is_gone = server_stop(&state.place, err);
    }
    return false;
}

static bool
start_server(struct db **ret_db, const char *application, struct error *err)
{
    int alive;
    bool connected;

    unlink(state.place.keep); /* of a server that a reboot ended */
    if (!place_server(&state.place, err) || !place_socket(&state.place, err) ||
        (access(state.place.data, F_OK) != 0 && !server_init(&state.place, err)) || !server_clear(&state.place, err) ||
        !process_spawn(&state.place, &alive, &state.supervisor, err)) {
        return false;
    }
    connected = connect_patiently(ret_db, application, alive, err);
    close(alive);
    return connected;
}

/* Under the lock of enter(). */
static bool
open_locked(struct db **ret_db, const char *application, struct error *err)
{
    bool is_gone = true;
    const char *socket_dir = NULL;

    if (!become_user(err)) {
        return false;
    }
    state.place.data = place_data(&state.place);
    if (state.place.data && server_pid(&state.place, &socket_dir) && socket_dir) {
        state.place.socket_dir = socket_dir;
        if (connect_running(ret_db, application, &is_gone, err)) {
            return true;
        }
    }
    return is_gone && start_server(ret_db, application, err);
}

static bool
find(struct error *err)
{
    return state.place.home || place_find(&state.place, &state.arena, err);
}

static bool
open_own(struct db **ret_db, const char *application, bool keep, struct error *err)
{
    int lock;
    bool opened;

    if (!find(err) || !place_make(&state.place, err) || (lock = enter(err)) < 0) {
        return false;
    }
    opened = open_locked(ret_db, application, err);
    if (opened && keep) {
        int file = open_lock(state.place.keep, err);

        if (file < 0) {
            db_close(*ret_db);
            opened = false;
        } else {
            close(file);
        }
    }
    close(lock);
    return opened;
}

bool
cluster_open(struct settings *settings, struct db **ret_db, const char *application, struct error *err)
{
    return is_foreign(settings) ? db_open(ret_db, settings->database, application, err) : open_own(ret_db, application, false, err);
}

bool
cluster_connect(struct settings *settings, struct db **ret_db, const char *application, struct error *err)
{
    if (is_foreign(settings)) {
        return db_open(ret_db, settings->database, application, err);
    }
    return state.users >= 0 ? connect_own(ret_db, application, err) : open_own(ret_db, application, false, err);
}

/* ---------------------------------------------------------------- stopping */

/* Under the lock: gives up the use of the server, and stops it when nobody else uses it. Turning
 * the shared lock on users into one held alone shows that; newcomers wait until it is closed. */
static void
leave_locked(void)
{
    struct error err;

    if (flock(state.users, LOCK_EX | LOCK_NB) != 0 || access(state.place.keep, F_OK) == 0) {
        return;
    }
    if (!server_stop(&state.place, &err)) {
        log_debug("%s", err.text);
    } else if (state.supervisor > 0) { /* it ends with the server; nobody else may be there to reap it */
        process_reap(state.supervisor);
    }
    state.supervisor = 0;
}

/* Whoever holds the lock at this moment is starting or stopping the server: its supervisor then
 * sees to the rest. */
void
cluster_close(void)
{
    if (state.users >= 0) {
        struct error err;
        /* Whoever was interrupted does not wait: the supervisor ends a server that nobody uses. */
        int lock = interrupt_check(&err) ? open_lock(arena_printf(&state.arena, "%s/lock", state.place.home), &err) : -1;

        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
            leave_locked();
        }
        close(state.users);
        state.users = -1;
        if (lock >= 0) {
            close(lock);
        }
    }
    arena_free(&state.arena);
    memset(&state.place, 0, sizeof(state.place));
}

static bool
refuse_foreign(const struct settings *settings, struct error *err)
{
    if (!is_foreign(settings)) {
        return true;
    }
    error_set(err, ERR_USAGE, "the database is a server of your own, which gpu-audit does not start or stop");
    return error_hint(err, "Leave out --database (or \"database\" in [audit]) to speak of the private one.");
}

bool
cluster_start(struct settings *settings, struct error *err)
{
    struct db *db;

    if (!refuse_foreign(settings, err) || !open_own(&db, "gpu-audit db", true, err)) {
        return false;
    }
    db_close(db);
    return true;
}

/* The supervisor takes the lock on users for moments, and may stop the server before this does. */
static bool
is_unused(int users)
{
    for (int waited = 0; flock(users, LOCK_EX | LOCK_NB) != 0; waited += TICK_MS) {
        if (waited >= USERS_MS) {
            return false;
        }
        server_pause(TICK_MS);
    }
    return true;
}

/* Stops it if it runs, unless another program is using it. */
static bool
stop_locked(bool *ret_was_running, struct error *err)
{
    int users = open_lock(state.place.users, err);
    bool stopped;

    if (users < 0) {
        return false;
    }
    unlink(state.place.keep);
    state.place.data = place_data(&state.place);
    *ret_was_running = server_pid(&state.place, NULL) != 0;
    if (is_unused(users)) {
        stopped = server_stop(&state.place, err);
    } else {
        error_set(err, ERR_DB, "another gpu-audit is using the private database");
        stopped = error_hint(err, "The database stops by itself when that command ends.");
    }
    close(users);
    return stopped;
}

static bool
exists(void)
{
    return access(state.place.pg, F_OK) == 0;
}

bool
cluster_stop(struct settings *settings, bool *ret_was_running, struct error *err)
{
    int lock;
    bool stopped;

    *ret_was_running = false;
    if (!refuse_foreign(settings, err) || !find(err)) {
        return false;
    }
    if (!exists()) {
        return true;
    }
    if ((lock = enter(err)) < 0) {
        return false;
    }
    stopped = stop_locked(ret_was_running, err);
    close(lock);
    return stopped;
}

bool
cluster_destroy(struct settings *settings, bool *ret_existed, struct error *err)
{
    int lock;
    bool was_running, destroyed;

    *ret_existed = false;
    if (!refuse_foreign(settings, err) || !find(err)) {
        return false;
    }
    if (!exists()) {
        return true;
    }
    if (!place_make(&state.place, err) || (lock = enter(err)) < 0) {
        return false;
    }
    destroyed = stop_locked(&was_running, err) && server_remove(&state.place, true, err);
    if (destroyed && rmdir(state.place.pg) != 0) {
        destroyed = error_set(err, ERR_DB, "could not remove \"%s\": %s", state.place.pg, strerror(errno));
    }
    close(lock);
    *ret_existed = destroyed;
    return destroyed;
}

/* Where its socket is, or will be. */
static bool
find_socket(struct error *err)
{
    if (!find(err)) {
        return false;
    }
    state.place.data = place_data(&state.place);
    return state.place.socket_dir || server_pid(&state.place, &state.place.socket_dir) ||
           (place_make(&state.place, err) && place_socket(&state.place, err));
}

bool
cluster_conninfo(struct settings *settings, struct arena *arena, const char **ret_conninfo, struct error *err)
{
    if (is_foreign(settings)) {
        *ret_conninfo = arena_strdup(arena, settings->database);
        return true;
    }
    if (!find_socket(err)) {
        return false;
    }
    *ret_conninfo = arena_strdup(arena, own_conninfo("gpu_audit"));
    return true;
}

bool
cluster_program(struct arena *arena, const char *name, const char **ret_path, struct error *err)
{
    int major = state.place.data ? (int)strtol(strrchr(state.place.data, '/') + 1, NULL, 10) : 0;
    const char *bindir = place_bindir(arena, major), *path = bindir ? arena_printf(arena, "%s/%s", bindir, name) : NULL;

    if (!path || access(path, X_OK) != 0) {
        path = arena_printf(arena, "/usr/bin/%s", name);
    }
    if (access(path, X_OK) != 0) {
        error_set(err, ERR_DB, "%s is not installed", name);
        return error_hint(err, "Install the package postgresql-client.");
    }
    *ret_path = path;
    return true;
}
