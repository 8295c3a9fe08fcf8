/*
 * Bytes from a file: plain, gzip of any number of members, or Parquet, which becomes CSV (parquet.h),
 * told apart by the first bytes, not by the name; Parquet within gzip or zip is refused. Also hashes what is read (SHA-256 of the file as stored).
 * A gzip cut short, a bad checksum, or trailing rubbish is ERR_INPUT with the byte offset.
 *
 * What is no file of its own, an object fetched from elsewhere or a member of a zip file, is opened
 * by its name as well while something stands in for it.
 */
#ifndef COMMON_STREAM_H
#define COMMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/parquet.h"

struct stream;
struct zip_member;

/* Between begin and end, stream_open(name) reads fd, or this member of the zip file that fd is. The
 * struct and fd are the caller's and stay as they are until then. Names are looked for by text, in
 * all threads; of two with the same name the later counts. */
struct stream_stand_in {
    const char *name;
    int fd;
    const struct zip_member *member; /* NULL: all of fd */
    struct stream_stand_in *next;
};
void stream_stand_in_begin(struct stream_stand_in *stand_in);
void stream_stand_in_end(struct stream_stand_in *stand_in);
/* An open file of the caller's own, or -1 and no error: nothing stands in. */
int stream_stand_in_open(const char *name, struct zip_member *ret_member, bool *ret_is_member) MUST_CHECK;

bool stream_open(struct stream **ret_stream, const char *path, struct error *err) MUST_CHECK;
/* Before the first reading: of Parquet only columns are read that are wanted; the context stays the caller's. */
void stream_filter(struct stream *stream, struct column_filter filter);
/* Next decoded bytes; *ret_size 0 at the end. The memory is the caller's (room bytes). */
bool stream_read(struct stream *stream, void *into, size_t room, size_t *ret_size, struct error *err) MUST_CHECK;
uint64_t stream_offset(const struct stream *stream); /* bytes of the stored file read so far */
uint64_t stream_size(const struct stream *stream);   /* stored size; 0: unknown */
/* The open file behind it, for who must read it another way; -1 for a member of a zip file. */
int stream_file(const struct stream *stream);
/* Lower-case hex SHA-256 of the stored file, once stream_read has said the end. Of a member of a zip
 * file it says nothing: hash the file. */
void stream_sha256(const struct stream *stream, char ret_hex[65]);
/* For who reads a file again: what is read from here on is not hashed, which is half the work. */
void stream_unhash(struct stream *stream);
void stream_close(struct stream *stream);

/* The same hash of a whole file, without decoding it. */
bool stream_hash_file(const char *path, char ret_hex[65], struct error *err) MUST_CHECK;

/* Regular files of a folder whose names end in one of `suffixes` (NULL-ended), sorted by name, not
 * hidden ones; or the file itself. ERR_CONFIG names the path when nothing is there. */
struct path_list {
    const char **path;
    size_t count;
};
bool path_expand(struct arena *arena, const char *path, const char *const *suffixes, struct path_list *ret_list,
                 struct error *err) MUST_CHECK;
/* The same with folders beneath folders, and with a pattern for path (bills/2026-* and the like) where
 * nothing has that very name. *ret_root is the folder that all of it lies in. */
bool path_walk(struct arena *arena, const char *path, const char *const *suffixes, struct path_list *ret_list,
               const char **ret_root, struct error *err) MUST_CHECK;

#endif
