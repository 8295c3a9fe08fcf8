#include <config.h>

#include "ingest/jira_cloud.h"

static bool
jira_ingest(struct source_run *run, struct error *err)
{
    const char *url = section_get(run->section, "url");
    const char *path = section_get(run->section, "path");
    bool is_live = url && *url, is_saved = path && *path;

    if (is_live == is_saved) {
        error_set(err, ERR_CONFIG,
                  is_live ? "both url and path are set" : "neither url nor path is set");
        return error_hint(err,
                          "Set url to the site to ask it, or path to a folder of saved pages.");
    }
    return is_live ? jira_live_ingest(run, err) : jira_saved_ingest(run, err);
}

static const char *const keys[] = {
    "jql", "project-field", "team-field", "cost-centre-field", "page-size", NULL};

const struct source source_jira_cloud = {
    .format = "jira-cloud",
    .title = "Jira Cloud: issue search over HTTP, or saved pages of it",
    .kind = SOURCE_TRACKER,
    .keys = keys,
    .probe = "/rest/api/3/myself",
    .ingest = jira_ingest,
};
