/* Growing text with a cap. Zero-initialised is valid; data is always NUL-terminated once written.
 * A write that would pass the cap is dropped and `overflow` is set: check once, at the end. */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t size, room;
    size_t cap; /* 0: 1 GiB */
    bool overflow;
};

void buf_add(struct buf *buf, const void *data, size_t size);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_html(struct buf *buf, const char *text); /* escapes & < > " ' */
void buf_json(struct buf *buf,
              const char *text); /* a JSON string with its quotes; NULL gives null */
void buf_clear(struct buf *buf); /* keeps the room */
void buf_free(struct buf *buf);

#endif
