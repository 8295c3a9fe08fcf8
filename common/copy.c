#include <config.h>

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/db_private.h"
#include "common/numeric.h"
#include "common/utf8.h"

enum {
    BLOCK_BYTES = 64 * 1024,        /* a row that ends past this much sends the block */
    VALUE_BYTES_MAX = 256 << 20,    /* far above any field; keeps lengths inside 32 bits */
    UNIX_TO_POSTGRES_DAYS = 10957,  /* 1970-01-01 to 2000-01-01 */
    SECONDS_OF_DAY = 86400,
};

struct copy {
    struct db *db;
    char *block;
    size_t used, room;
    size_t row_start;   /* where the row that is being written begins in block */
    int columns, column;
    uint64_t rows;
    struct error problem; /* of the current row; the first one stays */
    char what[96];
};

static bool
failed(const struct copy *copy)
{
    return copy->problem.code != ERR_NONE;
}

static void
reserve(struct copy *copy, size_t size)
{
    if (copy->room - copy->used < size) {
        copy->room = (copy->used + size) * 2;
        copy->block = mem_resize(copy->block, copy->room, 1);
    }
}

static void
put_bytes(struct copy *copy, const void *data, size_t size)
{
    memcpy(copy->block + copy->used, data, size);
    copy->used += size;
}

static void
put_int4(struct copy *copy, int32_t value)
{
    uint32_t wire = htobe32((uint32_t)value);

    put_bytes(copy, &wire, sizeof(wire));
}

/* Room for one more column of at most `size` bytes; the row's column count goes in front of the first. */
static void
column_begin(struct copy *copy, size_t size)
{
    reserve(copy, size + 2 + 4);
    if (copy->column++ == 0) {
        uint16_t wire = htobe16((uint16_t)copy->columns);

        put_bytes(copy, &wire, sizeof(wire));
    }
}

static void
put_fixed(struct copy *copy, const void *wire, size_t size)
{
    column_begin(copy, size);
    put_int4(copy, (int32_t)size);
    put_bytes(copy, wire, size);
}

void
copy_null(struct copy *copy)
{
    column_begin(copy, 0);
    put_int4(copy, -1);
}

