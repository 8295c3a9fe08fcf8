/*
 * A live server, asked day by day. Each day is one transaction: killed in between, the next run
 * goes on where this one stopped, and does not ask again for what is complete. A chunk that is too
 * much for the server is asked in halves, down to an hour.
 */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/prometheus.h"
#include "ingest/prometheus_query.h"
#include "ingest/telemetry.h"

enum { BODY_LIMIT_BYTES = 24 * 1024 * 1024 };

/* Some queries for some hours. */
struct chunk {
    struct prometheus_server *server;
    struct telemetry_feed *feed;
    const struct prometheus_query *const *queries;
    size_t count;
    int64_t from, to;
    struct arena *arena;
    bool *is_too_much; /* by query: to be asked in halves */
};

struct memory {
    struct telemetry_feed feed; /* first: the matrix functions take it for their context */
    const struct buf *body;
    size_t at;
};

static bool
read_memory(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct memory *memory = context;
    size_t left = memory->body->size - memory->at;

    (void)err;
    *ret_size = left < room ? left : room;
    if (*ret_size) {
        memcpy(into, memory->body->data + memory->at, *ret_size);
    }
    memory->at += *ret_size;
    return true;
}

static bool
scan(const struct chunk *chunk, const struct buf *body, bool is_taking,
     struct matrix_summary *ret_summary, struct error *err)
{
    struct memory memory = {.feed = *chunk->feed, .body = body};
    const struct matrix_reader reader = {
        &memory,
        read_memory,
        is_taking ? telemetry_take_series : telemetry_look_series,
        is_taking ? telemetry_take_values : telemetry_look_values,
    };

    if (matrix_read(&reader, ret_summary, err)) {
        return true;
    }
    if (err->code == ERR_INPUT) {
        error_context(err, "answer of %s", chunk->server->range_url);
        error_hint(err, "Run the command again; if the answer stays broken, see what stands "
                        "between this machine and the server.");
    }
    return false;
}

static void
note_warnings(const struct chunk *chunk, const struct matrix_summary *summary)
{
    struct telemetry_object *object = chunk->feed->object;

    if (!summary->is_partial && !summary->warnings[0]) {
        return;
    }
    object->is_incomplete = true;
    if (!object->problem) {
        object->problem = summary->warnings[0] ? arena_printf(chunk->server->run->arena,
                                                              "warnings: %s", summary->warnings)
                                               : "the answer is partial";
        log_warning("%s: %s; it will be asked again next time", object->name, object->problem);
    }
}

static bool
fail_too_much(const struct chunk *chunk, const struct http_reply *reply, struct error *err)
{
    error_set(err, ERR_NET, "POST %s: status %ld even for one hour", chunk->server->range_url,
              reply->status);
    if (reply->is_too_large) {
        error_detail(err, "the answer is larger than %d MiB", BODY_LIMIT_BYTES >> 20);
    } else {
        error_detail(err, "the server says: %.300s", reply->body.data ? reply->body.data : "");
    }
    return error_hint(
        err,
        "Raise --query.max-samples or --query.timeout of the server, or give it recording rules.");
}

static bool
take_reply(void *context, size_t index, struct http_reply *reply, struct error *err)
{
    struct chunk *chunk = context;
    const struct prometheus_query *query = chunk->queries[index];
    struct matrix_summary summary;

    if (reply->status < 200 || reply->status > 299 || reply->is_too_large) {
        chunk->is_too_much[index] = true;
        return chunk->to - chunk->from > HOUR_SECONDS || fail_too_much(chunk, reply, err);
    }
    chunk->feed->metric = &query->metric;
    chunk->feed->statistic = query->statistic;
    if (query->metric.scale == SCALE_AUTO && query->statistic == STATISTIC_MAX &&
        !scan(chunk, &reply->body, false, &summary, err)) {
        return false;
    }
    if (!scan(chunk, &reply->body, true, &summary, err)) {
        return false;
    }
    if (!summary.is_success) {
        error_set(err, ERR_NET, "POST %s: the server answered with an error",
                  chunk->server->range_url);
        return error_detail(err, "%s", summary.problem);
    }
    note_warnings(chunk, &summary);
    chunk->feed->object->size_bytes += (int64_t)reply->body.size;
    return true;
}

