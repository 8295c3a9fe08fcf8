#include <config.h>

#include "common/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    END_SIZE = 22,
    END_COMMENT_MOST = 65535,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    HEADER_SIZE = 30,
    MEMBERS_MOST = 10000,
    DIRECTORY_MOST = 16 << 20,
    /* Repetitive bills shrink to a hundredth; what shrinks more, and is large, is made to. */
    RATIO_MOST = 500,
    RATIO_FROM_BYTES = 64 << 20,
};

struct zip {
    struct arena *arena;
    int fd;
    const char *name;
    uint64_t size;
    uint64_t directory, directory_size, count;
    struct error *err;
};

static uint16_t
get16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t
get32(const unsigned char *at)
{
    return get16(at) | (uint32_t)get16(at + 2) << 16;
}

static uint64_t
get64(const unsigned char *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static bool
damaged(struct zip *zip, const char *what)
{
    error_set(zip->err, ERR_INPUT, "zip file \"%s\" %s", zip->name, what);
    return error_hint(zip->err, "Fetch the file again: it is not as its sender wrote it.");
}

static bool
read_at(struct zip *zip, uint64_t offset, void *into, size_t size)
{
    size_t held = 0;

    if (offset > zip->size || size > zip->size - offset)
        return damaged(zip, "is cut short");
    while (held < size) {
        ssize_t got = pread(zip->fd, (char *)into + held, size - held, (off_t)(offset + held));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(zip->err, ERR_INPUT, "could not read \"%s\": %s", zip->name, strerror(errno));
        if (!got)
            return damaged(zip, "is cut short");
        held += (size_t)got;
    }
    return true;
}

/* ---------------------------------------------------------------- where the directory is */

/* Where the numbers of the end record do not suffice, a larger record stands before it. */
static bool
read_end64(struct zip *zip, uint64_t end)
{
    unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];

    if (end < LOCATOR_SIZE || !read_at(zip, end - LOCATOR_SIZE, locator, sizeof locator))
        return damaged(zip, "has no end of a zip64 file");
    if (memcmp(locator, "PK\6\7", 4))
        return damaged(zip, "has no end of a zip64 file");
    if (!read_at(zip, get64(locator + 8), record, sizeof record))
        return false;
    if (memcmp(record, "PK\6\6", 4))
        return damaged(zip, "has no end of a zip64 file");
    zip->count = get64(record + 32);
    zip->directory_size = get64(record + 40);
    zip->directory = get64(record + 48);
    return true;
}

static bool
find_end(struct zip *zip)
{
    size_t size = zip->size < END_SIZE + END_COMMENT_MOST ? (size_t)zip->size : END_SIZE + END_COMMENT_MOST;
    uint64_t from = zip->size - size;
    unsigned char *tail = arena_alloc(zip->arena, size + 1), *at;

    if (!read_at(zip, from, tail, size))
        return false;
    for (at = tail + size; at >= tail + END_SIZE; at--)
        if (!memcmp(at - END_SIZE, "PK\5\6", 4))
            break;
    if (at < tail + END_SIZE)
        return damaged(zip, "is cut short: it has no directory at its end");
    at -= END_SIZE;
    if (get16(at + 4) && get16(at + 4) != 0xffff)
        return damaged(zip, "is one of several parts");
    zip->count = get16(at + 10);
    zip->directory_size = get32(at + 12);
    zip->directory = get32(at + 16);
    if (zip->count == 0xffff || zip->directory_size == UINT32_MAX || zip->directory == UINT32_MAX)
        return read_end64(zip, from + (uint64_t)(at - tail));
    return true;
}

/* ---------------------------------------------------------------- members */

static bool
hostile(struct zip *zip, const char *name, const char *what)
{
    char shown[128];

    for (size_t i = 0; i < sizeof shown; i++) {
        shown[i] = name[i];
        if (!name[i])
            break;
    }
    shown[sizeof shown - 1] = '\0';
    error_set(zip->err, ERR_INPUT, "zip file \"%s\" is refused: member \"%s\" %s", zip->name, shown, what);
    return error_hint(zip->err, "Ask who sent it; pack the bills as plain CSV files, without a password.");
}

