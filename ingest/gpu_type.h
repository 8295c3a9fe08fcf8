/*
 * Which instance types have GPUs: the catalog as the database holds it, and, for types it does not
 * know yet, the families by name. A type that is known neither way is no GPU.
 */
#ifndef INGEST_GPU_TYPE_H
#define INGEST_GPU_TYPE_H

#include "common/arena.h"
#include "common/csv.h"
#include "common/db.h"

struct gpu_types;

bool gpu_types_load(struct gpu_types **ret_types, struct db *db, struct arena *arena, struct error *err) MUST_CHECK;
struct gpu_types *gpu_types_new(struct arena *arena);
void gpu_types_add(struct gpu_types *types, const char *provider, const char *instance_type);
bool gpu_types_empty(const struct gpu_types *types);
/* Without case. Of a provider the catalog does not know, a type of any provider will do. */
bool gpu_type_known(const struct gpu_types *types, const char *provider, struct field type);
/* Of a GPU family by its name: p5en.48xlarge, Standard_NC24ads_A100_v4, a3-megagpu-8g, gpu_8x_h100. */
bool gpu_type_family(const char *provider, struct field type);
/* The first word of a text that is known, else of a family; empty when there is none. */
struct field gpu_type_in(const struct gpu_types *types, const char *provider, struct field text);

#endif
