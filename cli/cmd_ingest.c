#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "ingest/ingest.h"

enum { NAME_ROOM = 96 };

static const char *
state_of(const struct ingest_result *result)
{
    if (!result->was_run) {
        return "not begun";
    }
    if (result->error.code) {
        return result->error.code == ERR_INTERRUPTED ? "interrupted" : "failed";
    }
    return result->counts.objects > 0 && result->counts.unchanged == result->counts.objects
               ? "unchanged"
               : "done";
}

static int
name_width(const struct ingest_results *results)
{
    int width = (int)strlen("SOURCE");

    for (size_t i = 0; i < results->count; i++) {
        int size = (int)(strlen(results->result[i].kind) + 1 + strlen(results->result[i].name));

        width = size > width && size < NAME_ROOM ? size : width;
    }
    return width;
}

static void
table_print(const struct ingest_results *results)
{
    int width = name_width(results);

    printf("%-*s  %-11s %12s %12s %12s %10s %8s\n", width, "SOURCE", "STATE", "READ", "KEPT",
           "TOTALLED", "REJECTED", "SECONDS");
    for (size_t i = 0; i < results->count; i++) {
        const struct ingest_result *result = &results->result[i];
        char name[NAME_ROOM];

        snprintf(name, sizeof(name), "%s %s", result->kind, result->name);
        printf("%-*s  %-11s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %8.1f\n", width,
               name, state_of(result), result->counts.read, result->counts.kept,
               result->counts.totalled, result->counts.rejected, result->seconds);
    }
}

/* Sources with rejects: the first of them, and the next step. */
static bool
rejects_print(struct command_run *run, const struct ingest_result *result, struct error *err)
{
    const char *param[] = {arena_printf(run->arena, "%d", result->source_id)};
    struct error end = {0};
    struct rows *rows = NULL;

    if (result->counts.rejected == 0) {
        return true;
    }
    if (!rows_open(&rows, run->db, "sql/query_ingest_rejects.sql", 1, param, err)) {
        return false;
    }
    printf("\n%s %s: %" PRIu64 " rejected; nothing of them is in the figures. The first:\n",
           result->kind, result->name, result->counts.rejected);
    while (rows_next(rows, &end)) {
        print_text(arena_printf(run->arena, "  %s line %s: %s", rows_text(rows, 0), rows_text(rows, 1),
                                rows_text(rows, 2)));
        putchar('\n');
    }
    rows_close(rows);
    printf("  Correct the file and run `gpu-audit ingest %s` again. All of them stand in table "
           "audit.reject.\n",
           result->name);
    if (end.code) {
        *err = end;
    }
    return !end.code;
}

static void
json_print(const struct ingest_results *results)
{
    struct buf buf = {0};

    buf_puts(&buf, "[");
    for (size_t i = 0; i < results->count; i++) {
        const struct ingest_result *result = &results->result[i];

        buf_printf(&buf, "%s{\"kind\": ", i ? ",\n " : "");
        buf_json(&buf, result->kind);
        buf_puts(&buf, ", \"name\": ");
        buf_json(&buf, result->name);
        buf_puts(&buf, ", \"state\": ");
        buf_json(&buf, state_of(result));
        buf_printf(&buf,
                   ", \"read\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"totalled\": %" PRIu64
                   ", \"rejected\": %" PRIu64,
                   result->counts.read, result->counts.kept, result->counts.totalled,
                   result->counts.rejected);
        buf_printf(&buf, ", \"objects\": %" PRIu64 ", \"seconds\": %.3f, \"error\": ",
                   result->counts.objects, result->seconds);
        buf_json(&buf, result->error.code ? result->error.text : NULL);
        buf_puts(&buf, "}");
    }
    buf_puts(&buf, "]\n");
    fputs(buf.data, stdout);
    buf_free(&buf);
}

static void
csv_print(const struct ingest_results *results)
{
    printf("kind,name,state,read,kept,totalled,rejected,seconds\n");
    for (size_t i = 0; i < results->count; i++) {
        const struct ingest_result *result = &results->result[i];

        printf("%s,\"", result->kind);
        for (const char *at = result->name; *at; at++) {
            fputs(*at == '"' ? "\"\"" : (char[]){*at, '\0'}, stdout);
        }
        printf("\",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f\n", state_of(result),
               result->counts.read, result->counts.kept, result->counts.totalled,
               result->counts.rejected, result->seconds);
    }
}

static bool
results_print(struct command_run *run, const struct ingest_results *results, struct error *err)
{
    const char *format = run->settings->format;

    if (format && strcmp(format, "json") == 0) {
        json_print(results);
        return true;
    }
    if (format && strcmp(format, "csv") == 0) {
        csv_print(results);
        return true;
    }
    table_print(results);
    for (size_t i = 0; i < results->count; i++) {
        if (!rejects_print(run, &results->result[i], err)) {
            return false;
        }
    }
    return true;
}

static bool
ingest_command(struct command_run *run, struct error *err)
{
    const struct settings *settings = run->settings;
    const char **names = arena_alloc(run->arena, ((size_t)settings->argc + 1) * sizeof(*names));
    struct ingest_results results = {0};
    struct error shown = {0};

    for (int i = 0; i < settings->argc; i++) {
        names[i] = settings->argv[i];
    }
    bool good = ingest_run_results(run->settings, run->db, run->arena,
                                   settings->argc > 0 ? names : NULL, &results, err);

    if (results.count > 0 && !results_print(run, &results, &shown) && good) {
        *err = shown;
        return false;
    }
    return good;
}

const struct command command_ingest = {
    .name = "ingest",
    .arguments = "[SOURCE…]",
    .title = "pull bills, telemetry, issues and inventory into the database",
    .help =
        "Reads every source of the configuration, or those named (a section's name or a kind such "
        "as billing), for the\n"
        "window of the quarter. What was read before and did not change is left as it is; what "
        "changed replaces what\n"
        "was there, in one transaction. Records that cannot be used are set aside and counted.\n"
        "\n"
        "Exit status 8: some sources failed and the rest was done.",
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = ingest_command,
};
