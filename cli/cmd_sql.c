/* psql on the audit database, and the questions that come with the program. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/command.h"
#include "common/asset.h"
#include "common/cluster.h"
#include "common/migrate.h"
#include "common/nearest.h"
#include "common/settings.h"

static const char question_prefix[] = "sql/question_";
static const char reader_options[] = "-c default_transaction_read_only=on -c search_path=audit -c timezone=UTC";

static bool
is_question(const struct asset *asset)
{
    return strncmp(asset->name, question_prefix, sizeof(question_prefix) - 1) == 0;
}

/* "idle_by_team" of "sql/question_idle_by_team.sql", in arena. */
static char *
question_name(struct arena *arena, const struct asset *asset)
{
    const char *name = asset->name + sizeof(question_prefix) - 1;

    return arena_strndup(arena, name, strcspn(name, "."));
}

/* The first line is a comment: what it answers. */
static const char *
question_title(struct arena *arena, const struct asset *asset)
{
    const char *title = asset->text + strspn(asset->text, "- ");

    return arena_strndup(arena, title, strcspn(title, "\n"));
}

static bool
list_questions(struct command_run *run)
{
    for (const struct asset *asset = assets; asset->name; asset++) {
        if (is_question(asset)) {
            printf("%-18s %s\n", question_name(run->arena, asset), question_title(run->arena, asset));
        }
    }
    return true;
}

static const struct asset *
find_question(struct command_run *run, const char *name, struct error *err)
{
    struct nearest nearest = {.word = name};

    for (const struct asset *asset = assets; asset->name; asset++) {
        if (!is_question(asset)) {
            continue;
        }
        if (strcmp(question_name(run->arena, asset), name) == 0) {
            return asset;
        }
        nearest_offer(&nearest, question_name(run->arena, asset));
    }
    error_set(err, ERR_USAGE, "there is no question \"%s\"", name);
    if (nearest.best) {
        error_hint(err, "Did you mean %s? gpu-audit sql --list names them all.", nearest.best);
    } else {
        error_hint(err, "gpu-audit sql --list names them; a statement of your own is quoted as one argument.");
    }
    return NULL;
}

/* JSON is made by the server, exact as its numerics are: one array of objects. */
static const char *
as_json(struct arena *arena, const char *sql)
{
    size_t size = strlen(sql);

    while (size > 0 && strchr("; \n\t", sql[size - 1])) {
        size--;
    }
    return arena_printf(arena, "SELECT coalesce(json_agg(q), '[]') FROM (\n%.*s\n) q", (int)size, sql);
}

static bool
answer(struct command_run *run, const char *sql, const char *title, struct error *err)
{
    const char *format = run->settings->format ? run->settings->format : "table";
    bool is_json = strcmp(format, "json") == 0, is_csv = strcmp(format, "csv") == 0;
    const char *const arguments[] = {"-X", "-q", "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-c",
                                     is_json ? as_json(run->arena, sql) : sql, is_csv ? "--csv" : is_json ? "-At" : "-Pnull=-", NULL};

    if (!is_json && !is_csv && title) {
        printf("%s\n\n", title);
    }
    return client_run(run, "psql", arguments, reader_options, err);
}

/* psql has a connection of its own; this one brings the schema up to this program. */
static bool
open_database(struct command_run *run, struct error *err)
{
    struct db *db;
    bool is_current;

    if (!cluster_open(run->settings, &db, "gpu-audit sql", err)) {
        return false;
    }
    is_current = migrate_run(db, err);
    db_close(db);
    return is_current;
}

static bool
run_sql(struct command_run *run, struct error *err)
{
    const struct settings *settings = run->settings;
    const char *const interactive[] = {NULL};
    const struct asset *question = NULL;
    bool is_own;

    if (settings_option(settings, "list")) {
        return list_questions(run);
    }
    if (settings->argc > 1) {
        error_set(err, ERR_USAGE, "sql takes one question");
        return error_hint(err, "Quote a statement of your own, so that it is one argument.");
    }
    is_own = settings->argc == 1 && strpbrk(settings->argv[0], " \n\t;");
    if (settings->argc == 1 && !is_own && !(question = find_question(run, settings->argv[0], err))) {
        return false;
    }
    if (!open_database(run, err)) {
        return false;
    }
    if (settings->argc == 0) {
        return client_run(run, "psql", interactive, reader_options, err);
    }
    return is_own ? answer(run, settings->argv[0], NULL, err)
                  : answer(run, question->text, question_title(run->arena, question), err);
}

static const char *const options[] = {"list", NULL};

const struct command command_sql = {
    .name = "sql",
    .arguments = "[QUESTION]",
    .title = "ask the audit database: psql as a reader, or a ready-made question",
    .help = "Without an argument: psql on the audit database, for reading only; what stands on standard\n"
            "input is run. With the name of a question (--list names them): its answer on the latest\n"
            "audit, as --format table, csv or json. With a statement, quoted: its answer.\n"
            "\n"
            "Every table and column has a comment: \\d+ audit.audit_figure shows them.\n",
    .options = options,
    .needs = NEEDS_NOTHING, /* --list needs no database; the rest opens it itself */
    .run = run_sql,
};
