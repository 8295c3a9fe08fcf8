/*
 * Drives common/db.h for tests/integration/02*.t: db_probe URL MODE. The tests look at the outcome
 * with psql. Exit status is the error's code; the error goes to stderr.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/db.h"
#include "common/error.h"

static bool
begin_copy(struct copy **ret_copy, struct db *db, const char *table, const char *sql, int columns, struct error *err)
{
    return db_begin(db, err) && db_exec(db, table, err) && copy_begin(ret_copy, db, sql, columns, err);
}

static bool
end_copy(struct db *db, struct copy *copy, struct error *err)
{
    return copy_end(copy, NULL, err) && db_commit(db, err);
}

/* One number a line from standard input, as text and as numeric. A refused one is counted, not kept. */
static bool
probe_numeric(struct db *db, struct error *err)
{
    struct copy *copy;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    if (!begin_copy(&copy, db, "CREATE TABLE probe_numeric (number_text text, number numeric)",
                    "COPY probe_numeric (number_text, number) FROM STDIN (FORMAT binary)", 2, err)) {
        return false;
    }
    while ((size = getline(&line, &room, stdin)) > 1) {
        copy_text(copy, line, (size_t)size - 1);
        copy_numeric(copy, line, (size_t)size - 1);
        if (!copy_row(copy, err)) {
            printf("refused: %s\n", err->text);
        }
    }
    free(line);
    return end_copy(db, copy, err);
}

/* Every byte value alone, between letters, in pairs, and at every place of eight letters. */
static bool
probe_text(struct db *db, struct error *err)
{
    struct copy *copy;
    char text[16];

    if (!begin_copy(&copy, db, "CREATE TABLE probe_text (kind int2, byte int2, other int2, value text)",
                    "COPY probe_text (kind, byte, other, value) FROM STDIN (FORMAT binary)", 4, err)) {
        return false;
    }
    for (int byte = 0; byte < 256; byte++) {
        for (int other = 0; other < 256; other++) {
            text[0] = (char)byte;
            text[1] = (char)other;
            copy_int2(copy, 2);
            copy_int2(copy, (int16_t)byte);
            copy_int2(copy, (int16_t)other);
            copy_text(copy, text, 2);
            if (!copy_row(copy, err)) {
                return false;
            }
        }
        for (int place = 0; place < 10; place++) {
            memcpy(text, "abcdefghij", 10);
            text[place] = (char)byte;
            copy_int2(copy, 1);
            copy_int2(copy, (int16_t)byte);
            copy_int2(copy, (int16_t)place);
            copy_text(copy, text, 10);
            if (!copy_row(copy, err)) {
                return false;
            }
        }
    }
    return end_copy(db, copy, err);
}

static bool
probe_types(struct db *db, struct error *err)
{
    struct copy *copy;

    if (!begin_copy(&copy, db, "CREATE TABLE probe_types (a boolean, b int2, c int4, d int8, e float4, f float8, g timestamptz,"
                               " h date, i date, j text, k text, l timestamptz)",
                    "COPY probe_types FROM STDIN (FORMAT binary)", 12, err)) {
        return false;
    }
    copy_bool(copy, true);
    copy_int2(copy, INT16_MIN);
    copy_int4(copy, INT32_MAX);
    copy_int8(copy, INT64_MIN);
    copy_float4(copy, 0.5f);
    copy_float8(copy, -1e300);
    copy_time(copy, 1782864000);
    copy_date(copy, 1782864000);
    copy_date(copy, -1);
    copy_cstring(copy, NULL);
    copy_cstring(copy, "");
    copy_time(copy, 946684799);
    return copy_row(copy, err) && end_copy(db, copy, err);
}

static bool
probe_json(struct db *db, struct error *err)
{
    static const char *const values[] = {
        "{\"a\": 0.30000000000000000001}", "{\"nul\": \"x\\u0000y\"}", "\"\\ud800\"", "\"\\udc00 \\ud83d\\ude00\"",
        "\"\\\\u0000\"", "\"\\ud83dx\"", "\"\xff\"", "\"\\\"\\u0041\"", "\"\\ud83d\\ud83d\\ude00\"",
    };
    struct copy *copy;

    if (!begin_copy(&copy, db, "CREATE TABLE probe_json (no int4, value jsonb)", "COPY probe_json FROM STDIN (FORMAT binary)", 2, err)) {
        return false;
    }
    for (int i = 0; i < (int)(sizeof(values) / sizeof(values[0])); i++) {
        copy_int4(copy, i);
        copy_jsonb(copy, values[i], strlen(values[i]));
        if (!copy_row(copy, err)) {
            return false;
        }
    }
    return end_copy(db, copy, err);
}

