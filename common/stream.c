#include <config.h>

#include "common/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include "common/sha256.h"
#include "common/zip.h"

#ifdef SMALL_BUFFERS /* fuzzers, whose files are small, come to its end so */
enum { INPUT_BYTES = 512 };
#else
enum { INPUT_BYTES = 256 << 10 };
#endif

struct stream {
    int fd;
    char *path;
    enum { STREAM_PLAIN, STREAM_GZIP, STREAM_ZIP, STREAM_PARQUET } kind;
    bool in_member, at_end, is_hashing;
    uint64_t start, offset, size; /* start: where its bytes begin in the file */
    struct parquet *parquet;      /* of STREAM_PARQUET, from the first reading on */
    struct column_filter filter;
    char head[4];                 /* of what was packed */
    size_t head_size;
    struct zip_member member;     /* of STREAM_ZIP, without its name */
    uint64_t made;                /* bytes of it given out */
    uint32_t crc;
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
    stream->inflate.crc_flag = stream->kind == STREAM_ZIP ? ISAL_DEFLATE : ISAL_GZIP;
}

static uint32_t
crc_add(uint32_t crc, const void *data, size_t size)
{
    return crc32_gzip_refl(crc, data, size);
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
    (void)inflateReset2(&stream->inflate, stream->kind == STREAM_ZIP ? -15 : 15 + 16);
}

