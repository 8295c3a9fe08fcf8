/*
 * A source is one const struct: a file ingest/source_NAME.c and one line in Makefile.am
 * (SOURCES_C). It is found by `kind` and `format` of its section in the configuration.
 *
 * Billing formats only map a decoded record to a `struct bill_row`: opening, decoding, totalling,
 * rejecting, copying and replacing the slice are written once, in ingest/billing.c.
 * Telemetry sources ask and add hours to a `struct rollup`; ingest/telemetry.c copies them.
 * The small sources (tracker, inventory, binding, prices, model, fx) replace all their rows in one
 * transaction through ingest/dimension.h.
 */
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "common/progress.h"
#include "common/settings.h"

enum source_kind {
    SOURCE_BILLING,
    SOURCE_TELEMETRY,
    SOURCE_SCHEDULER,
    SOURCE_TRACKER,
    SOURCE_INVENTORY,
    SOURCE_BINDING,
    SOURCE_PRICES,
    SOURCE_MODEL,
    SOURCE_FX,
};

struct source_counts {
    uint64_t read, kept, totalled, rejected, objects, unchanged; /* unchanged: objects already in */
};

struct source_run {
    struct settings *settings;
    const struct section *section;
    struct db *db;              /* a connection of its own, no transaction open */
    struct arena *arena;        /* as long as the source runs */
    struct progress *progress;
    int source_id;              /* row of audit.source */
    struct source_counts counts;
};

struct bill_format; /* ingest/billing.h */

struct source {
    const char *format;         /* "focus": the value of format = */
    const char *title;          /* "FOCUS 1.0 to 1.2" */
    enum source_kind kind;
    const char *const *keys;    /* keys its section may hold beside format, NULL-ended */
    const struct bill_format *bill; /* billing only */
    const char *probe;          /* NULL, or what doctor asks for beneath url: answered only to who may come in */
    /* NULL, or does more for doctor than a probe: looks at a live server, says in finding what it has
     * for the window. run has no db. */
    bool (*examine)(struct source_run *run, struct buf *finding, struct error *err);
    /* Loads what overlaps run->settings->window. Every other kind. */
    bool (*ingest)(struct source_run *run, struct error *err);
};

extern const struct source *const sources[]; /* written from SOURCES_C; NULL-ended */

const char *source_kind_name(enum source_kind kind); /* "billing" */
bool source_is_section(const struct section *section); /* [billing x] is one, [mail] is not */
/* NULL and an error that names file, line and the formats there are. A kind with one format may leave it out. */
const struct source *source_find(const struct settings *settings, const struct section *section, struct error *err);

#endif
