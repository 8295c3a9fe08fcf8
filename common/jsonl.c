/* Where records are: one a line, or the elements of an array. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonl_private.h"

/* What a look at the window says. */
enum look { LOOK_GOOD, LOOK_END, LOOK_FAILED };

/* ---------------------------------------------------------------- the window */

/* More bytes behind the current record, which moves to the front of the window. */
static bool
refill(struct jsonl *jsonl, struct error *err)
{
    size_t wanted = JSONL_READ_BYTES;

    jsonl->size -= jsonl->record;
    memmove(jsonl->window, jsonl->window + jsonl->record, jsonl->size);
    jsonl->next -= jsonl->record;
    jsonl->record = 0;
    if (jsonl->room - jsonl->size < wanted) {
        jsonl->room = jsonl->size + 2 * wanted;
        jsonl->window = mem_resize(jsonl->window, jsonl->room + JSONL_PADDING, 1);
        jsonl->decoded = mem_resize(jsonl->decoded, jsonl->room, 1);
    }
    while (wanted && !jsonl->at_end) {
        size_t got;

        if (!stream_read(jsonl->stream, jsonl->window + jsonl->size, wanted, &got, err))
            return false;
        jsonl->at_end = !got;
        content_add(&jsonl->content, jsonl->window + jsonl->size, got);
        jsonl->size += got;
        wanted -= got;
    }
    memset(jsonl->window + jsonl->size, 0, JSONL_PADDING);
    return true;
}

