/* Children: programs that are waited for, and the server with its supervisor. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cluster_private.h"

enum {
    EXEC_FAILED = 127,
    POLL_MS = 200,
    SUPERVISOR_MS = 250,      /* how soon after a killed program its server is stopped */
    LOG_BYTES_MOST = 8 << 20, /* then the log begins anew and one old one is kept */
};

/* Nothing of the caller's environment reaches the server: PGDATA, PGPORT, locales. */
static const char *const server_environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", NULL};

bool
process_become(const struct place *place)
{
    if (place && place->is_root &&
        (initgroups(place->user, place->gid) != 0 || setgid(place->gid) != 0 || setuid(place->uid) != 0)) {
        return false;
    }
    umask(077);
    return chdir("/") == 0;
}

/* The change of user clears the parent-death signal, so it is asked for after it; a parent that
 * died before that is noticed by its number. */
static bool
die_with(pid_t parent, int signal_number)
{
    return prctl(PR_SET_PDEATHSIG, signal_number) == 0 && getppid() == parent;
}

static void
reset_signals(void)
{
    sigset_t none;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
standard_streams(int output)
{
    int nothing = open("/dev/null", O_RDWR);

    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(output >= 0 ? output : nothing, STDOUT_FILENO) < 0 ||
        dup2(output >= 0 ? output : nothing, STDERR_FILENO) < 0) {
        _exit(EXEC_FAILED);
    }
}

static int
wait_for(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reads what the child says until it ends; a signal to this program ends the child as well, with
 * its own children: initdb alone would go on to the end of its step, and does not hear at all
 * while it syncs. */
static void
read_all(int from, pid_t child, char *ret_output, size_t room)
{
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    struct error interrupted;
    char rest[512];
    size_t used = 0;
    int told = 0;

    for (;;) {
        bool is_full = used + 1 >= room;
        ssize_t got;

        if (!interrupt_check(&interrupted)) {
            kill(-child, told++ < 2 ? SIGTERM : SIGKILL);
        }
        if (poll(&waiting, 1, POLL_MS) <= 0) {
            continue;
        }
        got = is_full ? read(from, rest, sizeof(rest)) : read(from, ret_output + used, room - used - 1);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        used += got > 0 && !is_full ? (size_t)got : 0;
    }
    ret_output[used] = '\0';
}

int
process_run(const struct place *place, const char *const *argv, char *ret_output, size_t room)
{
    pid_t parent = getpid(), child;
    int ends[2];

    ret_output[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        standard_streams(ends[1]);
        reset_signals();
        if (process_become(place) && die_with(parent, SIGTERM)) {
            execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)server_environment);
        }
        _exit(EXEC_FAILED);
    }
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child); /* on both sides: whoever comes first */
        read_all(ends[0], child, ret_output, room);
    }
    close(ends[0]);
    return child > 0 ? wait_for(child) : -1;
}

int
process_call(const struct place *place, int (*function)(void *), void *argument)
{
    pid_t child = fork();

    if (child == 0) {
        _exit(process_become(place) ? function(argument) : 255);
    }
    return child > 0 ? wait_for(child) : 255;
}

/* ---------------------------------------------------------------- the server */

static int
open_log(const struct place *place)
{
    struct stat found;

    if (stat(place->log, &found) == 0 && found.st_size > LOG_BYTES_MOST) {
        char old[4096];

        snprintf(old, sizeof(old), "%s.old", place->log);
        rename(place->log, old);
    }
    return open(place->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* SIGINT is PostgreSQL's fast shutdown: a killed program leaves a cluster that was shut down well. */
static _Noreturn void
become_server(const struct place *place, pid_t supervisor)
{
    char program[4096], sockets[4200];
    const char *const argv[] = {program, "-D", place->data, "-k", sockets, "-p", "5432", "-c", "listen_addresses=",
                                "-c", "unix_socket_permissions=0700", NULL};
    int log;

    snprintf(program, sizeof(program), "%s/postgres", place->bindir);
    snprintf(sockets, sizeof(sockets), "\"%s\"", place->socket_dir); /* a list: quoted, a comma is no end */
    reset_signals();
    if (!process_become(place) || !die_with(supervisor, SIGINT) || (log = open_log(place)) < 0) {
        _exit(EXEC_FAILED);
    }
    standard_streams(log);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execve(program, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)server_environment);
    _exit(EXEC_FAILED);
}

/* Once it holds the lock alone nobody uses the server, and whoever comes next waits for the lock. */
static bool
is_unused(int users, const char *keep)
{
    if (flock(users, LOCK_EX | LOCK_NB) != 0) {
        return false;
    }
    if (access(keep, F_OK) == 0) {
        flock(users, LOCK_UN);
        return false;
    }
    return true;
}

/* The server's parent: reaps it, and stops it when the last program that used it has gone, however
 * that one ended. It keeps the write end of `alive` open for as long as it lives. */
static _Noreturn void
supervise(const struct place *place, int alive)
{
    pid_t self = getpid(), server;
    struct timespec pause = {.tv_nsec = SUPERVISOR_MS * 1000000L};
    bool was_told = false;
    sigset_t child_ended;
    int users;

    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    standard_streams(-1);
    if (dup2(alive, 3) < 0 || (server = fork()) < 0) {
        _exit(1);
    }
    if (server == 0) {
        become_server(place, self);
    }
    close_range(4, ~0u, 0);
    prctl(PR_SET_NAME, "gpu-audit-pg");
    if (!process_become(NULL) || (users = open(place->users, O_RDWR | O_CLOEXEC | O_NOFOLLOW)) < 0) {
        _exit(1);
    }
    sigprocmask(SIG_BLOCK, &child_ended, NULL);
    while (waitpid(server, NULL, WNOHANG) == 0) {
        if (!was_told && is_unused(users, place->keep)) {
            was_told = kill(server, SIGINT) == 0;
        }
        sigtimedwait(&child_ended, NULL, &pause);
    }
    _exit(0);
}

bool
process_spawn(const struct place *place, int *ret_alive, pid_t *ret_supervisor, struct error *err)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(err, ERR_DB, "could not start the private database: %s", strerror(errno));
    }
    child = fork();
    if (child == 0) {
        reset_signals();
        setsid(); /* Ctrl-C of the terminal is for the program, which ends the server in good order */
        supervise(place, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_set(err, ERR_DB, "could not start the private database: no process for it");
    }
    *ret_alive = ends[0];
    *ret_supervisor = child;
    return true;
}

void
process_reap(pid_t child)
{
    wait_for(child);
}
