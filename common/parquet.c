/* The side that reads rows: starts the other process, and tells what became of it. */
#include <config.h>

#include "common/parquet_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/arena.h"

enum {
    FIRST_FREE = 10,          /* above every number the child has a use for */
    POLL_MILLISECONDS = 200,
    GROWTH_MOST = 2000,       /* rows are at most so many times the file: columns repeat, a bomb repeats more */
    GROWTH_FREE = 256 << 20,
};

struct parquet {
    pid_t pid;                /* 0: waited for */
    int rows, errors;
    uint64_t bytes, bytes_most;
    char *name;
    int file;                 /* the caller's */
    struct stat about;        /* of it, when this began */
};

static const char *library = "";
static bool is_understood; /* this program asks for the mode when it begins, so that it can be its own reader */

void
parquet_use(const char *path)
{
    library = path ? path : "";
}

bool
parquet_child_wanted(int argc, char **argv)
{
    is_understood = true;
    return argc == 3 && !strcmp(argv[1], PARQUET_MODE);
}

bool
parquet_is(const void *head, size_t size)
{
    return size >= 4 && !memcmp(head, "PAR1", 4);
}

/* ---------------------------------------------------------------- starting it */

/* A pipe whose ends are above the child's numbers. */
static bool
make_pipe(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC))
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_FREE);
        close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static void
close_all(const int *files, int count)
{
    for (int i = 0; i < count; i++)
        if (files[i] >= 0)
            close(files[i]);
}

/* Signals of the terminal are not for it: the parent decides when it ends. */
static int
start(pid_t *ret_pid, int file, int rows, int errors)
{
    char *const argv[] = {(char *)(uintptr_t)"gpu-audit", (char *)(uintptr_t)PARQUET_MODE, (char *)(uintptr_t)library, NULL};
    char *const environment[] = {(char *)(uintptr_t)"LC_ALL=C.UTF-8", (char *)(uintptr_t)"TZ=UTC", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int status;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, rows, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&files, file, PARQUET_FILE);
    posix_spawnattr_init(&attributes);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    status = posix_spawn(ret_pid, "/proc/self/exe", &files, &attributes, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return status;
}

static struct parquet *
new_parquet(pid_t pid, int rows, int errors, int fd, const char *name)
{
    struct parquet *parquet = mem_resize(NULL, 1, sizeof *parquet);

    *parquet = (struct parquet){.pid = pid, .rows = rows, .errors = errors, .file = fd};
    parquet->name = mem_resize(NULL, strlen(name) + 1, 1);
    memcpy(parquet->name, name, strlen(name) + 1);
    if (!fstat(fd, &parquet->about))
        parquet->bytes_most = (uint64_t)parquet->about.st_size * GROWTH_MOST + GROWTH_FREE;
    return parquet;
}

bool
parquet_open(struct parquet **ret_parquet, int fd, const char *name, struct error *err)
{
    int ends[5] = {-1, -1, -1, -1, -1}, status;
    pid_t pid;

    if (!is_understood)
        return error_set(err, ERR_CONFIG, "Parquet file \"%s\" cannot be read by this program", name);
    if (lseek(fd, 0, SEEK_SET) < 0 || !make_pipe(ends) || !make_pipe(ends + 2))
        status = errno;
    else if ((ends[4] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE)) < 0)
        status = errno;
    else
        status = start(&pid, ends[4], ends[1], ends[3]);
    if (status) {
        close_all(ends, 5);
        error_set(err, ERR_CONFIG, "could not start the reader of Parquet for \"%s\": %s", name, strerror(status));
        return error_hint(err, "Check the limits on processes and open files.");
    }
    close(ends[1]);
    close(ends[3]);
    close(ends[4]);
    *ret_parquet = new_parquet(pid, ends[0], ends[2], fd, name);
    return true;
}

/* ---------------------------------------------------------------- its end */