/* LOOK_GOOD: there is more in the window now. The survey keeps to what is there. */
static enum look
look_further(struct jsonl *jsonl, struct error *err)
{
    if (jsonl->at_end || jsonl->is_surveying)
        return LOOK_END;
    return refill(jsonl, err) ? LOOK_GOOD : LOOK_FAILED;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Sets next on the first byte that is no blank. */
static enum look
pass_blanks(struct jsonl *jsonl, struct error *err)
{
    for (;;) {
        enum look look;

        while (jsonl->next < jsonl->size && is_blank(jsonl->window[jsonl->next]))
            jsonl->next_line += jsonl->window[jsonl->next++] == '\n';
        if (jsonl->next < jsonl->size)
            return LOOK_GOOD;
        jsonl->record = jsonl->next;
        look = look_further(jsonl, err);
        if (look != LOOK_GOOD)
            return look;
    }
}

/* Sets next behind the next line end, or at the end, and tells how far that is from the record. */
static enum look
find_line_end(struct jsonl *jsonl, struct error *err)
{
    size_t seen = jsonl->next - jsonl->record;

    for (;;) {
        const char *text = jsonl->window + jsonl->record;
        const char *line_end = memchr(text + seen, '\n', jsonl->size - jsonl->record - seen);
        enum look look;

        if (line_end) {
            jsonl->next = (size_t)(line_end - jsonl->window) + 1;
            return LOOK_GOOD;
        }
        seen = jsonl->size - jsonl->record;
        jsonl->next = jsonl->size;
        if (seen > JSONL_RECORD_MOST) {
            jsonl->is_discarding = true;
            return LOOK_GOOD;
        }
        look = look_further(jsonl, err);
        if (look != LOOK_GOOD)
            return look;
    }
}

/* ---------------------------------------------------------------- one a line */

/* A line that was too long is passed over in pieces. */
static enum look
discard_line(struct jsonl *jsonl, struct error *err)
{
    while (jsonl->is_discarding) {
        const char *line_end = memchr(jsonl->window + jsonl->next, '\n', jsonl->size - jsonl->next);
        enum look look;

        jsonl->is_discarding = !line_end;
        jsonl->next = line_end ? (size_t)(line_end - jsonl->window) + 1 : jsonl->size;
        if (line_end)
            break;
        jsonl->record = jsonl->next;
        look = look_further(jsonl, err);
        if (look != LOOK_GOOD)
            return look;
    }
    return LOOK_GOOD;
}

static enum csv_status
too_long(struct jsonl *jsonl)
{
    jsonl->reason = "record is longer than 1 MiB";
    return CSV_BAD;
}

static enum csv_status
scan_line(struct jsonl *jsonl, struct field *fields)
{
    const char *text = jsonl->window + jsonl->record, *end = text + jsonl->record_size, *at;
    enum jsonl_found found;

    if (*text != '{') {
        jsonl->reason = "the line is no object";
        return CSV_BAD;
    }
    found = jsonl_scan(jsonl, text, end, fields, &at);
    if (found == JSONL_SHORT)
        jsonl->reason = "the object does not end on its line";
    else if (found == JSONL_WHOLE && at < end && !jsonl->reason)
        jsonl->reason = "more follows the object on its line";
    return jsonl->reason ? CSV_BAD : CSV_RECORD;
}

static enum csv_status
next_line(struct jsonl *jsonl, struct field *fields, struct error *err)
{
    enum look look;

    look = discard_line(jsonl, err);
    if (look == LOOK_GOOD)
        look = pass_blanks(jsonl, err);
    if (look != LOOK_GOOD)
        return look == LOOK_END ? CSV_END : CSV_ERROR;
    jsonl->record = jsonl->next;
    jsonl->line = jsonl->next_line;
    look = find_line_end(jsonl, err);
    if (look == LOOK_FAILED)
        return CSV_ERROR;
    if (look == LOOK_END && !jsonl->at_end)
        return CSV_END; /* of the survey */
    jsonl->next_line++;
    jsonl->record_size = jsonl->next - jsonl->record;
    while (jsonl->record_size && is_blank(jsonl->window[jsonl->record + jsonl->record_size - 1]))
        jsonl->record_size--;
    return jsonl->record_size > JSONL_RECORD_MOST ? too_long(jsonl) : scan_line(jsonl, fields);
}

/* ---------------------------------------------------------------- elements of an array */

static enum csv_status
array_error(const struct jsonl *jsonl, const char *what, struct error *err)
{
    error_set(err, ERR_INPUT, "line %llu: %s", (unsigned long long)jsonl->next_line, what);
    error_hint(err, "Fetch the file again, or export it as JSON lines: there one broken record costs no others.");
    return CSV_ERROR;
}

static void
count_lines(struct jsonl *jsonl)
{
    const char *text = jsonl->window + jsonl->record, *end = text + jsonl->record_size, *line_end;

    while ((line_end = memchr(text, '\n', (size_t)(end - text)))) {
        jsonl->next_line++;
        text = line_end + 1;
    }
}

/* The first byte behind next that is no blank; '\0' where there is none. The record stays. */
static enum look
peek(struct jsonl *jsonl, char *ret_c, struct error *err)
{
    for (size_t ahead = 0; ahead < JSONL_RECORD_MOST; ahead++) {
        if (jsonl->next + ahead == jsonl->size) {
            enum look look = look_further(jsonl, err);

            if (look != LOOK_GOOD || jsonl->next + ahead == jsonl->size)
                return look == LOOK_FAILED ? look : LOOK_END;
        }
        *ret_c = jsonl->window[jsonl->next + ahead];
        if (!is_blank(*ret_c))
            return LOOK_GOOD;
    }
    return LOOK_END;
}

/* After a broken object: it cost its line when the next line begins with an object. */
static enum csv_status
pass_broken(struct jsonl *jsonl, struct error *err)
{
    const char *reason = jsonl->reason;
    enum look look;
    char c = '\0';

    jsonl->next = jsonl->record;
    look = find_line_end(jsonl, err);
    if (look == LOOK_GOOD && !jsonl->is_discarding)
        look = peek(jsonl, &c, err);
    if (look == LOOK_FAILED)
        return CSV_ERROR;
    jsonl->record_size = jsonl->next - jsonl->record;
    if (c != '{' || jsonl->record_size > JSONL_RECORD_MOST)
        return array_error(jsonl, reason, err);
    jsonl->next_line++;
    jsonl->record_size--;
    jsonl->comma_due = false;
    return CSV_BAD;
}

static enum csv_status
scan_element(struct jsonl *jsonl, struct field *fields, struct error *err)
{
    for (;;) {
        const char *end = jsonl->window + jsonl->size, *at;
        enum jsonl_found found = jsonl_scan(jsonl, jsonl->window + jsonl->record, end, fields, &at);
        enum look look;

        jsonl->record_size = (size_t)(at - jsonl->window) - jsonl->record;
        if (jsonl->record_size > JSONL_RECORD_MOST)
            return array_error(jsonl, "an object is longer than 1 MiB", err);
        if (found == JSONL_BROKEN)
            return pass_broken(jsonl, err);
        if (found == JSONL_WHOLE) {
            jsonl->next = jsonl->record + jsonl->record_size;
            count_lines(jsonl);
            jsonl->comma_due = true;
            return jsonl->reason ? CSV_BAD : CSV_RECORD;
        }
        look = look_further(jsonl, err);
        if (look == LOOK_FAILED)
            return CSV_ERROR;
        if (look == LOOK_END)
            return jsonl->at_end ? array_error(jsonl, "the array is cut short", err) : CSV_END;
    }
}

/* Up to the next object; LOOK_END at the end of the array. */
static enum look
find_element(struct jsonl *jsonl, struct error *err)
{
    for (;;) {
        enum look look = pass_blanks(jsonl, err);
        char c = look == LOOK_GOOD ? jsonl->window[jsonl->next] : '\0';

        if (look == LOOK_END && jsonl->at_end && !jsonl->has_ended)
            return array_error(jsonl, "the array is cut short", err), LOOK_FAILED;
        if (look != LOOK_GOOD)
            return look;
        if (jsonl->has_ended)
            return array_error(jsonl, "something follows the array", err), LOOK_FAILED;
        if (c == '{' && !jsonl->comma_due)
            return LOOK_GOOD;
        if (c == ']')
            jsonl->has_ended = true;
        else if (c == ',' && jsonl->comma_due)
            jsonl->comma_due = false;
        else
            return array_error(jsonl, "no object where one must stand", err), LOOK_FAILED;
        jsonl->next++;
    }
}

static enum csv_status
next_element(struct jsonl *jsonl, struct field *fields, struct error *err)
{
    enum look look = find_element(jsonl, err);

    if (look != LOOK_GOOD)
        return look == LOOK_END ? CSV_END : CSV_ERROR;
    jsonl->record = jsonl->next;
    jsonl->line = jsonl->next_line;
    return scan_element(jsonl, fields, err);
}

/* ---------------------------------------------------------------- for the caller */

enum csv_status
jsonl_next(struct jsonl *jsonl, struct field *ret_fields, struct error *err)
{
    jsonl->reason = NULL;
    if (jsonl->has_new_wishes)
        jsonl_path_forget(jsonl);
    jsonl->has_new_wishes = false;
    return jsonl->is_array ? next_element(jsonl, ret_fields, err) : next_line(jsonl, ret_fields, err);
}

/* Learns the names of the first records; then all is as if nothing had been read. */
static bool
survey(struct jsonl *jsonl, struct error *err)
{
    size_t start = jsonl->next, records = 0, bad = 0;
    uint64_t first_line = jsonl->next_line;
    enum csv_status status = CSV_END;
    char reason[160] = "";

    jsonl->is_surveying = true;
    while (records + bad < JSONL_SURVEY_RECORDS && (status = jsonl_next(jsonl, NULL, err)) <= CSV_BAD) {
        if (status == CSV_BAD && !bad++)
            snprintf(reason, sizeof reason, "line %llu: %s", (unsigned long long)jsonl->line, jsonl->reason);
        records += status == CSV_RECORD;
    }
    if (status == CSV_ERROR && !records)
        return false;
    error_clear(err); /* it comes again in its place */
    if (bad && !records) {
        error_set(err, ERR_INPUT, "%s", reason);
        return error_hint(err, "Read is one JSON object a line, or one array of objects.");
    }
    jsonl->is_surveying = jsonl->comma_due = jsonl->has_ended = jsonl->is_discarding = false;
    jsonl->next = start;
    jsonl->record = jsonl->record_size = 0;
    jsonl->next_line = first_line;
    jsonl_path_forget(jsonl);
    return true;
}

static bool
begin(struct jsonl *jsonl, struct field head, struct error *err)
{
    jsonl->room = head.size + 2 * JSONL_READ_BYTES;
    jsonl->window = mem_resize(NULL, jsonl->room + JSONL_PADDING, 1);
    jsonl->decoded = mem_resize(NULL, jsonl->room, 1);
    if (head.size)
        memcpy(jsonl->window, head.text, head.size);
    content_add(&jsonl->content, jsonl->window, head.size);
    jsonl->size = head.size;
    jsonl->next_line = 1;
    if (!refill(jsonl, err))
        return false;
    if (jsonl->size >= 3 && !memcmp(jsonl->window, "\xef\xbb\xbf", 3))
        jsonl->next = 3;
    if (pass_blanks(jsonl, err) == LOOK_FAILED)
        return false;
    /* the survey looks at no more than this: a first record of the greatest length must be in it */
    while (!jsonl->at_end && jsonl->size - jsonl->next <= JSONL_RECORD_MOST + JSONL_READ_BYTES)
        if (!refill(jsonl, err))
            return false;
    jsonl->is_array = jsonl->next < jsonl->size && jsonl->window[jsonl->next] == '[';
    jsonl->next += jsonl->is_array;
    jsonl->names = arena_alloc(&jsonl->arena, JSONL_NAMES * sizeof *jsonl->names);
    jsonl_path_forget(jsonl);
    return survey(jsonl, err);
}

bool
jsonl_open(struct jsonl **ret_jsonl, struct stream *stream, struct field head, struct error *err)
{
    struct jsonl *jsonl = mem_resize(NULL, 1, sizeof *jsonl);

    memset(jsonl, 0, sizeof *jsonl);
    jsonl->stream = stream;
    if (!begin(jsonl, head, err)) {
        jsonl_close(jsonl);
        return false;
    }
    *ret_jsonl = jsonl;
    return true;
}

struct content
jsonl_content(const struct jsonl *jsonl)
{
    return jsonl->content;
}

bool
jsonl_is_cut(const struct jsonl *jsonl)
{
    return jsonl->at_end && jsonl->record + jsonl->record_size == jsonl->size;
}

const char *
jsonl_reason(const struct jsonl *jsonl)
{
    return jsonl->reason;
}

uint64_t
jsonl_line(const struct jsonl *jsonl)
{
    return jsonl->line;
}

struct field
jsonl_raw(const struct jsonl *jsonl)
{
    return (struct field){jsonl->window + jsonl->record, jsonl->record_size};
}

void
jsonl_close(struct jsonl *jsonl)
{
    if (!jsonl)
        return;
    arena_free(&jsonl->arena);
    mem_free(jsonl->paths);
    mem_free(jsonl->wishes);
    mem_free(jsonl->window);
    mem_free(jsonl->decoded);
    mem_free(jsonl);
}
