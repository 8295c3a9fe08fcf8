#include <config.h>

#include "reports/facts.h"

#include <string.h>

static bool
ends_with(const char *name, const char *end)
{
    size_t size = strlen(name), tail = strlen(end);
    return size >= tail && strcmp(name + size - tail, end) == 0;
}

static enum value_kind
kind_of(const char *name)
{
    if (ends_with(name, "_cost") || ends_with(name, "_saving"))
        return VALUE_ROUND_MONEY;
    if (ends_with(name, "_rate"))
        return VALUE_RATE;
    if (ends_with(name, "_hours") || ends_with(name, "_count"))
        return VALUE_COUNT;
    return ends_with(name, "_share") ? VALUE_SHARE : VALUE_TEXT;
}

static void
take_row(struct facts *facts, const struct rows *rows, struct arena *arena)
{
    facts->count = rows_columns(rows);
    facts->fact = arena_alloc(arena, sizeof *facts->fact * (size_t)facts->count);
    for (int i = 0; i < facts->count; i++) {
        struct fact *fact = &facts->fact[i];
        fact->name = arena_strdup(arena, rows_name(rows, i));
        fact->value = arena_strdup(arena, rows_text(rows, i));
        fact->kind = kind_of(fact->name);
    }
}

bool
facts_read(struct facts *ret_facts, struct db *db, struct arena *arena, const char *audit_id,
           struct error *err)
{
    struct rows *rows = NULL;
    if (!rows_open(&rows, db, "sql/query_report_facts.sql", 1, &audit_id, err))
        return false;
    bool found = rows_next(rows, err);
    if (found)
        take_row(ret_facts, rows, arena);
    rows_close(rows);
    if (!found && err->code == ERR_NONE)
        error_set(err, ERR_REPORT, "there is no audit %s in the database", audit_id);
    return found;
}

static const struct fact *
find(const struct facts *facts, const char *name)
{
    for (int i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].name, name) == 0)
            return &facts->fact[i];
    return NULL;
}

const char *
facts_value(const struct facts *facts, const char *name)
{
    const struct fact *fact = find(facts, name);
    return fact == NULL ? NULL : fact->value;
}

bool
facts_is(const struct facts *facts, const char *name)
{
    const char *value = facts_value(facts, name);
    return value != NULL && value[0] == 't';
}

const char *
facts_text(const struct facts *facts, struct arena *arena, const char *name)
{
    const struct fact *fact = find(facts, name);
    return value_text(arena, fact == NULL ? VALUE_TEXT : fact->kind,
                      fact == NULL ? NULL : fact->value);
}
