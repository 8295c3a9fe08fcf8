/* The two ways to a Prometheus: saved answers of a folder, and a live server. */
#ifndef INGEST_PROMETHEUS_H
#define INGEST_PROMETHEUS_H

#include "ingest/source.h"

bool prometheus_saved(struct source_run *run, struct error *err) MUST_CHECK;
bool prometheus_live(struct source_run *run, struct error *err) MUST_CHECK;
/* What a live server has for the window. */
bool prometheus_examine(struct source_run *run, struct buf *finding, struct error *err) MUST_CHECK;

#endif
