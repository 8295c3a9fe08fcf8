/*
 * Fuzzes what formats make of records, without a database: the first byte chooses a format among
 * those that need nothing but the file, the rest is a bill, CSV or JSON. Its rows go through the same
 * steps as in billing_file.c. Money that comes out must be numbers, times must be in order, text must
 * end, tags must be an object.
 */
#include <config.h>

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log.h"
#include "ingest/billing_private.h"

enum { ROWS_MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena types_arena;
static struct gpu_types *types;

static const struct bill_format *
choose(unsigned number)
{
    const struct bill_format *found[32];
    size_t count = 0;

    for (size_t i = 0; sources[i] && count < 32; i++)
        if (sources[i]->bill && !sources[i]->bill->survey && strcmp(sources[i]->format, "csv"))
            found[count++] = sources[i]->bill;
    return found[number % count];
}

static void
check_text(const char *text)
{
    if (text && strlen(text) > BILL_TEXT_MOST)
        abort();
}

static void
check_item(const struct bill_item *item)
{
    json_t *tags = item->tags ? json_loads(item->tags, 0, NULL) : NULL;

    if (item->tags && !json_is_object(tags))
        abort();
    json_decref(tags);
    check_text(item->account_id);
    check_text(item->resource_id);
    check_text(item->region);
    check_text(item->description);
}

static void
check_charge(const struct bill_charge *charge)
{
    const struct field money[] = {charge->billed, charge->effective, charge->list, charge->aside, charge->unused};

    if (charge->to < charge->from)
        abort();
    for (size_t i = 0; i < sizeof money / sizeof *money; i++)
        if (money[i].size && !decimal_fits(money[i].text, money[i].size))
            abort();
    if (charge->quantity.size && !decimal_valid(charge->quantity.text, charge->quantity.size))
        abort();
}

static bool
decode(struct bill_reader *reader, size_t slot, struct field *ret)
{
    struct field raw = reader->raw[slot];

    if (!record_cell(&reader->record, raw, arena_alloc(&reader->scratch, raw.size + 1), ret))
        return false;
    *ret = csv_trim(*ret);
    if (ret->size == 4 && !memcmp(ret->text, "NULL", 4))
        *ret = (struct field){"", 0};
    return true;
}

static void
take_row(struct bill_reader *reader)
{
    const struct bill_format *format = reader->format;
    struct field cell[BILL_COLUMNS], hint = {"", 0};
    struct bill_class class = {0};
    struct bill_charge charge = {0};
    struct bill_item item = {0};
    int64_t start;

    for (size_t i = 0; i < format->count; i++) {
        if (!decode(reader, i, &cell[i]))
            return;
        reader->value[i] = format->columns[i].part == BILL_VALUE ? cell[i] : (struct field){"", 0};
    }
    for (size_t i = format->count; i < reader->slots; i++)
        if (!decode(reader, i, &reader->gathered[i - format->count].cell))
            return;
    reader->context.gathered = reader->gathered;
    reader->context.gathered_count = reader->slots - format->count;
    if (format->period_start(&reader->context, reader->value, &start))
        return;
    if (format->hint)
        hint = format->hint(reader->raw);
    if (format->classify(&reader->context, cell, hint, &class) || format->charge(&reader->context, &class, reader->value, &charge))
        return;
    check_text(class.provider);
    check_text(class.service);
    check_charge(&charge);
    format->describe(&reader->context, &class, cell, &item);
    check_item(&item);
}

static void
read_rows(struct bill_reader *reader)
{
    struct error err = {0};
    enum csv_status status;
    int rows = 0;

    while (rows++ < ROWS_MOST && (status = record_next(&reader->record, reader->raw, &err)) <= CSV_BAD) {
        if (reader->slots < reader->format->count + record_gathered(&reader->record))
            bill_header_grow(reader);
        if (status == CSV_RECORD)
            take_row(reader);
        arena_reset(&reader->scratch, (struct arena_mark){NULL, 0});
    }
}

static void
read_file(const struct bill_format *format, const char *path)
{
    static struct bill_reader reader;
    struct error err = {0};

    memset(&reader, 0, sizeof reader);
    reader.format = format;
    reader.context = (struct bill_context){.arena = &reader.scratch, .types = types, .path = path};
    if (!stream_open(&reader.stream, path, &err))
        return;
    if (record_open(&reader.record, reader.stream, format->delimiter, &err)) {
        if (record_columns(&reader.record) && bill_header_read(&reader, &err))
            read_rows(&reader);
        record_close(&reader.record);
    }
    stream_close(reader.stream);
    arena_free(&reader.scratch);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    char path[32];

    if (!types) {
        log_open(LOG_QUIET, false);
        types = gpu_types_new(&types_arena);
        gpu_types_add(types, "aws", "p5.48xlarge");
        gpu_types_add(types, "azure", "Standard_ND96isr_H100_v5");
        gpu_types_add(types, "gcp", "a3-highgpu-8g");
    }
    if (size < 1)
        return close(fd);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    read_file(choose(data[0]), path);
    close(fd);
    return 0;
}
