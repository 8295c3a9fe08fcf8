#include <config.h>

#include "ingest/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "ingest/matrix_private.h"

enum { KEY_BYTES = 64 };

static const char *
take_text(struct matrix *m, bool *ret_ok)
{
    char *text = m->text + m->text_size;
    size_t room = MATRIX_LABEL_BYTES - m->text_size;
    size_t size = 0;

    *ret_ok = matrix_string(m, text, room, &size);
    if (*ret_ok && size >= room)
        *ret_ok = matrix_fail(m, "the labels of a series are too long");
    m->text_size += size + 1;
    return text;
}

/* {"name":"value",…} */
static bool
read_labels(struct matrix *m)
{
    bool more, ok, first = true;

    m->label_count = m->text_size = 0;
    if (!matrix_expect(m, '{'))
        return false;
    for (;; first = false) {
        struct label *label = &m->labels[m->label_count];

        if (!matrix_more(m, first, '}', &more))
            return false;
        if (!more)
            return true;
        if (m->label_count == MATRIX_LABELS_MOST)
            return matrix_fail(m, "a series has too many labels");
        label->name = take_text(m, &ok);
        if (!ok || !matrix_expect(m, ':'))
            return false;
        label->value = take_text(m, &ok);
        if (!ok)
            return false;
        m->label_count++;
    }
}

static bool
read_key(struct matrix *m, char key[KEY_BYTES])
{
    return matrix_string(m, key, KEY_BYTES, NULL) && matrix_expect(m, ':');
}

/* {"metric":{…},"values":[…]} or {"metric":{…},"value":[…]} */
static bool
read_series(struct matrix *m, struct matrix_summary *summary)
{
    enum matrix_want want = MATRIX_SKIP;
    bool more, announced = false, first = true;
    char key[KEY_BYTES];

    if (!matrix_expect(m, '{'))
        return false;
    for (;; first = false) {
        if (!matrix_more(m, first, '}', &more))
            return false;
        if (!more)
            return announced || matrix_fail(m, "a series without \"metric\"");
        if (!read_key(m, key))
            return false;
        if (strcmp(key, "metric") == 0) {
            if (announced)
                return matrix_fail(m, "a series with two \"metric\"");
            if (!read_labels(m) ||
                !m->reader->series(m->reader->context, m->labels, m->label_count, &want, m->err))
                return false;
            announced = true;
            summary->series++;
        } else if (strcmp(key, "values") == 0 || strcmp(key, "value") == 0) {
            if (!announced)
                return matrix_fail(m, "values before \"metric\"");
            if (!(key[5] ? matrix_values(m, want) : matrix_value(m, want)))
                return false;
        } else if (!matrix_skip(m, 0)) {
            return false;
        }
    }
}

static bool
read_result(struct matrix *m, struct matrix_summary *summary)
{
    bool more, first = true;
    char c;

    if (!matrix_peek(m, &c))
        return false;
    if (c == 'n')
        return matrix_skip(m, 0); /* null: some proxies write it for no series */
    if (!matrix_expect(m, '['))
        return false;
    for (;; first = false) {
        if (!matrix_more(m, first, ']', &more))
            return false;
        if (!more)
            return true;
        if (!matrix_peek(m, &c))
            return false;
        if (c != '{')
            return matrix_fail(m, "expected a series: this is neither a matrix nor a vector");
        if (!read_series(m, summary))
            return false;
    }
}

static bool
read_type(struct matrix *m)
{
    char type[16];

    if (!matrix_string(m, type, sizeof(type), NULL))
        return false;
    if (strcmp(type, "matrix") != 0 && strcmp(type, "vector") != 0)
        return matrix_fail(m, "resultType is neither matrix nor vector");
    return true;
}

