/*
 * Secrets: from the environment, a file, or a command; in the configuration file itself only with a
 * warning when others may read it. Each is registered with the log before anybody uses it.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/settings_private.h"

enum { SECRET_MOST_BYTES = 64 * 1024, COMMAND_MOST_SECONDS = 60, POLL_MS = 200 };

struct request { /* one secret that is looked for */
    struct settings *settings;
    const struct section *section;
    const char *key;
    const struct setting *setting; /* KEY, KEY-file, … */
    struct error *err;
};

/* Blanks around it are never part of a secret; what stays must be one line, since it goes into
 * headers. */
static bool
accept(struct request *request, const char *text, size_t size, const char **ret_secret)
{
    size_t i;

    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    while (size && strchr(" \t\r\n", *text)) {
        text++;
        size--;
    }
    if (!size)
        return error_set(request->err, ERR_CONFIG, "%s: %s gives an empty %s",
                         request->setting->origin, request->setting->key, request->key);
    for (i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return error_set(request->err, ERR_CONFIG,
                             "%s: %s gives a %s with a control character or of several lines",
                             request->setting->origin, request->setting->key, request->key);
    *ret_secret = arena_strndup(request->settings->arena, text, size);
    log_secret(*ret_secret);
    return true;
}

static bool
too_long(struct request *request)
{
    return error_set(request->err, ERR_CONFIG, "%s: %s gives more than %d KiB",
                     request->setting->origin, request->setting->key, SECRET_MOST_BYTES / 1024);
}

/* False on a time-out, an interrupt, or too much; what was read stands in text. Of a command or of a
 * file, which may be a pipe that nobody writes to. */
static bool
read_secret(struct request *request, int fd, char *text, size_t *ret_size)
{
    time_t end = time(NULL) + COMMAND_MOST_SECONDS;
    struct pollfd wait_for = {.fd = fd, .events = POLLIN};
    ssize_t got = 1;

    *ret_size = 0;
    while (got > 0) {
        int ready = poll(&wait_for, 1, POLL_MS);

        if (!interrupt_check(request->err))
            return false;
        if (time(NULL) > end)
            return error_set(request->err, ERR_CONFIG, "%s: %s took longer than %d seconds",
                             request->setting->origin, request->setting->key, COMMAND_MOST_SECONDS);
        if (ready <= 0)
            continue;
        got = read(fd, text + *ret_size, SECRET_MOST_BYTES + 1 - *ret_size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            got = 1;
            continue;
        }
        if (got < 0)
            return error_set(request->err, ERR_CONFIG, "%s: could not read from %s: %m",
                             request->setting->origin, request->setting->key);
        *ret_size += (size_t)got;
        if (*ret_size > SECRET_MOST_BYTES)
            return too_long(request);
    }
    return true;
}

/* A bare name is looked for among the credentials systemd hands to a service. */
static const char *
file_path(struct request *request)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    const char *name = request->setting->value;
    const char *path;

    if (folder && !strchr(name, '/')) {
        path = arena_printf(request->settings->arena, "%s/%s", folder, name);
        if (access(path, F_OK) == 0)
            return path;
    }
    return section_path(request->settings, request->section, request->setting->key);
}