/* Too many samples, or too slow for them; NULL: too large an answer. */
static bool
is_too_much(long status, const struct buf *body)
{
    return !body || status == 422 ||
           (status == 503 && body->data && strstr(body->data, "\"errorType\":\"timeout\""));
}

static const char *
form(const struct chunk *chunk, const struct prometheus_query *query)
{
    /* nocache keeps VictoriaMetrics from moving start and end; others do not know it. */
    return arena_printf(chunk->arena,
                        "query=%s&start=%" PRId64 "&end=%" PRId64 "&step=%d&nocache=1",
                        http_escape(chunk->arena, query->promql), chunk->from + HOUR_SECONDS,
                        chunk->to, HOUR_SECONDS);
}

static bool ask_halves(const struct chunk *chunk, struct error *err);

static bool
ask(struct chunk *chunk, struct error *err)
{
    struct http_request *requests = arena_alloc(chunk->arena, chunk->count * sizeof(*requests));

    chunk->is_too_much = arena_alloc(chunk->arena, chunk->count * sizeof(*chunk->is_too_much));
    for (size_t i = 0; i < chunk->count; i++) {
        requests[i] = (struct http_request){
            .method = "POST",
            .url = chunk->server->range_url,
            .body = form(chunk, chunk->queries[i]),
            .content_type = "application/x-www-form-urlencoded",
            .limit_bytes = BODY_LIMIT_BYTES,
            .is_answer = is_too_much,
        };
    }
    return http_send_all(chunk->server->http, requests, chunk->count, chunk->server->parallel,
                         take_reply, chunk, err) &&
           ask_halves(chunk, err);
}

static bool
ask_halves(const struct chunk *chunk, struct error *err)
{
    int64_t hours = (chunk->to - chunk->from) / HOUR_SECONDS;
    int64_t middle = chunk->from + hours / 2 * HOUR_SECONDS;

    for (size_t i = 0; i < chunk->count; i++) {
        struct chunk first = *chunk;
        struct chunk second;

        if (!chunk->is_too_much[i]) {
            continue;
        }
        log_info("%s: asking %s in halves of %" PRId64 " hours", chunk->feed->object->name,
                 chunk->queries[i]->promql, hours);
        first.queries = &chunk->queries[i];
        first.count = 1;
        second = first;
        first.to = second.from = middle;
        if (!ask(&first, err) || !ask(&second, err)) {
            return false;
        }
    }
    return true;
}

static bool
ask_stage(struct prometheus_server *server, struct telemetry_feed *feed, int stage,
          struct error *err)
{
    struct arena arena = {0};
    const struct prometheus_query **queries =
        arena_alloc(&arena, server->query_count * sizeof(*queries));
    struct chunk chunk = {
        .server = server,
        .feed = feed,
        .queries = queries,
        .from = feed->object->from,
        .to = feed->object->to,
        .arena = &arena,
    };
    bool good;

    for (size_t i = 0; i < server->query_count; i++) {
        if (server->queries[i].stage == stage) {
            queries[chunk.count++] = &server->queries[i];
        }
    }
    good = ask(&chunk, err);
    arena_free(&arena);
    return good;
}

/* All answers of a day into the rollup and from there into the transaction. */
static bool
pull_pass(struct prometheus_server *server, struct telemetry_feed *feed, bool *is_begun,
          struct error *err)
{
    for (int stage = 0; stage < PROMETHEUS_STAGES; stage++) {
        if (!ask_stage(server, feed, stage, err)) {
            return false;
        }
    }
    /* Not before the answers are there: nobody shall wait for a slow server. */
    if (!*is_begun && !telemetry_part_begin(feed->slice, feed->object, err)) {
        return false;
    }
    *is_begun = true;
    return telemetry_pass_end(feed->slice, feed->rollup, &feed->object, 1, err);
}

static bool
pull_day(struct prometheus_server *server, struct telemetry_slice *slice,
         struct telemetry_object *object, struct error *err)
{
    struct telemetry_shares shares;
    struct telemetry_feed feed = {
        .slice = slice,
        .rollup = rollup_open(server->run->arena, object->from, object->to, 0),
        .shares = &shares,
        .object = object,
    };
    bool is_begun = false;
    bool good;

