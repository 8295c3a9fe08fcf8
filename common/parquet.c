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
#include <sys/socket.h>
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
    int rows, errors, choice; /* choice: where to tell it which columns are wanted */
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

bool
parquet_is_encrypted(const void *head, size_t size)
{
    return size >= 4 && !memcmp(head, "PARE", 4);
}

/* ---------------------------------------------------------------- starting it */

/* Both ends above the child's numbers. */
static bool
lift(int ends[2], const int low[2])
{
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_FREE);
        close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool
make_pipe(int ends[2])
{
    int low[2];

    return !pipe2(low, O_CLOEXEC) && lift(ends, low);
}

/* Into which one can write without a signal when nobody reads. */
static bool
make_pair(int ends[2])
{
    int low[2];

    return !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) && lift(ends, low);
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
start(pid_t *ret_pid, int file, int choice, int rows, int errors)
{
    char *const argv[] = {(char *)(uintptr_t)"gpu-audit", (char *)(uintptr_t)PARQUET_MODE, (char *)(uintptr_t)library, NULL};
    char *const environment[] = {(char *)(uintptr_t)"LC_ALL=C.UTF-8", (char *)(uintptr_t)"TZ=UTC", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int status;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, choice, STDIN_FILENO);
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

/* Takes the ends that are ours. */
static struct parquet *
new_parquet(pid_t pid, int rows, int errors, int choice, int fd, const char *name)
{
    struct parquet *parquet = mem_resize(NULL, 1, sizeof *parquet);

    *parquet = (struct parquet){.pid = pid, .rows = rows, .errors = errors, .choice = choice, .file = fd};
    parquet->name = mem_resize(NULL, strlen(name) + 1, 1);
    memcpy(parquet->name, name, strlen(name) + 1);
    if (!fstat(fd, &parquet->about))
        parquet->bytes_most = (uint64_t)parquet->about.st_size * GROWTH_MOST + GROWTH_FREE;
    return parquet;
}

static bool
launch(struct parquet **ret_parquet, int fd, const char *name, struct error *err)
{
    enum { ROWS = 0, ERRORS = 2, CHOICE = 4, FILE_COPY = 6, ENDS = 7 };
    int ends[ENDS] = {-1, -1, -1, -1, -1, -1, -1}, status;
    pid_t pid;

    if (lseek(fd, 0, SEEK_SET) < 0 || !make_pipe(ends + ROWS) || !make_pipe(ends + ERRORS) || !make_pair(ends + CHOICE))
        status = errno;
    else if ((ends[FILE_COPY] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE)) < 0)
        status = errno;
    else
        status = start(&pid, ends[FILE_COPY], ends[CHOICE + 1], ends[ROWS + 1], ends[ERRORS + 1]);
    if (status) {
        close_all(ends, ENDS);
        error_set(err, ERR_CONFIG, "could not start the reader of Parquet for \"%s\": %s", name, strerror(status));
        return error_hint(err, "Check the limits on processes and open files.");
    }
    close_all((const int[]){ends[ROWS + 1], ends[ERRORS + 1], ends[CHOICE + 1], ends[FILE_COPY]}, 4);
    *ret_parquet = new_parquet(pid, ends[ROWS], ends[ERRORS], ends[CHOICE], fd, name);
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
    if (strcasestr(problem, "encrypt")) {
        error_set(err, ERR_INPUT, "Parquet file \"%s\" is encrypted", parquet->name);
        return error_hint(err, "Keys are not taken: export it without encryption.");
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

/* At least one byte, or 0 at the end. */
static bool
read_some(struct parquet *parquet, void *into, size_t room, size_t *ret_size, struct error *err)
{
    ssize_t got;

    do {
        if (!wait_rows(parquet, err))
            return false;
        got = read(parquet->rows, into, room);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got <= 0 && !ended(parquet, err))
        return false;
    *ret_size = got > 0 ? (size_t)got : 0;
    return true;
}

/* ---------------------------------------------------------------- which columns */

static bool
senseless(const struct parquet *parquet, struct error *err)
{
    error_set(err, ERR_INPUT, "Parquet file \"%s\" is damaged: its reader tells no columns", parquet->name);
    return error_hint(err, "Fetch the file again, or export it as CSV.");
}

static bool
read_all(struct parquet *parquet, void *into, size_t size, struct error *err)
{
    size_t got = 0;

    for (size_t held = 0; held < size; held += got) {
        if (!read_some(parquet, (char *)into + held, size - held, &got, err))
            return false;
        if (!got)
            return senseless(parquet, err);
    }
    return true;
}

/* A byte for each name. False when there are fewer names, or more. */
static bool
answer(const struct column_filter *filter, const char *names, uint32_t size, char *wanted, uint32_t count)
{
    uint32_t at = 0, number = 0;

    for (; at < size && number < count; at += (uint32_t)strlen(names + at) + 1)
        wanted[number++] = !filter->wants || filter->wants(filter->context, names + at);
    return at == size && number == count;
}

/* What comes from the other process is as hostile as the file may have made it. */
static bool
choose_columns(struct parquet *parquet, const struct column_filter *filter, struct error *err)
{
    char *names, wanted[PARQUET_COLUMNS_MOST];
    uint32_t sizes[2];
    bool is_good;

    if (!read_all(parquet, sizes, sizeof sizes, err))
        return false;
    if (!sizes[0] || sizes[0] > PARQUET_COLUMNS_MOST || sizes[1] > PARQUET_NAMES_MOST)
        return senseless(parquet, err);
    names = mem_resize(NULL, (size_t)sizes[1] + 1, 1);
    is_good = read_all(parquet, names, sizes[1], err);
    names[sizes[1]] = '\0';
    if (is_good && (!sizes[1] || names[sizes[1] - 1] || !answer(filter, names, sizes[1], wanted, sizes[0])))
        is_good = senseless(parquet, err);
    mem_free(names);
    /* where it cannot be sent, the reader has ended, and says why when it is read */
    return is_good && send(parquet->choice, wanted, sizes[0], MSG_NOSIGNAL) != 0;
}

/* ---------------------------------------------------------------- reading */

bool
parquet_open(struct parquet **ret_parquet, int fd, const char *name, const struct column_filter *filter, struct error *err)
{
    struct parquet *parquet = NULL;

    if (!is_understood)
        return error_set(err, ERR_CONFIG, "Parquet file \"%s\" cannot be read by this program", name);
    if (!launch(&parquet, fd, name, err))
        return false;
    if (!choose_columns(parquet, filter, err)) {
        parquet_close(parquet);
        return false;
    }
    *ret_parquet = parquet;
    return true;
}

bool
parquet_read(struct parquet *parquet, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t got = 0;

    if (parquet->pid && !read_some(parquet, into, room, &got, err))
        return false;
    parquet->bytes += got;
    if (parquet->bytes > parquet->bytes_most) {
        error_set(err, ERR_INPUT, "Parquet file \"%s\" grows to more than %d times its size", parquet->name, GROWTH_MOST);
        return error_hint(err, "No bill does. If it is one, export it as CSV.");
    }
    *ret_size = got;
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
    close_all((const int[]){parquet->rows, parquet->errors, parquet->choice}, 3);
    mem_free(parquet->name);
    mem_free(parquet);
}
