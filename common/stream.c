#include <config.h>

#include "common/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include "common/sha256.h"

enum { INPUT_BYTES = 256 << 10 };

struct stream {
    int fd;
    char *path;
    bool is_gzip, in_member, at_end, is_hashing;
    uint64_t offset, size;
    struct sha256 hash;
    unsigned char *next; /* what of input is not decoded yet */
    size_t held;
    unsigned char input[INPUT_BYTES];
#ifdef HAVE_ISAL
    struct inflate_state inflate;
#else
    z_stream inflate;
#endif
};

enum step { STEP_MORE, STEP_MEMBER_END, STEP_BAD };

#ifdef HAVE_ISAL
static void
inflate_begin(struct stream *stream)
{
    isal_inflate_init(&stream->inflate);
}

static void
inflate_member(struct stream *stream)
{
    isal_inflate_reset(&stream->inflate);
    stream->inflate.crc_flag = ISAL_GZIP;
}

static enum step
inflate_step(struct stream *stream, void *into, size_t room, size_t *ret_size)
{
    struct inflate_state *state = &stream->inflate;
    int status;

    state->next_in = stream->next;
    state->avail_in = (uint32_t)stream->held;
    state->next_out = into;
    state->avail_out = (uint32_t)room;
    status = isal_inflate(state);
    stream->next = state->next_in;
    stream->held = state->avail_in;
    *ret_size = room - state->avail_out;
    if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT)
        return STEP_BAD;
    return state->block_state == ISAL_BLOCK_FINISH ? STEP_MEMBER_END : STEP_MORE;
}

static void
inflate_end(struct stream *stream)
{
    (void)stream;
}
#else
static void
inflate_begin(struct stream *stream)
{
    if (inflateInit2(&stream->inflate, 15 + 16) != Z_OK)
        stream->inflate.state = Z_NULL;
}

static void
inflate_member(struct stream *stream)
{
    (void)inflateReset(&stream->inflate);
}

static enum step
inflate_step(struct stream *stream, void *into, size_t room, size_t *ret_size)
{
    z_stream *state = &stream->inflate;
    int status;

    state->next_in = stream->next;
    state->avail_in = (uInt)stream->held;
    state->next_out = into;
    state->avail_out = (uInt)room;
    status = inflate(state, Z_NO_FLUSH);
    stream->next = state->next_in;
    stream->held = state->avail_in;
    *ret_size = room - state->avail_out;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return STEP_BAD;
    return status == Z_STREAM_END ? STEP_MEMBER_END : STEP_MORE;
}

static void
inflate_end(struct stream *stream)
{
    (void)inflateEnd(&stream->inflate);
}
#endif

/* Appends to the input; at_end once the file has no more. */
static bool
fill(struct stream *stream, struct error *err)
{
    ssize_t got;

    if (stream->held && stream->next != stream->input)
        memmove(stream->input, stream->next, stream->held);
    stream->next = stream->input;
    do
        got = read(stream->fd, stream->input + stream->held, INPUT_BYTES - stream->held);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        error_set(err, ERR_INPUT, "could not read \"%s\": %s", stream->path, strerror(errno));
        return error_hint(err, "Check the disk or the file server, then run again.");
    }
    if (stream->is_hashing)
        sha256_add(&stream->hash, stream->input + stream->held, (size_t)got);
    stream->offset += (uint64_t)got;
    stream->held += (size_t)got;
    stream->at_end = !got;
    return true;
}

static bool
damaged(const struct stream *stream, const char *what, struct error *err)
{
    error_set(err, ERR_INPUT, "gzip file \"%s\" %s at byte %llu", stream->path, what,
              (unsigned long long)(stream->offset - stream->held));
    return error_hint(err, "Fetch the file again: it is not as its sender wrote it.");
}

/* Begins the next gzip member, or leaves in_member false at the end of the file. */
static bool
begin_member(struct stream *stream, struct error *err)
{
    if (stream->held < 2 && !stream->at_end && !fill(stream, err))
        return false;
    if (!stream->held)
        return true;
    if (stream->held < 2 || stream->next[0] != 0x1f || stream->next[1] != 0x8b)
        return damaged(stream, "has rubbish after its data", err);
    inflate_member(stream);
    stream->in_member = true;
    return true;
}

