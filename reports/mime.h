/*
 * What mail wants of text: encodings that keep every line short and in ASCII, headers that cannot
 * be broken out of, addresses. Nothing here sends anything.
 */
#ifndef REPORTS_MIME_H
#define REPORTS_MIME_H

#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"

struct address {
    const char *name;    /* "" when there is none */
    const char *mailbox; /* user@host, checked: ASCII, no blank, no control character */
    struct address *next;
};

void mime_base64(struct buf *out, const void *data, size_t size); /* lines of 76, CR LF */
/* UTF-8 text with LF, as quoted-printable with CR LF; no line begins with a dot or "From ". */
void mime_quoted_printable(struct buf *out, const char *text);
/* "NAME: text" folded; encoded as RFC 2047 asks where it is not plain ASCII. Control characters
 * become blanks. */
void mime_header(struct buf *out, const char *name, const char *text);
/* "NAME: a list of addresses", one a line; nothing when the list is empty. */
void mime_addresses(struct buf *out, const char *name, const struct address *list);
void mime_date(struct buf *out, int64_t time); /* "Date: Mon, 05 Oct 2026 08:00:00 +0000" */
/* `Jane Doe <jane@example.com>, "Doe, Joe" <joe@example.com>, ops@example.com`; NULL or blank gives
 * an empty list. ERR_CONFIG says what is wrong with which part. */
bool address_parse(struct arena *arena, const char *text, struct address **ret_list,
                   struct error *err) MUST_CHECK;

#endif
