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

/* Up to the character that ends a path: "?" of an address, blanks and slashes at the end are cut off. */
static const char *
path_of(struct arena *arena, const char *key)
{
    size_t size = strcspn(key, "?#");

    while (size > 1 && key[size - 1] == '/')
        size--;
    return key[size] ? arena_strndup(arena, key, size) : key;
}

/* A name of Google's with its address or version before it, a provider id of Kubernetes: from projects/ on. */
static const char *
google_name(struct arena *arena, const char *key)
{
    const char *projects = strstr(key, "projects/"), *zones, *instances;

    if (begins(key, "gce://")) {
        const char *project = key + strlen("gce://"), *zone = strchr(project, '/'), *name = zone ? strchr(zone + 1, '/') : NULL;

        return !name ? key
                     : arena_printf(arena, "projects/%.*s/zones/%.*s/instances/%s", (int)(zone - project), project,
                                    (int)(name - zone - 1), zone + 1, name + 1);
    }
    zones = projects ? strstr(projects, "/zones/") : NULL;
    instances = zones ? strstr(zones, "/instance") : NULL;
    if (!instances || (projects > key && projects[-1] != '/'))
        return key;
    if (begins(instances, "/instances/"))
        return path_of(arena, projects);
    return !begins(instances, "/instance/") ? key
        : arena_printf(arena, "%.*s/instances/%s", (int)(instances - projects), projects,
                       path_of(arena, instances + strlen("/instance/")));
}

/* From /subscriptions/ on, whatever stands before it. A machine of a scale set is billed as the scale set. */
static const char *
azure_id(struct arena *arena, const char *key)
{
    const char *id = strstr(key, "/subscriptions/"), *set, *machine;

    if (!id && begins(key, "subscriptions/"))
        id = arena_printf(arena, "/%s", key);
    if (!id)
        return NULL;
    id = path_of(arena, id);
    set = strstr(id, "/virtualmachinescalesets/");
    machine = set ? strstr(set, "/virtualmachines/") : NULL;
    return machine ? arena_strndup(arena, id, (size_t)(machine - id)) : id;
}

/* Ids that EC2 gives are told apart everywhere; a name (of an endpoint, a notebook) only within its account
 * and region, so that its ARN stays whole. */
static const char *
amazon_name(const char *key)
{
    const char *service = strchr(key + strlen("arn:"), ':');

    return service && begins(service + 1, "ec2:") ? last_segment(key) : key;
}

const char *
resource_key(struct arena *arena, const char *provider, const char *text, size_t size)
{
    const char *key = lower_trimmed(arena, text, size), *last, *azure;
    bool is_aws = provider && !strcmp(provider, "aws"), is_unknown = !provider || !*provider;

    if (begins(key, "arn:"))
        return amazon_name(key);
    azure = is_unknown || !strcmp(provider, "azure") || begins(key, "/subscriptions/") ? azure_id(arena, key) : NULL;
    if (azure)
        return azure;
    last = last_segment(key);
    if (begins(last, "i-") && (is_aws || is_unknown))
        return last;
    return google_name(arena, key);
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
