/*
 * The process that reads a Parquet file and writes CSV. It is given the file and three pipes, and
 * nothing else: whatever a hostile file makes of the library, there is no secret and no other file.
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/parquet_private.h"

#define FILE_PATH "/proc/self/fd/3"

enum { WRITE_BYTES = 256 << 10, ADDRESS_MIB = 4096, STRING_INLINED = 12 };

struct reader {
    struct duckdb duckdb;
    void *connection;
    struct parquet_columns columns;
    char *wanted;             /* of each column */
    uint64_t rows, rows_total, size;
    char *out;
    size_t out_size, out_room;
};

static int
fail(int status, const char *text)
{
    char line[PARQUET_ERROR_BYTES];
    size_t size = (size_t)snprintf(line, sizeof line, "%s", text);
    ssize_t done = write(STDERR_FILENO, line, size < sizeof line ? size : sizeof line - 1);

    _exit(done < 0 ? EXIT_FAILURE : status);
}

static void
limit(int resource, rlim_t most)
{
    const struct rlimit limits = {most, most};

    if (setrlimit(resource, &limits))
        fail(PARQUET_EXIT_LIBRARY, "could not limit the reader");
}

static void
drop_everything(void)
{
    close_range(PARQUET_FILE + 1, ~0U, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0); /* it writes into pipes only */
    limit(RLIMIT_NOFILE, 32);
#ifndef ARENA_DEBUG /* a sanitizer has terabytes of addresses */
    limit(RLIMIT_AS, (rlim_t)ADDRESS_MIB << 20);
#endif
}

/* ---------------------------------------------------------------- the database */

static void
open_database(struct reader *reader)
{
    static const char *const options[][2] = {
        {"threads", "1"},
        {"memory_limit", "192MiB"},
        {"temp_directory", ""},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_community_extensions", "false"},
    };
    const struct duckdb *duckdb = &reader->duckdb;
    void *config = NULL, *database = NULL;
    char *message = NULL;

    if (duckdb->create_config(&config))
        fail(PARQUET_EXIT_LIBRARY, "DuckDB did not start");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (duckdb->set_config(config, options[i][0], options[i][1]))
            fail(PARQUET_EXIT_LIBRARY, "DuckDB does not know an option: it is too old or too new");
    if (duckdb->open_ext(NULL, &database, config, &message))
        fail(PARQUET_EXIT_LIBRARY, message ? message : "DuckDB did not start");
    if (duckdb->connect(database, &reader->connection))
        fail(PARQUET_EXIT_LIBRARY, "DuckDB did not start");
}

/* What the file may not make the library do. */
static void
lock_database(struct reader *reader)
{
    static const char *const statements[] = {
        "SET allowed_paths = ['" FILE_PATH "']",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    };

    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct duckdb_result result = {0};

        if (reader->duckdb.query(reader->connection, statements[i], &result))
            fail(PARQUET_EXIT_LIBRARY, reader->duckdb.result_error(&result));
        reader->duckdb.destroy_result(&result);
    }
}

static void
run(struct reader *reader, const char *sql, struct duckdb_result *result)
{
    const struct duckdb *duckdb = &reader->duckdb;
    void *statement = NULL;

    if (duckdb->prepare(reader->connection, sql, &statement))
        fail(PARQUET_EXIT_FILE, duckdb->prepare_error(statement));
    if (duckdb->execute_prepared_streaming(statement, result))
        fail(PARQUET_EXIT_FILE, duckdb->result_error(result));
}

/* For the position of the file, by which the parent shows how far this is. */
static uint64_t
count_rows(struct reader *reader)
{
    struct duckdb_result result = {0};
    uint64_t count = 0;
    void *chunk;

    run(reader, "SELECT CAST(sum(num_rows) AS UBIGINT) FROM parquet_file_metadata('" FILE_PATH "')", &result);
    chunk = reader->duckdb.fetch_chunk(result);
    if (chunk && reader->duckdb.data_chunk_get_size(chunk) == 1)
        memcpy(&count, reader->duckdb.vector_get_data(reader->duckdb.data_chunk_get_vector(chunk, 0)), sizeof count);
    if (chunk)
        reader->duckdb.destroy_data_chunk(&chunk);
    reader->duckdb.destroy_result(&result);
    return count;
}

/* ---------------------------------------------------------------- rows */

static void
flush(struct reader *reader)
{
    const char *text = reader->out;
    size_t left = reader->out_size;

    while (left) {
        ssize_t done = write(STDOUT_FILENO, text, left);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            _exit(EXIT_FAILURE); /* nobody reads any more */
        text += done;
        left -= (size_t)done;
    }
    reader->out_size = 0;
}

static void
reserve(struct reader *reader, size_t size)
{
    if (reader->out_size > WRITE_BYTES)
        flush(reader);
    if (reader->out_size + size <= reader->out_room)
        return;
    reader->out_room = reader->out_size + size + 2 * (size_t)WRITE_BYTES;
    reader->out = mem_resize(reader->out, reader->out_room, 1);
}

