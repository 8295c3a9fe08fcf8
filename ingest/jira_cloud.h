/* The two ways to Jira's issues: the search of a site, and pages of it that were saved. */
#ifndef INGEST_JIRA_CLOUD_H
#define INGEST_JIRA_CLOUD_H

#include "ingest/jira_stage.h"

enum {
    JIRA_PAGE_BYTES = 32 << 20
}; /* the longest answer that is read; in memory it is several times that */

bool jira_live_ingest(struct source_run *run, struct error *err) MUST_CHECK;
bool jira_saved_ingest(struct source_run *run, struct error *err) MUST_CHECK;

#endif
