/*
 * Fuzzes records (CSV and JSON behind one interface): the bytes are a file, the first of them says
 * what is wanted. Besides what the sanitizers see: lines do not go back, a record is within the
 * file, what is decoded from JSON is UTF-8, and jansson agrees that a record taken is JSON.
 */
#include <config.h>

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/record.h"
#include "common/utf8.h"

enum { SLOTS = 6, GATHERED = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[SLOTS] = {"a", "b", "a.b", "c", "d", "a.c"};
static const char *const prefixes[] = {"t.", "a", NULL};

static void
check_text(struct field text)
{
    for (size_t at = 0, size; at < text.size; at += size) {
        size = utf8_size(text.text + at, text.size - at);
        if (!size)
            abort();
    }
}

/* Its own reader finds a record we took to be an object, but for a repeated key or a part that nobody
 * wants, where we only pass over text. */
static void
check_json(struct field raw)
{
    json_error_t error;
    json_t *json = json_loadb(raw.text, raw.size, 0, &error);

    if (!json && json_error_code(&error) != json_error_invalid_utf8 && json_error_code(&error) != json_error_invalid_syntax
        && json_error_code(&error) != json_error_numeric_overflow && json_error_code(&error) != json_error_null_character
        && json_error_code(&error) != json_error_null_byte_in_key && json_error_code(&error) != json_error_stack_overflow)
        abort();
    json_decref(json);
}

static void
want_all(struct record *record, unsigned what)
{
    int want[SLOTS];

    for (size_t i = 0; i < SLOTS; i++)
        want[i] = record_find(record, names[i]);
    record_want(record, want, SLOTS);
    for (size_t i = 0; i < SLOTS; i++)
        record_alias(record, i, names[i], 0);
    record_alias(record, 4, "e", 1);
    if (what & 1)
        record_gather(record, prefixes + (what >> 1 & 1), SLOTS, GATHERED);
}

static void
read_all(struct record *record, unsigned what, size_t size)
{
    struct field cell[SLOTS + GATHERED];
    struct error err = {0};
    enum csv_status status;
    uint64_t line = 0;

    want_all(record, what);
    while ((status = record_next(record, cell, &err)) <= CSV_BAD) {
        struct field raw = record_raw(record);

        if (record_line(record) < line || raw.size > size || (status == CSV_BAD && !record_reason(record)[0]))
            abort();
        line = record_line(record);
        for (size_t i = 0; status == CSV_RECORD && record_is_json(record) && i < SLOTS + record_gathered(record); i++)
            check_text(cell[i]);
        if (status == CSV_RECORD && record_is_json(record))
            check_json(raw);
    }
    if (status == CSV_ERROR && !err.text[0])
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    struct record record;
    struct stream *stream;
    struct error err = {0};
    char path[32];

    if (size < 1)
        return close(fd);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (stream_open(&stream, path, &err)) {
        if (record_open(&record, stream, 0, &err)) {
            read_all(&record, data[0], size + 1);
            record_close(&record);
        }
        stream_close(stream);
    }
    close(fd);
    return 0;
}
