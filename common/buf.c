#include <config.h>

#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/utf8.h"

static const size_t DEFAULT_CAP_BYTES = (size_t)1 << 30;

/* Room for size more bytes and the NUL; false once a write was dropped, since text with a hole in
 * it must not look whole. */
static bool
reserve(struct buf *buf, size_t size)
{
    size_t cap = buf->cap ? buf->cap : DEFAULT_CAP_BYTES;
    size_t room;

    if (buf->overflow || size > cap || buf->size > cap - size) {
        buf->overflow = true;
        return false;
    }
    if (buf->size + size + 1 <= buf->room)
        return true;
    room = buf->room ? buf->room : 128;
    while (room < buf->size + size + 1)
        room *= 2;
    buf->data = mem_resize(buf->data, room, 1);
    buf->room = room;
    return true;
}

void
buf_add(struct buf *buf, const void *data, size_t size)
{
    if (!reserve(buf, size))
        return;
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void
buf_puts(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void
buf_putc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void
buf_printf(struct buf *buf, const char *fmt, ...)
{
    char text[256];
    va_list args, again;
    int size;

    va_start(args, fmt);
    va_copy(again, args);
    size = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (size >= 0 && (size_t)size < sizeof(text)) {
        buf_add(buf, text, (size_t)size);
    } else if (size >= 0 && reserve(buf, (size_t)size)) {
        vsnprintf(buf->data + buf->size, (size_t)size + 1, fmt, again);
        buf->size += (size_t)size;
    }
    va_end(again);
}

static const char *
html_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void
buf_html(struct buf *buf, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "&<>\"'");

        buf_add(buf, text, plain);
        text += plain;
        if (*text)
            buf_puts(buf, html_entity(*text++));
    }
}

static void
json_escape(struct buf *buf, unsigned char c)
{
    static const char short_form[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    const char *pair;

    for (pair = short_form; *pair; pair += 2) {
        if ((unsigned char)*pair == c) {
            buf_putc(buf, '\\');
            buf_putc(buf, pair[1]);
            return;
        }
    }
    buf_printf(buf, "\\u%04x", c);
}

void
buf_json(struct buf *buf, const char *text)
{
    const char *end;

    if (!text) {
        buf_puts(buf, "null");
        return;
    }
    buf_putc(buf, '"');
    end = text + strlen(text);
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t size = utf8_size(text, (size_t)(end - text));

        if (!size) {
            buf_puts(buf, UTF8_REPLACEMENT);
            size = 1;
        } else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
            json_escape(buf, c);
        } else {
            buf_add(buf, text, size);
        }
        text += size;
    }
    buf_putc(buf, '"');
}

void
buf_clear(struct buf *buf)
{
    buf->size = 0;
    buf->overflow = false;
    if (buf->data)
        buf->data[0] = '\0';
}

void
buf_free(struct buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->size = buf->room = 0;
    buf->overflow = false;
}
