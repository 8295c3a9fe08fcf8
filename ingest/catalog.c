#include <config.h>

#include "ingest/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/asset.h"
#include "ingest/ingest.h"

static const struct table_column model_columns[] = {
    {"model", NULL, CELL_TEXT, true},
    {"family", NULL, CELL_TEXT, true},
    {"architecture", NULL, CELL_TEXT, false},
    {"memory_gib", NULL, CELL_NUMBER, false},
    {"dense_fp16_bf16_tflops", "dense_fp16_tflops", CELL_NUMBER, false},
    {"memory_bandwidth_gb_s", NULL, CELL_NUMBER, false},
    {"tdp_w", NULL, CELL_NUMBER, false},
    {"mig_slices_max", NULL, CELL_NUMBER, false},
    {"year", "release_year", CELL_NUMBER, false},
    {"note", NULL, CELL_TEXT, false},
};

static const struct table table_models = {
    .title = "GPU models",
    .columns = model_columns,
    .column_count = sizeof(model_columns) / sizeof(model_columns[0]),
    .stage = "sql/catalog_model_stage.sql",
    .copy_sql = "COPY stage_gpu_model (file_no, line, record, model, family, architecture, "
                "memory_gib, dense_fp16_tflops,"
                " memory_bandwidth_gb_s, tdp_w, mig_slices_max, release_year, note) FROM STDIN "
                "(FORMAT binary)",
    .refuse = "sql/catalog_model_refuse.sql",
    .replace = "sql/catalog_model_replace.sql",
};

static const struct table_column instance_columns[] = {
    {"provider", NULL, CELL_TEXT, true},          {"instance_type", NULL, CELL_TEXT, true},
    {"gpu_model", NULL, CELL_TEXT, true},         {"gpu_count", NULL, CELL_COUNT, true},
    {"gpu_memory_gib", NULL, CELL_NUMBER, false}, {"mig_capable", NULL, CELL_TEXT, false},
    {"vcpus", NULL, CELL_NUMBER, false},          {"memory_gib", NULL, CELL_NUMBER, false},
    {"sources_agreeing", NULL, CELL_TEXT, false}, {"note", NULL, CELL_TEXT, false},
};

static bool
provider_derive(const struct source_run *run, struct arena *arena, const struct field *cells,
                const char **ret_extra, char ret_reason[TABLE_REASON])
{
    (void)run;
    ret_extra[0] = provider_key(arena, cells[0].text, cells[0].size);
    if (!*ret_extra[0]) {
        snprintf(ret_reason, TABLE_REASON, "provider has neither letters nor digits");
        return false;
    }
    return true;
}

static const struct table table_instances = {
    .title = "instance types",
    .columns = instance_columns,
    .column_count = sizeof(instance_columns) / sizeof(instance_columns[0]),
    .extra_count = 1,
    .stage = "sql/catalog_instance_stage.sql",
    .copy_sql = "COPY stage_instance_type (file_no, line, record, given_provider, instance_type, "
                "gpu_model, gpu_count,"
                " gpu_memory_gib, mig_capable, vcpus, memory_gib, sources_agreeing, note, "
                "provider) FROM STDIN (FORMAT binary)",
    .refuse = "sql/catalog_instance_refuse.sql",
    .replace = "sql/catalog_instance_replace.sql",
    .derive = provider_derive,
};

static const struct table_column price_columns[] = {
    {"provider", NULL, CELL_TEXT, true},       {"region", NULL, CELL_TEXT, true},
    {"instance_type", NULL, CELL_TEXT, true},  {"pricing", NULL, CELL_TEXT, true},
    {"usd_per_hour", NULL, CELL_NUMBER, true}, {"as_of", NULL, CELL_DATE, false},
    {"source", "note", CELL_TEXT, false},
};

static const struct table table_prices = {
    .title = "prices",
    .columns = price_columns,
    .column_count = sizeof(price_columns) / sizeof(price_columns[0]),
    .extra_count = 1,
    .stage = "sql/catalog_price_stage.sql",
    .copy_sql = "COPY stage_price (file_no, line, record, given_provider, region, instance_type, "
                "pricing, usd_per_hour, as_of,"
                " note, provider) FROM STDIN (FORMAT binary)",
    .refuse = "sql/catalog_price_refuse.sql",
    .replace = "sql/catalog_price_replace.sql",
    .derive = provider_derive,
};

const struct table *const catalog_tables[CATALOG_TABLES] = {&table_models, &table_instances,
                                                            &table_prices};

/* ---------------------------------------------------------------- what is shipped */

static const char *const shipped[CATALOG_TABLES] = {
    "catalog/gpu_models.csv", "catalog/gpu_instances.csv", "catalog/gpu_prices.csv"};

/* An asset as something that stream_open can open: a file in memory, without a name elsewhere. */
static bool
asset_open(struct arena *arena, const char *name, int *ret_file, const char **ret_path,
           struct error *err)
{
    const char *text = asset_text(name);
    size_t size = strlen(text), done = 0;
    int file = memfd_create(name, MFD_CLOEXEC);

    while (file >= 0 && done < size) {
        ssize_t wrote = write(file, text + done, size - done);

        if (wrote < 0 && errno != EINTR) {
            break;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (file < 0 || done < size) {
        error_set(err, ERR_INPUT, "could not unpack %s: %s", name, strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    *ret_file = file;
    *ret_path = arena_printf(arena, "/proc/self/fd/%d", file);
    return true;
}

static bool
shipped_ingest(struct source_run *run, struct error *err)
{
    struct dimension dim;
    int files[CATALOG_TABLES] = {-1, -1, -1};
    bool is_unchanged = false;
    bool good = dimension_open(&dim, run, err);

    dim.origin = "shipped";
    for (size_t i = 0; good && i < CATALOG_TABLES; i++) {
        struct dimension_object *object = dimension_object_add(&dim, shipped[i]);

        good = asset_open(run->arena, shipped[i], &files[i], &object->path, err) &&
               dimension_hash(object, err);
    }
    good = good && dimension_unchanged(&dim, &is_unchanged, err) &&
           (is_unchanged || table_load(&dim, catalog_tables, CATALOG_TABLES, err));
    for (size_t i = 0; i < CATALOG_TABLES; i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    return good || error_context(err, "the shipped catalog");
}

bool
catalog_load(struct settings *settings, struct db *db, struct arena *arena, struct error *err)
{
    static const struct section section = {.kind = "catalog", .name = "shipped"};
    struct source_run run = {.settings = settings, .section = &section, .db = db, .arena = arena};

    return ingest_source_row(db, arena, "catalog", "shipped", "csv", "embedded", &run.source_id,
                             err) &&
           shipped_ingest(&run, err);
}
