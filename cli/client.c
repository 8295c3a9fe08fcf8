#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/client.h"
#include "common/cluster.h"

enum { EXEC_FAILED = 127 };

static _Noreturn void
become_client(const char *path, const char *const *argv, const char *password)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    if (!password || setenv("PGPASSWORD", password, 1) == 0) {
        execv(path, (char *const *)(uintptr_t)argv);
    }
    _exit(EXEC_FAILED);
}

/* While it runs Ctrl-C is for it alone. */
static int
wait_for_client(pid_t child)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int status = 0;

    sigaction(SIGINT, &ignore, &before);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        continue;
    }
    sigaction(SIGINT, &before, NULL);
    return status;
}

bool
client_run(struct command_run *run, const char *program, const char *const *arguments, const char *options, struct error *err)
{
    const char *argv[CLIENT_ARGUMENTS_MOST + 4] = {program};
    const char *conninfo, *password, *path;
    pid_t child;
    int status, count = 1;

    if (!cluster_conninfo(run->settings, run->arena, &conninfo, err) ||
        !db_conninfo_public(run->arena, conninfo, options, &conninfo, &password, err) ||
        !cluster_program(run->arena, program, &path, err)) {
        return false;
    }
    for (; count <= CLIENT_ARGUMENTS_MOST && arguments[count - 1]; count++) {
        argv[count] = arguments[count - 1];
    }
    argv[count] = "-d";
    argv[count + 1] = conninfo;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        become_client(path, argv, password);
    }
    status = child > 0 ? wait_for_client(child) : EXEC_FAILED;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    if (child > 0 && WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGINT ? error_set(err, ERR_INTERRUPTED, "interrupted")
                                          : error_set(err, ERR_DB, "%s was ended by signal %d", program, WTERMSIG(status));
    }
    return error_set(err, ERR_DB, "%s failed with status %d", program, child > 0 ? WEXITSTATUS(status) : status);
}
