/*
 * Wording with holes: {{name}}, nothing else. A value that is plain is escaped as the kind of the
 * text asks; one that is markup (a table or picture made by our own code) goes in as it is, and
 * only into HTML. A name nobody gave a value is an error that names the template and its line.
 */
#ifndef REPORTS_TEMPLATE_H
#define REPORTS_TEMPLATE_H

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "reports/facts.h"

enum template_kind {
    TEMPLATE_TEXT,   /* lines: control characters but line feeds and tabs become blanks */
    TEMPLATE_HEADER, /* one line: control characters become blanks, line feeds of the template too
                      */
    TEMPLATE_HTML,   /* & < > " ' are escaped */
};

struct template_value {
    const char *name, *text;
    bool is_markup;
    struct template_value *next;
};
struct template_values {
    struct arena *arena;
    struct template_value *first;
};

void template_set(struct template_values *values, const char *name, const char *text);
void template_set_markup(struct template_values *values, const char *name, const char *html);
void template_set_facts(struct template_values *values, const struct facts *facts);
/* Fills the asset of that name ("templates/mail_body.txt") into out. */
bool template_fill(struct buf *out, const char *asset, enum template_kind kind,
                   const struct template_values *values, struct error *err) MUST_CHECK;
/* The same for a text at hand; `name` is only for messages. */
bool template_fill_text(struct buf *out, const char *name, const char *text,
                        enum template_kind kind, const struct template_values *values,
                        struct error *err) MUST_CHECK;

#endif
