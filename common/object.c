/* Stores of objects: files here, and the way to the others. */
#include <config.h>

#include "common/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/object_private.h"
#include "common/stream.h"

bool
object_has_suffix(const char *name, const char *const *suffixes)
{
    size_t size = strlen(name);

    for (; *suffixes; suffixes++) {
        size_t tail = strlen(*suffixes);

        if (size > tail && !strcasecmp(name + size - tail, *suffixes))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- opening */

/* url and its kin hold an address with a secret in it; path may hold one as well. */
static bool
find_address(struct object_store *store, const char **ret_path, const char **ret_url, struct error *err)
{
    const char *path = section_path(store->settings, store->section, "path"), *url = section_get(store->section, "url");

    *ret_path = path && *path ? path : NULL;
    *ret_url = NULL;
    if (url && *url && !strchr(url, '?'))
        *ret_url = url;
    else if (!section_secret(store->settings, store->section, "url", ret_url, err))
        return false;
    if (!*ret_path == !*ret_url) {
        error_set(err, ERR_CONFIG, "%s: %s has %s", section_origin(store->settings, store->section, NULL), store->where,
                  *ret_path ? "both path and url" : "neither path nor url");
        return error_hint(err, "Set path to a file, a folder, s3://BUCKET/PREFIX or https://…; or url-file to a file with "
                               "such an address.");
    }
    return true;
}

static bool
open_address(struct object_store *store, struct error *err)
{
    const char *path, *url;

    if (!find_address(store, &path, &url, err))
        return false;
    if (!url && (!strncmp(path, "https://", 8) || !strncmp(path, "http://", 7)))
        url = path;
    if (url) {
        store->kind = OBJECT_WEB;
        return web_open(store, url, err);
    }
    if (!strncmp(path, "s3://", 5)) {
        store->kind = OBJECT_S3;
        return s3_open(store, path, err);
    }
    if (strstr(path, "://")) {
        error_set(err, ERR_CONFIG, "%s: path of %s is an address of no known kind",
                  section_origin(store->settings, store->section, "path"), store->where);
        return error_hint(err, "Known are s3://BUCKET/PREFIX and https://…; of other stores make a signed https address, "
                               "or copy the files here.");
    }
    store->path = path;
    return true;
}

bool
object_store_open(struct object_store **ret_store, struct settings *settings, const struct section *section,
                  struct error *err)
{
    struct object_store *store = arena_alloc(settings->arena, sizeof *store);

    store->settings = settings;
    store->section = section;
    store->arena = settings->arena;
    store->where = arena_printf(settings->arena, "[%s %s]", section->kind, section->name);
    if (!open_address(store, err)) {
        object_store_close(store);
        return false;
    }
    *ret_store = store;
    return true;
}

void
object_store_close(struct object_store *store)
{
    if (store)
        http_close(store->http);
}

bool
object_store_is_remote(const struct object_store *store)
{
    return store->kind != OBJECT_HERE;
}

void
object_store_watch(struct object_store *store, void (*watch)(void *context, uint64_t bytes), void *context)
{
    store->watch = watch;
    store->watch_context = context;
}

/* ---------------------------------------------------------------- files here */

static bool
list_here(struct object_store *store, const char *const *suffixes, struct object_list *ret_list, struct error *err)
{
    struct path_list paths;
    struct object_list list = {0};
    const char *root;
    size_t size;

    if (!path_walk(store->arena, store->path, suffixes, &paths, &root, err))
        return false;
    size = strlen(root);
    size += size && root[size - 1] == '/' ? 0 : 1;
    list.is_one = paths.count == 1 && !strcmp(paths.path[0], store->path);
    list.object = arena_alloc(store->arena, paths.count * sizeof *list.object);
    for (size_t i = 0; i < paths.count; i++) {
        struct object *object = &list.object[list.count];
        struct stat about;

        if (stat(paths.path[i], &about))
            continue;
        list.count++;
        object->name = object->full = paths.path[i];
        object->key = !strncmp(root, ".", 2) ? paths.path[i] : paths.path[i] + (size < strlen(paths.path[i]) ? size : 0);
        object->size = (uint64_t)about.st_size;
        object->modified = about.st_mtime;
    }
    *ret_list = list;
    return true;
}

bool
object_store_list(struct object_store *store, const char *const *suffixes, struct object_list *ret_list,
                  struct error *err)
{
    switch (store->kind) {
    case OBJECT_S3:
        return s3_list(store, suffixes, ret_list, err);
    case OBJECT_WEB:
        return web_list(store, ret_list, err);
    default:
        return list_here(store, suffixes, ret_list, err);
    }
}

static bool
open_here(const struct object *object, int *ret_fd, struct error *err)
{
    struct stat about;
    int fd = open(object->full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        error_set(err, ERR_INPUT, "could not open \"%s\": %s", object->name, fd < 0 ? strerror(errno) : "it is no file");
        if (fd >= 0)
            close(fd);
        return error_hint(err, "Check that the file exists and that you may read it.");
    }
    *ret_fd = fd;
    return true;
}

/* A file that has no name, and so goes when the program does, however it ends. */
static int
make_spool(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int fd;

    if (!folder || *folder != '/' || strlen(folder) > sizeof path - 40)
        folder = "/tmp";
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "%s/gpu-audit-XXXXXX", folder);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool
fetch(struct object_store *store, struct object *object, uint64_t most, int *ret_fd, struct error *err)
{
    int fd = make_spool();

    if (fd < 0) {
        error_set(err, ERR_INPUT, "could not make a temporary file for \"%s\": %s", object->name, strerror(errno));
        return error_hint(err, "Set TMPDIR to a folder with room for the largest bill.");
    }
    if (!object_download(store, object, fd, most, err)) {
        close(fd);
        return false;
    }
    *ret_fd = fd;
    return true;
}

bool
object_fetch(struct object_store *store, struct object *object, int *ret_fd, struct error *err)
{
    return store->kind == OBJECT_HERE ? open_here(object, ret_fd, err) : fetch(store, object, 0, ret_fd, err);
}

bool
object_probe(struct object_store *store, struct object *object, struct error *err)
{
    int fd;

    if (!(store->kind == OBJECT_HERE ? open_here(object, &fd, err) : fetch(store, object, 16, &fd, err)))
        return false;
    close(fd);
    return true;
}

bool
object_read(struct object_store *store, struct object *object, size_t limit, struct buf *ret_text, struct error *err)
{
    struct buf text = {0};
    char part[8192];
    ssize_t got = 0;
    int fd;

    if (object->size > limit) {
        error_set(err, ERR_INPUT, "\"%s\" is larger than %zu KiB", object->name, limit >> 10);
        return error_hint(err, "Check that it is what its name says.");
    }
    if (!object_fetch(store, object, &fd, err))
        return false;
    while (text.size <= limit && (got = pread(fd, part, sizeof part, (off_t)text.size)) > 0)
        buf_add(&text, part, (size_t)got);
    close(fd);
    if (got < 0 || text.size > limit) {
        error_set(err, ERR_INPUT, "could not read \"%s\": %s", object->name, got < 0 ? strerror(errno) : "it grows");
        buf_free(&text);
        return error_hint(err, "Check the disk, then run again.");
    }
    *ret_text = text;
    return true;
}
