/* Columns of a Parquet file as text: which expression gives it. */
#include <config.h>

#include <string.h>

#include "common/arena.h"
#include "common/parquet_private.h"

enum { COLUMNS_MOST = 4000, LEVELS_MOST = 8, SQL_BYTES = 8 << 20, EXPRESSION_BYTES = 64 << 10 };

#define SOURCE " FROM read_parquet('/proc/self/fd/3', binary_as_string = true)"

struct columns {
    const struct duckdb *duckdb;
    struct buf *sql, *header;
    size_t count, level;
};

static bool
needs_quotes(const char *text, size_t size)
{
    static const bool special[256] = {[','] = true, ['"'] = true, ['\n'] = true, ['\r'] = true};

    for (size_t i = 0; i < size; i++)
        if (special[(unsigned char)text[i]])
            return true;
    return false;
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
put_name(struct buf *header, const char *name)
{
    size_t size = strlen(name);
    char *cell = mem_resize(NULL, 2 * size + 2, 1);

    buf_add(header, cell, parquet_put_cell(cell, name, size));
    mem_free(cell);
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
put_select(struct columns *columns, const char *expression, int type)
{
    struct buf *sql = columns->sql;

    buf_puts(sql, columns->count++ ? ", " : "SELECT ");
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
    int id = columns->duckdb->get_type_id(type);

    if (columns->count == COLUMNS_MOST || columns->level > LEVELS_MOST)
        return false;
    if (columns->count)
        buf_putc(columns->header, ',');
    put_name(columns->header, name);
    put_select(columns, expression, id);
    return id != DUCKDB_STRUCT || put_parts(columns, expression, name, type);
}

const char *
parquet_columns(const struct duckdb *duckdb, void *connection, struct buf *sql, struct buf *header)
{
    struct columns columns = {.duckdb = duckdb, .sql = sql, .header = header};
    struct duckdb_result result = {0};
    bool done = true;

    sql->cap = SQL_BYTES;
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
    buf_puts(sql, SOURCE);
    buf_putc(header, '\n');
    if (!done || sql->overflow || !columns.count)
        return "it has too many columns, or none";
    return NULL;
}
