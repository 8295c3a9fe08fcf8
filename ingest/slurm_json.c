/*
 * sacct --json, which may be larger than memory: the list "jobs" is cut into its objects, and one at
 * a time is parsed. What stands before and after the list is parsed too: it may say that something
 * went wrong.
 */
#include <config.h>

#include <jansson.h>
#include <string.h>

#include "ingest/slurm.h"

enum { BLOCK_BYTES = 1 << 17, HEAD_MOST = 1 << 20, OBJECT_MOST = 64 << 20, SAID_MOST = 300 };

/* ---------------------------------------------------------------- bytes */

/* false and no error: there are no more. */
static bool
more(struct slurm_json *json, struct error *err)
{
    size_t size = 0;

    if (json->is_at_end) {
        return false;
    }
    if (json->at > 0 && json->at >= json->used / 2) {
        memmove(json->data, json->data + json->at, json->used - json->at);
        json->offset += json->at;
        json->used -= json->at;
        json->at = 0;
    }
    if (json->room - json->used < BLOCK_BYTES) {
        json->room = json->used * 2 + BLOCK_BYTES;
        json->data = mem_resize(json->data, json->room, 1);
    }
    if (!json->input.read(json->input.context, json->data + json->used, json->room - json->used, &size, err)) {
        return false;
    }
    json->used += size;
    json->is_at_end = size == 0;
    return size > 0;
}

static bool
broken(const struct slurm_json *json, const char *what, struct error *err)
{
    if (err->code) {
        return false;
    }
    error_set(err, ERR_INPUT, "no whole answer of sacct --json: %s at byte %llu", what,
              (unsigned long long)(json->offset + json->at));
    return error_hint(err, "Save it again with \"sacct --json\"; nothing of it was loaded.");
}

/* Where we are in a text of brackets and strings. */
struct place {
    int depth;
    bool is_string, is_escaped;
};

static void
step(struct place *place, char c)
{
    if (place->is_string) {
        place->is_string = place->is_escaped || c != '"';
        place->is_escaped = !place->is_escaped && c == '\\';
    } else if (c == '"') {
        place->is_string = true;
    } else if (c == '{' || c == '[') {
        place->depth++;
    } else if (c == '}' || c == ']') {
        place->depth--;
    }
}

/* ---------------------------------------------------------------- around the list */

/* "errors": [ … ] that is not empty. */
static bool
check_envelope(const struct slurm_json *json, const char *text, size_t size, struct error *err)
{
    json_t *envelope = json_loadb(text, size, 0, NULL);
    json_t *errors = json_object_get(envelope, "errors");
    bool is_good = json_is_object(envelope) || broken(json, "its envelope is no JSON object", err);

    if (is_good && json_array_size(errors) > 0) {
        char *said = json_dumps(json_array_get(errors, 0), JSON_ENCODE_ANY | JSON_COMPACT);

        error_set(err, ERR_INPUT, "sacct answered with an error");
        is_good = error_detail(err, "%.*s", SAID_MOST, said ? said : "");
        free(said);
    }
    json_decref(envelope);
    return is_good;
}

static bool
is_jobs_key(const char *text, size_t end)
{
    static const char key[] = "\"jobs\"";

    while (end > 0 && strchr(" \t\r\n:", text[end - 1])) {
        end--;
    }
    return end >= sizeof(key) - 1 && memcmp(text + end - (sizeof(key) - 1), key, sizeof(key) - 1) == 0;
}

bool
slurm_json_open(struct slurm_json *json, struct slurm_input input, struct error *err)
{
    struct place place = {0};
    size_t at = 0;

    *json = (struct slurm_json){.input = input};
    for (;; at++) {
        if (at == json->used && (at > HEAD_MOST || !more(json, err))) {
            return broken(json, "it has no list \"jobs\"", err);
        }
        if (json->data[at] == '[' && !place.is_string && place.depth == 1 && is_jobs_key(json->data, at)) {
            break;
        }
        step(&place, json->data[at]);
    }
    char *head = arena_printf(&json->scratch, "%.*s[]}", (int)at, json->data);

    json->at = at + 1;
    json->is_inside = true;
    return check_envelope(json, head, strlen(head), err);
}

/* From the end of the list to the end of the text. */
static enum slurm_status
finish(struct slurm_json *json, struct error *err)
{
    while (more(json, err) && json->used - json->at < HEAD_MOST) {
        continue;
    }
    if (err->code) {
        return SLURM_READ_ERROR;
    }
    char *tail = arena_printf(&json->scratch, "{\"jobs\":[%.*s", (int)(json->used - json->at), json->data + json->at);

    json->is_inside = false;
    return check_envelope(json, tail, strlen(tail), err) ? SLURM_READ_END : SLURM_READ_ERROR;
}