void
copy_bool(struct copy *copy, bool value)
{
    char wire = value ? 1 : 0;

    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_int2(struct copy *copy, int16_t value)
{
    uint16_t wire = htobe16((uint16_t)value);

    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_int4(struct copy *copy, int32_t value)
{
    uint32_t wire = htobe32((uint32_t)value);

    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_int8(struct copy *copy, int64_t value)
{
    uint64_t wire = htobe64((uint64_t)value);

    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_float4(struct copy *copy, float value)
{
    uint32_t wire;

    memcpy(&wire, &value, sizeof(wire));
    wire = htobe32(wire);
    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_float8(struct copy *copy, double value)
{
    uint64_t wire;

    memcpy(&wire, &value, sizeof(wire));
    wire = htobe64(wire);
    put_fixed(copy, &wire, sizeof(wire));
}

void
copy_time(struct copy *copy, int64_t unix_seconds)
{
    copy_int8(copy, (unix_seconds - (int64_t)UNIX_TO_POSTGRES_DAYS * SECONDS_OF_DAY) * 1000000);
}

void
copy_date(struct copy *copy, int64_t unix_seconds)
{
    int64_t days = unix_seconds / SECONDS_OF_DAY - (unix_seconds % SECONDS_OF_DAY < 0);

    copy_int4(copy, (int32_t)(days - UNIX_TO_POSTGRES_DAYS));
}

void
copy_numeric(struct copy *copy, const char *text, size_t size)
{
    size_t written = 0;

    column_begin(copy, NUMERIC_ROOM(size));
    if (numeric_encode(text, size, (unsigned char *)copy->block + copy->used + 4, &written)) {
        put_int4(copy, (int32_t)written);
        copy->used += written;
    } else if (!failed(copy)) {
        error_set(&copy->problem, ERR_INPUT, "\"%.*s\" is no number that PostgreSQL can hold", size < 60 ? (int)size : 60, text);
    }
}

/* ---------------------------------------------------------------- text */

/* How many of the bytes from here on PostgreSQL takes as they are; it looks at 8 ASCII bytes at once. */
static size_t
plain_length(const unsigned char *text, size_t size)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
    size_t at = 0;

    for (uint64_t word; at + 8 <= size; at += 8) {
        memcpy(&word, text + at, sizeof(word));
        if (((word - ones) | word) & tops) {
            break;
        }
    }
    while (at < size && text[at] && text[at] < 0x80) {
        at++;
    }
    return at;
}

/* Each byte that cannot stand becomes U+FFFD, which is three times as long: room was made for it. */
static void
put_clean(struct copy *copy, const unsigned char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = plain_length(text + at, size - at);

        if (length == 0) {
            length = text[at] ? utf8_size((const char *)text + at, size - at) : 0;
        }
        if (length == 0) {
            put_bytes(copy, UTF8_REPLACEMENT, 3);
            at++;
        } else {
            put_bytes(copy, text + at, length);
            at += length;
        }
    }
}

/* Opens a column whose length is known only at the end; returns where the length goes. */
static size_t
open_column(struct copy *copy, size_t most)
{
    size_t length_at;

    column_begin(copy, most);
    length_at = copy->used;
    put_int4(copy, 0);
    return length_at;
}

static void
close_column(struct copy *copy, size_t length_at)
{
    uint32_t wire = htobe32((uint32_t)(copy->used - length_at - 4));

    memcpy(copy->block + length_at, &wire, sizeof(wire));
}

static bool
too_long(struct copy *copy, size_t size)
{
    if (size <= VALUE_BYTES_MAX) {
        return false;
    }
    if (!failed(copy)) {
        error_set(&copy->problem, ERR_INPUT, "a value of %zu bytes is longer than a column can hold", size);
    }
    copy_null(copy);
    return true;
}

void
copy_text(struct copy *copy, const char *text, size_t size)
{
    size_t length_at;

    if (too_long(copy, size)) {
        return;
    }
    if (plain_length((const unsigned char *)text, size) == size) {
        put_fixed(copy, text, size);
        return;
    }
    length_at = open_column(copy, 3 * size);
    put_clean(copy, (const unsigned char *)text, size);
    close_column(copy, length_at);
}

void
copy_cstring(struct copy *copy, const char *text)
{
    if (text) {
        copy_text(copy, text, strlen(text));
    } else {
        copy_null(copy);
    }
}

/* ---------------------------------------------------------------- jsonb */

/* The code unit of "\uXXXX" at text, or -1. */
static int
escape_unit(const char *text, size_t size)
{
    int unit = 0;

    if (size < 6 || text[0] != '\\' || text[1] != 'u') {
        return -1;
    }
    for (size_t i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, text[i] | ((text[i] >= 'A' && text[i] <= 'F') ? 0x20 : 0));

        if (!text[i] || !digit) {
            return -1;
        }
        unit = unit * 16 + (int)(digit - digits);
    }
    return unit;
}

static bool
is_low_surrogate(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Escapes that JSON allows and jsonb refuses, \u0000 and halves of surrogate pairs, become \ufffd.
 * Returns how much of the text the escape at its start takes. */
static size_t
put_escape(struct copy *copy, const char *text, size_t size)
{
    int unit = escape_unit(text, size);
    size_t length = unit >= 0 ? 6 : size < 2 ? size : 2;

    if (unit >= 0xD800 && unit <= 0xDBFF && is_low_surrogate(escape_unit(text + 6, size - 6))) {
        length = 12;
    } else if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF)) {
        put_bytes(copy, "\\ufffd", 6);
        return length;
    }
    put_clean(copy, (const unsigned char *)text, length);
    return length;
}

void
copy_jsonb(struct copy *copy, const char *text, size_t size)
{
    size_t length_at;

    if (too_long(copy, size)) {
        return;
    }
    length_at = open_column(copy, 3 * size + 1);
    put_bytes(copy, "\x01", 1); /* version of the binary format */
    for (size_t at = 0; at < size;) {
        const char *escape = memchr(text + at, '\\', size - at);
        size_t end = escape ? (size_t)(escape - text) : size;

        put_clean(copy, (const unsigned char *)text + at, end - at);
        at = escape ? end + put_escape(copy, escape, size - end) : size;
    }
    close_column(copy, length_at);
}

/* ---------------------------------------------------------------- rows, begin and end */

static bool
send_block(struct copy *copy, struct error *err)
{
    if (PQputCopyData(copy->db->conn, copy->block, (int)copy->used) < 0) {
        error_set(err, ERR_DB, "database: %s: the server takes no more rows", copy->what);
        return error_detail(err, "%s", PQerrorMessage(copy->db->conn));
    }
    copy->used = 0;
    return db_flush(copy->db, err);
}

bool
copy_begin(struct copy **ret_copy, struct db *db, const char *sql, int columns, struct error *err)
{
    static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* signature, flags, extension */
    struct copy *copy;
    PGresult *result = NULL;
    char what[96];

    snprintf(what, sizeof(what), "%.*s", (int)strcspn(sql, "(\n"), sql);
    if (!db_send(db, what, sql, 0, NULL, err) || !db_result(db, what, &result, err)) {
        return false;
    }
    if (PQresultStatus(result) != PGRES_COPY_IN || PQnfields(result) != columns || !PQbinaryTuples(result)) {
        PQclear(result);
        db_drain(db, "not the COPY that was meant");
        return error_set(err, ERR_BUG, "database: %s: no binary COPY of %d columns", what, columns);
    }
    PQclear(result);
    copy = mem_resize(NULL, 1, sizeof(*copy));
    *copy = (struct copy){.db = db, .columns = columns, .room = 2 * BLOCK_BYTES};
    memcpy(copy->what, what, sizeof(what));
    copy->block = mem_resize(NULL, copy->room, 1);
    put_bytes(copy, header, 19);
    copy->row_start = copy->used;
    *ret_copy = copy;
    return true;
}

bool
copy_row(struct copy *copy, struct error *err)
{
    if (copy->column != copy->columns && !failed(copy)) {
        error_set(&copy->problem, ERR_BUG, "database: %s: row of %d columns instead of %d", copy->what, copy->column, copy->columns);
    }
    copy->column = 0;
    if (failed(copy)) { /* the row is taken back, so that a caller may go on with the next */
        *err = copy->problem;
        error_clear(&copy->problem);
        copy->used = copy->row_start;
        return false;
    }
    copy->rows++;
    if (copy->used >= BLOCK_BYTES && !send_block(copy, err)) {
        return false;
    }
    copy->row_start = copy->used;
    return true;
}

uint64_t
copy_rows(const struct copy *copy)
{
    return copy->rows;
}

/* Ends the COPY and takes every result the server has left, so that the connection can be used. */
static bool
finish(struct copy *copy, struct error *err)
{
    PGresult *result = NULL;

    if (PQputCopyEnd(copy->db->conn, NULL) < 0) {
        error_set(err, ERR_DB, "database: %s: could not be ended", copy->what);
        return error_detail(err, "%s", PQerrorMessage(copy->db->conn));
    }
    do {
        PQclear(result);
        if (!db_result(copy->db, copy->what, &result, err)) {
            return false;
        }
    } while (result);
    return true;
}

bool
copy_end(struct copy *copy, const char *abort_reason, struct error *err)
{
    bool done = false;

    if (abort_reason || PQtransactionStatus(copy->db->conn) != PQTRANS_ACTIVE) {
        db_drain(copy->db, abort_reason ? abort_reason : "failed");
        done = abort_reason && PQstatus(copy->db->conn) == CONNECTION_OK;
        if (!done) {
            error_set(err, ERR_DB, "database: %s was ended before its last row", copy->what);
        }
    } else if (copy->column != 0) {
        db_drain(copy->db, "unfinished row");
        error_set(err, ERR_BUG, "database: %s: COPY ends within a row", copy->what);
    } else {
        reserve(copy, 2);
        put_bytes(copy, "\xFF\xFF", 2);
        done = send_block(copy, err) && finish(copy, err);
    }
    free(copy->block);
    free(copy);
    return done;
}
