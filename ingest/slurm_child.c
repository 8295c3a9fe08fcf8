/* sacct as a child process: no shell, its own process group, ended when it takes too long. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "ingest/slurm.h"

enum { POLL_MS = 200, GRACE_TRIES = 25, SAID_SHOWN = 600, NOT_FOUND = 127 };

/* The environment of sacct: ours, but for what would change its answer. */
static char **
environment(struct arena *arena)
{
    static const char *const dropped[] = {"TZ=",           "SLURM_TIME_FORMAT=", "SACCT_FORMAT=", "SACCT_LOCAL=",
                                          "SACCT_FEDERATION=", "SLURM_CLUSTERS=",    NULL};
    size_t count = 0, used = 0;

    while (environ[count]) {
        count++;
    }
    char **made = arena_alloc(arena, (count + 3) * sizeof(*made));

    for (size_t i = 0; i < count; i++) {
        bool is_dropped = false;

        for (size_t k = 0; dropped[k]; k++) {
            is_dropped = is_dropped || strncmp(environ[i], dropped[k], strlen(dropped[k])) == 0;
        }
        if (!is_dropped) {
            made[used++] = environ[i];
        }
    }
    made[used++] = arena_strdup(arena, "TZ=UTC");
    made[used] = arena_strdup(arena, "SLURM_TIME_FORMAT=%s");
    return made;
}

static int
spawn(const char *const *argv, const int out[2], const int complaints[2], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    struct arena arena = {0};
    sigset_t defaults, none;
    int status;

    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGTERM);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, complaints[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    status = posix_spawnp(ret_pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environment(&arena));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    arena_free(&arena);
    return status;
}

bool
slurm_child_start(struct slurm_child *child, const char *const *argv, int64_t timeout_seconds, struct error *err)
{
    int out[2], complaints[2], status;
    pid_t pid = 0;

    *child = (struct slurm_child){.out = -1, .complaints = -1, .timeout_seconds = timeout_seconds};
    if (pipe2(out, O_CLOEXEC) != 0) {
        return error_set(err, ERR_NET, "could not make a pipe for %s: %m", argv[0]);
    }
    if (pipe2(complaints, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return error_set(err, ERR_NET, "could not make a pipe for %s: %m", argv[0]);
    }
    status = spawn(argv, out, complaints, &pid);
    close(out[1]);
    close(complaints[1]);
    if (status != 0) {
        close(out[0]);
        close(complaints[0]);
        error_set(err, ERR_CONFIG, "could not run \"%s\": %s", argv[0], strerror(status));
        return error_hint(err, "Install Slurm's commands here, set command to where sacct is, or save its answer and set path.");
    }
    child->pid = pid;
    child->out = out[0];
    child->complaints = complaints[0];
    return true;
}

static void
hear(struct slurm_child *child)
{
    char heard[512];
    ssize_t got = read(child->complaints, heard, sizeof(heard));

    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        close(child->complaints);
        child->complaints = -1;
        return;
    }
    size_t room = sizeof(child->said) - 1 - child->said_size, size = got > 0 ? (size_t)got : 0;

    size = size < room ? size : room;
    memcpy(child->said + child->said_size, heard, size);
    child->said_size += size;
    child->said[child->said_size] = '\0';
}

bool
slurm_child_read(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct slurm_child *child = context;
    time_t last = time(NULL);

    for (;;) {
        struct pollfd fds[] = {{.fd = child->out, .events = POLLIN}, {.fd = child->complaints, .events = POLLIN}};

        if (!interrupt_check(err)) {
            return false;
        }
        if (time(NULL) - last > child->timeout_seconds) {
            error_set(err, ERR_NET, "sacct said nothing for %lld seconds", (long long)child->timeout_seconds);
            return error_hint(err, "Set timeout to more seconds, or see whether slurmdbd is busy.");
        }
        if (poll(fds, 2, POLL_MS) <= 0) {
            continue;
        }
        if (fds[1].revents) {
            hear(child);
        }
        if (!fds[0].revents) {
            continue;
        }
        ssize_t got = read(child->out, into, room);

        if (got >= 0) {
            child->bytes += (uint64_t)got;
            *ret_size = (size_t)got;
            return true;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return error_set(err, ERR_NET, "could not read from sacct: %m");
        }
    }
}

/* The status once it is there; a child that is told to end gets some seconds for it. */
static int
wait_for(pid_t pid, bool is_good)
{
    int status = 0;
    pid_t got = 0;

    if (!is_good) {
        kill(-pid, SIGTERM);
        for (int i = 0; i < GRACE_TRIES && got == 0; i++) {
            got = waitpid(pid, &status, WNOHANG);
            if (got == 0) {
                poll(NULL, 0, POLL_MS);
            }
        }
        if (got != 0) {
            return status;
        }
        kill(-pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        continue;
    }
    return status;
}

bool
slurm_child_end(struct slurm_child *child, bool is_good, struct error *err)
{
    time_t end = time(NULL) + child->timeout_seconds;

    while (is_good && child->complaints >= 0 && time(NULL) <= end) {
        struct pollfd wait = {.fd = child->complaints, .events = POLLIN};

        if (!interrupt_check(err)) {
            is_good = false;
        } else if (poll(&wait, 1, POLL_MS) > 0) {
            hear(child);
        }
    }
    is_good = is_good && child->complaints < 0;
    int status = wait_for(child->pid, is_good);

    close(child->out);
    if (child->complaints >= 0) {
        close(child->complaints);
    }
    if (!is_good) {
        return err->code ? false : error_set(err, ERR_NET, "sacct did not end");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    if (WIFEXITED(status)) {
        error_set(err, WEXITSTATUS(status) == NOT_FOUND ? ERR_CONFIG : ERR_NET, "sacct ended with status %d",
                  WEXITSTATUS(status));
    } else {
        error_set(err, ERR_NET, "sacct was ended by signal %d", WTERMSIG(status));
    }
    error_detail(err, "%.*s", SAID_SHOWN, child->said);
    return error_hint(err, "Run the command by hand as this user; what was loaded before stands.");
}
