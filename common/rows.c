#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/asset.h"
#include "common/db_private.h"

/* rows_open holds the one result; rows_stream holds the row it is at, and the server the rest. */
struct rows {
    struct db *db;
    const char *asset;
    PGresult *result;
    int at;        /* row of result that rows_text reads; -1 before the first */
    bool is_stream;
    bool is_done;  /* the stream has ended or failed: nothing left to drain */
};

static struct rows *
rows_new(struct db *db, const char *asset, PGresult *result, bool is_stream)
{
    struct rows *rows = mem_resize(NULL, 1, sizeof(*rows));

    *rows = (struct rows){.db = db, .asset = asset, .result = result, .at = -1, .is_stream = is_stream};
    return rows;
}

bool
rows_open(struct rows **ret_rows, struct db *db, const char *asset, int nparam, const char *const *param,
          struct error *err)
{
    PGresult *result = NULL, *last = NULL;

    if (!db_send(db, asset, asset_text(asset), nparam, param, err)) {
        return false;
    }
    do {
        if (!db_result(db, asset, &result, err)) {
            PQclear(last);
            return false;
        }
        if (result) {
            PQclear(last);
            last = result;
        }
    } while (result);
    *ret_rows = rows_new(db, asset, last, false);
    return true;
}

bool
rows_stream(struct rows **ret_rows, struct db *db, const char *asset, int nparam, const char *const *param,
            struct error *err)
{
    PGresult *result = NULL;

    if (!db_send(db, asset, asset_text(asset), nparam, param, err)) {
        return false;
    }
    if (!PQsetSingleRowMode(db->conn)) {
        db_drain(db, "no single-row mode");
        return error_set(err, ERR_BUG, "database: %s: could not ask for single rows", asset);
    }
    if (!db_result(db, asset, &result, err)) {
        return false;
    }
    *ret_rows = rows_new(db, asset, result, true);
    return true;
}

/* Steps over the empty result that closes a statement, so that several statements stream in turn. */
static bool
stream_next(struct rows *rows, struct error *err)
{
    while (!rows->is_done) {
        PGresult *next = NULL;

        if (rows->at < 0 && PQntuples(rows->result) == 1) {
            rows->at = 0;
            return true;
        }
        if (!db_result(rows->db, rows->asset, &next, err)) {
            rows->is_done = true;
            rows->at = -1;
            return false;
        }
        rows->at = -1;
        if (next) {
            PQclear(rows->result);
            rows->result = next;
        } else {
            rows->is_done = true;
        }
    }
    error_clear(err);
    return false;
}

bool
rows_next(struct rows *rows, struct error *err)
{
    if (rows->is_stream) {
        return stream_next(rows, err);
    }
    if (rows->at + 1 < PQntuples(rows->result)) {
        rows->at++;
        return true;
    }
    error_clear(err);
    return false;
}

int
rows_count(const struct rows *rows)
{
    return PQntuples(rows->result);
}

int
rows_columns(const struct rows *rows)
{
    return PQnfields(rows->result);
}

const char *
rows_name(const struct rows *rows, int column)
{
    return PQfname(rows->result, column);
}

int
rows_column(const struct rows *rows, const char *name)
{
    for (int column = 0; column < PQnfields(rows->result); column++) {
        if (strcmp(PQfname(rows->result, column), name) == 0) {
            return column;
        }
    }
    return -1;
}

const char *
rows_text(const struct rows *rows, int column)
{
    if (rows->at < 0 || column < 0 || column >= PQnfields(rows->result) || PQgetisnull(rows->result, rows->at, column)) {
        return NULL;
    }
    return PQgetvalue(rows->result, rows->at, column);
}

void
rows_close(struct rows *rows)
{
    if (!rows) {
        return;
    }
    PQclear(rows->result);
    if (rows->is_stream && !rows->is_done) {
        db_drain(rows->db, "the rest is not wanted");
    }
    free(rows);
}