    telemetry_shares_open(&shares, server->run->arena, object->from, object->to);
    do {
        object->size_bytes = 0;
        good = pull_pass(server, &feed, &is_begun, err);
    } while (good && rollup_next(feed.rollup));
    rollup_close(feed.rollup);
    if (good && telemetry_part_end(slice, object, err)) {
        return true;
    }
    telemetry_failed(slice, object->name, err);
    return false;
}

struct live {
    struct prometheus_server server;
    bool is_discovered;
    int64_t from, to; /* whole days of the window, up to the last whole hour */
};

static bool
discover(struct live *live, struct telemetry_slice *slice, struct error *err)
{
    if (live->is_discovered) {
        return true;
    }
    if (!prometheus_discover(&live->server, live->from, live->to, err)) {
        telemetry_failed(slice, live->server.url, err);
        return false;
    }
    live->is_discovered = true;
    return true;
}

static bool
one_day(struct live *live, struct telemetry_slice *slice, int64_t day, struct error *err)
{
    struct source_run *run = live->server.run;
    struct telemetry_object object = {.first_ms = -1, .from = day};
    char text[CALENDAR_TEXT];
    bool is_settled;

    object.to = day + DAY_SECONDS < live->to ? day + DAY_SECONDS : live->to;
    time_format(day, text);
    object.name = arena_printf(run->arena, "%.10s %s", text, live->server.url);
    progress_at(run->progress, (uint64_t)((day - live->from) / DAY_SECONDS),
                (uint64_t)((live->to - live->from + DAY_SECONDS - 1) / DAY_SECONDS), "days");
    if (!telemetry_part_settled(slice, &object, &is_settled, err)) {
        return false;
    }
    if (is_settled) {
        run->counts.objects++;
        run->counts.unchanged++;
        return true;
    }
    return discover(live, slice, err) && pull_day(&live->server, slice, &object, err);
}

static bool
one_month(struct live *live, int64_t month, struct error *err)
{
    int64_t end = month_next(month) < live->to ? month_next(month) : live->to;
    struct telemetry_slice slice;
    bool good =
        telemetry_open(&slice, live->server.run, month, err) && telemetry_part_open(&slice, err);

    for (int64_t day = month; good && day < end; day += DAY_SECONDS) {
        good = day < live->from || one_day(live, &slice, day, err);
    }
    telemetry_close(&slice);
    return good;
}

/* Says how far back the server goes, once days before have turned out empty. */
static bool
tell_gap(const struct live *live, struct error *err)
{
    struct source_run *run = live->server.run;
    const char *param[] = {arena_printf(run->arena, "%d", run->source_id),
                           arena_printf(run->arena, "%" PRId64, live->from),
                           arena_printf(run->arena, "%" PRId64, live->to)};
    struct rows *rows = NULL;

    if (!rows_open(&rows, run->db, "sql/telemetry_gap.sql", 3, param, err)) {
        return false;
    }
    if (rows_next(rows, err)) {
        const char *first = rows_text(rows, 0);

        if (!first) {
            log_warning("%s has no samples in this window", live->server.url);
        } else if (strcmp(rows_text(rows, 1), "0") != 0) {
            log_warning("%s has no samples before %s (%s days of the window): what GPUs did then "
                        "is unknown",
                        live->server.url, first, rows_text(rows, 1));
        }
    }
    rows_close(rows);
    return true;
}

bool
prometheus_live(struct source_run *run, struct error *err)
{
    const struct window *window = &run->settings->window;
    int64_t last_hour = run->settings->now - run->settings->now % HOUR_SECONDS;
    struct live live = {.from = window->from - window->from % DAY_SECONDS};
    bool good = true;

    live.to = window->to + (DAY_SECONDS - window->to % DAY_SECONDS) % DAY_SECONDS;
    live.to = live.to < last_hour ? live.to : last_hour;
    if (!prometheus_connect(&live.server, run, err)) {
        return false;
    }
    for (int64_t month = month_start(live.from); good && month < live.to;
         month = month_next(month)) {
        good = one_month(&live, month, err);
    }
    prometheus_disconnect(&live.server);
    return good && tell_gap(&live, err);
}
