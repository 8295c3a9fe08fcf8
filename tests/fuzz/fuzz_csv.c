/*
 * Fuzzes the CSV reader: clang -fsanitize=fuzzer,address. The bytes are a file; besides what the
 * sanitizers see, records must stay within the file and lines must not go back.
 */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/csv.h"

enum { FUZZ_COLUMNS = 8 };

static void
read_all(struct csv *csv, size_t size)
{
    struct field cell[FUZZ_COLUMNS];
    struct error err = {0};
    enum csv_status status;
    uint64_t line = 0;
    int want[FUZZ_COLUMNS];

    for (int i = 0; i < FUZZ_COLUMNS; i++)
        want[i] = i < (int)csv_columns(csv) ? i : -1;
    csv_want(csv, want, FUZZ_COLUMNS);
    while ((status = csv_next(csv, cell, &err)) == CSV_RECORD || status == CSV_BAD) {
        size_t sum = 0;

        if (csv_line(csv) <= line || csv_raw(csv).size > size)
            abort();
        line = csv_line(csv);
        for (int i = 0; status == CSV_RECORD && i < FUZZ_COLUMNS; i++)
            for (size_t at = 0; at < cell[i].size; at++)
                sum += (unsigned char)cell[i].text[at];
        if (sum > size * 255)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    char path[32];
    struct stream *stream;
    struct csv *csv;
    struct error err = {0};

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (stream_open(&stream, path, &err)) {
        if (csv_open(&csv, stream, &err)) {
            read_all(csv, size + 1);
            csv_close(csv);
        }
        stream_close(stream);
    }
    close(fd);
    return 0;
}
