#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/stream.h"

static bool
has_suffix(const char *name, const char *const *suffixes)
{
    size_t size = strlen(name);

    for (; *suffixes; suffixes++) {
        size_t tail = strlen(*suffixes);

        if (size > tail && !strcasecmp(name + size - tail, *suffixes))
            return true;
    }
    return false;
}

static int
compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
append(struct arena *arena, struct path_list *list, const char *path)
{
    if (!(list->count & (list->count - 1))) { /* full at powers of two */
        const char **grown = arena_alloc(arena, (list->count ? list->count * 2 : 1) * sizeof *grown);

        if (list->count)
            memcpy(grown, list->path, list->count * sizeof *grown);
        list->path = grown;
    }
    list->path[list->count++] = path;
}

static bool
read_folder(struct arena *arena, const char *folder, const char *const *suffixes, struct path_list *list,
            struct error *err)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat about;

    if (!dir)
        return error_set(err, ERR_CONFIG, "could not open folder \"%s\": %s", folder, strerror(errno));
    while ((entry = readdir(dir))) {
        const char *path;

        if (entry->d_name[0] == '.' || !has_suffix(entry->d_name, suffixes))
            continue;
        path = arena_printf(arena, "%s/%s", folder, entry->d_name);
        if (!stat(path, &about) && S_ISREG(about.st_mode))
            append(arena, list, path);
    }
    closedir(dir);
    return true;
}

static bool
nothing_there(const char *path, const char *const *suffixes, struct error *err)
{
    error_set(err, ERR_CONFIG, "folder \"%s\" holds no file whose name ends in %s%s%s", path, suffixes[0],
              suffixes[0] && suffixes[1] ? " or " : "", suffixes[0] && suffixes[1] ? suffixes[1] : "");
    return error_hint(err, "Put the files there, or correct path in the configuration.");
}

bool
path_expand(struct arena *arena, const char *path, const char *const *suffixes, struct path_list *ret_list,
            struct error *err)
{
    struct path_list list = {0};
    struct stat about;

    if (stat(path, &about)) {
        error_set(err, ERR_CONFIG, "could not open \"%s\": %s", path, strerror(errno));
        return error_hint(err, "Correct path in the configuration, or fetch the files first.");
    }
    if (!S_ISDIR(about.st_mode)) {
        append(arena, &list, arena_strdup(arena, path));
    } else {
        if (!read_folder(arena, path, suffixes, &list, err))
            return false;
        if (!list.count)
            return nothing_there(path, suffixes, err);
        qsort(list.path, list.count, sizeof *list.path, compare);
    }
    *ret_list = list;
    return true;
}

/* ---------------------------------------------------------------- folders beneath folders */

enum { DEPTH_MOST = 24, FILES_MOST = 1000000 };

/* Folders on the way to where we are: a link back to one of them would never end. */
struct walk {
    struct arena *arena;
    const char *const *suffixes;
    struct path_list list;
    dev_t device[DEPTH_MOST];
    ino_t inode[DEPTH_MOST];
};

static bool
enter(struct walk *walk, const char *folder, const struct stat *about, int depth, struct error *err)
{
    for (int i = 0; i < depth; i++)
        if (walk->device[i] == about->st_dev && walk->inode[i] == about->st_ino) {
            error_set(err, ERR_CONFIG, "folder \"%s\" is a link to a folder it lies in", folder);
            return error_hint(err, "Take the link away, or name the folder of the bills.");
        }
    if (depth == DEPTH_MOST)
        return error_set(err, ERR_CONFIG, "folder \"%s\" lies more than %d folders deep", folder, DEPTH_MOST);
    walk->device[depth] = about->st_dev;
    walk->inode[depth] = about->st_ino;
    return true;
}

static bool walk_folder(struct walk *walk, const char *folder, const struct stat *about, int depth, struct error *err);

static bool
walk_entry(struct walk *walk, const char *folder, const char *name, int depth, struct error *err)
{
    const char *path = arena_printf(walk->arena, "%s/%s", folder, name);
    struct stat about;

    if (stat(path, &about))
        return true; /* gone, or a link to nowhere */
    if (S_ISDIR(about.st_mode))
        return walk_folder(walk, path, &about, depth + 1, err);
    if (!S_ISREG(about.st_mode) || !has_suffix(name, walk->suffixes))
        return true;
    if (walk->list.count == FILES_MOST)
        return error_set(err, ERR_CONFIG, "folder \"%s\": more than %d files", folder, FILES_MOST);
    append(walk->arena, &walk->list, path);
    return true;
}

static bool
walk_folder(struct walk *walk, const char *folder, const struct stat *about, int depth, struct error *err)
{
    DIR *dir;
    struct dirent *entry;
    bool is_good = true;

    if (!enter(walk, folder, about, depth, err))
        return false;
    dir = opendir(folder);
    if (!dir)
        return error_set(err, ERR_CONFIG, "could not open folder \"%s\": %s", folder, strerror(errno));
    while (is_good && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            is_good = walk_entry(walk, folder, entry->d_name, depth, err);
    closedir(dir);
    return is_good;
}

/* The folder in front of the first wildcard. */
static const char *
pattern_root(struct arena *arena, const char *pattern)
{
    size_t size = strcspn(pattern, "*?[");

    while (size && pattern[size - 1] != '/')
        size--;
    while (size > 1 && pattern[size - 1] == '/')
        size--;
    return size ? arena_strndup(arena, pattern, size) : ".";
}

static bool
walk_pattern(struct walk *walk, const char *pattern, struct error *err)
{
    glob_t found;
    bool is_good = true;

    if (glob(pattern, 0, NULL, &found)) {
        error_set(err, ERR_CONFIG, "nothing matches \"%s\"", pattern);
        return error_hint(err, "Correct path in the configuration, or fetch the files first.");
    }
    for (size_t i = 0; is_good && i < found.gl_pathc; i++) {
        struct stat about;

        if (stat(found.gl_pathv[i], &about))
            continue;
        if (S_ISDIR(about.st_mode))
            is_good = walk_folder(walk, arena_strdup(walk->arena, found.gl_pathv[i]), &about, 0, err);
        else if (S_ISREG(about.st_mode))
            append(walk->arena, &walk->list, arena_strdup(walk->arena, found.gl_pathv[i]));
    }
    globfree(&found);
    return is_good;
}

static const char *
folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    return !slash ? "." : arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

bool
path_walk(struct arena *arena, const char *path, const char *const *suffixes, struct path_list *ret_list,
          const char **ret_root, struct error *err)
{
    struct walk walk = {.arena = arena, .suffixes = suffixes};
    size_t size = strlen(path);
    struct stat about;

    while (size > 1 && path[size - 1] == '/')
        size--;
    path = arena_strndup(arena, path, size);
    if (stat(path, &about)) {
        if (errno == ENOENT && strpbrk(path, "*?[")) {
            *ret_root = pattern_root(arena, path);
            if (!walk_pattern(&walk, path, err))
                return false;
        } else {
            error_set(err, ERR_CONFIG, "could not open \"%s\": %s", path, strerror(errno));
            return error_hint(err, "Correct path in the configuration, or fetch the files first.");
        }
    } else if (S_ISDIR(about.st_mode)) {
        *ret_root = path;
        if (!walk_folder(&walk, path, &about, 0, err))
            return false;
    } else {
        *ret_root = folder_of(arena, path);
        append(arena, &walk.list, path);
    }
    if (!walk.list.count)
        return nothing_there(path, suffixes, err);
    qsort(walk.list.path, walk.list.count, sizeof *walk.list.path, compare);
    *ret_list = walk.list;
    return true;
}
