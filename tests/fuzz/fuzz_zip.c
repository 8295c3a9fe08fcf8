/*
 * Fuzzes zip files: the bytes are one. What its directory names must lie in the file, have a name that
 * leaves no folder, and not share its bytes; each member is read by a stream as a bill would be, and
 * never becomes more than the directory says. What is refused is refused in words.
 */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/stream.h"
#include "common/zip.h"

enum { MEMBERS_READ = 8, BYTES_READ = 4 << 20, ROOM = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const suffixes[] = {".csv", ".csv.gz", NULL};

static void
check_failure(const struct error *err)
{
    if (err->code != ERR_INPUT || !err->text[0])
        abort();
}

static void
check_member(const struct zip_list *list, size_t number, size_t size)
{
    const struct zip_member *member = &list->member[number];

    if (member->data > size || member->packed > size - member->data)
        abort();
    if (member->name[0] == '/' || !strncmp(member->name, "../", 3) || strstr(member->name, "/../"))
        abort();
    for (size_t i = 0; i < number; i++) {
        const struct zip_member *other = &list->member[i];

        if (other->data < member->data + member->packed && member->data < other->data + other->packed)
            abort();
    }
}

static void
read_member(int fd, const struct zip_member *member)
{
    struct stream_stand_in stand_in = {.name = "fuzz.zip/member", .fd = fd, .member = member};
    static char into[ROOM];
    struct error err = {0};
    struct stream *stream;
    uint64_t made = 0;
    size_t got = 1;

    stream_stand_in_begin(&stand_in);
    if (!stream_open(&stream, stand_in.name, &err))
        abort();
    while (got && made < BYTES_READ) {
        if (!stream_read(stream, into, sizeof into, &got, &err)) {
            check_failure(&err);
            break;
        }
        made += got;
        if (got > sizeof into || made > member->size)
            abort();
        if (!got && made != member->size)
            abort();
    }
    stream_close(stream);
    stream_stand_in_end(&stand_in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct arena arena = {0};
    struct zip_list list;
    struct error err = {0};

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)zip_is(fd);
    if (zip_open(&arena, fd, "fuzz.zip", suffixes, &list, &err)) {
        for (size_t i = 0; i < list.count && i < 64; i++)
            check_member(&list, i, size);
        for (size_t i = 0; i < list.count && i < MEMBERS_READ; i++)
            read_member(fd, &list.member[i]);
    } else {
        check_failure(&err);
    }
    arena_free(&arena);
    close(fd);
    return 0;
}