static int
wait_for(struct parquet *parquet)
{
    int status = 0;

    while (waitpid(parquet->pid, &status, 0) < 0 && errno == EINTR)
        ;
    parquet->pid = 0;
    return status;
}

/* What the child wrote about it, in one line and without the library's advice. */
static void
read_problem(const struct parquet *parquet, char *text, size_t room)
{
    size_t size = 0;
    ssize_t got;

    while (size + 1 < room && (got = read(parquet->errors, text + size, room - 1 - size)) > 0)
        size += (size_t)got;
    text[size] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
}

/* Others hash the file when its rows are read: both must be of the same bytes. */
static bool
is_unchanged(const struct parquet *parquet, struct error *err)
{
    struct stat now;

    if (!fstat(parquet->file, &now) && now.st_size == parquet->about.st_size
        && now.st_mtim.tv_sec == parquet->about.st_mtim.tv_sec && now.st_mtim.tv_nsec == parquet->about.st_mtim.tv_nsec)
        return true;
    error_set(err, ERR_INPUT, "Parquet file \"%s\" changed while it was read", parquet->name);
    return error_hint(err, "Run again when nobody writes it.");
}

static bool
ended(struct parquet *parquet, struct error *err)
{
    char problem[PARQUET_ERROR_BYTES];
    int status = wait_for(parquet);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return is_unchanged(parquet, err);
    read_problem(parquet, problem, sizeof problem);
    if (WIFEXITED(status) && WEXITSTATUS(status) == PARQUET_EXIT_LIBRARY) {
        error_set(err, ERR_CONFIG, "Parquet file \"%s\": no library to read it with", parquet->name);
        error_detail(err, "%s", problem);
        return error_hint(err, "Install DuckDB's libduckdb.so (its release for C, or the npm package "
                               "@duckdb/node-bindings-linux-x64 holds it) and name it as parquet-library in [audit]; or "
                               "export the bill as CSV.");
    }
    if (strcasestr(problem, "out of memory"))
        error_set(err, ERR_INPUT, "Parquet file \"%s\" takes more memory than there is for it", parquet->name);
    else if (WIFSIGNALED(status))
        error_set(err, ERR_INPUT, "Parquet file \"%s\" is damaged: its reader ended with signal %d", parquet->name,
                  WTERMSIG(status));
    else
        error_set(err, ERR_INPUT, "Parquet file \"%s\" is damaged: %s", parquet->name, *problem ? problem : "nothing is known");
    return error_hint(err, "Fetch the file again, or export it with smaller row groups, or as CSV.");
}

/* Waits for rows, and asks meanwhile whether all of this is to end. */
static bool
wait_rows(const struct parquet *parquet, struct error *err)
{
    struct pollfd rows = {.fd = parquet->rows, .events = POLLIN};

    while (poll(&rows, 1, POLL_MILLISECONDS) <= 0)
        if (!interrupt_check(err))
            return false;
    return true;
}

bool
parquet_read(struct parquet *parquet, void *into, size_t room, size_t *ret_size, struct error *err)
{
    ssize_t got = 0;

    if (!parquet->pid) {
        *ret_size = 0;
        return true;
    }
    do {
        if (!wait_rows(parquet, err))
            return false;
        got = read(parquet->rows, into, room);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got <= 0 && !ended(parquet, err))
        return false;
    parquet->bytes += got > 0 ? (uint64_t)got : 0;
    if (parquet->bytes > parquet->bytes_most) {
        error_set(err, ERR_INPUT, "Parquet file \"%s\" grows to more than %d times its size", parquet->name, GROWTH_MOST);
        return error_hint(err, "No bill does. If it is one, export it as CSV.");
    }
    *ret_size = got > 0 ? (size_t)got : 0;
    return true;
}

void
parquet_close(struct parquet *parquet)
{
    if (!parquet)
        return;
    if (parquet->pid) {
        kill(parquet->pid, SIGKILL);
        wait_for(parquet);
    }
    close(parquet->rows);
    close(parquet->errors);
    mem_free(parquet->name);
    mem_free(parquet);
}