static uint32_t
crc_add(uint32_t crc, const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
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
    uint64_t left = stream->kind == STREAM_ZIP ? stream->size - stream->offset : UINT64_MAX;
    size_t room;
    ssize_t got;

    if (stream->held && stream->next != stream->input)
        memmove(stream->input, stream->next, stream->held);
    stream->next = stream->input;
    room = INPUT_BYTES - stream->held < left ? INPUT_BYTES - stream->held : (size_t)left;
    do
        got = pread(stream->fd, stream->input + stream->held, room, (off_t)(stream->start + stream->offset));
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
    error_set(err, ERR_INPUT, "%s \"%s\" %s at byte %llu", stream->kind == STREAM_ZIP ? "zip member" : "gzip file",
              stream->path, what,
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

/* Stored or deflated bytes as they are. */
static bool
read_part(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size = 0;

    while (!size && stream->in_member) {
        enum step step = STEP_MORE;

        if (!stream->held && !stream->at_end && !fill(stream, err))
            return false;
        if (stream->member.is_stored) {
            size = stream->held < room ? stream->held : room;
            memcpy(into, stream->next, size);
            stream->next += size;
            stream->held -= size;
            step = !stream->held && stream->at_end ? STEP_MEMBER_END : STEP_MORE;
        } else {
            step = inflate_step(stream, into, room, &size);
        }
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

/* A member must become what the directory says, no byte more: a limit for who packed a bomb. */
static bool
read_zip(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size = 0;

    if (!read_part(stream, into, room, &size, err))
        return false;
    stream->crc = crc_add(stream->crc, into, size);
    stream->made += size;
    if (stream->made > stream->member.size)
        return damaged(stream, "is longer than the directory says", err);
    if (!stream->in_member && stream->made != stream->member.size)
        return damaged(stream, "is shorter than the directory says", err);
    if (!stream->in_member && stream->crc != stream->member.crc)
        return damaged(stream, "does not match its checksum", err);
    *ret_size = size;
    return true;
}

/* Rows come from elsewhere; when they have ended, the file is read for its hash. */
static bool
read_parquet(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size;

    if (!stream->parquet && !parquet_open(&stream->parquet, stream->fd, stream->path, &stream->filter, err))
        return false;
    if (!parquet_read(stream->parquet, into, room, &size, err))
        return false;
    while (!size && !stream->at_end) {
        stream->held = 0;
        if (!stream->is_hashing)
            stream->at_end = true;
        else if (!fill(stream, err))
            return false;
    }
    *ret_size = size;
    return true;
}

/* Packed bytes, of which Parquet cannot be read: its directory stands at its end. */
static bool
read_packed(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size = 0, more;

    if (stream->kind == STREAM_GZIP ? !read_gzip(stream, into, room, &size, err) : !read_zip(stream, into, room, &size, err))
        return false;
    more = sizeof stream->head - stream->head_size < size ? sizeof stream->head - stream->head_size : size;
    memcpy(stream->head + stream->head_size, into, more);
    stream->head_size += more;
    if (more && (parquet_is(stream->head, stream->head_size) || parquet_is_encrypted(stream->head, stream->head_size))) {
        error_set(err, ERR_INPUT, "%s \"%s\" is a Parquet file", stream->kind == STREAM_ZIP ? "zip member" : "gzip file",
                  stream->path);
        return error_hint(err, "Unpack it: Parquet is compressed by itself, and cannot be read within another file.");
    }
    *ret_size = size;
    return true;
}

bool
stream_read(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err)
{
    size_t size;

    room = room < (1U << 30) ? room : 1U << 30;
    if (stream->kind == STREAM_GZIP || stream->kind == STREAM_ZIP)
        return read_packed(stream, into, room, ret_size, err);
    if (stream->kind == STREAM_PARQUET)
        return read_parquet(stream, into, room, ret_size, err);
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
open_regular(const char *path, struct error *err)
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
    return fd;
}

/* ---------------------------------------------------------------- opening */

static struct stream *
stream_new(const char *path, int fd)
{
    struct stream *stream = mem_resize(NULL, 1, sizeof *stream);
    struct stat about;

    memset(stream, 0, sizeof *stream - sizeof stream->inflate - sizeof stream->input);
    memset(&stream->inflate, 0, sizeof stream->inflate);
    stream->fd = fd;
    stream->size = fstat(fd, &about) ? 0 : (uint64_t)about.st_size;
    stream->is_hashing = true;
    stream->path = mem_resize(NULL, strlen(path) + 1, 1);
    memcpy(stream->path, path, strlen(path) + 1);
    stream->next = stream->input;
    sha256_begin(&stream->hash);
    inflate_begin(stream);
    return stream;
}

static void
begin_zip(struct stream *stream, const struct zip_member *member)
{
    stream->kind = STREAM_ZIP;
    stream->member = *member;
    stream->member.name = NULL;
    stream->start = member->data;
    stream->size = member->packed;
    stream->is_hashing = false;
    stream->in_member = true;
    inflate_member(stream);
}

/* What its first bytes say that it is. */
static bool
begin_file(struct stream *stream, struct error *err)
{
    while (stream->held < 4 && !stream->at_end)
        if (!fill(stream, err))
            return false;
    if (stream->held >= 2 && stream->next[0] == 0x1f && stream->next[1] == 0x8b)
        stream->kind = STREAM_GZIP;
    if (parquet_is(stream->next, stream->held))
        stream->kind = STREAM_PARQUET;
    if (!parquet_is_encrypted(stream->next, stream->held))
        return true;
    error_set(err, ERR_INPUT, "Parquet file \"%s\" is encrypted", stream->path);
    return error_hint(err, "Keys are not taken: export it without encryption.");
}

bool
stream_open(struct stream **ret_stream, const char *path, struct error *err)
{
    struct zip_member member;
    bool is_member = false;
    int fd = stream_stand_in_open(path, &member, &is_member);
    struct stream *stream;

    if (fd < 0)
        fd = open_regular(path, err);
    if (fd < 0)
        return false;
    stream = stream_new(path, fd);
    if (is_member)
        begin_zip(stream, &member);
    if (!is_member && !begin_file(stream, err)) {
        stream_close(stream);
        return false;
    }
    *ret_stream = stream;
    return true;
}

uint64_t
stream_offset(const struct stream *stream)
{
    off_t position;

    if (stream->kind != STREAM_PARQUET)
        return stream->offset - stream->held;
    position = stream->at_end ? -1 : lseek(stream->fd, 0, SEEK_CUR);
    return position < 0 ? stream->size : (uint64_t)position;
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

int
stream_file(const struct stream *stream)
{
    return stream->kind == STREAM_ZIP ? -1 : stream->fd;
}

void
stream_filter(struct stream *stream, struct column_filter filter)
{
    stream->filter = filter;
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
    parquet_close(stream->parquet);
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
