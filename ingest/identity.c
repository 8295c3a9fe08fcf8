/* One spelling for what bills, host mappings and telemetry call by several names. */
#include <config.h>

#include <string.h>

#include "ingest/ingest.h"

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char *
lower_trimmed(struct arena *arena, const char *text, size_t size)
{
    char *key;

    while (size && is_blank(text[0])) {
        text++;
        size--;
    }
    while (size && is_blank(text[size - 1]))
        size--;
    key = arena_strndup(arena, text, size);
    for (char *at = key; *at; at++)
        *at = lower(*at);
    return key;
}

static bool
begins(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* What follows the last slash, or without one the last colon; all of it when nothing follows. */
static const char *
last_segment(const char *key)
{
    const char *slash = strrchr(key, '/'), *colon = strrchr(key, ':');
    const char *cut = slash ? slash : colon;

    return cut && cut[1] ? cut + 1 : key;
}

/* "//compute.googleapis.com/projects/p/zones/z/instances/n", a self link with its version: from
 * projects/ on. */
static const char *
google_name(const char *key)
{
    const char *projects = strstr(key, "projects/");
    const char *zones = projects ? strstr(projects, "/zones/") : NULL;

    if (!zones || !strstr(zones, "/instances/") || (projects > key && projects[-1] != '/'))
        return key;
    return projects;
}

const char *
resource_key(struct arena *arena, const char *provider, const char *text, size_t size)
{
    const char *key = lower_trimmed(arena, text, size), *last;
    bool is_aws = provider && !strcmp(provider, "aws");

    if (begins(key, "arn:"))
        return last_segment(key);
    if (begins(key, "/subscriptions/"))
        return key;
    last = last_segment(key);
    if (begins(last, "i-") && (is_aws || !provider || !*provider))
        return last;
    return google_name(key);
}

const char *
provider_key(struct arena *arena, const char *text, size_t size)
{
    char *key = arena_strndup(arena, text, size);
    size_t out = 0;

    for (const char *at = key; *at; at++) {
        char c = lower(*at);

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80))
            key[out++] = c;
    }
    key[out] = '\0';
    if (!strcmp(key, "aws") || begins(key, "amazonwebservices") || !strcmp(key, "amazon"))
        return "aws";
    if (begins(key, "azure") || begins(key, "microsoft"))
        return "azure";
    if (begins(key, "gcp") || begins(key, "google"))
        return "gcp";
    return begins(key, "oracle") ? "oracle" : key;
}
