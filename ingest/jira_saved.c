/* Pages of a search that were saved as files, one answer per file. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/sha256.h"
#include "common/stream.h"
#include "ingest/jira_cloud.h"

enum { READ_BYTES = 65536 };

struct pages { /* what the pages say about being all there is */
    int64_t total;
    uint64_t issues;
    bool has_last, has_more;
};

static bool
file_read(const char *path, struct buf *buf, struct error *err)
{
    struct stream *stream = NULL;
    char block[READ_BYTES];
    size_t size = 1;
    bool good = stream_open(&stream, path, err);

    buf->cap = JIRA_PAGE_BYTES;
    while (good && size > 0 && !buf->overflow) {
        good = stream_read(stream, block, sizeof(block), &size, err);
        if (good) {
            buf_add(buf, block, size);
        }
    }
    stream_close(stream);
    if (good && buf->overflow) {
        error_set(err, ERR_INPUT, "%s is longer than %d MiB", path, JIRA_PAGE_BYTES >> 20);
        return error_hint(err, "Save the search as several pages, of 100 issues each.");
    }
    return good;
}

/* A field given by name is looked up in what a page says of its fields (expand=names). */
static bool
field_resolve(const char **field, const struct jira_page *page, const char *where, const char *key,
              struct arena *arena, struct error *err)
{
    const json_t *names = json_object_get(page->root, "names");
    size_t found =
        *field && !jira_is_field_id(*field) ? jira_field_find(names, *field, arena, field) : 1;

    if (found == 1) {
        return true;
    }
    if (found > 1) {
        error_set(err, ERR_CONFIG, "%s: %zu fields are called \"%s\"", where, found, *field);
    } else {
        error_set(err, ERR_CONFIG, "%s: no field is called \"%s\"", where, *field);
    }
    return error_hint(err, "Set %s to the field's id, such as customfield_10050.", key);
}

static bool
fields_resolve(struct jira_fields *fields, const struct jira_page *page, const char *where,
               struct arena *arena, struct error *err)
{
    return field_resolve(&fields->project, page, where, "project-field", arena, err) &&
           field_resolve(&fields->team, page, where, "team-field", arena, err) &&
           field_resolve(&fields->cost_centre, page, where, "cost-centre-field", arena, err);
}

static void
page_note(struct pages *pages, const struct jira_page *page, struct dimension *dim, size_t object)
{
    bool is_old = page->total >= 0;

    pages->issues += page->count;
    pages->total = page->total > pages->total ? page->total : pages->total;
    pages->has_last =
        pages->has_last || page->is_last || (!is_old && !page->says_more && !page->next_token);
    pages->has_more =
        pages->has_more || (!is_old && !page->is_last && (page->says_more || page->next_token));
    if (page->warning) {
        dim->objects[object].problem = arena_strdup(dim->run->arena, page->warning);
        log_warning("%s: Jira warns: %s", dim->objects[object].name, page->warning);
    }
}

/* A set of pages of which some are missing gives issues, but not all of them: that must be said. */
static void
pages_judge(const struct pages *pages, struct dimension *dim, size_t last)
{
    struct dimension_object *object = &dim->objects[last];
    const char *problem = NULL;

    if (pages->total >= 0 && (uint64_t)pages->total > pages->issues) {
        problem = arena_printf(dim->run->arena, "the pages hold %" PRIu64 " of %" PRId64 " issues",
                               pages->issues, pages->total);
    } else if (pages->has_more && !pages->has_last) {
        problem = "no page says that it is the last: pages are missing";
    }
    if (problem) {
        object->problem = problem;
        log_warning("[%s %s]: %s", dim->run->section->kind, dim->run->section->name, problem);
    }
}

static bool
page_load(struct jira_stage *stage, size_t object, struct pages *pages, struct error *err)
{
    const char *path = stage->dim->objects[object].path;
    struct buf buf = {0};
    struct jira_page page = {.total = -1};
    bool good = file_read(path, &buf, err) &&
                jira_page_open(&page, buf.data ? buf.data : "", buf.size, path, err);

    buf_free(&buf);
    if (good) {
        page_note(pages, &page, stage->dim, object);
        good = fields_resolve(&stage->fields, &page, path, stage->dim->run->arena, err) &&
               jira_stage_page(stage, object, &page, err);
    }
    jira_page_close(&page);
    return good;
}

/* The mapping is an input like the pages: another one makes other rows of them. */
static void
settings_add(struct dimension *dim, const struct jira_fields *fields)
{
    struct sha256 hash;
    const char *text = arena_printf(
        dim->run->arena, "settings: project-field = %s, team-field = %s, cost-centre-field = %s",
        fields->project, fields->team ? fields->team : "",
        fields->cost_centre ? fields->cost_centre : "");
    struct dimension_object *object = dimension_object_add(dim, text);

    sha256_begin(&hash);
    sha256_add(&hash, text, strlen(text));
    sha256_hex(&hash, object->sha256);
}

static bool
pages_load(struct dimension *dim, size_t files, struct error *err)
{
    struct jira_stage stage = {.fields = jira_fields_configured(dim->run->section)};
    struct pages pages = {.total = -1};
    bool good = jira_stage_begin(&stage, dim, err);

    for (size_t i = 0; good && i < files; i++) {
        good = page_load(&stage, i, &pages, err);
    }
    if (good) {
        pages_judge(&pages, dim, files - 1);
    }
    return good && jira_stage_finish(&stage, err);
}

bool
jira_saved_ingest(struct source_run *run, struct error *err)
{
    static const char *const suffixes[] = {".json", ".json.gz", NULL};
    struct jira_fields fields = jira_fields_configured(run->section);
    struct dimension dim;
    bool is_unchanged = false;

    if (!dimension_open(&dim, run, err)) {
        return false;
    }
    bool good = dimension_files(&dim, suffixes, err);
    size_t files = dim.count;

    if (good) {
        settings_add(&dim, &fields);
    }
    good = good && dimension_unchanged(&dim, &is_unchanged, err) &&
           (is_unchanged || pages_load(&dim, files, err));
    if (!good) {
        dimension_failed(&dim, err);
    }
    return good;
}