/* Each way in which a COPY may fail, and that the session can be used after it. */
static bool
probe_failures(struct db *db, struct error *err)
{
    struct copy *copy;

    if (!begin_copy(&copy, db, "CREATE TABLE probe_failures (a int4, b text)", "COPY probe_failures FROM STDIN (FORMAT binary)", 2, err)) {
        return false;
    }
    copy_int4(copy, 1);
    printf("short row: %d\n", copy_row(copy, err));
    copy_int4(copy, 2);
    copy_cstring(copy, "kept");
    printf("good row: %d\n", copy_row(copy, err));
    printf("aborted: %d\n", copy_end(copy, "for a test", err));
    printf("commit: %d %s\n", db_commit(db, err), err->text);
    printf("wrong columns: %d\n", copy_begin(&copy, db, "COPY pg_class (oid) FROM STDIN", 2, err));
    printf("no table: %d %s\n", copy_begin(&copy, db, "COPY nowhere FROM STDIN (FORMAT binary)", 2, err), err->sqlstate);
    if (!begin_copy(&copy, db, "CREATE TABLE probe_failures (a int4, b text)", "COPY probe_failures FROM STDIN (FORMAT binary)", 2, err)) {
        return false;
    }
    copy_int8(copy, 1); /* eight bytes for an int4: the server says no at the end */
    copy_cstring(copy, "x");
    printf("row: %d\n", copy_row(copy, err));
    printf("refused: %d %s\n", copy_end(copy, NULL, err), err->sqlstate);
    db_rollback(db);
    db_rollback(db);
    printf("two statements: %d\n", db_exec(db, "CREATE TABLE probe_after (a int); INSERT INTO probe_after VALUES (1)", err));
    printf("second fails: %d %s\n", db_exec(db, "SELECT 1; SELECT 1/0; SELECT 2", err), err->sqlstate);
    return db_exec(db, "INSERT INTO probe_after VALUES (2)", err);
}

static bool
probe_sleep(struct db *db, struct error *err)
{
    interrupt_install();
    printf("sleeping\n");
    fflush(stdout);
    if (!db_begin(db, err) || !db_exec(db, "CREATE TABLE probe_sleep (a int)", err)) {
        return false;
    }
    return db_exec(db, "SELECT pg_sleep(60)", err) && db_commit(db, err);
}

/* Rows without end: a signal must end it, and the table must be gone. */
static bool
probe_endless(struct db *db, struct error *err)
{
    struct copy *copy;
    bool going = true;

    interrupt_install();
    if (!begin_copy(&copy, db, "CREATE TABLE probe_endless (a int8)", "COPY probe_endless FROM STDIN (FORMAT binary)", 1, err)) {
        return false;
    }
    printf("copying\n");
    fflush(stdout);
    for (int64_t i = 0; going; i++) {
        copy_int8(copy, i);
        going = copy_row(copy, err) && interrupt_check(err);
    }
    if (!copy_end(copy, "interrupted", err)) {
        return false;
    }
    db_rollback(db);
    return false;
}

static bool
probe_speed(struct db *db, struct error *err)
{
    static const char *const costs[] = {"0.000277777777777777", "12.2400000000", "1", "98.3200", "-3.06e0"};
    struct timespec from, to;
    struct copy *copy;

    if (!begin_copy(&copy, db, "CREATE UNLOGGED TABLE probe_speed (item_no int4, from_time timestamptz, a numeric, b numeric, c numeric, d numeric)",
                    "COPY probe_speed FROM STDIN (FORMAT binary)", 6, err)) {
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 1000000; i++) {
        copy_int4(copy, i);
        copy_time(copy, 1782864000 + i);
        for (int column = 0; column < 4; column++) {
            const char *cost = costs[(i + column) % 5];

            copy_numeric(copy, cost, strlen(cost));
        }
        if (!copy_row(copy, err)) {
            return false;
        }
    }
    if (!end_copy(db, copy, err)) {
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.3f s, of that %.3f s here\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
           (double)clock() / CLOCKS_PER_SEC);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct db *db, struct error *err);
} probes[] = {
    {"numeric", probe_numeric}, {"text", probe_text},   {"types", probe_types},     {"json", probe_json},
    {"failures", probe_failures}, {"sleep", probe_sleep}, {"endless", probe_endless}, {"speed", probe_speed},
};

int
main(int argc, char **argv)
{
    struct error err = {0};
    struct db *db = NULL;
    bool done = false;

    for (size_t i = 0; argc == 3 && i < sizeof(probes) / sizeof(probes[0]); i++) {
        if (strcmp(argv[2], probes[i].name) == 0) {
            done = db_open(&db, argv[1], "db_probe", &err) && db_exec(db, "SET search_path TO public", &err) &&
                   probes[i].run(db, &err);
        }
    }
    db_close(db);
    if (!done) {
        fprintf(stderr, "%s|%s|%s|%s\n", err.text, err.detail, err.hint, err.sqlstate);
    }
    return done ? 0 : err.code ? (int)err.code : ERR_USAGE;
}
