/*
 * Tables and pictures for the page and the mail. Everything from outside is escaped here; pictures
 * are inline SVG without scripts, with their figures in words for those who cannot see them.
 */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include "common/buf.h"
#include "reports/table.h"

enum html_style {
    HTML_PAGE, /* classes, styled by the page */
    HTML_MAIL, /* inline styles: mail programs drop style sheets */
};

/* A table of at most `limit` rows (0: all), with a line that says how many more there are. */
bool html_table(struct buf *out, struct db *db, const struct table *table, const char *audit_id,
                const char *currency, enum html_style style, int limit,
                struct error *err) MUST_CHECK;

struct html_part {
    const char *column; /* of the query: a number */
    const char *name;
    unsigned colour;
};
/* A picture of horizontal bars: one per row of the query, named by its column `name`, stacked of
 * the parts. */
struct html_bars {
    const char *query;
    const struct html_part *parts; /* ends with a NULL column */
    const char *label_column;      /* shown behind the bar */
    enum value_kind label_kind;
    const char *description;
};
bool html_bars(struct buf *out, struct db *db, const struct html_bars *bars, const char *audit_id,
               struct error *err) MUST_CHECK;
/* The ledger as two bars of 100 %: GPU-hours and money. */
bool html_ledger(struct buf *out, struct db *db, const char *audit_id,
                 struct error *err) MUST_CHECK;

#endif
