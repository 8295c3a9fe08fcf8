/*
 * Issues on their way from pages to audit.issue and audit.project: what the saved and the live
 * Jira have in common. One COPY per page, so that nothing waits in the database while the other
 * side is asked, and memory is one page at a time.
 */
#ifndef INGEST_JIRA_STAGE_H
#define INGEST_JIRA_STAGE_H

#include "ingest/dimension.h"
#include "ingest/jira.h"

struct jira_stage {
    struct dimension *dim;
    struct jira_fields fields;
    uint64_t issues, with_project, with_team,
        with_cost_centre; /* how often a mapped field had a value */
};

/* The keys project-field, team-field and cost-centre-field as configured, names not yet resolved.
 */
struct jira_fields jira_fields_configured(const struct section *section);
bool jira_stage_begin(struct jira_stage *stage, struct dimension *dim,
                      struct error *err) MUST_CHECK;
bool jira_stage_page(struct jira_stage *stage, size_t object, const struct jira_page *page,
                     struct error *err) MUST_CHECK;
/* Replaces the rows of the source and commits; warns of a mapped field that no issue has. */
bool jira_stage_finish(struct jira_stage *stage, struct error *err) MUST_CHECK;

#endif
