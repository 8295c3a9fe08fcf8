/* Looks after the private PostgreSQL. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/command.h"
#include "common/cluster.h"
#include "common/log.h"

static bool
run_url(struct command_run *run, struct error *err)
{
    const char *conninfo, *password;

    if (!cluster_conninfo(run->settings, run->arena, &conninfo, err)) {
        return false;
    }
    if (run->settings->database && *run->settings->database &&
        !db_conninfo_public(run->arena, conninfo, NULL, &conninfo, &password, err)) {
        return false;
    }
    printf("%s\n", conninfo);
    return true;
}

static bool
run_start(struct command_run *run, struct error *err)
{
    return cluster_start(run->settings, err) && run_url(run, err);
}

static bool
run_stop(struct command_run *run, struct error *err)
{
    bool was_running;

    if (!cluster_stop(run->settings, &was_running, err)) {
        return false;
    }
    log_info(was_running ? "stopped" : "the private database was not running");
    return true;
}

/* Only somebody at a terminal is asked: a script that says destroy means it. */
static bool
is_meant(void)
{
    char answer[16];

    if (!isatty(STDIN_FILENO)) {
        return true;
    }
    fprintf(stderr, "Remove the private database with every audit in it? [y/N] ");
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool
run_destroy(struct command_run *run, struct error *err)
{
    bool existed;

    if (!is_meant()) {
        log_note("nothing was removed");
        return true;
    }
    if (!cluster_destroy(run->settings, &existed, err)) {
        return false;
    }
    log_note(existed ? "the private database was removed" : "there was no private database");
    return true;
}

static bool
run_dump(struct command_run *run, struct error *err)
{
    const char *const arguments[] = {"--no-owner", "--no-privileges", "--schema=audit", NULL};
    struct db *db;

    if (!cluster_open(run->settings, &db, "gpu-audit db", err)) {
        return false;
    }
    db_close(db);
    return client_run(run, "pg_dump", arguments, NULL, err);
}

static const struct {
    const char *name;
    bool (*run)(struct command_run *run, struct error *err);
} actions[] = {
    {"url", run_url}, {"start", run_start}, {"stop", run_stop}, {"destroy", run_destroy}, {"dump", run_dump},
};

static bool
run_db(struct command_run *run, struct error *err)
{
    const struct settings *settings = run->settings;

    for (size_t i = 0; settings->argc == 1 && i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(settings->argv[0], actions[i].name) == 0) {
            return actions[i].run(run, err);
        }
    }
    if (settings->argc == 1) {
        error_set(err, ERR_USAGE, "db has no action \"%s\"", settings->argv[0]);
    } else {
        error_set(err, ERR_USAGE, "db takes one action");
    }
    return error_hint(err, "The actions are url, start, stop, destroy and dump.");
}

const struct command command_db = {
    .name = "db",
    .arguments = "url|start|stop|destroy|dump",
    .title = "look after the private PostgreSQL",
    .help = "Without a database of your own (--database) gpu-audit keeps a private PostgreSQL under\n"
            "$XDG_DATA_HOME/gpu-audit. It runs while a command needs it.\n"
            "\n"
            "  url      prints the connection string for psql and other programs\n"
            "  start    starts it and leaves it running\n"
            "  stop     stops it\n"
            "  destroy  removes it with everything in it\n"
            "  dump     writes schema audit as SQL to standard output, for psql to restore\n",
    .needs = NEEDS_NOTHING,
    .run = run_db,
};
