#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/asset.h"
#include "common/migrate.h"
#include "common/sha256.h"

/* In audit.migration version 0 stands for all view files together. */
enum { VIEWS_VERSION = 0, VERSIONS_MOST = 1000 };

static const char migration_lock_sql[] = "SELECT pg_advisory_xact_lock(hashtextextended('gpu-audit migration', 0))";

/* Hashes that audit.migration holds, by version; "" where it has none. */
struct applied {
    char sha256[VERSIONS_MOST][65];
    int newest;
};

/* NNNN of "sql/NNNN_name.sql"; 0: no migration. */
static int
version_of(const struct asset *asset)
{
    char *end;
    long version;

    if (strncmp(asset->name, "sql/", 4) != 0 || asset->name[4] < '0' || asset->name[4] > '9') {
        return 0;
    }
    version = strtol(asset->name + 4, &end, 10);
    return *end == '_' && version > 0 && version < VERSIONS_MOST ? (int)version : 0;
}

static bool
is_view(const struct asset *asset)
{
    return strncmp(asset->name, "sql/view_", 9) == 0;
}

static void
hash_of(const struct asset *asset, char ret_hex[65])
{
    struct sha256 hash;

    sha256_begin(&hash);
    sha256_add(&hash, asset->text, asset->size);
    sha256_hex(&hash, ret_hex);
}

static void
hash_of_views(char ret_hex[65])
{
    struct sha256 hash;

    sha256_begin(&hash);
    for (const struct asset *asset = assets; asset->name; asset++) {
        if (is_view(asset)) {
            sha256_add(&hash, asset->name, strlen(asset->name) + 1);
            sha256_add(&hash, asset->text, asset->size);
        }
    }
    sha256_hex(&hash, ret_hex);
}

/* False with sqlstate 42P01 when there is no audit.migration: a database that is still empty. */
static bool
read_applied(struct db *db, struct applied *ret_applied, struct error *err)
{
    struct rows *rows;

    memset(ret_applied, 0, sizeof(*ret_applied));
    if (!rows_open(&rows, db, "sql/query_migrations.sql", 0, NULL, err)) {
        return false;
    }
    while (rows_next(rows, err)) {
        long version = strtol(rows_text(rows, 0), NULL, 10);

        if (version > ret_applied->newest) {
            ret_applied->newest = (int)version;
        }
        if (version >= 0 && version < VERSIONS_MOST) {
            snprintf(ret_applied->sha256[version], sizeof(ret_applied->sha256[0]), "%s", rows_text(rows, 1));
        }
    }
    rows_close(rows);
    return err->code == ERR_NONE;
}

/* Compares with what this program holds; *ret_is_current when nothing is to be done. */
static bool
compare(const struct applied *applied, bool *ret_is_current, struct error *err)
{
    char hex[65];
    int newest = 0;

    hash_of_views(hex);
    *ret_is_current = strcmp(applied->sha256[VIEWS_VERSION], hex) == 0;
    for (const struct asset *asset = assets; asset->name; asset++) {
        int version = version_of(asset);

        if (version == 0) {
            continue;
        }
        newest = version > newest ? version : newest;
        hash_of(asset, hex);
        if (!applied->sha256[version][0]) {
            *ret_is_current = false;
        } else if (strcmp(applied->sha256[version], hex) != 0) {
            error_set(err, ERR_DB, "migration %s is not the one that was applied to this database", asset->name);
            return error_hint(err, "A migration is never edited once it was released: add a new one. A database of trials can go with "
                                   "gpu-audit db destroy.");
        }
    }
    if (applied->newest > newest) {
        error_set(err, ERR_DB, "the database is newer than this program: it has migration %d, the program knows %d",
                  applied->newest, newest);
        return error_hint(err, "Use the gpu-audit that migrated it, or a newer one.");
    }
    return true;
}

static bool
record(struct db *db, int version, const char *name, const char *sha256, struct error *err)
{
    char number[16];
    const char *const param[] = {number, name, sha256};

    snprintf(number, sizeof(number), "%d", version);
    return db_run(db, "sql/migration_record.sql", 3, param, err);
}

static bool
apply_migrations(struct db *db, const struct applied *applied, struct error *err)
{
    for (const struct asset *asset = assets; asset->name; asset++) {
        int version = version_of(asset);
        char hex[65];

        if (version == 0 || applied->sha256[version][0]) {
            continue;
        }
        hash_of(asset, hex);
        if (!db_run(db, asset->name, 0, NULL, err) || !record(db, version, asset->name + 4, hex, err)) {
            return false;
        }
    }
    return true;
}

/* All or none: views build on each other, and one that is new may change the columns of the rest. */
static bool
replace_views(struct db *db, const struct applied *applied, bool has_migrated, struct error *err)
{
    char hex[65];

    hash_of_views(hex);
    if (!has_migrated && strcmp(applied->sha256[VIEWS_VERSION], hex) == 0) {
        return true;
    }
    if (!db_run(db, "sql/migration_drop_views.sql", 0, NULL, err)) {
        return false;
    }
    for (const struct asset *asset = assets; asset->name; asset++) {
        if (is_view(asset) && !db_run(db, asset->name, 0, NULL, err)) {
            return false;
        }
    }
    return record(db, VIEWS_VERSION, "views", hex, err);
}

static bool
has_new(const struct applied *applied)
{
    for (const struct asset *asset = assets; asset->name; asset++) {
        if (version_of(asset) && !applied->sha256[version_of(asset)][0]) {
            return true;
        }
    }
    return false;
}

/* Views may stand in the way of a migration that changes their tables: they go first. */
static bool
migrate_locked(struct db *db, struct applied *applied, struct error *err)
{
    bool is_current, is_new;

    if (!db_exec(db, migration_lock_sql, err) || !db_run(db, "sql/migration_begin.sql", 0, NULL, err) ||
        !read_applied(db, applied, err) || !compare(applied, &is_current, err)) {
        return false;
    }
    is_new = has_new(applied);
    if (is_new && !db_run(db, "sql/migration_drop_views.sql", 0, NULL, err)) {
        return false;
    }
    return apply_migrations(db, applied, err) && replace_views(db, applied, is_new, err);
}

/* Where there was no audit.migration, objects of our names are somebody else's. */
static bool
name_conflict(struct error *err)
{
    static const char *const states[] = {"42P07", "42710", "42703"}; /* table, object, missing column */

    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        if (strcmp(err->sqlstate, states[i]) == 0) {
            error_hint(err, "The database has a schema audit that gpu-audit did not make. Nothing was changed; "
                            "name a database of its own with --database.");
        }
    }
    return false;
}

static bool
migrate(struct db *db, struct applied *applied, struct error *err)
{
    bool is_current = false, is_begun = read_applied(db, applied, err);

    if (is_begun) {
        if (!compare(applied, &is_current, err)) {
            return false;
        }
        if (is_current) {
            return true;
        }
    } else if (strcmp(err->sqlstate, "42P01") != 0 && strcmp(err->sqlstate, "3F000") != 0) {
        return false;
    }
    error_clear(err);
    if (!db_begin(db, err)) {
        return false;
    }
    if (!migrate_locked(db, applied, err) || !db_commit(db, err)) {
        db_rollback(db);
        return is_begun ? false : name_conflict(err);
    }
    return true;
}

bool
migrate_run(struct db *db, struct error *err)
{
    struct arena arena = {0};
    bool done = migrate(db, arena_alloc(&arena, sizeof(struct applied)), err);

    arena_free(&arena);
    return done;
}
