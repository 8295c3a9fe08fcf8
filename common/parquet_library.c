/* DuckDB's library, found when it is needed: the program is built and runs without it. */
#include <config.h>

#include <dlfcn.h>
#include <stdio.h>

#include "common/parquet_private.h"

struct symbol {
    const char *name;
    size_t offset;
};

#define SYMBOL(member) {"duckdb_" #member, offsetof(struct duckdb, member)}

static const struct symbol symbols[] = {
    SYMBOL(create_config),
    SYMBOL(set_config),
    SYMBOL(open_ext),
    SYMBOL(connect),
    SYMBOL(query),
    SYMBOL(result_error),
    SYMBOL(destroy_result),
    SYMBOL(prepare),
    SYMBOL(prepare_error),
    SYMBOL(execute_prepared_streaming),
    SYMBOL(fetch_chunk),
    SYMBOL(destroy_data_chunk),
    SYMBOL(data_chunk_get_size),
    SYMBOL(data_chunk_get_vector),
    SYMBOL(vector_get_data),
    SYMBOL(vector_get_validity),
    SYMBOL(column_count),
    SYMBOL(column_name),
    SYMBOL(column_logical_type),
    SYMBOL(get_type_id),
    SYMBOL(struct_type_child_count),
    SYMBOL(struct_type_child_name),
    SYMBOL(struct_type_child_type),
    SYMBOL(destroy_logical_type),
    SYMBOL(free),
};

const char *
parquet_library_load(struct duckdb *duckdb, const char *path)
{
    static char problem[PARQUET_ERROR_BYTES];
    void *library = dlopen(*path ? path : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return problem;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(library, symbols[i].name);

        if (!found) {
            snprintf(problem, sizeof problem, "%s has no %s: it is not DuckDB, or too old", path, symbols[i].name);
            return problem;
        }
        *(void **)(void *)((char *)duckdb + symbols[i].offset) = found;
    }
    return NULL;
}
