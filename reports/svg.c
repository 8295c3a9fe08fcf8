/* The pictures of html.h. Geometry is worked out here; every figure shown as text is SQL's. */
#include <config.h>

#include <string.h>

#include "reports/html.h"
#include "reports/palette.h"

enum {
    WIDTH = 720,
    NAME_WIDTH = 150,
    LABEL_WIDTH = 90,
    BAR_HEIGHT = 20,
    BAR_STEP = 30,
    BARS_MAX = 12,
    PARTS_MAX = 8,
    NAME_CHARACTERS = 22
};

static double
number_of(const char *text)
{
    double number;
    return text != NULL && value_number(text, &number) ? number
                                                       : 0; /* what is unknown has no bar */
}

/* The first characters of a name; never half a character. */
static void
add_name(struct buf *out, struct arena *arena, const char *name)
{
    size_t size = 0, characters = 0;
    while (name[size] != '\0' && characters < NAME_CHARACTERS) {
        size++;
        while (((unsigned char)name[size] & 0xC0) == 0x80)
            size++;
        characters++;
    }
    buf_html(out, arena_strndup(arena, name, size));
    if (name[size] != '\0')
        buf_puts(out, "\xE2\x80\xA6");
}

static void
add_begin(struct buf *out, int height, const char *description)
{
    buf_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, height);
    buf_html(out, description);
    buf_puts(out, "\">\n");
}

static void
add_bar_name(struct buf *out, struct arena *arena, int y, const char *name)
{
    buf_printf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">", NAME_WIDTH - 8, y + 15);
    add_name(out, arena, value_cell_text(arena, name));
    buf_puts(out, "</text>\n");
}

static void
add_part(struct buf *out, double x, int y, double width, unsigned colour, const char *title)
{
    if (width < 0.05)
        return;
    buf_printf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#%06X\"><title>",
               x, y, width, BAR_HEIGHT, colour);
    buf_html(out, title);
    buf_puts(out, "</title></rect>\n");
}

static void
add_key(struct buf *out, const char *name, unsigned colour)
{
    buf_printf(out, "<li><i style=\"background:#%06X\"></i>", colour);
    buf_html(out, name);
    buf_puts(out, "</li>");
}

struct bar {
    const char *name, *label;
    double part[PARTS_MAX];
    const char *text[PARTS_MAX];
    double whole;
};

static int
part_count(const struct html_bars *bars)
{
    int count = 0;
    while (bars->parts[count].column != NULL && count < PARTS_MAX)
        count++;
    return count;
}

/* Reads at most BARS_MAX bars; -1 when it fails. */
static int
read_bars(struct rows *rows, const struct html_bars *bars, struct arena *arena, struct bar *ret_bar,
          struct error *err)
{
    int count = 0, parts = part_count(bars);
    while (count < BARS_MAX && rows_next(rows, err)) {
        if (table_is_total(rows))
            continue;
        struct bar *bar = &ret_bar[count++];
        bar->name = arena_strdup(arena, rows_text(rows, rows_column(rows, "name")));
        bar->label = value_text(arena, bars->label_kind,
                                rows_text(rows, rows_column(rows, bars->label_column)));
        for (int i = 0; i < parts; i++) {
            const char *text = rows_text(rows, rows_column(rows, bars->parts[i].column));
            bar->part[i] = number_of(text);
            bar->text[i] = value_text(arena, bars->label_kind, text);
            bar->whole += bar->part[i];
        }
    }
    return err->code == ERR_NONE ? count : -1;
}

static void
draw_bar(struct buf *out, struct arena *arena, const struct html_bars *bars, const struct bar *bar,
         int y, double scale)
{
    double x = NAME_WIDTH;
    add_bar_name(out, arena, y, bar->name == NULL ? "unknown" : bar->name);
    for (int i = 0; i < part_count(bars); i++) {
        add_part(out, x, y, bar->part[i] * scale, bars->parts[i].colour,
                 arena_printf(arena, "%s: %s", bars->parts[i].name, bar->text[i]));
        x += bar->part[i] > 0 ? bar->part[i] * scale : 0;
    }
    buf_printf(out, "<text x=\"%.1f\" y=\"%d\">", x + 6, y + 15);
    buf_html(out, bar->label);
    buf_puts(out, "</text>\n");
}

