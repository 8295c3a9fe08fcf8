#include <config.h>

#include "ingest/matrix_private.h"

#include <string.h>

bool
matrix_fail(struct matrix *m, const char *what)
{
    uint64_t byte = m->base + m->at;

    if (m->err->code != ERR_NONE)
        return false;
    if (m->is_at_end && m->at == m->end)
        return error_set(m->err, ERR_INPUT, "byte %llu: ends too early, %s",
                         (unsigned long long)byte, what);
    return error_set(m->err, ERR_INPUT, "byte %llu: %s", (unsigned long long)byte, what);
}

bool
matrix_fill(struct matrix *m)
{
    size_t left = m->end - m->at;
    size_t size = 0;

    if (m->is_at_end)
        return true;
    memmove(m->window, m->window + m->at, left);
    m->base += m->at;
    m->at = 0;
    m->end = left;
    while (m->end < MATRIX_WINDOW && !m->is_at_end) {
        if (!m->reader->read(m->reader->context, m->window + m->end, MATRIX_WINDOW - m->end, &size,
                             m->err))
            return false;
        m->end += size;
        m->is_at_end = size == 0;
    }
    m->window[m->end] = ']'; /* ends the loops of compact_value */
    return true;
}

static bool
is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool
matrix_peek(struct matrix *m, char *ret_c)
{
    for (;;) {
        while (m->at < m->end && is_space(m->window[m->at]))
            m->at++;
        if (m->at < m->end) {
            *ret_c = m->window[m->at];
            return true;
        }
        if (m->is_at_end)
            return matrix_fail(m, "expected more");
        if (!matrix_fill(m))
            return false;
    }
}

bool
matrix_expect(struct matrix *m, char c)
{
    char found, what[] = "expected '?'";

    what[10] = c;
    if (!matrix_peek(m, &found))
        return false;
    if (found != c)
        return matrix_fail(m, what);
    m->at++;
    return true;
}

bool
matrix_end(struct matrix *m)
{
    do {
        while (m->at < m->end && is_space(m->window[m->at]))
            m->at++;
        if (m->at < m->end)
            return matrix_fail(m, "expected the end");
        if (!matrix_fill(m))
            return false;
    } while (m->at < m->end);
    return true;
}

/* A byte of a string or a word, where white space counts. */
static bool
next_byte(struct matrix *m, char *ret_c)
{
    if (m->at == m->end && !matrix_fill(m))
        return false;
    if (m->at == m->end)
        return matrix_fail(m, "expected more");
    *ret_c = m->window[m->at++];
    return true;
}

struct string_out {
    char *into;
    size_t room, size;
};

static void
put(struct string_out *out, const char *text, size_t size)
{
    size_t fits = 0;

    if (out->into && out->size + 1 < out->room) {
        fits = out->room - 1 - out->size;
        memcpy(out->into + out->size, text, size < fits ? size : fits);
    }
    out->size += size;
}

