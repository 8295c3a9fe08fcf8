/*
 * Fetching one object into a file. A try that breaks is followed by one for the rest, on condition
 * that the object is still the same (If-Match); when it is not, all of it is fetched again. The
 * tries themselves are those of common/http.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/log.h"
#include "common/object_private.h"

enum { CHANGES_MOST = 5, SHORT_MOST = 5, ROOM_LEFT_BYTES = 32 << 20 };

struct download {
    struct object_store *store;
    struct object *object;
    const char *path;     /* OBJECT_S3: of the key in the URL */
    int fd, problem;      /* problem: errno of a write that failed */
    uint64_t held, most;
    int64_t size, modified; /* size -1: unknown */
    char etag[200];       /* "": unknown */
    char range[64], match[240];
    const char *line[3];
    bool begins, is_changed, is_enough; /* begins: a try that has given nothing yet */
};

static const char *const *
headers(void *context)
{
    struct download *down = context;
    const char **line = down->line;

    down->begins = true;
    memset(down->line, 0, sizeof down->line);
    if (down->most)
        snprintf(down->range, sizeof down->range, "Range: bytes=0-%" PRIu64, down->most - 1);
    else
        snprintf(down->range, sizeof down->range, "Range: bytes=%" PRIu64 "-", down->held);
    snprintf(down->match, sizeof down->match, "If-Match: %s", down->etag);
    /* a weak ETag matches nothing */
    bool wants_match = down->etag[0] == '"' && !down->most, wants_range = down->held || down->most;

    if (down->store->kind == OBJECT_S3)
        return s3_headers(down->store, down->path, "", wants_range ? down->range : NULL, wants_match ? down->match : NULL);
    if (wants_range)
        *line++ = down->range;
    if (wants_match)
        *line++ = down->match;
    return down->line;
}

/* The head of an answer, before its first byte: false when it is of something else than what we have. */
static bool
begin(struct download *down, const struct http_reply *reply)
{
    uint64_t first = reply->status == 206 ? (uint64_t)reply->first : 0;

    down->begins = false;
    if ((down->etag[0] && reply->etag[0] && strcmp(down->etag, reply->etag))
        || (down->size >= 0 && reply->length >= 0 && reply->length != down->size) || first > down->held) {
        down->is_changed = true;
        return false;
    }
    if (!down->etag[0])
        snprintf(down->etag, sizeof down->etag, "%s", reply->etag);
    if (reply->length >= 0)
        down->size = reply->length;
    if (reply->modified)
        down->modified = reply->modified;
    down->held = first;
    return true;
}

static bool
take(void *context, const struct http_reply *reply, const void *data, size_t size)
{
    struct download *down = context;

    if (down->begins && !begin(down, reply))
        return false;
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(down->fd, (const char *)data + done, size - done, (off_t)(down->held + done));

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            down->problem = errno;
            return false;
        }
        done += (size_t)put;
    }
    down->held += size;
    down->is_changed = down->size >= 0 && down->held > (uint64_t)down->size;
    down->is_enough = down->most && down->held >= down->most;
    if (down->store->watch && !down->most)
        down->store->watch(down->store->watch_context, down->held);
    return !down->is_changed && !down->is_enough;
}

/* 412: it is not the object any more; 416: it has not that many bytes. */
static bool
is_answer(long status, const struct buf *body)
{
    (void)body;
    return status == 412 || status == 416;
}

static void
begin_anew(struct download *down)
{
    log_info("%s changed while it was fetched: all of it again", down->object->name);
    down->held = 0;
    down->size = -1;
    down->etag[0] = '\0';
    down->is_changed = false;
}

static bool
is_whole(const struct download *down)
{
    return down->is_enough || (down->size >= 0 && down->held == (uint64_t)down->size && !down->is_changed);
}

static bool
no_room(const struct download *down, const char *why, struct error *err)
{
    error_set(err, ERR_INPUT, "could not fetch \"%s\", %" PRId64 " MiB: %s", down->object->name,
              down->size > 0 ? down->size >> 20 : 0, why);
    return error_hint(err, "Set TMPDIR to a folder with room for the largest bill, or free some.");
}

static bool
check_room(const struct download *down, struct error *err)
{
    struct statvfs about;

    if (down->most || down->size <= 0 || fstatvfs(down->fd, &about))
        return true;
    if ((uint64_t)down->size + ROOM_LEFT_BYTES < (uint64_t)about.f_bavail * about.f_frsize)
        return true;
    return no_room(down, "the temporary folder has not that much room", err);
}

static bool
explain(struct download *down, const struct http_reply *reply, struct error *err)
{
    if (down->problem)
        return no_room(down, strerror(down->problem), err);
    return down->store->kind == OBJECT_S3 ? s3_explain(down->store, down->object->name, reply, err)
                                          : web_explain(down->store, down->object, reply, err);
}

/* One round: true when all is there or another is worth it. */
static bool
fetch_more(struct download *down, struct http_request *request, int *ret_changes, struct error *err)
{
    struct http_reply reply = {0};
    struct error why = {0};
    uint64_t before = down->held;
    bool is_good = http_send(down->store->http, request, &reply, &why);

    if (!is_good && why.code == ERR_INTERRUPTED)
        *err = why;
    else if (down->is_changed || (is_good && (reply.status == 412 || (reply.status == 416 && down->held)))) {
        begin_anew(down);
        is_good = ++*ret_changes < CHANGES_MOST;
        if (!is_good) {
            error_set(err, ERR_INPUT, "\"%s\" changes again and again while it is fetched", down->object->name);
            error_hint(err, "A delivery is being written: run again later.");
        }
    } else if (is_whole(down)) {
        is_good = true;
    } else if (is_good && reply.status == 416) {
        down->size = 0; /* empty: it has no first byte */
    } else if (is_good && down->size < 0) {
        down->size = (int64_t)down->held; /* the head did not tell */
    } else if (is_good && down->held == before) {
        ++*ret_changes;
        is_good = *ret_changes < CHANGES_MOST || error_set(err, ERR_NET, "\"%s\" ends at byte %" PRIu64, down->object->name, before);
    } else if (!is_good) {
        *err = why;
        explain(down, &reply, err);
    }
    buf_free(&reply.body);
    return is_good;
}

bool
object_download(struct object_store *store, struct object *object, int fd, uint64_t most, struct error *err)
{
    struct download down = {.store = store, .object = object, .fd = fd, .most = most, .size = -1};
    struct http_request request = {
        .method = "GET", .context = &down, .headers = headers, .take = take, .is_answer = is_answer,
        .hides_query = store->kind == OBJECT_WEB,
    };
    int changes = 0;

    snprintf(down.etag, sizeof down.etag, "%s", object->etag ? object->etag : "");
    if (store->kind == OBJECT_S3)
        down.size = (int64_t)object->size; /* a listing tells it; the head of another server may not */
    if (store->kind == OBJECT_S3)
        down.path = s3_path(store, object->full);
    request.url = store->kind == OBJECT_S3 ? s3_url(store, down.path, "") : store->url;
    do
        if (!check_room(&down, err) || !fetch_more(&down, &request, &changes, err))
            return false;
    while (!is_whole(&down));
    if (most)
        return true;
    if (ftruncate(fd, (off_t)down.held))
        return no_room(&down, strerror(errno), err);
    object->size = down.held;
    object->etag = arena_strdup(store->arena, down.etag);
    object->modified = down.modified ? down.modified : object->modified;
    return true;
}
