/*
 * Fuzzes the opening of objects: the bytes are a file as it lies on disk, plain, gzip of any number
 * of members, or a container. Read with large and with small room it must be the same bytes or the
 * same failure, must be hashed the same, and must be told in the words of an error.
 */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/sha256.h"
#include "common/stream.h"

enum { MOST = 8 << 20, ROOM = 64 << 10 };

struct result {
    bool good, is_whole;
    uint64_t size;
    char content[65], stored[65];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
read_all(struct stream *stream, size_t room, struct result *ret, struct error *err)
{
    static char into[ROOM];
    struct sha256 hash;
    size_t got = 1;

    sha256_begin(&hash);
    while (got && ret->size < MOST) {
        if (!stream_read(stream, into, room, &got, err))
            return false;
        if (got > room)
            abort();
        sha256_add(&hash, into, got);
        ret->size += got;
    }
    ret->is_whole = !got;
    sha256_hex(&hash, ret->content);
    if (!got)
        stream_sha256(stream, ret->stored);
    return true;
}

static struct result
run(const char *path, size_t room)
{
    struct result result = {0};
    struct error err = {0};
    struct stream *stream;

    if (stream_open(&stream, path, &err)) {
        result.good = read_all(stream, room, &result, &err);
        stream_close(stream);
    }
    if (!result.good && (err.code == ERR_NONE || !err.text[0]))
        abort();
    return result;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct result whole, parts;
    char path[32];

    if (size < 1)
        return close(fd);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    whole = run(path, ROOM);
    parts = run(path, 1 + data[0] * 16);
    if (whole.good != parts.good || (whole.is_whole && parts.is_whole && memcmp(&whole, &parts, sizeof whole)))
        abort();
    close(fd);
    return 0;
}
