/* What telemetry.c (slices) and telemetry_rows.c (rows) share. */
#ifndef INGEST_TELEMETRY_PRIVATE_H
#define INGEST_TELEMETRY_PRIVATE_H

#include "ingest/telemetry.h"

/* An identity that has a number but no row in gpu_series yet. */
struct telemetry_series {
    const char *identity[IDENTITY_COUNT]; /* live until the end of the pass */
    int series_no;
    struct telemetry_series *next;
};

/* Identities with a number, of a slice that is loaded part by part. */
struct series_map *series_map_open(struct arena *arena);
void series_map_close(struct series_map *map); /* NULL is fine */
/* The number of an identity; -1: none. */
int series_map_find(const struct series_map *map, const char *const identity[IDENTITY_COUNT]);
void series_map_add(struct series_map *map, const char *const identity[IDENTITY_COUNT],
                    int series_no);

/* Load rows of the objects and their rejects. */
bool telemetry_loads_write(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                           size_t count, struct error *err) MUST_CHECK;

#endif
