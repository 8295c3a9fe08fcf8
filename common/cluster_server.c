/* What runs in the data folder, and making and removing that folder. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cluster_private.h"
#include "common/log.h"

enum {
    TICK_MS = 20,
    ORPHANS_QUIT_MS = 3000,  /* backends notice within a second or two that their postmaster died */
    ORPHANS_KILL_MS = 6000,
    ORPHANS_GIVE_UP_MS = 12000,
    REMOVE_MS = 5000,
    STOP_QUIT_MS = 60000,
    STOP_GIVE_UP_MS = 75000,
    CALL_FAILED = 255,
};

static const char config_text[] =
    "\n# Written by gpu-audit when it made this database. Change what you like: it is not written again.\n"
    "shared_buffers = 128MB\n"
    "work_mem = 64MB\n"
    "maintenance_work_mem = 256MB\n"
    "max_connections = 50\n"
    "max_locks_per_transaction = 256\n"
    "dynamic_shared_memory_type = mmap   # a small /dev/shm breaks parallel joins\n"
    "wal_level = minimal                 # nothing is replicated; a load can be run again\n"
    "max_wal_senders = 0\n"
    "synchronous_commit = off\n"
    "max_wal_size = 4GB\n"
    "checkpoint_timeout = 15min\n"
    "log_checkpoints = off\n"
    "jit = off\n"
    "random_page_cost = 1.1\n"
    "timezone = 'UTC'\n"
    "log_timezone = 'UTC'\n";

void
server_pause(int ms)
{
    struct timespec pause = {.tv_nsec = ms * 1000000L};

    nanosleep(&pause, NULL);
}

/* ---------------------------------------------------------------- processes of the data folder */

/* A zombie has no working directory, another program's process another one: neither is ours,
 * whatever postmaster.pid says. */
static bool
runs_in(const char *pid, const struct stat *data)
{
    char path[300], command[32] = "";
    struct stat cwd;
    int from;
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%s/cwd", pid);
    if (stat(path, &cwd) != 0 || cwd.st_dev != data->st_dev || cwd.st_ino != data->st_ino) {
        return false;
    }
    snprintf(path, sizeof(path), "/proc/%s/comm", pid);
    from = open(path, O_RDONLY | O_CLOEXEC);
    size = from >= 0 ? read(from, command, sizeof(command) - 1) : 0;
    if (from >= 0) {
        close(from);
    }
    return size > 0 && strncmp(command, "postgres", 8) == 0;
}

struct scan {
    const char *data;
    int signal;  /* sent to each that is found; 0: none */
    pid_t pid;   /* only this one; 0: all */
};

/* How many server processes there are, up to 254. In a child as the server's user: root without
 * CAP_SYS_PTRACE, as in containers, may not look at another user's working directories. */
