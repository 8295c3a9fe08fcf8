#include <config.h>

#include "ingest/source.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_names[] = {
    [SOURCE_BILLING] = "billing",
    [SOURCE_TELEMETRY] = "telemetry",
    [SOURCE_SCHEDULER] = "scheduler",
    [SOURCE_TRACKER] = "tracker",
    [SOURCE_INVENTORY] = "inventory",
    [SOURCE_BINDING] = "binding",
    [SOURCE_PRICES] = "prices",
    [SOURCE_MODEL] = "model",
    [SOURCE_FX] = "fx",
};

const char *
source_kind_name(enum source_kind kind)
{
    return kind_names[kind];
}

bool
source_is_section(const struct section *section)
{
    for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
        if (strcmp(section->kind, kind_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* "focus, aws-cur2": the formats of a kind. */
static size_t
formats_say(const char *kind, char *into, size_t room)
{
    size_t count = 0, used = 0;

    into[0] = '\0';
    for (size_t i = 0; sources[i]; i++) {
        if (strcmp(source_kind_name(sources[i]->kind), kind) == 0 && used < room) {
            used += (size_t)snprintf(into + used, room - used, "%s%s", count ? ", " : "",
                                     sources[i]->format);
            count++;
        }
    }
    return count;
}

static const struct source *
format_find(const char *kind, const char *format)
{
    for (size_t i = 0; sources[i]; i++) {
        if (strcmp(source_kind_name(sources[i]->kind), kind) == 0 &&
            (!format || strcmp(sources[i]->format, format) == 0)) {
            return sources[i];
        }
    }
    return NULL;
}

const struct source *
source_find(const struct settings *settings, const struct section *section, struct error *err)
{
    const char *format = section_get(section, "format");
    const char *file = settings->file ? settings->file : "configuration";
    char formats[256];
    size_t count = formats_say(section->kind, formats, sizeof(formats));

    if (format && !*format) {
        format = NULL;
    }
    const struct source *source = format || count == 1 ? format_find(section->kind, format) : NULL;

    if (source) {
        return source;
    }
    if (format) {
        error_set(err, ERR_CONFIG, "%s line %d: [%s %s] has an unknown format \"%s\"", file,
                  section->line, section->kind, section->name, format);
    } else {
        error_set(err, ERR_CONFIG, "%s line %d: [%s %s] has no format", file, section->line,
                  section->kind, section->name);
    }
    error_hint(err, count ? "Set format to one of: %s." : "No format of that kind is built in%s.",
               formats);
    return NULL;
}