static void
draw_bars(struct buf *out, struct arena *arena, const struct html_bars *bars, const struct bar *bar,
          int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = bar[i].whole > most ? bar[i].whole : most;
    double scale = most > 0 ? (WIDTH - NAME_WIDTH - LABEL_WIDTH) / most : 0;
    add_begin(out, count * BAR_STEP, bars->description);
    for (int i = 0; i < count; i++)
        draw_bar(out, arena, bars, &bar[i], i * BAR_STEP + 4, scale);
    buf_puts(out, "</svg>\n<ul class=\"key\">");
    for (int i = 0; i < part_count(bars); i++)
        add_key(out, bars->parts[i].name, bars->parts[i].colour);
    buf_puts(out, "</ul>\n");
}

bool
html_bars(struct buf *out, struct db *db, const struct html_bars *bars, const char *audit_id,
          struct error *err)
{
    struct rows *rows = NULL;
    if (!rows_open(&rows, db, bars->query, 1, &audit_id, err))
        return false;
    struct arena arena = {0};
    struct bar bar[BARS_MAX] = {0};
    int count = read_bars(rows, bars, &arena, bar, err);
    if (count > 0)
        draw_bars(out, &arena, bars, bar, count);
    rows_close(rows);
    arena_free(&arena);
    return count >= 0;
}

/* One bar of 100 %: the share column of each ledger line; lines that are negative or unknown have
 * no part. */
static bool
draw_ledger(struct buf *out, struct db *db, const char *audit_id, const char *name,
            const char *column, int y, struct error *err)
{
    struct rows *rows = NULL;
    if (!rows_open(&rows, db, "sql/query_sheet_ledger.sql", 1, &audit_id, err))
        return false;
    struct arena arena = {0};
    double x = NAME_WIDTH;
    add_bar_name(out, &arena, y, name);
    while (rows_next(rows, err)) {
        const char *line = rows_text(rows, rows_column(rows, "line")),
                   *share = rows_text(rows, rows_column(rows, column));
        double width = number_of(share) * (WIDTH - NAME_WIDTH - 10);
        if (table_is_total(rows) || width <= 0)
            continue;
        add_part(out, x, y, width, palette_line(line),
                 arena_printf(&arena, "%s: %s", line, value_text(&arena, VALUE_SHARE, share)));
        x += width;
    }
    rows_close(rows);
    arena_free(&arena);
    return err->code == ERR_NONE;
}

static bool
add_ledger_key(struct buf *out, struct db *db, const char *audit_id, struct error *err)
{
    struct rows *rows = NULL;
    if (!rows_open(&rows, db, "sql/query_sheet_ledger_short.sql", 1, &audit_id, err))
        return false;
    buf_puts(out, "<ul class=\"key\">");
    while (rows_next(rows, err)) {
        const char *line = rows_text(rows, rows_column(rows, "line"));
        add_key(out, line, palette_line(line));
    }
    buf_puts(out, "</ul>\n");
    rows_close(rows);
    return err->code == ERR_NONE;
}

bool
html_ledger(struct buf *out, struct db *db, const char *audit_id, struct error *err)
{
    add_begin(out, 2 * BAR_STEP,
              "Two bars of 100 %: GPU-hours and cost, each split into the lines of the ledger, as "
              "in the table below");
    if (!draw_ledger(out, db, audit_id, "GPU-hours", "hours_share", 4, err) ||
        !draw_ledger(out, db, audit_id, "cost", "cost_share", BAR_STEP + 4, err))
        return false;
    buf_puts(out, "</svg>\n");
    return add_ledger_key(out, db, audit_id, err);
}
