/*
 * The program: reads the command line, finds the command, gives it what it needs, prints its error.
 * Nobody else exits, and nobody else logs an error.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/cluster.h"
#include "common/log.h"
#include "common/migrate.h"
#include "common/nearest.h"
#include "common/option.h"
#include "common/parquet.h"
#include "ingest/source.h"

/* A file opened later must never take the place of standard output, or messages go into it. */
static bool
open_standard_files(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

static const struct command *
command_find(const char *name, struct error *err)
{
    const struct command *const *command;
    struct nearest nearest = {.word = name};

    for (command = commands; *command; command++) {
        if (strcmp((*command)->name, name) == 0)
            return *command;
        nearest_offer(&nearest, (*command)->name);
    }
    error_set(err, ERR_USAGE, "there is no command \"%s\"", name);
    if (nearest.best)
        error_hint(err, "Did you mean gpu-audit %s?", nearest.best);
    else
        error_hint(err, "gpu-audit --help lists the commands.");
    return NULL;
}

static void
print_help(void)
{
    const struct command *const *command;
    struct buf buf = {0};

    buf_puts(&buf,
             "Usage: gpu-audit COMMAND [OPTION]...\n\n"
             "Audits a quarter of GPU bills and telemetry against the cost model.\n\nCommands:\n");
    for (command = commands; *command; command++)
        buf_printf(&buf, "  %-10s %s\n", (*command)->name, (*command)->title);
    buf_puts(&buf, "\nOptions of every command:\n");
    option_help(&buf, NULL);
    buf_puts(&buf,
             "\nOptions may also stand in the environment, as GPU_AUDIT_QUARTER and the like,\n"
             "and in the configuration file. gpu-audit COMMAND --help tells more.\n\n"
             "Exit status: 0 done, 1 findings, 2 usage, 3 configuration, 4 input, 5 database,\n"
             "6 network, 7 report, 8 some sources failed, 70 a bug, 71 out of memory,\n"
             "130 interrupted.\n");
    fputs(buf.data, stdout);
    buf_free(&buf);
}

/* Paragraphs of a command's help at the width of a terminal, however their lines were broken in
 * the source; a line that begins with a blank keeps its form. */
static void
add_paragraphs(struct buf *buf, const char *text)
{
    enum { WIDTH = 80 };
    size_t column = 0;

    while (*text) {
        size_t size = strcspn(text, " \n");

        if (column && size && column + 1 + size > WIDTH) {
            buf_putc(buf, '\n');
            column = 0;
        }
        if (column && size)
            buf_putc(buf, ' ');
        buf_add(buf, text, size);
        column += size + (column && size);
        text += size;
        if (text[0] == '\n' && (text[1] == '\n' || text[1] == ' ' || !text[1])) {
            size = strspn(text, "\n ");
            buf_add(buf, text, size);
            column = 0;
            text += size;
        } else if (*text) {
            text++;
        }
    }
}

static void
print_command_help(const struct command *command)
{
    bool has_arguments = command->arguments && command->arguments[0];
    struct buf buf = {0};

    buf_printf(&buf, "Usage: gpu-audit %s [OPTION]...%s%s\n\n", command->name,
               has_arguments ? " " : "", has_arguments ? command->arguments : "");
    add_paragraphs(&buf, command->help);
    if (buf.data[buf.size - 1] != '\n')
        buf_putc(&buf, '\n');
    if (command->options && command->options[0]) {
        buf_puts(&buf, "\nOptions:\n");
        option_help(&buf, command->options);
    }
    buf_puts(&buf, "\nOptions of every command:\n");
    option_help(&buf, NULL);
    fputs(buf.data, stdout);
    buf_free(&buf);
}

/* Each source's section against what its format takes, before anything is begun. */
static bool
check_sources(const struct settings *settings, struct error *err)
{
    const struct section *section;

    for (section = settings->sections; section; section = section->next) {
        const struct source *source;

        if (!settings_is_source(section))
            continue;
        source = source_find(settings, section, err);
        if (!source || !settings_check_source(settings, section, source->keys, err))
            return false;
    }
    return true;
}

static bool
load_settings(struct settings *settings, const struct command *command, struct error *err)
{
    if (!settings_load(settings, !(command->needs & NEEDS_NO_FILE), err))
        return false;
    parquet_use(section_path(settings, settings_section(settings, "audit"), "parquet-library"));
    if (settings->file)
        log_info("configuration: %s", settings->file);
    if (!(command->needs & NEEDS_CONFIG))
        return true;
    if (!settings->file) {
        error_set(err, ERR_CONFIG, "there is no configuration file");
        return error_hint(err, "Write one with gpu-audit init, or name one with --config FILE.");
    }
    return check_sources(settings, err);
}

static bool
run_command(const struct command *command, struct settings *settings, struct error *err)
{
    struct command_run run = {.settings = settings, .arena = settings->arena};
    bool is_done = true;

    if (command->needs & NEEDS_DATABASE) {
        const char *application = arena_printf(settings->arena, "gpu-audit %s", command->name);

        is_done = cluster_open(settings, &run.db, application, err) && migrate_run(run.db, err);
    }
    is_done = is_done && command->run(&run, err);
    db_close(run.db);
    cluster_close();
    return is_done;
}

/* A word that a command does not take is a mistake about what it will do: "figures 2026Q2". */
static bool
check_arguments(const struct command *command, const struct settings *settings, struct error *err)
{
    if (settings->argc == 0 || command->arguments[0])
        return true;
    error_set(err, ERR_USAGE, "%s takes no \"%s\"", command->name, settings->argv[0]);
    return error_hint(err, "gpu-audit %s --help lists what it takes.", command->name);
}

/* Says what is wrong, or does what was asked; the command line is read already. */
static bool
dispatch(struct settings *settings, struct error *err)
{
    const struct command *command;

    if (settings_option(settings, "version")) {
        printf("gpu-audit %s\n", PACKAGE_VERSION);
        return true;
    }
    if (!settings->command && settings_option(settings, "help")) {
        print_help();
        return true;
    }
    if (!settings->command) {
        error_set(err, ERR_USAGE, "no command is given");
        return error_hint(err, "gpu-audit --help lists the commands.");
    }
    command = command_find(settings->command, err);
    if (!command)
        return false;
    if (settings_option(settings, "help")) {
        print_command_help(command);
        return true;
    }
    return settings_permit(settings, command->options, err) &&
           check_arguments(command, settings, err) && load_settings(settings, command, err) && run_command(command, settings, err);
}

/* A full disk or a closed pipe behind standard output is an error like any other; an earlier one
 * counts more. */
static bool
flush_output(bool is_done, struct error *err)
{
    bool is_flushed = fflush(stdout) == 0;
    const char *reason = is_flushed ? "an earlier write failed" : strerror(errno);

    if ((is_flushed && !ferror(stdout)) || !is_done)
        return is_done;
    return error_set(err, ERR_REPORT, "could not write to standard output: %s", reason);
}

/* Whoever lists processes must not read a password off a connection string. What is needed of the
 * command line was copied before. */
static void
hide_passwords(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++)
        if (strstr(argv[i], "password=") || (strstr(argv[i], "://") && strchr(argv[i], '@')))
            memset(argv[i], '*', strlen(argv[i]));
}

int
main(int argc, char **argv)
{
    struct arena arena = {0};
    struct settings settings;
    struct error err = {0};
    bool is_done;

    if (parquet_child_wanted(argc, argv))
        return parquet_child_run(argv);
    if (!open_standard_files())
        return ERR_BUG;
    interrupt_install();
    is_done = settings_parse(&settings, &arena, argc, argv, &err);
    hide_passwords(argc, argv);
    log_open((enum log_level)settings.verbosity, settings.log_json);
    is_done = flush_output(is_done && dispatch(&settings, &err), &err);
    if (!is_done && err.code == ERR_NONE)
        error_set(&err, ERR_BUG, "a step failed without saying why");
    if (!is_done)
        log_error(&err);
    log_close();
    arena_free(&arena);
    return is_done ? 0 : (int)err.code;
}
