/*
 * The catalog: GPU models, instance types and public prices. Facts are shipped inside the program
 * (catalog/gpu_models.csv, gpu_instances.csv, gpu_prices.csv) and loaded with origin 'shipped' when
 * their hash changed; [prices NAME] sections load files of the same shape with origin 'user', which
 * win over shipped rows of the same key. A file's header says which of the three it is.
 */
#ifndef INGEST_CATALOG_H
#define INGEST_CATALOG_H

#include "common/arena.h"
#include "common/db.h"
#include "common/settings.h"
#include "ingest/table.h"

enum { CATALOG_TABLES = 3 };
extern const struct table *const catalog_tables[CATALOG_TABLES];

/* Brings the shipped rows up to this program. */
bool catalog_load(struct settings *settings, struct db *db, struct arena *arena,
                  struct error *err) MUST_CHECK;

#endif