static bool
read_data(struct matrix *m, struct matrix_summary *summary)
{
    bool more, first = true;
    char key[KEY_BYTES], c;

    if (!matrix_peek(m, &c))
        return false;
    if (c == 'n')
        return matrix_skip(m, 0); /* null, beside an error */
    if (!matrix_expect(m, '{'))
        return false;
    for (;; first = false) {
        bool ok;

        if (!matrix_more(m, first, '}', &more))
            return false;
        if (!more)
            return true;
        if (!read_key(m, key))
            return false;
        if (strcmp(key, "result") == 0)
            ok = read_result(m, summary);
        else
            ok = strcmp(key, "resultType") == 0 ? read_type(m) : matrix_skip(m, 0);
        if (!ok)
            return false;
    }
}

/* An array of strings, joined; what does not fit is dropped. Anything else is stepped over. */
static bool
read_notes(struct matrix *m, char into[MATRIX_NOTE_BYTES])
{
    bool more, first = true;
    char c;

    if (!matrix_peek(m, &c))
        return false;
    if (c != '[')
        return matrix_skip(m, 0);
    m->at++;
    for (;; first = false) {
        size_t size = strlen(into);

        if (!matrix_more(m, first, ']', &more))
            return false;
        if (!more)
            return true;
        if (size && size < MATRIX_NOTE_BYTES - 3) {
            memcpy(into + size, "; ", 3);
            size += 2;
        }
        if (!matrix_string(m, into + size, MATRIX_NOTE_BYTES - size, NULL))
            return false;
    }
}

static bool
read_problem(struct matrix *m, struct matrix_summary *summary)
{
    char c;

    if (!matrix_peek(m, &c))
        return false;
    return c == '"' ? matrix_string(m, summary->problem, sizeof(summary->problem), NULL)
                    : matrix_skip(m, 0);
}

static bool
read_status(struct matrix *m, struct matrix_summary *summary)
{
    char status[16];

    if (!matrix_string(m, status, sizeof(status), NULL))
        return false;
    summary->is_success = strcmp(status, "success") == 0;
    return summary->is_success || strcmp(status, "error") == 0 ||
           matrix_fail(m, "status is neither success nor error");
}

static bool
read_member(struct matrix *m, const char *key, struct matrix_summary *summary, unsigned *seen)
{
    if (strcmp(key, "status") == 0) {
        *seen |= 1;
        return read_status(m, summary);
    }
    if (strcmp(key, "data") == 0) {
        if (*seen & 2)
            return matrix_fail(m, "a second \"data\"");
        *seen |= 2;
        return read_data(m, summary);
    }
    if (strcmp(key, "error") == 0)
        return read_problem(m, summary);
    if (strcmp(key, "warnings") == 0)
        return read_notes(m, summary->warnings);
    if (strcmp(key, "infos") == 0)
        return read_notes(m, summary->infos);
    return strcmp(key, "isPartial") == 0 ? matrix_bool(m, &summary->is_partial) : matrix_skip(m, 0);
}

static bool
read_answer(struct matrix *m, struct matrix_summary *summary)
{
    bool more, first = true;
    unsigned seen = 0;
    char key[KEY_BYTES];

    if (!matrix_expect(m, '{'))
        return false;
    for (;; first = false) {
        if (!matrix_more(m, first, '}', &more))
            return false;
        if (!more)
            break;
        if (!read_key(m, key) || !read_member(m, key, summary, &seen))
            return false;
    }
    if (!(seen & 1))
        return matrix_fail(m, "an answer without \"status\"");
    if (summary->is_success && !(seen & 2))
        return matrix_fail(m, "an answer without \"data\"");
    return matrix_end(m);
}

bool
matrix_read(const struct matrix_reader *reader, struct matrix_summary *ret_summary,
            struct error *err)
{
    struct arena arena = {0};
    struct matrix *m = arena_alloc(&arena, sizeof(*m));
    struct matrix_summary summary;
    bool ok;

    memset(&summary, 0, sizeof(summary));
    error_clear(err);
    m->reader = reader;
    m->err = err;
    m->window = arena_alloc(&arena, MATRIX_WINDOW + 16);
    m->text = arena_alloc(&arena, MATRIX_LABEL_BYTES);
    ok = read_answer(m, &summary);
    summary.bytes = m->base + m->at;
    if (ok)
        *ret_summary = summary;
    arena_free(&arena);
    return ok;
}