/* ---------------------------------------------------------------- a job */

/* {"set": true, "infinite": false, "number": 5} or 5. */
static bool
number_of(const json_t *value, int64_t *ret_number)
{
    if (json_is_object(value)) {
        if (json_is_false(json_object_get(value, "set")) || json_is_true(json_object_get(value, "infinite"))) {
            return false;
        }
        value = json_object_get(value, "number");
    }
    if (!json_is_integer(value)) {
        return false;
    }
    *ret_number = json_integer_value(value);
    return true;
}

static struct field
text_of(struct arena *arena, const json_t *value)
{
    if (!json_is_string(value)) {
        return (struct field){"", 0};
    }
    size_t size = json_string_length(value);

    return (struct field){arena_strndup(arena, json_string_value(value), size), size};
}

static struct field
printed(const char *text)
{
    return (struct field){text, strlen(text)};
}

static struct field
number_text(struct arena *arena, const json_t *value)
{
    int64_t number;

    return number_of(value, &number) ? printed(arena_printf(arena, "%lld", (long long)number)) : printed("");
}

/* [{"type": "gres", "name": "gpu:a100", "count": 2}, …] as gres/gpu:a100=2,… */
static struct field
tres_text(struct arena *arena, const json_t *list)
{
    const char *text = "";
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item) {
        const char *type = json_string_value(json_object_get(item, "type"));
        const char *name = json_string_value(json_object_get(item, "name"));
        int64_t count;

        if (type && number_of(json_object_get(item, "count"), &count) && !strpbrk(type, ",=") &&
            !(name && strpbrk(name, ",="))) {
            text = arena_printf(arena, "%s%s%s%s%s=%lld", text, *text ? "," : "", type, name && *name ? "/" : "",
                                name ? name : "", (long long)count);
        }
    }
    return printed(text);
}

/* The highest step's. */
static struct field
usage_text(struct arena *arena, const json_t *steps)
{
    struct field most = {"", 0};
    const json_t *step_of;
    double highest = -1;
    size_t i;

    json_array_foreach(steps, i, step_of) {
        const json_t *consumed = json_object_get(json_object_get(step_of, "tres"), "consumed");
        struct field text = tres_text(arena, json_object_get(consumed, "average"));
        double util = slurm_tres_value(text, "gres/gpuutil");

        if (util > highest) {
            highest = util;
            most = text;
        }
    }
    return most;
}

static const char *
shown_id(struct arena *arena, const json_t *job, int64_t number)
{
    const json_t *array = json_object_get(job, "array"), *het = json_object_get(job, "het");
    const char *tasks = json_string_value(json_object_get(array, "task"));
    int64_t of = 0, part = 0;

    if (number_of(json_object_get(array, "job_id"), &of) && of > 0) {
        if (number_of(json_object_get(array, "task_id"), &part)) {
            return arena_printf(arena, "%lld_%lld", (long long)of, (long long)part);
        }
        if (tasks && *tasks) {
            return arena_printf(arena, "%lld_[%s]", (long long)of, tasks);
        }
    }
    if (number_of(json_object_get(het, "job_id"), &of) && of > 0 && number_of(json_object_get(het, "job_offset"), &part)) {
        return arena_printf(arena, "%lld+%lld", (long long)of, (long long)part);
    }
    return arena_printf(arena, "%lld", (long long)number);
}

static void
fill_times(struct arena *arena, const json_t *job, struct field *cell)
{
    const json_t *when = json_object_get(job, "time");

    cell[SLURM_SUBMIT] = number_text(arena, json_object_get(when, "submission"));
    cell[SLURM_ELIGIBLE] = number_text(arena, json_object_get(when, "eligible"));
    cell[SLURM_START] = number_text(arena, json_object_get(when, "start"));
    cell[SLURM_END] = number_text(arena, json_object_get(when, "end"));
    cell[SLURM_ELAPSED_RAW] = number_text(arena, json_object_get(when, "elapsed"));
    cell[SLURM_SUSPENDED] = number_text(arena, json_object_get(when, "suspended"));
}