static int
count_processes(void *argument)
{
    const struct scan *scan = argument;
    struct stat data;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    int count = 0;

    if (!proc || stat(scan->data, &data) != 0) {
        return CALL_FAILED;
    }
    while ((entry = readdir(proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= 0 || (scan->pid && pid != scan->pid) || !runs_in(entry->d_name, &data)) {
            continue;
        }
        if (scan->signal) {
            kill(pid, scan->signal);
        }
        count += count < CALL_FAILED - 1;
    }
    return count;
}

static int
count_all(const struct place *place, int signal_number)
{
    struct scan scan = {.data = place->data, .signal = signal_number};

    return process_call(place, count_processes, &scan);
}

pid_t
server_pid(const struct place *place, const char **ret_socket_dir)
{
    char path[4400], text[8192], *line = text, *lines[5] = {0};
    int from;
    ssize_t size;
    struct scan scan = {.data = place->data};

    if (!place->data) {
        return 0;
    }
    snprintf(path, sizeof(path), "%s/postmaster.pid", place->data);
    from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size = from >= 0 ? read(from, text, sizeof(text) - 1) : 0;
    if (from >= 0) {
        close(from);
    }
    text[size > 0 ? size : 0] = '\0';
    for (int i = 0; i < 5 && line; i++) {
        lines[i] = strsep(&line, "\n");
    }
    scan.pid = (pid_t)strtol(text, NULL, 10);
    if (scan.pid <= 0 || process_call(place, count_processes, &scan) != 1) {
        return 0;
    }
    if (ret_socket_dir) {
        *ret_socket_dir = lines[4] && *lines[4] ? arena_strdup(place->arena, lines[4]) : NULL;
    }
    return scan.pid;
}

static int
remove_lock_files(void *argument)
{
    const struct place *place = argument;
    char path[4400];

    snprintf(path, sizeof(path), "%s/postmaster.pid", place->data);
    if (unlink(path) != 0 && errno != ENOENT) {
        return 1;
    }
    snprintf(path, sizeof(path), "%s/.s.PGSQL.%d.lock", place->socket_dir, CLUSTER_PORT);
    return unlink(path) != 0 && errno != ENOENT ? 1 : 0;
}

bool
server_clear(const struct place *place, struct error *err)
{
    struct place copy = *place;

    for (int waited = 0; count_all(place, 0) != 0; waited += TICK_MS) {
        if (!interrupt_check(err)) {
            return false;
        }
        if (waited == ORPHANS_QUIT_MS || waited == ORPHANS_KILL_MS) {
            log_debug("ending server processes left by a crash");
            count_all(place, waited == ORPHANS_QUIT_MS ? SIGQUIT : SIGKILL);
        }
        if (waited >= ORPHANS_GIVE_UP_MS) {
            error_set(err, ERR_DB, "processes of an earlier server still run in \"%s\"", place->data);
            return error_hint(err, "End the postgres processes whose working directory that is, and try again.");
        }
        server_pause(TICK_MS);
    }
    if (process_call(place, remove_lock_files, &copy) != 0) {
        return error_set(err, ERR_DB, "could not remove a stale lock file in \"%s\" or \"%s\"", place->data, place->socket_dir);
    }
    return true;
}

/* Has it ended? A zombie has: its parent may never ask for it. */
static bool
is_gone(pid_t pid)
{
    char path[64], text[128] = "";
    int from;
    ssize_t size;
    const char *state;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    from = open(path, O_RDONLY | O_CLOEXEC);
    size = from >= 0 ? read(from, text, sizeof(text) - 1) : 0;
    if (from >= 0) {
        close(from);
    }
    state = size > 0 ? strrchr(text, ')') : NULL;
    return !state || (state[1] == ' ' && (state[2] == 'Z' || state[2] == 'X'));
}

bool
server_stop(const struct place *place, struct error *err)
{
    pid_t pid = server_pid(place, NULL);

    if (pid == 0) {
        return true;
    }
    if (kill(pid, SIGINT) != 0 && errno != ESRCH) {
        return error_set(err, ERR_DB, "could not stop the private database: %s", strerror(errno));
    }
    for (int waited = 0; !is_gone(pid); waited += TICK_MS) {
        if (waited == STOP_QUIT_MS) {
            kill(pid, SIGQUIT);
        }
        if (waited >= STOP_GIVE_UP_MS) {
            return error_set(err, ERR_DB, "the private database (process %d) does not stop", (int)pid);
        }
        server_pause(TICK_MS);
    }
    return true;
}

/* ---------------------------------------------------------------- errors of the server's own */

static void
hint_of_server(const struct place *place, const char *said, struct error *err)
{
    if (strstr(said, "No space left on device")) {
        error_hint(err, "Free some space on the disk that holds \"%s\" and run the same command again.", place->pg);
    } else {
        error_hint(err, "The server's log is \"%s\".", place->log);
    }
}

/* The last line of `text` that tells why: one with a word of failure, else the last one. */
static const char *
telling_line(char *text)
{
    const char *found = "", *line;
    bool is_telling = false;

    while ((line = strsep(&text, "\n"))) {
        bool tells = strstr(line, "FATAL:") || strstr(line, "PANIC:") || strstr(line, "error:") || strstr(line, "No space left");

        if (*line && (tells || !is_telling)) {
            found = line;
            is_telling = is_telling || tells;
        }
    }
    return found;
}

bool
server_log_error(const struct place *place, struct error *err)
{
    char text[4097] = "";
    int from = open(place->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t size = from >= 0 ? lseek(from, 0, SEEK_END) : 0;
    ssize_t got = 0;

    if (from >= 0) {
        got = pread(from, text, sizeof(text) - 1, size > 4096 ? size - 4096 : 0);
        close(from);
    }
    text[got > 0 ? got : 0] = '\0';
    error_set(err, ERR_DB, "the private database in \"%s\" did not start", place->data);
    hint_of_server(place, text, err);
    return error_detail(err, "%s", telling_line(text));
}

/* ---------------------------------------------------------------- making and removing */

static int
remove_entry(const char *path, const struct stat *found, int kind, struct FTW *walk)
{
    (void)found;
    (void)kind;
    (void)walk;
    return remove(path) != 0 && errno != ENOENT;
}

struct removal {
    const char *folder;
    bool all;
};

static int
remove_content(void *argument)
{
    const struct removal *removal = argument;
    DIR *dir = opendir(removal->folder);
    const struct dirent *entry;
    int failures = 0;

    while (dir && (entry = readdir(dir))) {
        char path[4400];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (!removal->all && strncmp(entry->d_name, "new-", 4) != 0)) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", removal->folder, entry->d_name);
        failures += nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) != 0;
    }
    if (dir) {
        closedir(dir);
    }
    return failures ? 1 : 0;
}

