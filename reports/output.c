#include <config.h>

#include "reports/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
failed(struct error *err, const char *what, const char *path)
{
    int reason = errno;
    error_set(err, ERR_REPORT, "could not %s \"%s\": %s", what, path, strerror(reason));
    if (reason == ENOSPC || reason == EDQUOT)
        error_hint(err, "Free some space, or choose another folder with --out.");
    else if (reason == EACCES || reason == EROFS || reason == EPERM)
        error_hint(err, "Choose a folder you may write to with --out.");
    return false;
}

static char *
folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return arena_strdup(arena, ".");
    return slash == path ? arena_strdup(arena, "/")
                         : arena_strndup(arena, path, (size_t)(slash - path));
}

static bool
make_folders(struct arena *arena, const char *folder, struct error *err)
{
    char *path = arena_strdup(arena, folder);
    for (char *at = path + 1; *path != '\0'; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char saved = *at;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return failed(err, "make the folder", path);
        *at = saved;
        if (saved == '\0')
            break;
    }
    return true;
}

bool
output_open(struct output *ret_output, struct arena *arena, const char *path, struct error *err)
{
    if (!make_folders(arena, folder_of(arena, path), err))
        return false;
    char *temporary = arena_printf(arena, "%s.XXXXXX", path);
    int file = mkstemp(temporary);
    if (file < 0)
        return failed(err, "write beside", path);
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(file, 0666 & ~mask) != 0) {
        failed(err, "set the mode of", temporary);
        close(file);
        unlink(temporary);
        return false;
    }
    close(file);
    *ret_output = (struct output){path, temporary};
    return true;
}

static bool
flush(const char *path, int flags, struct error *err)
{
    int file = open(path, flags | O_CLOEXEC);
    if (file < 0)
        return failed(err, "open", path);
    bool is_done =
        fsync(file) == 0 || errno == EINVAL; /* some file systems cannot flush a folder */
    if (!is_done)
        failed(err, "write", path);
    close(file);
    return is_done;
}

bool
output_commit(const struct output *output, struct error *err)
{
    if (!flush(output->temporary, O_RDWR, err))
        return false;
    if (rename(output->temporary, output->path) != 0)
        return failed(err, "put in place", output->path);
    struct arena arena = {0};
    bool is_done = flush(folder_of(&arena, output->path), O_RDONLY | O_DIRECTORY, err);
    arena_free(&arena);
    return is_done;
}

void
output_discard(const struct output *output)
{
    unlink(output->temporary);
}

static bool
write_all(const char *path, const struct buf *text, struct error *err)
{
    int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return failed(err, "open", path);
    for (size_t done = 0; done < text->size;) {
        ssize_t size = write(file, text->data + done, text->size - done);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            failed(err, "write", path);
            close(file);
            return false;
        }
        done += (size_t)size;
    }
    return close(file) == 0 || failed(err, "write", path);
}

bool
output_write(struct arena *arena, const char *path, const struct buf *text, struct error *err)
{
    struct output output;
    if (!output_open(&output, arena, path, err))
        return false;
    if (write_all(output.temporary, text, err) && output_commit(&output, err))
        return true;
    output_discard(&output);
    return false;
}
