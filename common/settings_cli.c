/* The command line. */
#include <config.h>

#include <string.h>

#include "common/nearest.h"
#include "common/settings_private.h"

struct line { /* the command line as it is read */
    int argc, at;
    char *const *argv;
};

static void
remember(struct settings *settings, const struct option *option, const char *value)
{
    struct given *given = arena_alloc(settings->arena, sizeof(*given));

    given->option = option;
    given->value = value;
    given->origin = arena_printf(settings->arena, "--%s", option->key);
    given->next = settings->given;
    settings->given = given;
    if (strcmp(option->key, "verbose") == 0 && settings->verbosity < 2)
        settings->verbosity = settings->verbosity < 0 ? 1 : settings->verbosity + 1;
    if (strcmp(option->key, "quiet") == 0)
        settings->verbosity = -1;
}

static bool
unknown_option(const char *word, const char *name, struct error *err)
{
    const struct option *option;
    struct nearest nearest = {.word = name};

    for (option = option_table; option->key; option++)
        if (option->places & ON_COMMAND_LINE)
            nearest_offer(&nearest, option->key);
    error_set(err, ERR_USAGE, "there is no option %s", word);
    if (nearest.best)
        return error_hint(err, "Did you mean --%s?", nearest.best);
    return error_hint(err, "gpu-audit --help lists the options.");
}

/* `value` is what follows "=" or the letter; NULL: the next word is the value. */
static bool
take_option(struct settings *settings, struct line *line, const struct option *option,
            const char *value, struct error *err)
{
    const char *origin = arena_printf(settings->arena, "--%s", option->key);

    if (option->type == OPTION_FLAG) {
        if (value) {
            error_set(err, ERR_USAGE, "%s takes no value", origin);
            return error_hint(err, "Write %s alone.", origin);
        }
        remember(settings, option, "1");
        return true;
    }
    if (!value && line->at < line->argc)
        value = line->argv[line->at++];
    if (!value) {
        error_set(err, ERR_USAGE, "%s needs a value", origin);
        return error_hint(err, "Write %s %s.", origin, option->argument);
    }
    if (!option_check(option, value, origin, ERR_USAGE, err))
        return false;
    remember(settings, option, arena_strdup(settings->arena, value));
    return true;
}

static bool
take_long(struct settings *settings, struct line *line, const char *word, struct error *err)
{
    size_t size = strcspn(word + 2, "=");
    const char *name = arena_strndup(settings->arena, word + 2, size);
    const char *value = word[2 + size] == '=' ? word + 3 + size : NULL;
    const struct option *option = option_named(name);

    if (!option)
        return unknown_option(arena_printf(settings->arena, "--%s", name), name, err);
    return take_option(settings, line, option, value, err);
}

/* "-vv", "-c FILE", "-cFILE". */
static bool
take_letters(struct settings *settings, struct line *line, const char *word, struct error *err)
{
    const char *c;

    for (c = word + 1; *c; c++) {
        const struct option *option = option_lettered(*c);
        bool is_flag = option && option->type == OPTION_FLAG;

        if (!option)
            return unknown_option(word, word + 1, err);
        if (!take_option(settings, line, option, is_flag || !c[1] ? NULL : c + 1, err))
            return false;
        if (!is_flag)
            break;
    }
    return true;
}

static void
take_argument(struct settings *settings, const char *word)
{
    if (!settings->command)
        settings->command = arena_strdup(settings->arena, word);
    else
        settings->argv[settings->argc++] = arena_strdup(settings->arena, word);
}

/* Wanted before the file is read, for messages about it. */
static bool
set_log_format(struct settings *settings, struct error *err)
{
    const char *format = settings_option(settings, "log-format");

    if (format && !option_check(option_named("log-format"), format, "log-format", ERR_USAGE, err))
        return false;
    settings->log_json = format && strcmp(format, "json") == 0;
    return true;
}

bool
settings_parse(struct settings *settings, struct arena *arena, int argc, char *const *argv,
               struct error *err)
{
    struct line line = {argc, 1, argv};
    bool has_ended = false;

    memset(settings, 0, sizeof(*settings));
    settings->arena = arena;
    settings->argv = arena_alloc(arena, ((size_t)argc + 1) * sizeof(*settings->argv));
    while (line.at < argc) {
        const char *word = argv[line.at++];
        bool is_good = true;

        if (has_ended || word[0] != '-' || !word[1])
            take_argument(settings, word);
        else if (strcmp(word, "--") == 0)
            has_ended = true;
        else if (word[1] == '-')
            is_good = take_long(settings, &line, word, err);
        else
            is_good = take_letters(settings, &line, word, err);
        if (!is_good)
            return false;
    }
    return set_log_format(settings, err);
}

static bool
is_named(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool
settings_permit(const struct settings *settings, const char *const *names, struct error *err)
{
    const struct given *given;

    for (given = settings->given; given; given = given->next) {
        bool is_common = (given->option->places & ON_EVERY_COMMAND) == ON_EVERY_COMMAND;

        if (is_common || is_named(names, given->option->key))
            continue;
        error_set(err, ERR_USAGE, "%s does not take --%s", settings->command, given->option->key);
        return error_hint(err, "gpu-audit %s --help lists what it takes.", settings->command);
    }
    return true;
}