static void
put_utf8(struct string_out *out, unsigned code)
{
    char text[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    size_t i;

    for (i = size - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    text[0] = (char)(size == 1 ? code : (0xF00u >> size & 0xF0u) | code);
    put(out, text, size);
}

static bool
hex4(struct matrix *m, unsigned *ret_code)
{
    unsigned code = 0;
    int i;

    for (i = 0; i < 4; i++) {
        char c = 0;

        if (!next_byte(m, &c))
            return false;
        if (c >= '0' && c <= '9')
            code = code << 4 | (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            code = code << 4 | (unsigned)((c | 32) - 'a' + 10);
        else
            return matrix_fail(m, "expected four hexadecimal digits");
    }
    *ret_code = code;
    return true;
}

/* \uXXXX, with its other half where it is one of a pair; a half alone becomes U+FFFD. */
static bool
escaped_code(struct matrix *m, struct string_out *out)
{
    unsigned code, low;
    char c;

    if (!hex4(m, &code))
        return false;
    while (code >= 0xD800 && code < 0xDC00) {
        if (m->end - m->at < 2 && !matrix_fill(m))
            return false;
        if (m->end - m->at < 2 || m->window[m->at] != '\\' || m->window[m->at + 1] != 'u')
            break;
        if (!next_byte(m, &c) || !next_byte(m, &c) || !hex4(m, &low))
            return false;
        if (low >= 0xDC00 && low < 0xE000) {
            put_utf8(out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            return true;
        }
        put_utf8(out, 0xFFFD);
        code = low;
    }
    put_utf8(out, code == 0 || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code);
    return true;
}

static bool
escape(struct matrix *m, struct string_out *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;
    char c = 0;

    if (!next_byte(m, &c))
        return false;
    if (c == 'u')
        return escaped_code(m, out);
    found = c ? strchr(from, c) : NULL;
    if (!found)
        return matrix_fail(m, "no such escape in a string");
    put(out, &to[found - from], 1);
    return true;
}

bool
matrix_string(struct matrix *m, char *into, size_t room, size_t *ret_size)
{
    struct string_out out = {into, room, 0};
    char c;

    if (!matrix_expect(m, '"'))
        return false;
    for (;;) {
        const char *from = m->window + m->at;
        const char *end = m->window + m->end;
        const char *to = from;

        while (to < end && *to != '"' && *to != '\\' && (unsigned char)*to >= ' ')
            to++;
        put(&out, from, (size_t)(to - from));
        m->at += (size_t)(to - from);
        if (!next_byte(m, &c))
            return false;
        if (c == '"')
            break;
        if (c == '\\' && !escape(m, &out))
            return false;
        if (c != '\\' && (unsigned char)c < ' ')
            return matrix_fail(m, "a control character in a string");
        if (c != '\\' && (unsigned char)c >= ' ')
            put(&out, &c, 1); /* the window was refilled in between */
    }
    if (into && room)
        into[out.size < room ? out.size : room - 1] = '\0';
    if (ret_size)
        *ret_size = out.size;
    return true;
}

static bool
word(struct matrix *m, const char *text)
{
    for (; *text; text++) {
        char c = 0;

        if (!next_byte(m, &c))
            return false;
        if (c != *text)
            return matrix_fail(m, "expected a value");
    }
    return true;
}

bool
matrix_bool(struct matrix *m, bool *ret_value)
{
    char c;

    if (!matrix_peek(m, &c))
        return false;
    *ret_value = c == 't';
    return word(m, c == 't' ? "true" : "false");
}

static bool
skip_number(struct matrix *m)
{
    char text[64];
    size_t size = 0;
    double value;
    char c;

    for (;;) {
        if (m->at == m->end && !matrix_fill(m))
            return false;
        c = m->at < m->end ? m->window[m->at] : ' ';
        if (!(c >= '0' && c <= '9') && !(c && strchr("+-.eE", c)))
            break;
        if (size < sizeof(text))
            text[size++] = c;
        m->at++;
    }
    return (size && size < sizeof(text) && matrix_number(text, size, &value)) ||
           matrix_fail(m, "expected a value");
}

static bool
skip_members(struct matrix *m, char close, int depth)
{
    bool more, first = true;

    m->at++;
    for (;; first = false) {
        if (!matrix_more(m, first, close, &more))
            return false;
        if (!more)
            return true;
        if (close == '}' && (!matrix_string(m, NULL, 0, NULL) || !matrix_expect(m, ':')))
            return false;
        if (!matrix_skip(m, depth + 1))
            return false;
    }
}

bool
matrix_skip(struct matrix *m, int depth)
{
    char c;

    if (depth > MATRIX_DEPTH_MOST)
        return matrix_fail(m, "nested too deeply");
    if (!matrix_peek(m, &c))
        return false;
    switch (c) {
    case '"':
        return matrix_string(m, NULL, 0, NULL);
    case '{':
        return skip_members(m, '}', depth);
    case '[':
        return skip_members(m, ']', depth);
    case 't':
        return word(m, "true");
    case 'f':
        return word(m, "false");
    case 'n':
        return word(m, "null");
    default:
        return skip_number(m);
    }
}

bool
matrix_more(struct matrix *m, bool is_first, char close, bool *ret_more)
{
    char c;

    if (!matrix_peek(m, &c))
        return false;
    *ret_more = c != close;
    if (c == close) {
        m->at++;
        return true;
    }
    return is_first || matrix_expect(m, ',');
}
