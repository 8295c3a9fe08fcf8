#include <config.h>

#include "reports/html.h"

#include <string.h>

#include "reports/palette.h"

/* What a cell's style says in a mail; the page has the same by class. */
static const char *
mail_style(bool is_number, bool is_head, bool is_total)
{
    if (is_head)
        return is_number ? "text-align:right;padding:4px 8px;border-bottom:2px solid #D5DBE1"
                         : "text-align:left;padding:4px 8px;border-bottom:2px solid #D5DBE1";
    if (is_total)
        return is_number ? "text-align:right;padding:4px 8px;font-weight:bold"
                         : "padding:4px 8px;font-weight:bold";
    return is_number ? "text-align:right;padding:4px 8px;border-bottom:1px solid #E9EEF3"
                     : "padding:4px 8px;border-bottom:1px solid #E9EEF3";
}

static const char *
page_class(bool is_number, const char *text, bool is_verdict)
{
    if (text == NULL)
        return is_number ? "n unknown" : "unknown";
    if (is_verdict)
        return strcmp(text, "holds") == 0      ? "holds"
               : strcmp(text, "deviates") == 0 ? "deviates"
                                               : "unknown";
    return is_number ? "n" : "";
}

static void
add_head(struct buf *out, const struct table *table, struct arena *arena, const char *currency,
         enum html_style style)
{
    buf_puts(out, "<thead><tr>");
    for (const struct column *column = table->columns; column->name != NULL; column++) {
        bool is_number = value_is_number(column->kind);
        if (style == HTML_MAIL)
            buf_printf(out, "<th style=\"%s\">", mail_style(is_number, true, false));
        else
            buf_printf(out, "<th scope=\"col\"%s>", is_number ? " class=\"n\"" : "");
        buf_html(out, table_heading(arena, column, currency));
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr></thead>\n<tbody>\n");
}

static void
add_row(struct buf *out, const struct table *table, const struct rows *rows, const int *from,
        struct arena *arena, enum html_style style)
{
    bool is_total = table_is_total(rows);
    buf_puts(out, is_total && style == HTML_PAGE ? "<tr class=\"total\">" : "<tr>");
    for (int i = 0; table->columns[i].name != NULL; i++) {
        const struct column *column = &table->columns[i];
        const char *text = rows_text(rows, from[i]);
        bool is_number = value_is_number(column->kind);
        if (style == HTML_MAIL)
            buf_printf(out, "<td style=\"%s\">", mail_style(is_number, false, is_total));
        else
            buf_printf(out, "<td class=\"%s\">", page_class(is_number, text, column->is_verdict));
        const char *shown = value_text(arena, column->kind, text);
        buf_html(out, column->kind == VALUE_TEXT ? value_cell_text(arena, shown) : shown);
        buf_puts(out, "</td>");
    }
    buf_puts(out, "</tr>\n");
}

static bool
add_rows(struct buf *out, struct rows *rows, const struct table *table, const char *currency,
         enum html_style style, int limit, struct arena *arena, struct error *err)
{
    int from[CANVAS_COLUMNS], count = rows_count(rows);
    if (!table_columns(table, rows, from, err))
        return false;
    if (count == 0) {
        buf_puts(out, "<p>");
        buf_html(out, table->empty);
        buf_puts(out, "</p>\n");
        return true;
    }
    buf_puts(out,
             style == HTML_MAIL
                 ? "<table cellspacing=\"0\" style=\"border-collapse:collapse;font-size:13px\">\n"
                 : "<div class=\"wide\"><table>\n");
    add_head(out, table, arena, currency, style);
    for (int n = 0; rows_next(rows, err); n++)
        if (limit == 0 || n < limit ||
            table_is_total(rows)) /* the sum is shown whatever was left out */
            add_row(out, table, rows, from, arena, style);
    buf_puts(out, style == HTML_MAIL ? "</tbody></table>\n" : "</tbody></table></div>\n");
    if (limit > 0 && count > limit + 1)
        buf_printf(out, "<p>%d more rows are in the workbook.</p>\n", count - limit - 1);
    return err->code == ERR_NONE;
}

bool
html_table(struct buf *out, struct db *db, const struct table *table, const char *audit_id,
           const char *currency, enum html_style style, int limit, struct error *err)
{
    struct rows *rows = NULL;
    struct arena arena = {0};
    if (!table_rows(&rows, db, table, audit_id, err))
        return false;
    bool is_done = add_rows(out, rows, table, currency, style, limit, &arena, err);
    rows_close(rows);
    arena_free(&arena);
    return is_done;
}
