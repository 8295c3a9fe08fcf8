/*
 * Runs sources: registers them in audit.source, gives each a connection and a progress line,
 * goes on when one fails (ERR_PARTIAL at the end, each failure told), two at a time.
 * Every source replaces exactly its slices, each in one transaction.
 */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "common/arena.h"
#include "common/db.h"
#include "common/settings.h"
#include "ingest/source.h"

struct ingest_result { /* how one source went */
    const char *kind, *name;
    int source_id;      /* 0: it was never registered */
    struct source_counts counts;
    double seconds;
    bool was_run;       /* false: an interrupt came first */
    struct error error; /* code ERR_NONE: it worked */
};
struct ingest_results {
    struct ingest_result *result;
    size_t count;
};

/* names: NULL for all sources, else section names, NULL-ended. */
bool ingest_run(struct settings *settings, struct db *db, struct arena *arena, const char *const *names, struct error *err)
    MUST_CHECK;
/* The same, and how each source went: filled in also when it fails, empty when nothing was begun. */
bool ingest_run_results(struct settings *settings, struct db *db, struct arena *arena, const char *const *names,
                        struct ingest_results *ret_results, struct error *err) MUST_CHECK;
/* A row of audit.source, made if new. */
bool ingest_source_row(struct db *db, struct arena *arena, const char *kind, const char *name, const char *format,
                       const char *location, int *ret_id, struct error *err) MUST_CHECK;
/* The row of a section's source. */
bool ingest_source_id(struct settings *settings, struct db *db, struct arena *arena, const struct section *section,
                      int *ret_id, struct error *err) MUST_CHECK;

/* Source ids of every source section in the configuration, registered if new, as the text of an
 * int[] ("{1,2,5}") in arena: what an audit reads. */
bool ingest_source_ids(struct settings *settings, struct db *db, struct arena *arena, const char **ret_ids,
                       struct error *err) MUST_CHECK;

/* Normal form of a resource id for joins, in arena: lower case, trimmed; an id of EC2 ("i-…", in an ARN or a path) as its last
 * segment, any other ARN whole; an Azure id from /subscriptions/ on, a machine of a scale set as the scale set; a GCP machine
 * as projects/P/zones/Z/instances/N whatever its prefix; an OCID and everything else as it is. */
const char *resource_key(struct arena *arena, const char *provider, const char *text, size_t size);
/* "AWS", "Amazon Web Services" -> "aws"; "Microsoft", "Azure" -> "azure"; "Google Cloud", "GCP" -> "gcp"; else lower case
 * letters and digits only. */
const char *provider_key(struct arena *arena, const char *text, size_t size);

#endif
