#include <config.h>

#include "common/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/nearest.h"
#include "common/settings_private.h"

struct setting *
section_find(const struct section *section, const char *key)
{
    struct setting *setting;

    for (setting = section->settings; setting; setting = setting->next)
        if (strcmp(setting->key, key) == 0)
            return setting;
    return NULL;
}

struct section *
settings_add_section(struct settings *settings, const char *kind, const char *name, int line)
{
    struct section *section = arena_alloc(settings->arena, sizeof(*section));
    struct section **link = &settings->sections;

    while (*link)
        link = &(*link)->next;
    section->kind = kind;
    section->name = name;
    section->line = line;
    *link = section;
    return section;
}

struct section *
settings_unnamed(struct settings *settings, const char *kind)
{
    struct section *section;

    for (section = settings->sections; section; section = section->next)
        if (!section->name[0] && strcmp(section->kind, kind) == 0)
            return section;
    return settings_add_section(settings, kind, "", 0);
}

const struct section *
settings_section(const struct settings *settings, const char *kind)
{
    static const struct section empty = {.kind = "", .name = ""};
    const struct section *section;

    for (section = settings->sections; section; section = section->next)
        if (!section->name[0] && strcmp(section->kind, kind) == 0)
            return section;
    return &empty;
}

bool
settings_is_source(const struct section *section)
{
    const char *const *kind;

    for (kind = source_kinds; *kind; kind++)
        if (strcmp(*kind, section->kind) == 0)
            return true;
    return false;
}

const char *
section_get(const struct section *section, const char *key)
{
    const struct setting *setting = section_find(section, key);
    const struct option *option;

    if (setting && setting->value[0])
        return setting->value;
    option = section->name[0] ? NULL : option_find(section->kind, key);
    return option ? option->fallback : NULL;
}

const char *
section_origin(const struct settings *settings, const struct section *section, const char *key)
{
    const struct setting *setting = key ? section_find(section, key) : NULL;

    if (setting)
        return setting->origin;
    return arena_printf(settings->arena, "%s line %d",
                        settings->file ? settings->file : "configuration", section->line);
}

/* Where a value that is in the section came from; a default is never wrong. */
static const char *
origin_of(const struct section *section, const char *key)
{
    const struct setting *setting = section_find(section, key);

    return setting ? setting->origin : key;
}

bool
section_int(const struct section *section, const char *key, long least, long most, long *ret_value,
            struct error *err)
{
    const char *text = section_get(section, key);
    long value;

    if (!text)
        return true;
    if (!integer_parse(text, &value) || value < least || value > most)
        return error_set(err, ERR_CONFIG,
                         "%s: %s must be a whole number from %ld to %ld, not \"%s\"",
                         origin_of(section, key), key, least, most, text);
    *ret_value = value;
    return true;
}

bool
section_number(const struct section *section, const char *key, double least, double most,
               double *ret_value, struct error *err)
{
    const char *text = section_get(section, key);
    double value = 0;

    if (!text)
        return true;
    if (!number_parse(text, &value) || value < least || value > most)
        return error_set(err, ERR_CONFIG, "%s: %s must be a number from %g to %g, not \"%s\"",
                         origin_of(section, key), key, least, most, text);
    *ret_value = value;
    return true;
}

const char *
section_path(const struct settings *settings, const struct section *section, const char *key)
{
    const struct setting *setting = section_find(section, key);
    const char *path = section_get(section, key);
    const char *slash = settings->file ? strrchr(settings->file, '/') : NULL;

    if (!path || path[0] == '/' || strstr(path, "://"))
        return path;
    if (!setting || setting->value != path || !setting->line || !slash)
        return path;
    return arena_printf(settings->arena, "%.*s/%s", (int)(slash - settings->file), settings->file,
                        path);
}

static bool
is_listed(const char *const *keys, const char *key, struct nearest *nearest)
{
    for (; keys && *keys; keys++) {
        size_t size = strlen(*keys);
        bool is_beginning = size > 0 && (*keys)[size - 1] == '.';

        if (is_beginning ? strncmp(*keys, key, size) == 0 && key[size] : strcmp(*keys, key) == 0)
            return true;
        if (!is_beginning)
            nearest_offer(nearest, *keys);
    }
    return false;
}

bool
settings_check_source(const struct settings *settings, const struct section *section,
                      const char *const *keys, struct error *err)
{
    const struct setting *setting;

    (void)settings;
    for (setting = section->settings; setting; setting = setting->next) {
        struct nearest nearest = {.word = setting->key};

        if (is_listed(keys, setting->key, &nearest) ||
            is_listed(source_keys, setting->key, &nearest) ||
            (strcmp(section->kind, "billing") == 0 &&
             is_listed(billing_source_keys, setting->key, &nearest)))
            continue;
        error_set(err, ERR_CONFIG, "%s: [%s %s] has no key \"%s\"", setting->origin, section->kind,
                  section->name, setting->key);
        if (nearest.best)
            error_hint(err, "Did you mean \"%s\"?", nearest.best);
        return false;
    }
    return true;
}

/* Puts a value in front of what the file says. */
static void
override(struct settings *settings, const struct option *option, const char *value,
         const char *origin)
{
    struct section *section = settings_unnamed(settings, option->section);
    struct setting *setting = arena_alloc(settings->arena, sizeof(*setting));

    setting->key = option->sets ? option->sets : option->key;
    setting->value = value;
    setting->origin = origin;
    setting->next = section->settings;
    section->settings = setting;
}

