#include <config.h>

#include "cli/print.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/buf.h"

static const char unknown[] = "unknown";

/* Characters a terminal shows, near enough: bytes that do not continue a UTF-8 sequence. */
static int
width_of(const char *text)
{
    int width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static bool
is_number(const char *text)
{
    return text[strspn(text, "-+.,0123456789eE%")] == '\0' && strpbrk(text, "0123456789") != NULL;
}

/* Control characters of foreign text would move a terminal's cursor, or worse. */
static void
put_cell(struct buf *buf, const char *text, int width, bool is_right)
{
    const int pad = width > width_of(text) ? width - width_of(text) : 0;

    if (is_right)
        buf_printf(buf, "%*s", pad, "");
    for (const char *c = text; *c != '\0'; c++)
        buf_putc(buf, (unsigned char)*c < 32 || *c == 127 ? ' ' : *c);
    if (!is_right)
        buf_printf(buf, "%*s", pad, "");
}

void
print_text(const char *text)
{
    struct buf buf = {0};

    put_cell(&buf, text, 0, false);
    fputs(buf.size > 0 ? buf.data : "", stdout);
    buf_free(&buf);
}

struct table {
    struct arena arena;
    const char ***row; /* row[0] holds the headings */
    int *width;
    bool *is_right;    /* a column of numbers */
    int columns;
    size_t count, room;
};

static const char **
table_add(struct table *table)
{
    if (table->count == table->room) {
        table->room = table->room > 0 ? 2 * table->room : 64;
        table->row = mem_resize(table->row, table->room, sizeof(*table->row));
    }
    return table->row[table->count++] = arena_alloc(&table->arena, sizeof(char *) * (size_t)table->columns);
}

static void
table_measure(struct table *table)
{
    table->width = arena_alloc(&table->arena, sizeof(int) * (size_t)table->columns);
    table->is_right = arena_alloc(&table->arena, sizeof(bool) * (size_t)table->columns);
    for (int c = 0; c < table->columns; c++) {
        table->is_right[c] = table->count > 1;
        for (size_t r = 0; r < table->count; r++) {
            const char *text = table->row[r][c];
            if (width_of(text) > table->width[c])
                table->width[c] = width_of(text);
            if (r > 0 && text != unknown && *text != '\0' && !is_number(text))
                table->is_right[c] = false;
        }
    }
}

static void
table_print(const struct table *table)
{
    struct buf buf = {0};

    for (size_t r = 0; r < table->count; r++) {
        buf_clear(&buf);
        for (int c = 0; c < table->columns; c++) {
            buf_puts(&buf, c > 0 ? "  " : "");
            put_cell(&buf, table->row[r][c], table->width[c], table->is_right[c]);
        }
        while (buf.size > 0 && buf.data[buf.size - 1] == ' ')
            buf.size--;
        printf("%.*s\n", (int)buf.size, buf.data);
    }
    buf_free(&buf);
}

static bool
print_table(struct rows *rows, struct error *err)
{
    struct table table = {.columns = rows_columns(rows)};
    const char **row = table_add(&table);

    for (int c = 0; c < table.columns; c++)
        row[c] = arena_strdup(&table.arena, rows_name(rows, c));
    while (rows_next(rows, err)) {
        row = table_add(&table);
        for (int c = 0; c < table.columns; c++)
            row[c] = rows_text(rows, c) != NULL ? arena_strdup(&table.arena, rows_text(rows, c)) : unknown;
    }
    table_measure(&table);
    table_print(&table);
    arena_free(&table.arena);
    mem_free(table.row);
    return err->code == ERR_NONE;
}

static void
put_csv(const char *text)
{
    if (text == NULL || text[strcspn(text, "\",\r\n")] == '\0') {
        fputs(text != NULL ? text : "", stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static bool
print_csv(struct rows *rows, struct error *err)
{
    const int columns = rows_columns(rows);

    for (int c = 0; c < columns; c++) {
        fputs(c > 0 ? "," : "", stdout);
        put_csv(rows_name(rows, c));
    }
    putchar('\n');
    while (rows_next(rows, err)) {
        for (int c = 0; c < columns; c++) {
            fputs(c > 0 ? "," : "", stdout);
            put_csv(rows_text(rows, c));
        }
        putchar('\n');
    }
    return err->code == ERR_NONE;
}

static bool
print_json(struct rows *rows, struct error *err)
{
    const int columns = rows_columns(rows);
    struct buf buf = {0};
    const char *separator = "[";

    while (rows_next(rows, err)) {
        buf_clear(&buf);
        for (int c = 0; c < columns; c++) {
            buf_puts(&buf, c > 0 ? ", " : "{");
            buf_json(&buf, rows_name(rows, c));
            buf_puts(&buf, ": ");
            buf_json(&buf, rows_text(rows, c));
        }
        printf("%s\n %s}", separator, buf.data);
        separator = ",";
    }
    printf("%s]\n", *separator == '[' ? "[" : "\n");
    buf_free(&buf);
    return err->code == ERR_NONE;
}

bool
print_rows(struct rows *rows, const char *format, struct error *err)
{
    if (format != NULL && strcmp(format, "csv") == 0)
        return print_csv(rows, err);
    if (format != NULL && strcmp(format, "json") == 0)
        return print_json(rows, err);
    return print_table(rows, err);
}
