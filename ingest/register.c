/* Rows of audit.source: what makes two configured sources the same. */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest.h"

/* A URL without what may be secret: what stands between "://" and "@", and its query. */
static const char *
url_plain(struct arena *arena, const char *url)
{
    const char *host = strstr(url, "://");

    if (!host) {
        return url;
    }
    host += 3;
    const char *at = memrchr(host, '@', strcspn(host, "/?#"));
    const char *rest = at ? at + 1 : host;

    return arena_printf(arena, "%.*s%.*s", (int)(host - url), url, (int)strcspn(rest, "?#"), rest);
}

/* A service that is found by its region or site: "eu-central-1", "eu-central-1 http://…", "datadoghq.eu". */
static const char *
service_of(struct arena *arena, const struct section *section)
{
    const char *place = section_get(section, "region"), *endpoint = section_get(section, "endpoint");

    place = place ? place : section_get(section, "site");
    if (!endpoint || !*endpoint) {
        return place ? place : "";
    }
    return arena_printf(arena, "%s %s", place ? place : "", url_plain(arena, endpoint));
}

/* Where a section reads from: its URL, else its path with links resolved, else the command it runs. */
static const char *
location_of(struct settings *settings, struct arena *arena, const struct section *section)
{
    const char *url = section_get(section, "url");
    const char *path = section_get(section, "path");
    const char *url_file = section_path(settings, section, "url-file");
    char resolved[PATH_MAX];

    if (url_file && *url_file) { /* the address itself is a secret, and a new one each time */
        return url_file;
    }
    if (url && *url && !(path && *path)) {
        return url_plain(arena, url);
    }
    if (!path || !*path) {
        const char *command = section_get(section, "command"), *clusters = section_get(section, "clusters");

        if (!command) {
            return service_of(arena, section);
        }
        return clusters ? arena_printf(arena, "%s (%s)", command, clusters) : command;
    }
    if (strstr(path, "://")) {
        return url_plain(arena, path);
    }
    path = section_path(settings, section, "path");
    return realpath(path, resolved) ? arena_strdup(arena, resolved) : path;
}

bool
ingest_source_row(struct db *db, struct arena *arena, const char *kind, const char *name,
                  const char *format, const char *location, int *ret_id, struct error *err)
{
    const char *param[] = {kind, name, format, location};
    const char *source_id = NULL;

    if (!db_text(db, arena, "sql/ingest_source.sql", 4, param, &source_id, err)) {
        return false;
    }
    if (!source_id || sscanf(source_id, "%d", ret_id) != 1) {
        return error_set(err, ERR_BUG, "[%s %s] could not be registered", kind, name);
    }
    return true;
}

bool
ingest_source_id(struct settings *settings, struct db *db, struct arena *arena,
                 const struct section *section, int *ret_id, struct error *err)
{
    const struct source *source = source_find(settings, section, err);

    if (!source) {
        return false;
    }
    return ingest_source_row(db, arena, section->kind, section->name, source->format,
                             location_of(settings, arena, section), ret_id, err);
}

bool
ingest_source_ids(struct settings *settings, struct db *db, struct arena *arena,
                  const char **ret_ids, struct error *err)
{
    const char *ids = "";

    for (const struct section *section = settings->sections; section; section = section->next) {
        int id = 0;

        if (!source_is_section(section)) {
            continue;
        }
        if (!ingest_source_id(settings, db, arena, section, &id, err)) {
            return false;
        }
        ids = arena_printf(arena, "%s%s%d", ids, *ids ? "," : "", id);
    }
    *ret_ids = arena_printf(arena, "{%s}", ids);
    return true;
}