/* A row of the result, which has the wanted columns only. */
static void
put_row(struct reader *reader, const struct duckdb_string *const *data, uint64_t *const *valid, uint64_t row)
{
    uint32_t columns = reader->columns.count;

    for (uint32_t i = 0, at = 0; i < columns; i++) {
        uint32_t number = at;

        at += (uint32_t)reader->wanted[i];
        if (reader->wanted[i] && (!valid[number] || valid[number][row / 64] >> row % 64 & 1)) {
            const struct duckdb_string *cell = &data[number][row];
            const char *text = cell->size <= STRING_INLINED ? (const char *)cell + offsetof(struct duckdb_string, start)
                                                            : cell->text;

            reserve(reader, 2 * (size_t)cell->size + 3);
            reader->out_size += parquet_put_cell(reader->out + reader->out_size, text, cell->size);
        } else {
            reserve(reader, 1);
        }
        reader->out[reader->out_size++] = i + 1 < columns ? ',' : '\n';
    }
}

static void
put_chunk(struct reader *reader, void *chunk, const struct duckdb_string **data, uint64_t **valid, uint64_t columns)
{
    const struct duckdb *duckdb = &reader->duckdb;
    uint64_t rows = duckdb->data_chunk_get_size(chunk);

    for (uint64_t i = 0; i < columns; i++) {
        void *vector = duckdb->data_chunk_get_vector(chunk, i);

        data[i] = duckdb->vector_get_data(vector);
        valid[i] = duckdb->vector_get_validity(vector);
    }
    for (uint64_t row = 0; row < rows; row++)
        put_row(reader, data, valid, row);
    reader->rows += rows;
    if (reader->rows_total)
        (void)lseek(PARQUET_FILE, (off_t)((double)reader->size * (double)reader->rows / (double)reader->rows_total), SEEK_SET);
}

static void
put_rows(struct reader *reader, const char *sql)
{
    const struct duckdb *duckdb = &reader->duckdb;
    struct duckdb_result result = {0};
    const struct duckdb_string **data;
    uint64_t **valid, columns;
    const char *problem;
    void *chunk;

    run(reader, sql, &result);
    columns = duckdb->column_count(&result);
    data = mem_resize(NULL, columns, sizeof *data);
    valid = mem_resize(NULL, columns, sizeof *valid);
    while ((chunk = duckdb->fetch_chunk(result))) {
        if (!duckdb->data_chunk_get_size(chunk))
            break;
        put_chunk(reader, chunk, data, valid, columns);
        duckdb->destroy_data_chunk(&chunk);
    }
    problem = duckdb->result_error(&result);
    if (problem && *problem)
        fail(PARQUET_EXIT_FILE, problem);
    flush(reader);
    if (reader->rows != reader->rows_total)
        fail(PARQUET_EXIT_FILE, "it has fewer rows than it says");
}

/* ---------------------------------------------------------------- which columns */

static void
put_names(struct reader *reader)
{
    const uint32_t sizes[] = {reader->columns.count, (uint32_t)reader->columns.names.size};

    reserve(reader, sizeof sizes + reader->columns.names.size);
    memcpy(reader->out, sizes, sizeof sizes);
    memcpy(reader->out + sizeof sizes, reader->columns.names.data, reader->columns.names.size);
    reader->out_size = sizeof sizes + reader->columns.names.size;
    flush(reader);
}

static void
get_wanted(struct reader *reader)
{
    uint32_t count = reader->columns.count;

    reader->wanted = mem_resize(NULL, count, 1);
    for (uint32_t held = 0; held < count;) {
        ssize_t got = read(STDIN_FILENO, reader->wanted + held, count - held);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(EXIT_FAILURE); /* nobody reads any more */
        held += (uint32_t)got;
    }
}

/* ---------------------------------------------------------------- all of it */

int
parquet_child_run(char **argv)
{
    struct reader reader = {.rows = 0};
    struct buf sql = {0}, header = {0};
    const char *problem;
    struct stat about;

    drop_everything();
    problem = parquet_library_load(&reader.duckdb, argv[2]);
    if (problem)
        fail(PARQUET_EXIT_LIBRARY, problem);
    if (fstat(PARQUET_FILE, &about))
        fail(PARQUET_EXIT_FILE, "there is no file");
    reader.size = (uint64_t)about.st_size;
    open_database(&reader);
    lock_database(&reader);
    reader.rows_total = count_rows(&reader);
    problem = parquet_columns_read(&reader.duckdb, reader.connection, &reader.columns);
    if (problem)
        fail(PARQUET_EXIT_FILE, problem);
    put_names(&reader);
    get_wanted(&reader);
    parquet_columns_header(&reader.columns, &header);
    parquet_columns_sql(&reader.columns, reader.wanted, &sql);
    reserve(&reader, header.size);
    memcpy(reader.out, header.data, header.size);
    reader.out_size = header.size;
    put_rows(&reader, sql.data);
    _exit(EXIT_SUCCESS); /* without the library's own end, which is work for nothing */
}