/* Environment first, command line after it and so in front. */
static bool
add_overrides(struct settings *settings, struct error *err)
{
    const struct option *option;
    const struct given *given;

    for (option = option_table; option->key; option++) {
        char name[64];
        const char *value;

        option_environment(option, name, sizeof(name));
        value = option->places & IN_ENVIRONMENT ? getenv(name) : NULL;
        if (!value || !value[0])
            continue;
        if (!option_check(option, value, name, ERR_CONFIG, err))
            return false;
        override(settings, option, arena_strdup(settings->arena, value),
                 arena_strdup(settings->arena, name));
    }
    for (option = option_table; option->key; option++) {
        for (given = settings->given; given && given->option != option; given = given->next)
            continue;
        if (given && (option->places & (IN_ENVIRONMENT | IN_FILE) || option->sets))
            override(settings, option, given->value, given->origin);
    }
    return true;
}

const char *
settings_option(const struct settings *settings, const char *name)
{
    const struct option *option = option_named(name);
    const struct given *given;
    char variable[64];
    const char *value;

    if (!option)
        return NULL;
    for (given = settings->given; given; given = given->next)
        if (given->option == option)
            return given->value;
    if (!(option->places & IN_ENVIRONMENT))
        return NULL;
    option_environment(option, variable, sizeof(variable));
    value = getenv(variable);
    return value && value[0] ? value : NULL;
}

static bool
is_given(const struct settings *settings, const char *name)
{
    const struct given *given;

    for (given = settings->given; given; given = given->next)
        if (strcmp(given->option->key, name) == 0)
            return true;
    return false;
}

/* --days with --until. */
static bool
window_of_days(struct settings *settings, const char *days_text, struct error *err)
{
    const char *until = settings_option(settings, "until");
    struct window window = {.to = settings->now - settings->now % DAY_SECONDS};
    char from[CALENDAR_TEXT], to[CALENDAR_TEXT];
    long days;

    if (!integer_parse(days_text, &days) ||
        (until && !time_parse(until, strlen(until), &window.to)))
        return error_set(err, ERR_BUG, "--days or --until was not checked");
    window.from = window.to - days * DAY_SECONDS;
    date_format(window.from, from);
    date_format(window.to, to);
    snprintf(window.name, sizeof(window.name), "%.10s..%.10s", from, to);
    settings->window = window;
    return true;
}

/* Of --quarter and --days the command line's counts more than the environment's, and either more
 * than the file's quarter. */
static bool
set_window(struct settings *settings, struct error *err)
{
    const struct section *audit = settings_section(settings, "audit");
    const char *quarter = section_get(audit, "quarter");
    const char *days = settings_option(settings, "days");
    long first_month = 1;

    if (!section_int(audit, "fiscal-year-start", 1, 12, &first_month, err))
        return false;
    if (is_given(settings, "days") && is_given(settings, "quarter")) {
        error_set(err, ERR_USAGE, "--quarter and --days are both given");
        return error_hint(err, "Name one of them: a quarter, or a number of days.");
    }
    if (days && !is_given(settings, "quarter"))
        return window_of_days(settings, days, err);
    if (settings_option(settings, "until")) {
        error_set(err, ERR_USAGE, "--until is given without --days");
        return error_hint(err, "Say with --days how long the window is, such as --days 90.");
    }
    if (quarter)
        return quarter_parse(quarter, (int)first_month, &settings->window, err);
    settings->window = quarter_before(settings->now, (int)first_month);
    return true;
}

static bool
set_currency(struct settings *settings, struct error *err)
{
    const struct section *audit = settings_section(settings, "audit");
    const char *currency = section_get(audit, "currency");

    if (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3) {
        error_set(err, ERR_CONFIG, "%s: \"%s\" is not a currency", origin_of(audit, "currency"),
                  currency);
        return error_hint(err, "Write the three capital letters of ISO 4217, such as USD.");
    }
    settings->currency = currency;
    return true;
}

static bool
set_fields(struct settings *settings, struct error *err)
{
    const char *as_of = settings_option(settings, "as-of");

    settings->now = (int64_t)time(NULL);
    if (as_of && !time_parse(as_of, strlen(as_of), &settings->now))
        return error_set(err, ERR_BUG, "--as-of was not checked");
    settings->database = section_get(settings_section(settings, "audit"), "database");
    settings_hide_password(settings, settings->database);
    settings->format = settings_option(settings, "format");
    if (!settings->format && is_given(settings, "json"))
        settings->format = "json";
    settings->draft = is_given(settings, "draft");
    settings->no_mail = is_given(settings, "no-mail");
    settings->dry_run = is_given(settings, "dry-run");
    settings->fail_on = settings_option(settings, "fail-on");
    return set_currency(settings, err) && set_window(settings, err);
}

bool
settings_load(struct settings *settings, bool with_file, struct error *err)
{
    const struct option *option;
    const char *path = with_file ? settings_find_file(settings) : NULL;

    if (path && !settings_read_file(settings, path, err))
        return false;
    for (option = option_table; option->key; option++)
        settings_unnamed(settings, option->section);
    return add_overrides(settings, err) && set_fields(settings, err);
}