static bool
from_file(struct request *request, const char **ret_secret)
{
    const char *path = file_path(request);
    char *text = arena_alloc(request->settings->arena, SECRET_MOST_BYTES + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t size = 0;
    bool is_good;

    if (fd < 0) {
        error_set(request->err, ERR_CONFIG, "%s: could not open \"%s\": %m",
                  request->setting->origin, path);
        return error_hint(request->err, "Write the %s into that file, readable by this user only.",
                          request->key);
    }
    is_good = read_secret(request, fd, text, &size);
    close(fd);
    is_good = is_good && accept(request, text, size, ret_secret);
    explicit_bzero(text, SECRET_MOST_BYTES + 1);
    return is_good;
}

static bool
from_environment(struct request *request, const char **ret_secret)
{
    const char *value = getenv(request->setting->value);

    if (!value || !value[0]) {
        error_set(request->err, ERR_CONFIG, "%s: the environment has no %s",
                  request->setting->origin, request->setting->value);
        return error_hint(request->err, "Set %s to the %s before gpu-audit starts.",
                          request->setting->value, request->key);
    }
    return accept(request, value, strlen(value), ret_secret);
}

/* The child: a shell without our input, signals as a program expects them. */
static void __attribute__((noreturn)) run_shell(const char *command, int out)
{
    int nothing = open("/dev/null", O_RDONLY);

    signal(SIGPIPE, SIG_DFL);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static bool
start_command(struct request *request, pid_t *ret_child, int *ret_fd)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(request->err, ERR_CONFIG, "%s: could not make a pipe: %m",
                         request->setting->origin);
    child = fork();
    if (child == 0)
        run_shell(request->setting->value, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_set(request->err, ERR_CONFIG, "%s: could not start a shell: %m",
                         request->setting->origin);
    }
    *ret_child = child;
    *ret_fd = ends[0];
    return true;
}

static bool
end_command(struct request *request, pid_t child, bool is_good)
{
    int status = 0;

    if (!is_good)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!is_good || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return is_good;
    error_set(request->err, ERR_CONFIG, "%s: %s ended with status %d", request->setting->origin,
              request->setting->key,
              WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return error_hint(request->err,
                      "Run the command by hand; it has to print the %s and nothing else.",
                      request->key);
}

static bool
from_command(struct request *request, const char **ret_secret)
{
    char *text = arena_alloc(request->settings->arena, SECRET_MOST_BYTES + 1);
    size_t size = 0;
    pid_t child = -1;
    int fd = -1;
    bool is_good;

    if (!start_command(request, &child, &fd))
        return false;
    is_good = read_secret(request, fd, text, &size);
    close(fd);
    is_good = end_command(request, child, is_good) && accept(request, text, size, ret_secret);
    explicit_bzero(text, SECRET_MOST_BYTES + 1);
    return is_good;
}

/* In the configuration file itself. */
static bool
from_value(struct request *request, const char **ret_secret)
{
    const struct setting *setting = request->setting;
    struct stat file;

    if (!accept(request, setting->value, strlen(setting->value), ret_secret))
        return false;
    if (setting->line && request->settings->file && stat(request->settings->file, &file) == 0 &&
        (file.st_mode & (S_IRGRP | S_IROTH)))
        log_warning(
            "%s: a %s stands in a file that others may read; use %s-file, or chmod 600 \"%s\"",
            setting->origin, request->key, request->key, request->settings->file);
    return true;
}

bool
section_secret(struct settings *settings, const struct section *section, const char *key,
               const char **ret_secret, struct error *err)
{
    static const struct {
        const char *suffix;
        bool (*read)(struct request *, const char **);
    } ways[] = {
        {"", from_value},
        {"-file", from_file},
        {"-env", from_environment},
        {"-command", from_command},
    };
    struct request request = {settings, section, key, NULL, err};
    size_t i, way = 0;

    for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const char *name = arena_printf(settings->arena, "%s%s", key, ways[i].suffix);
        const struct setting *setting = section_find(section, name);

        if (!setting || !setting->value[0])
            continue;
        if (request.setting && request.setting->line) {
            error_set(err, ERR_CONFIG, "%s: both %s and %s are set", setting->origin,
                      request.setting->key, name);
            return error_hint(err, "Keep one of them.");
        }
        if (!request.setting) {
            request.setting = setting;
            way = i;
        }
    }
    if (!request.setting) {
        *ret_secret = NULL;
        return true;
    }
    return ways[way].read(&request, ret_secret);
}

/* "postgresql://user:PASSWORD@host/…?password=PASSWORD" or "host=… password=PASSWORD". */
void
settings_hide_password(struct settings *settings, const char *conninfo)
{
    const char *user = strstr(conninfo, "://");
    const char *word;

    if (user) {
        size_t size = strcspn(user + 3, "/?");
        const char *at = memrchr(user + 3, '@', size);
        const char *colon = memchr(user + 3, ':', size);

        if (at && colon && colon < at)
            log_secret(arena_strndup(settings->arena, colon + 1, (size_t)(at - colon - 1)));
    }
    for (word = strstr(conninfo, "password="); word; word = strstr(word, "password=")) {
        word += strlen("password=");
        word += *word == '\'';
        log_secret(arena_strndup(settings->arena, word, strcspn(word, " &'")));
    }
}
