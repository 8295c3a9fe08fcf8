#include <config.h>

#include <dirent.h>
#include <errno.h>
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