static void
fill_people(struct arena *arena, const json_t *job, struct field *cell)
{
    const json_t *association = json_object_get(job, "association"), *comment = json_object_get(job, "comment");
    const json_t *wckey = json_object_get(job, "wckey"), *cluster = json_object_get(job, "cluster");
    const json_t *user = json_object_get(job, "user");

    cell[SLURM_CLUSTER] = text_of(arena, cluster ? cluster : json_object_get(association, "cluster"));
    cell[SLURM_USER] = text_of(arena, json_is_string(user) ? user : json_object_get(association, "user"));
    cell[SLURM_ACCOUNT] = text_of(arena, json_object_get(job, "account"));
    cell[SLURM_PARTITION] = text_of(arena, json_object_get(job, "partition"));
    cell[SLURM_QOS] = text_of(arena, json_object_get(job, "qos"));
    cell[SLURM_JOB_NAME] = text_of(arena, json_object_get(job, "name"));
    cell[SLURM_WCKEY] = text_of(arena, json_is_object(wckey) ? json_object_get(wckey, "wckey") : wckey);
    cell[SLURM_COMMENT] = text_of(arena, json_is_object(comment) ? json_object_get(comment, "job") : comment);
    cell[SLURM_ADMIN_COMMENT] = text_of(arena, json_object_get(comment, "administrator"));
}

static void
fill_record(struct arena *arena, const json_t *job, int64_t number, struct field *cell)
{
    const json_t *tres = json_object_get(job, "tres"), *state = json_object_get(json_object_get(job, "state"), "current");

    cell[SLURM_JOB_ID] = printed(shown_id(arena, job, number));
    cell[SLURM_JOB_ID_RAW] = printed(arena_printf(arena, "%lld", (long long)number));
    cell[SLURM_STATE] = text_of(arena, json_is_array(state) ? json_array_get(state, 0) : state);
    cell[SLURM_ALLOC_TRES] = tres_text(arena, json_object_get(tres, "allocated"));
    cell[SLURM_REQ_TRES] = tres_text(arena, json_object_get(tres, "requested"));
    cell[SLURM_NODE_LIST] = text_of(arena, json_object_get(job, "nodes"));
    cell[SLURM_NODES] = number_text(arena, json_object_get(job, "allocation_nodes"));
    cell[SLURM_RESTARTS] = number_text(arena, json_object_get(job, "restart_cnt"));
    cell[SLURM_USAGE] = usage_text(arena, json_object_get(job, "steps"));
    fill_times(arena, job, cell);
    fill_people(arena, job, cell);
}

bool
slurm_json_record(struct arena *arena, const char *text, size_t size, struct slurm_record *ret_record,
                  const char **ret_reason)
{
    json_error_t at;
    json_t *job = json_loadb(text, size, JSON_ALLOW_NUL, &at);
    int64_t number = 0;
    bool good = json_is_object(job) && number_of(json_object_get(job, "job_id"), &number) && number > 0;

    if (good) {
        fill_record(arena, job, number, ret_record->cell);
    } else {
        *ret_reason = job ? "no job_id" : "no JSON";
    }
    json_decref(job);
    return good;
}

/* The bytes of the next object, with at on its "{". */
static bool
measure(struct slurm_json *json, size_t *ret_size, struct error *err)
{
    struct place place = {0};
    size_t size = 0;

    do {
        if (json->at + size == json->used && (size > OBJECT_MOST || !more(json, err))) {
            return broken(json, size > OBJECT_MOST ? "a job is larger than 64 MiB" : "it ends within a job", err);
        }
        step(&place, json->data[json->at + size++]);
    } while (place.depth > 0);
    *ret_size = size;
    return true;
}

enum slurm_status
slurm_json_next(struct slurm_json *json, struct slurm_record *ret_record, const char **ret_reason, struct error *err)
{
    size_t size = 0;

    arena_reset(&json->scratch, (struct arena_mark){0});
    *ret_record = slurm_record_empty();
    if (!json->is_inside) {
        return SLURM_READ_END;
    }
    for (;; json->at++) {
        if (json->at == json->used && !more(json, err)) {
            return broken(json, "it ends too early", err), SLURM_READ_ERROR;
        }
        if (!strchr(" \t\r\n,", json->data[json->at]) || !json->data[json->at]) {
            break;
        }
    }
    if (json->data[json->at] == ']') {
        return finish(json, err);
    }
    if (json->data[json->at] != '{') {
        return broken(json, "a job is no object", err), SLURM_READ_ERROR;
    }
    if (!measure(json, &size, err)) {
        return SLURM_READ_ERROR;
    }
    ret_record->raw = (struct field){json->data + json->at, size};
    ret_record->line = ++json->job;
    json->at += size;
    return slurm_json_record(&json->scratch, ret_record->raw.text, size, ret_record, ret_reason) ? SLURM_READ_RECORD : SLURM_READ_BAD;
}

void
slurm_json_close(struct slurm_json *json)
{
    mem_free(json->data);
    arena_free(&json->scratch);
}
