/* The user's own catalog: GPU models, instance types or prices, each told by its header. */
#include <config.h>

#include "ingest/catalog.h"

/* Never skipped as unchanged: a row may have gone to another source that gave the same key. */
static bool
prices_ingest(struct source_run *run, struct error *err)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", NULL};
    struct dimension dim;

    if (!dimension_open(&dim, run, err)) {
        return false;
    }
    if (!dimension_files(&dim, suffixes, err)) {
        dimension_failed(&dim, err);
        return false;
    }
    return table_load(&dim, catalog_tables, CATALOG_TABLES, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_prices = {
    .format = "csv",
    .title = "own GPU models, instance types and prices (CSV)",
    .kind = SOURCE_PRICES,
    .keys = keys,
    .ingest = prices_ingest,
};