static bool
check_name(struct zip *zip, const char *name, size_t size)
{
    const char *part = name;

    if (strlen(name) != size)
        return hostile(zip, name, "has a NUL in its name");
    if (*name == '/' || strchr(name, '\\') || (size > 1 && name[1] == ':'))
        return hostile(zip, name, "has an absolute path or one of another system");
    for (; part; part = strchr(part, '/'), part = part ? part + 1 : NULL)
        if (!strcmp(part, "..") || !strncmp(part, "../", 3))
            return hostile(zip, name, "points out of its folder");
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            return hostile(zip, name, "has a control character in its name");
    return true;
}

static bool
is_wanted(const char *name, size_t size, const char *const *suffixes)
{
    const char *base = strrchr(name, '/');

    base = base ? base + 1 : name;
    if (*base == '.' || !strncmp(name, "__MACOSX/", 9))
        return false;
    for (; *suffixes; suffixes++) {
        size_t tail = strlen(*suffixes);

        if (size >= tail && strlen(base) > tail && !strcasecmp(name + size - tail, *suffixes))
            return true;
    }
    return false;
}

/* Numbers of 32 bits that are all ones stand in the zip64 field, in this order. */
static bool
read_extra(struct zip *zip, const unsigned char *extra, size_t size, struct zip_member *member, uint64_t *offset)
{
    uint64_t *const numbers[] = {&member->size, &member->packed, offset};

    while (size >= 4) {
        size_t length = get16(extra + 2);
        const unsigned char *at = extra + 4;

        if (length > size - 4)
            break;
        for (int i = 0; get16(extra) == 1 && i < 3; i++)
            if (*numbers[i] == UINT32_MAX) {
                if (length - (size_t)(at - extra - 4) < 8)
                    return damaged(zip, "has a damaged directory");
                *numbers[i] = get64(at);
                at += 8;
            }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static bool
find_data(struct zip *zip, struct zip_member *member, uint64_t offset)
{
    unsigned char header[HEADER_SIZE];

    if (!read_at(zip, offset, header, sizeof header))
        return false;
    if (memcmp(header, "PK\3\4", 4))
        return damaged(zip, "has a damaged directory");
    member->data = offset + HEADER_SIZE + get16(header + 26) + get16(header + 28);
    if (member->data > zip->size || member->packed > zip->size - member->data)
        return damaged(zip, "is cut short");
    return true;
}

static bool
check_member(struct zip *zip, const struct zip_member *member, unsigned flags, unsigned method)
{
    if (flags & 0x41)
        return hostile(zip, member->name, "is encrypted");
    if (method && method != 8) {
        error_set(zip->err, ERR_INPUT, "zip file \"%s\": member \"%s\" is packed by method %u", zip->name, member->name,
                  method);
        return error_hint(zip->err, "Pack it again with a common zip program: stored and deflated members are read.");
    }
    if (member->is_stored && member->packed != member->size)
        return damaged(zip, "has a damaged directory");
    if (member->size > RATIO_FROM_BYTES && member->size / RATIO_MOST > member->packed)
        return hostile(zip, member->name, "would become more than 500 times its size");
    return true;
}

/* One entry of the directory; *ret_size is what it takes there. */
static bool
take_entry(struct zip *zip, const unsigned char *at, size_t left, const char *const *suffixes, struct zip_list *list,
           size_t *ret_size)
{
    struct zip_member *member = &list->member[list->count];
    size_t name_size, extra_size;
    uint64_t offset;

    if (left < ENTRY_SIZE || memcmp(at, "PK\1\2", 4))
        return damaged(zip, "has a damaged directory");
    name_size = get16(at + 28);
    extra_size = get16(at + 30);
    *ret_size = ENTRY_SIZE + name_size + extra_size + get16(at + 32);
    if (*ret_size > left)
        return damaged(zip, "has a damaged directory");
    *member = (struct zip_member){
        .name = arena_strndup(zip->arena, (const char *)at + ENTRY_SIZE, name_size),
        .crc = get32(at + 16),
        .packed = get32(at + 20),
        .size = get32(at + 24),
        .is_stored = !get16(at + 10),
    };
    offset = get32(at + 42);
    if (!read_extra(zip, at + ENTRY_SIZE + name_size, extra_size, member, &offset)
        || !check_name(zip, member->name, name_size))
        return false;
    if (!is_wanted(member->name, name_size, suffixes))
        return true;
    list->count++;
    return check_member(zip, member, get16(at + 8), get16(at + 10)) && find_data(zip, member, offset);
}

static int
by_place(const void *a, const void *b)
{
    const struct zip_member *const *left = a, *const *right = b;

    return (*left)->data < (*right)->data ? -1 : (*left)->data > (*right)->data;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp((*(const struct zip_member *const *)a)->name, (*(const struct zip_member *const *)b)->name);
}

/* Members that share their bytes let a small file become a huge one. */
static bool
check_overlap(struct zip *zip, const struct zip_list *list)
{
    const struct zip_member **sorted = arena_alloc(zip->arena, (list->count + 1) * sizeof(struct zip_member *));

    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->member[i];
    qsort(sorted, list->count, sizeof(struct zip_member *), by_place);
    for (size_t i = 1; i < list->count; i++)
        if (sorted[i - 1]->data + sorted[i - 1]->packed > sorted[i]->data)
            return hostile(zip, sorted[i]->name, "shares its bytes with another");
    qsort(sorted, list->count, sizeof(struct zip_member *), by_name);
    for (size_t i = 1; i < list->count; i++)
        if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
            return hostile(zip, sorted[i]->name, "stands twice: nobody can say which one counts");
    return true;
}

static bool
read_directory(struct zip *zip, const char *const *suffixes, struct zip_list *list)
{
    unsigned char *directory;
    size_t at = 0, size = 0;

    if (zip->count > MEMBERS_MOST || zip->directory_size > DIRECTORY_MOST) {
        error_set(zip->err, ERR_INPUT, "zip file \"%s\" holds more than %d members", zip->name, MEMBERS_MOST);
        return error_hint(zip->err, "Pack the bills into fewer files.");
    }
    directory = arena_alloc(zip->arena, (size_t)zip->directory_size + 1);
    list->member = arena_alloc(zip->arena, ((size_t)zip->count + 1) * sizeof *list->member);
    if (!read_at(zip, zip->directory, directory, (size_t)zip->directory_size))
        return false;
    for (uint64_t i = 0; i < zip->count; i++, at += size)
        if (!take_entry(zip, directory + at, (size_t)zip->directory_size - at, suffixes, list, &size))
            return false;
    return check_overlap(zip, list);
}

bool
zip_is(int fd)
{
    unsigned char start[4];

    return pread(fd, start, sizeof start, 0) == sizeof start && (!memcmp(start, "PK\3\4", 4) || !memcmp(start, "PK\5\6", 4));
}

bool
zip_open(struct arena *arena, int fd, const char *name, const char *const *suffixes, struct zip_list *ret_list,
         struct error *err)
{
    struct zip zip = {.arena = arena, .fd = fd, .name = name, .err = err};
    struct zip_list list = {0};
    struct stat about;

    if (fstat(fd, &about))
        return error_set(err, ERR_INPUT, "could not read \"%s\": %s", name, strerror(errno));
    zip.size = (uint64_t)about.st_size;
    if (!find_end(&zip) || !read_directory(&zip, suffixes, &list))
        return false;
    if (!list.count) {
        error_set(err, ERR_INPUT, "zip file \"%s\" holds no file whose name ends in %s", name, suffixes[0]);
        return error_hint(err, "Check that it is the right file, or take it away.");
    }
    *ret_list = list;
    return true;
}