static bool
read_gzip(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size = 0;

    while (!size) {
        enum step step;

        if (!stream->in_member && !begin_member(stream, err))
            return false;
        if (!stream->in_member)
            break;
        if (!stream->held && !stream->at_end && !fill(stream, err))
            return false;
        step = inflate_step(stream, into, room, &size);
        if (step == STEP_BAD)
            return damaged(stream, "is damaged", err);
        if (step == STEP_MEMBER_END)
            stream->in_member = false;
        else if (!size && !stream->held && stream->at_end)
            return damaged(stream, "is cut short", err);
    }
    *ret_size = size;
    return true;
}

bool
stream_read(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size;

    room = room < (1U << 30) ? room : 1U << 30;
    if (stream->is_gzip)
        return read_gzip(stream, into, room, ret_size, err);
    if (!stream->held && !stream->at_end && !fill(stream, err))
        return false;
    size = stream->held < room ? stream->held : room;
    memcpy(into, stream->next, size);
    stream->next += size;
    stream->held -= size;
    *ret_size = size;
    return true;
}

static int
open_regular(const char *path, uint64_t *ret_size, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* a pipe must not block */
    struct stat about;

    if (fd < 0 || fstat(fd, &about)) {
        error_set(err, ERR_INPUT, "could not open \"%s\": %s", path, strerror(errno));
        error_hint(err, "Check that the file exists and that you may read it.");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    if (!S_ISREG(about.st_mode)) {
        error_set(err, ERR_INPUT, "could not open \"%s\": it is %s", path,
                  S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device, not a file");
        error_hint(err, "Name a file: it is read twice, once to see whether it changed.");
        close(fd);
        return -1;
    }
    *ret_size = (uint64_t)about.st_size;
    return fd;
}

bool
stream_open(struct stream **ret_stream, const char *path, struct error *err)
{
    uint64_t size = 0;
    int fd = open_regular(path, &size, err);
    struct stream *stream;

    if (fd < 0)
        return false;
    stream = mem_resize(NULL, 1, sizeof *stream);
    memset(stream, 0, sizeof *stream - sizeof stream->inflate - sizeof stream->input);
    memset(&stream->inflate, 0, sizeof stream->inflate);
    stream->fd = fd;
    stream->size = size;
    stream->is_hashing = true;
    stream->path = mem_resize(NULL, strlen(path) + 1, 1);
    memcpy(stream->path, path, strlen(path) + 1);
    stream->next = stream->input;
    sha256_begin(&stream->hash);
    inflate_begin(stream);
    while (stream->held < 2 && !stream->at_end)
        if (!fill(stream, err)) {
            stream_close(stream);
            return false;
        }
    stream->is_gzip = stream->held >= 2 && stream->next[0] == 0x1f && stream->next[1] == 0x8b;
    *ret_stream = stream;
    return true;
}

uint64_t
stream_offset(const struct stream *stream)
{
    return stream->offset - stream->held;
}

uint64_t
stream_size(const struct stream *stream)
{
    return stream->size;
}

void
stream_sha256(const struct stream *stream, char ret_hex[65])
{
    sha256_hex(&stream->hash, ret_hex);
}

void
stream_unhash(struct stream *stream)
{
    stream->is_hashing = false;
}

void
stream_close(struct stream *stream)
{
    if (!stream)
        return;
    inflate_end(stream);
    close(stream->fd);
    free(stream->path);
    free(stream);
}

bool
stream_hash_file(const char *path, char ret_hex[65], struct error *err)
{
    struct stream *stream;
    bool done = true;

    if (!stream_open(&stream, path, err))
        return false;
    while (done && !stream->at_end) {
        stream->held = 0;
        done = fill(stream, err);
    }
    if (done)
        stream_sha256(stream, ret_hex);
    stream_close(stream);
    return done;
}