bool
server_remove(const struct place *place, bool all, struct error *err)
{
    struct removal removal = {.folder = place->pg, .all = all};

    /* An initdb whose program was killed may be removing its folder as well, and takes a moment. */
    for (int waited = 0; process_call(place, remove_content, &removal) != 0; waited += TICK_MS) {
        if (waited >= REMOVE_MS) {
            return error_set(err, ERR_DB, "could not remove all of \"%s\"", place->pg);
        }
        server_pause(TICK_MS);
    }
    return true;
}

static bool
write_text(const char *folder, const char *name, const char *mode, const char *text)
{
    char path[4400];
    FILE *file;
    bool written;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, mode);
    if (!file) {
        return false;
    }
    written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

struct making {
    const struct place *place;
    const char *folder;
};

/* Peer authentication, with a map: whoever may enter the socket's folder under these names is the
 * owner of the database, which is called gpu_audit everywhere. */
static int
write_configuration(void *argument)
{
    const struct making *making = argument;
    const struct place *place = making->place;
    char map[1024];
    int folder;

    snprintf(map, sizeof(map), "gpu_audit \"%s\" gpu_audit\ngpu_audit \"%s\" gpu_audit\n", place->user, place->own_user);
    if (!write_text(making->folder, "postgresql.conf", "a", config_text) ||
        !write_text(making->folder, "pg_hba.conf", "w", "local all all peer map=gpu_audit\n") ||
        !write_text(making->folder, "pg_ident.conf", "w", map) || rename(making->folder, place->data) != 0) {
        return errno == ENOSPC ? 28 : 1;
    }
    folder = open(place->pg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 && fsync(folder) == 0 ? 0 : 1;
}

static const char *
locale_there_is(void)
{
    locale_t found = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);

    if (found == (locale_t)0) {
        return "C";
    }
    freelocale(found);
    return "C.UTF-8";
}

static bool
init_failed(const struct place *place, char *said, struct error *err)
{
    struct error ignored;

    if (!server_remove(place, false, &ignored)) {
        log_debug("%s", ignored.text);
    }
    if (!interrupt_check(err)) {
        return false;
    }
    error_set(err, ERR_DB, "could not make a private database in \"%s\"", place->data);
    hint_of_server(place, said, err);
    if (!strstr(said, "No space left")) {
        error_hint(err, "See to what initdb says, or name a server of your own with --database.");
    }
    return error_detail(err, "%s", telling_line(said));
}

bool
server_init(const struct place *place, struct error *err)
{
    char said[8192];
    const char *program = arena_printf(place->arena, "%s/initdb", place->bindir);
    const char *folder = arena_printf(place->arena, "%s/new-%d", place->pg, (int)getpid());
    const char *const argv[] = {program, "-D", folder, "-U", "gpu_audit", "-E", "UTF8", "--locale", locale_there_is(),
                                "--auth-local=peer", "--auth-host=reject", NULL};
    struct making making = {.place = place, .folder = folder};
    int status;

    if (!server_remove(place, false, err)) {
        return false;
    }
    log_info("making a private database in \"%s\"", place->data);
    if (process_run(place, argv, said, sizeof(said)) != 0) {
        return init_failed(place, said, err);
    }
    status = process_call(place, write_configuration, &making);
    if (status != 0) {
        snprintf(said, sizeof(said), "could not write its configuration: %s", status == 28 ? "No space left on device" : "see its folder");
        return init_failed(place, said, err);
    }
    return true;
}
