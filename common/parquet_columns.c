/* Columns of a Parquet file as text: which expression gives it. */
#include <config.h>

#include <string.h>

#include "common/arena.h"
#include "common/parquet_private.h"

enum { LEVELS_MOST = 8, SQL_BYTES = 8 << 20, EXPRESSION_BYTES = 64 << 10 };

#define SOURCE " FROM read_parquet('/proc/self/fd/3', binary_as_string = true)"

struct columns {
    const struct duckdb *duckdb;
    struct parquet_columns *found;
    size_t level;
};

/* The high bit of a byte of the result is set where a byte of the word may be c, and nowhere when none is. */
static uint64_t
is_byte(uint64_t word, unsigned char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);

    word ^= ones * c;
    return (word - ones) & ~word & (ones << 7);
}

/* Eight bytes at a time: most of the time of a child goes here. */
static bool
needs_quotes(const char *text, size_t size)
{
    uint64_t found = 0;

    for (size_t step; size; text += step, size -= step) {
        uint64_t word = 0;

        step = size < sizeof word ? size : sizeof word;
        memcpy(&word, text, step);
        found |= is_byte(word, ',') | is_byte(word, '"') | is_byte(word, '\n') | is_byte(word, '\r');
    }
    return found;
}

size_t
parquet_put_cell(char *into, const char *text, size_t size)
{
    char *at = into;

    if (!needs_quotes(text, size)) {
        memcpy(into, text, size);
        return size;
    }
    *at++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return (size_t)(at - into);
}

static void
put_quoted(struct buf *buf, const char *text, char quote)
{
    buf_putc(buf, quote);
    for (; *text; text++) {
        if (*text == quote)
            buf_putc(buf, quote);
        buf_putc(buf, *text);
    }
    buf_putc(buf, quote);
}

/* A time's text has a blank in the middle; of TIMESTAMP WITH TIME ZONE the file says that it is UTC. */
static void
put_select(struct buf *sql, const char *expression, int type)
{
    switch (type) {
    case DUCKDB_TIMESTAMP:
    case DUCKDB_TIMESTAMP_S:
    case DUCKDB_TIMESTAMP_MS:
    case DUCKDB_TIMESTAMP_NS:
        buf_printf(sql, "replace(CAST(CAST(%s AS TIMESTAMP) AS VARCHAR), ' ', 'T')", expression);
        break;
    case DUCKDB_TIMESTAMP_TZ:
        buf_printf(sql, "replace(CAST(make_timestamp(epoch_us(%s)) AS VARCHAR), ' ', 'T') || 'Z'", expression);
        break;
    case DUCKDB_LIST:
    case DUCKDB_STRUCT:
    case DUCKDB_MAP:
    case DUCKDB_UNION:
    case DUCKDB_ARRAY:
        buf_printf(sql, "CAST(to_json(%s) AS VARCHAR)", expression);
        break;
    default:
        buf_printf(sql, "CAST(%s AS VARCHAR)", expression);
    }
    buf_putc(sql, '\0');
}

static bool put_column(struct columns *columns, const char *expression, const char *name, void *type);

static bool
put_parts(struct columns *columns, const char *expression, const char *name, void *type)
{
    const struct duckdb *duckdb = columns->duckdb;
    uint64_t count = duckdb->struct_type_child_count(type);
    bool done = true;

    columns->level++;
    for (uint64_t i = 0; i < count && done; i++) {
        struct buf inner = {.cap = EXPRESSION_BYTES}, full = {.cap = EXPRESSION_BYTES};
        char *part = duckdb->struct_type_child_name(type, i);
        void *part_type = duckdb->struct_type_child_type(type, i);

        buf_printf(&inner, "struct_extract(%s, ", expression);
        put_quoted(&inner, part, '\'');
        buf_putc(&inner, ')');
        buf_printf(&full, "%s.%s", name, part);
        done = !inner.overflow && !full.overflow && put_column(columns, inner.data, full.data, part_type);
        duckdb->free(part);
        duckdb->destroy_logical_type(&part_type);
        buf_free(&inner);
        buf_free(&full);
    }
    columns->level--;
    return done;
}

static bool
put_column(struct columns *columns, const char *expression, const char *name, void *type)
{
    struct parquet_columns *found = columns->found;
    int id = columns->duckdb->get_type_id(type);

    if (found->count == PARQUET_COLUMNS_MOST || columns->level > LEVELS_MOST)
        return false;
    found->count++;
    buf_add(&found->names, name, strlen(name) + 1);
    put_select(&found->selects, expression, id);
    return id != DUCKDB_STRUCT || put_parts(columns, expression, name, type);
}

const char *
parquet_columns_read(const struct duckdb *duckdb, void *connection, struct parquet_columns *ret_columns)
{
    struct columns columns = {.duckdb = duckdb, .found = ret_columns};
    struct duckdb_result result = {0};
    bool done = true;

    *ret_columns = (struct parquet_columns){.names = {.cap = PARQUET_NAMES_MOST}, .selects = {.cap = SQL_BYTES}};
    if (duckdb->query(connection, "SELECT *" SOURCE " LIMIT 0", &result))
        return duckdb->result_error(&result);
    for (uint64_t i = 0; i < duckdb->column_count(&result) && done; i++) {
        struct buf expression = {.cap = EXPRESSION_BYTES};
        const char *name = duckdb->column_name(&result, i);
        void *type = duckdb->column_logical_type(&result, i);

        put_quoted(&expression, name, '"');
        done = !expression.overflow && put_column(&columns, expression.data, name, type);
        duckdb->destroy_logical_type(&type);
        buf_free(&expression);
    }
    duckdb->destroy_result(&result);
    if (!done || ret_columns->names.overflow || ret_columns->selects.overflow || !ret_columns->count)
        return "it has too many columns, or none";
    return NULL;
}

/* ---------------------------------------------------------------- what is made of them */

void
parquet_columns_header(const struct parquet_columns *columns, struct buf *header)
{
    const char *name = columns->names.data;

    for (uint32_t i = 0; i < columns->count; i++) {
        size_t size = strlen(name);
        char *cell = mem_resize(NULL, 2 * size + 2, 1);

        buf_add(header, cell, parquet_put_cell(cell, name, size));
        buf_putc(header, i + 1 < columns->count ? ',' : '\n');
        mem_free(cell);
        name += size + 1;
    }
}

void
parquet_columns_sql(const struct parquet_columns *columns, const char *wanted, struct buf *sql)
{
    const char *select = columns->selects.data;
    bool is_any = false;

    for (uint32_t i = 0; i < columns->count; i++, select += strlen(select) + 1) {
        if (!wanted[i])
            continue;
        buf_printf(sql, "%s%s", is_any ? ", " : "SELECT ", select);
        is_any = true;
    }
    buf_puts(sql, is_any ? SOURCE : "SELECT CAST(NULL AS VARCHAR)" SOURCE);
}
