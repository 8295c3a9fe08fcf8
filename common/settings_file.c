/*
 * The configuration file. libinih takes the lines apart; they reach it by way of read_line, which
 * counts them, so that each setting knows its place, and which also sees sections that are empty.
 */
#include <config.h>

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nearest.h"
#include "common/settings_private.h"
#include "common/utf8.h"

enum { LINE_MOST_BYTES = 64 * 1024 };

struct reader {
    struct settings *settings;
    struct section *section; /* the one being filled; NULL before the first */
    FILE *file;
    char *line; /* trimmed, without its end */
    size_t room;
    int number;
    bool is_cut;       /* the line is longer than what libinih takes */
    struct error *err; /* the first error, after which nothing is read */
};

static const char *
place(const struct reader *reader)
{
    return arena_printf(reader->settings->arena, "%s line %d", reader->settings->file,
                        reader->number);
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static char *
trim(char *text)
{
    size_t size;

    while (is_blank(*text))
        text++;
    size = strlen(text);
    while (size && is_blank(text[size - 1]))
        text[--size] = '\0';
    return text;
}

/* A ';' begins a comment when a blank, or nothing, precedes it. */
static void
cut_comment(char *text)
{
    char *c;

    for (c = text; *c; c++) {
        if (*c == ';' && (c == text || is_blank(c[-1]))) {
            *c = '\0';
            return;
        }
    }
}

static bool
check_text(struct reader *reader, const char *text, size_t size)
{
    size_t left = size;

    if (size > LINE_MOST_BYTES)
        return error_set(reader->err, ERR_CONFIG, "%s: the line is longer than %d KiB",
                         place(reader), LINE_MOST_BYTES / 1024);
    while (left) {
        size_t step = *text ? utf8_size(text, left) : 0;

        if (!step) {
            error_set(reader->err, ERR_CONFIG, "%s: the line is not UTF-8 text", place(reader));
            return error_hint(reader->err, "Save the file as plain text in UTF-8.");
        }
        text += step;
        left -= step;
    }
    return true;
}

static bool
is_unnamed_kind(const char *kind, struct nearest *nearest)
{
    const struct option *option;

    for (option = option_table; option->key; option++) {
        if (!(option->places & IN_FILE))
            continue;
        if (strcmp(option->section, kind) == 0)
            return true;
        nearest_offer(nearest, option->section);
    }
    return false;
}

static bool
is_source_kind(const char *kind, struct nearest *nearest)
{
    const char *const *known;

    for (known = source_kinds; *known; known++) {
        if (strcmp(*known, kind) == 0)
            return true;
        nearest_offer(nearest, *known);
    }
    return false;
}

/* "[billing bills]" has a name, "[audit]" has none, and either may come once. */
static bool
check_section(struct reader *reader, const char *kind, const char *name)
{
    struct nearest nearest = {.word = kind};
    const struct section *other;

    if (is_unnamed_kind(kind, &nearest)) {
        if (!name[0])
            return true;
        error_set(reader->err, ERR_CONFIG, "%s: [%s] takes no name", place(reader), kind);
        return error_hint(reader->err, "Write [%s].", kind);
    }
    if (!is_source_kind(kind, &nearest)) {
        error_set(reader->err, ERR_CONFIG, "%s: there is no section [%s]", place(reader), kind);
        if (nearest.best)
            error_hint(reader->err, "Did you mean [%s]?", nearest.best);
        return false;
    }
    if (!name[0]) {
        error_set(reader->err, ERR_CONFIG, "%s: [%s] needs a name", place(reader), kind);
        return error_hint(reader->err, "Name the source, such as [%s main].", kind);
    }
    for (other = reader->settings->sections; other; other = other->next)
        if (strcmp(other->kind, kind) == 0 && strcmp(other->name, name) == 0)
            return error_set(reader->err, ERR_CONFIG, "%s: [%s %s] is already on line %d",
                             place(reader), kind, name, other->line);
    return true;
}

static bool
begin_section(struct reader *reader)
{
    char *close = strchr(reader->line, ']');
    char *kind, *name;

    if (!close) {
        error_set(reader->err, ERR_CONFIG, "%s: the section has no \"]\"", place(reader));
        return error_hint(reader->err, "Write the section as [KIND NAME].");
    }
    cut_comment(close + 1);
    if (*trim(close + 1))
        return error_set(reader->err, ERR_CONFIG, "%s: there is text after the section's \"]\"",
                         place(reader));
    *close = '\0';
    kind = trim(arena_strdup(reader->settings->arena, reader->line + 1));
    name = kind + strcspn(kind, " \t");
    if (*name)
        *name++ = '\0';
    name = trim(name);
    if (!check_section(reader, kind, name))
        return false;
    if (name[0])
        reader->section = settings_add_section(reader->settings, kind, name, reader->number);
    else
        reader->section = settings_unnamed(reader->settings, kind);
    if (!reader->section->line)
        reader->section->line = reader->number;
    return true;
}

/* Fills reader->line with the next line; false at the end and after an error. */
static bool
next_line(struct reader *reader)
{
    static const char bom[] = "\xEF\xBB\xBF";
    char *text;
    ssize_t size;

    if (reader->err->code != ERR_NONE)
        return false;
    size = getline(&reader->line, &reader->room, reader->file);
    if (size < 0)
        return false;
    reader->number++;
    if (!check_text(reader, reader->line, (size_t)size))
        return false;
    text = reader->line;
    if (reader->number == 1 && strncmp(text, bom, strlen(bom)) == 0)
        text += strlen(bom);
    text = trim(text);
    memmove(reader->line, text, strlen(text) + 1);
    return true;
}

/*
 * An ini_reader. Blanks in front are gone, since libinih takes an indented line for more of the
 * value above. A line too long for it is handed over cut, and take_value finds the rest.
 */
static char *
read_line(char *into, int room, void *context)
{
    struct reader *reader = context;

    if (room < 8 || !next_line(reader))
        return NULL;
    reader->is_cut = strlen(reader->line) > (size_t)room - 3;
    if (reader->line[0] == '[') {
        if (!begin_section(reader))
            return NULL;
        snprintf(into, (size_t)room, "[x]\n");
    } else if (reader->line[0] == ';' || reader->line[0] == '#') {
        snprintf(into, (size_t)room, "\n");
    } else {
        snprintf(into, (size_t)room, "%.*s\n", room - 3, reader->line);
    }
    return into;
}

static bool
check_key(struct reader *reader, const char *key, const char *value, const char *origin)
{
    const char *kind = reader->section->kind;
    struct nearest nearest = {.word = key};
    const struct option *option;

    for (option = option_table; option->key; option++) {
        if (!(option->places & IN_FILE) || strcmp(option->section, kind) != 0)
            continue;
        if (strcmp(option->key, key) == 0)
            return !value[0] || option_check(option, value, origin, ERR_CONFIG, reader->err);
        if (option_is_secret_key(option, key))
            return true;
        nearest_offer(&nearest, option->key);
    }
    error_set(reader->err, ERR_CONFIG, "%s: [%s] has no key \"%s\"", origin, kind, key);
    if (nearest.best)
        error_hint(reader->err, "Did you mean \"%s\"?", nearest.best);
    return false;
}

static void
append(struct reader *reader, const char *key, const char *value, const char *origin)
{
    struct setting *setting = arena_alloc(reader->settings->arena, sizeof(*setting));
    struct setting **link = &reader->section->settings;

    while (*link)
        link = &(*link)->next;
    setting->key = arena_strdup(reader->settings->arena, key);
    setting->value = arena_strdup(reader->settings->arena, value);
    setting->line = reader->number;
    setting->origin = origin;
    *link = setting;
}

/* An ini_handler. */
static int
take_value(void *context, const char *section, const char *key, const char *value)
{
    struct reader *reader = context;
    const char *origin = place(reader);
    const struct setting *other;

    (void)section; /* begin_section has read it */
    if (reader->err->code != ERR_NONE)
        return 0;
    if (!reader->section)
        return error_set(reader->err, ERR_CONFIG, "%s: \"%s\" is not in a section", origin, key);
    if (!key[0])
        return error_set(reader->err, ERR_CONFIG, "%s: there is no key before the \"=\"", origin);
    if (reader->is_cut) {
        char *whole = reader->line + strcspn(reader->line, "=:") + 1;

        cut_comment(whole);
        value = trim(whole);
    }
    other = section_find(reader->section, key);
    if (other && strcmp(key, "header") != 0)
        return error_set(reader->err, ERR_CONFIG, "%s: \"%s\" is already on line %d", origin, key,
                         other->line);
    if (!settings_is_source(reader->section) && !check_key(reader, key, value, origin))
        return 0;
    append(reader, key, value, origin);
    return 1;
}

static bool
parse(struct reader *reader)
{
    int bad_line = ini_parse_stream(read_line, reader, take_value, reader);

    if (reader->err->code != ERR_NONE)
        return false;
    if (ferror(reader->file))
        return error_set(reader->err, ERR_CONFIG, "could not read \"%s\": %m",
                         reader->settings->file);
    if (bad_line == 0)
        return true;
    reader->number = bad_line;
    error_set(reader->err, ERR_CONFIG, "%s: the line is not KEY = VALUE", place(reader));
    return error_hint(reader->err,
                      "A line is a [section], a key with its value, a ; comment, or empty.");
}

bool
settings_read_file(struct settings *settings, const char *path, struct error *err)
{
    struct reader reader = {.settings = settings, .err = err};
    bool is_good;

    reader.file = fopen(path, "re");
    if (!reader.file) {
        error_set(err, ERR_CONFIG, "could not open \"%s\": %m", path);
        return error_hint(
            err, "Name the configuration file with --config, or write one with gpu-audit init.");
    }
    error_clear(err);
    settings->file = arena_strdup(settings->arena, path);
    is_good = parse(&reader);
    free(reader.line);
    fclose(reader.file);
    return is_good;
}

/* Only what is not there is passed over: a file that may not be read is no reason to use another.
 */
static bool
is_there(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

const char *
settings_find_file(struct settings *settings)
{
    const char *config_home = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    const char *given = settings_option(settings, "config");
    const char *places[4] = {"gpu-audit.conf"};
    size_t count = 1, i;

    if (given)
        return given;
    if (config_home && config_home[0] == '/')
        places[count++] = arena_printf(settings->arena, "%s/gpu-audit/gpu-audit.conf", config_home);
    else if (home && home[0] == '/')
        places[count++] =
            arena_printf(settings->arena, "%s/.config/gpu-audit/gpu-audit.conf", home);
    places[count++] = SYSCONFDIR "/gpu-audit/gpu-audit.conf";
    places[count++] = "/etc/gpu-audit/gpu-audit.conf";
    for (i = 0; i < count; i++)
        if (is_there(places[i]))
            return places[i];
    return NULL;
}
