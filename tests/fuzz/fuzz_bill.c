/*
 * Fuzzes what formats make of records, without a database. The first byte chooses the format, the
 * second what its section says (a map, a rate card, which cost, which date order); the rest is a
 * bill, CSV or JSON, or two of them with a byte 0x1e between. Every function of the format is called as
 * billing_file.c does: first all files are surveyed, then settled, then read. Money that comes out must be
 * numbers, times must be in order, what the database must have must be there, text must end, tags must
 * be an object.
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
#include "ingest/bill_aws.h"
#include "ingest/bill_azure.h"
#include "ingest/bill_focus.h"
#include "ingest/bill_gcp.h"
#include "ingest/billing_private.h"
#include "ingest/csv_map.h"

enum { ROWS_MOST = 24, FILES = 2, KEYS_MOST = 32, MAPS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena types_arena;
static struct gpu_types *types;
static char rates_path[32];

/* ---------------------------------------------------------------- sections */

/* Keys and values in turn; "*" is the rate card. */
static const char *const maps[MAPS][2 * KEYS_MOST] = {
    {"column.from", "Start", "column.to", "End", "column.cost", "Amount", "column.quantity", "Hours", "unit", "gpu-hours",
     "provider", "runpod", "currency", "USD", "column.gpu-type", "GPU", "column.gpus", "Count", "column.tags", "Tags",
     "column.tags.team", "Team", "column.category", "Kind", "column.resource", "Pod", "column.effective-cost", "Effective",
     "column.list-cost", "List"},
    {"column.period", "Month", "column.cost", "Amount", "column.quantity", "Amount used", "column.unit", "Unit", "delimiter",
     "semicolon", "decimal", ",", "thousands", ".", "time-format", "%d.%m.%Y %H:%M", "column.from", "Start", "span", "month",
     "column.provider", "Cloud", "column.currency", "Currency", "column.instance-type", "Type", "column.invoice", "Invoice",
     "column.pricing", "Plan"},
    {"column.from", "Start", "column.duration", "Milliseconds", "duration-unit", "milliseconds", "rate-card", "*",
     "column.sku", "Sku", "provider", "lambda", "column.gpu-type", "GPU", "column.gpus", "Count", "column.region", "Region"},
    {"column.from", "Start", "column.to", "End", "time-format", "unix-ms", "delimiter", "tab", "rate-card", "*", "column.cost",
     "Amount", "provider", "coreweave", "gpu-type", "H100", "gpus", "8", "thousands", "blank", "column.commitment", "Contract",
     "column.category", "Kind"},
    {"column.period", "Month", "column.from", "Day", "span", "day", "column.cost", "Amount", "provider", "nebius", "currency",
     "EUR", "column.quantity", "Hours", "unit", "hours", "column.instance-type", "Type", "column.service", "Service",
     "time-format", "%b %d %y %I:%M %p %z", "rate-card", "*"},
};

static const char rates[] = "provider,sku,region,unit,price,currency,valid_from,valid_to,source\n"
                            "lambda,gpu_8x_h100,,hours,23.92,USD,2026-01-01,2026-07-15,list\n"
                            ",H100,us-east,gpu-hours,2.99,USD,2026-01-01,,list\n"
                            ",H100,,GB,0.07,EUR,2026-01-01,,list\n";

static struct field
text_of(const char *text)
{
    return (struct field){text, strlen(text)};
}

/* A section that holds these keys, read by the program's own code. */
static struct source_run
make_run(struct arena *arena, const char *const *keys)
{
    static struct settings settings;
    struct section *section = arena_alloc(arena, sizeof *section);
    struct setting *all = arena_alloc(arena, KEYS_MOST * sizeof *all);

    settings = (struct settings){.arena = arena, .file = "fuzz.conf"};
    *section = (struct section){.kind = "billing", .name = "fuzz", .line = 1};
    for (size_t i = 0; keys[2 * i]; i++) {
        const char *value = strcmp(keys[2 * i + 1], "*") ? keys[2 * i + 1] : rates_path;

        all[i] = (struct setting){.key = keys[2 * i], .value = value, .line = 1, .origin = "fuzz.conf line 1",
                                  .next = section->settings};
        section->settings = &all[i];
    }
    return (struct source_run){.settings = &settings, .section = section, .arena = arena};
}

/* A zone whose clocks go forward in March and back in October. */
static struct time_zone *
make_zone(struct arena *arena)
{
    static const int64_t from[] = {INT64_MIN, 1774746000, 1792890000};
    static const int offset[] = {3600, 7200, 3600};

    return time_zone_new(arena, from, offset, 3);
}

/* As source_csv.c makes a format of a map. */
static void
set_csv(struct arena *arena, unsigned options, struct bill_format *format)
{
    struct bill_column *columns = arena_alloc(arena, BILL_COLUMNS * sizeof *columns);
    struct csv_map *map = arena_alloc(arena, sizeof *map);
    struct source_run run = make_run(arena, maps[options % MAPS]);
    struct error err = {0};

    if (!csv_map_read(&run, map, &err))
        abort();
    if (options / MAPS & 1)
        map->zone = make_zone(arena);
    for (int i = 0; i < CSV_COLUMNS; i++)
        columns[i] = (struct bill_column){{map->column[i]}, i < CSV_PROVIDER ? BILL_VALUE : i < CSV_ZONE ? BILL_CLASS : BILL_ITEM,
                                          false};
    for (size_t i = 0; i < map->tag_count; i++)
        columns[CSV_COLUMNS + i] = (struct bill_column){{map->tag_column[i]}, BILL_ITEM, false};
    format->columns = columns;
    format->count = CSV_COLUMNS + map->tag_count;
    format->period = map->column[CSV_PERIOD] ? CSV_PERIOD : CSV_FROM;
    format->state = map;
    format->delimiter = map->delimiter;
}

/* As source_focus.c does for a section with a rate card and columns of tags. */
static void
set_focus(struct arena *arena, unsigned options, struct bill_format *format)
{
    static const char *const keys[] = {"rate-card", "*", NULL, NULL};
    struct bill_column *columns = arena_alloc(arena, BILL_COLUMNS * sizeof *columns);
    struct focus_state *state = arena_alloc(arena, sizeof *state);
    struct source_run run = make_run(arena, keys);
    struct error err = {0};
    char sha256[65];

    if (!(options & 1))
        return;
    if (!rate_card_load(run.settings, run.section, arena, &state->rates, sha256, &err))
        abort();
    state->tag[0] = "team";
    state->tag_column[0] = "x_Team";
    state->tag_count = 1;
    memcpy(columns, format->columns, format->count * sizeof *columns);
    for (size_t i = 0; i < format->count; i++)
        columns[i].is_required = false;
    columns[FOCUS_SKU].part = columns[FOCUS_REGION].part = columns[FOCUS_REGION_NAME].part = BILL_CLASS;
    columns[format->count++] = (struct bill_column){{state->tag_column[0]}, BILL_ITEM, false};
    format->columns = columns;
    format->state = state;
}

static void
set_aws(struct arena *arena, unsigned options, struct bill_format *format)
{
    struct aws_state *state = arena_alloc(arena, sizeof *state);
    struct source_run *run = arena_alloc(arena, sizeof *run);

    run->arena = arena;
    state->is_gross = options & 1;
    state->seen = arena_alloc(arena, sizeof *state->seen);
    state->pods = aws_pods_new(run); /* which asks for the database after 4096 rows only */
    format->state = state;
}

static void
set_format(struct arena *arena, const uint8_t *data, struct bill_format *format)
{
    static const char *const names[] = {"focus", "aws-cur", "aws-cur2", "azure", "gcp", "csv"};
    const struct source *found = NULL;
    unsigned options = data[1];

    for (size_t i = 0; sources[i]; i++)
        if (sources[i]->bill && !strcmp(sources[i]->format, names[data[0] % 6]))
            found = sources[i];
    if (!found)
        abort();
    *format = *found->bill;
    if (!strcmp(found->format, "csv"))
        set_csv(arena, options, format);
    else if (!strcmp(found->format, "focus"))
        set_focus(arena, options, format);
    else if (!strcmp(found->format, "gcp"))
        format->state = format->notes = gcp_notes_new(arena);
    else if (!strcmp(found->format, "azure"))
        format->state = format->notes = azure_notes_new(arena, (enum azure_dataset)(options % 3),
                                                        (enum azure_order)(options / 3 % 3), options / 9 & 1 ? "USD" : NULL);
    else
        set_aws(arena, options, format);
}

/* ---------------------------------------------------------------- what comes out */

static void
fail(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text ? text : "(null)");
    abort();
}

static void
check_text(const char *text)
{
    if (text && strlen(text) > BILL_TEXT_MOST)
        fail("text without an end", text);
}

static void
check_class(const struct bill_class *class)
{
    const char *const always[] = {class->provider,      class->service,           class->charge_category, class->charge_class,
                                  class->commitment_id, class->commitment_status, class->currency,        class->pricing,
                                  class->instance_type, class->gpu_count};

    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        if (!always[i])
            abort();
        check_text(always[i]);
    }
    if (!*class->provider || !*class->currency || class->unit_seconds < 0)
        abort();
}

static void
check_item(const struct bill_item *item)
{
    const char *const texts[] = {item->account_id,   item->account_name,    item->resource_id,     item->resource_name,
                                 item->region,       item->zone,            item->sku,             item->description,
                                 item->charge_frequency, item->commitment_name, item->commitment_type, item->invoice_id};
    json_t *tags = item->tags ? json_loads(item->tags, 0, NULL) : NULL;

    if (item->tags && !json_is_object(tags))
        fail("tags are no object", item->tags);
    if (!item->resource_key)
        fail("no resource", item->resource_id);
    json_decref(tags);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(texts[i]);
}

static void
check_charge(const struct bill_charge *charge)
{
    const struct field money[] = {charge->billed, charge->effective, charge->list, charge->aside, charge->unused};

    if (charge->to < charge->from || charge->unit_seconds < 0)
        abort();
    for (size_t i = 0; i < sizeof money / sizeof *money; i++)
        if (money[i].size && !decimal_fits(money[i].text, money[i].size))
            abort();
    if (charge->quantity.size && !decimal_valid(charge->quantity.text, charge->quantity.size))
        abort();
    if (charge->unused_quantity.size && !decimal_valid(charge->unused_quantity.text, charge->unused_quantity.size))
        abort();
}

/* ---------------------------------------------------------------- rows */

static struct field
or_nothing(struct field cell)
{
    cell = csv_trim(cell);
    return cell.size == 4 && !memcmp(cell.text, "NULL", 4) ? (struct field){"", 0} : cell;
}

static bool
decode(struct bill_reader *reader, size_t slot, struct field *ret)
{
    struct field raw = reader->raw[slot];

    if (!record_cell(&reader->record, raw, arena_alloc(&reader->scratch, raw.size + 1), ret))
        return false;
    *ret = or_nothing(*ret);
    return true;
}

/* Values have but the quotes around them taken off. */
static struct field
value_of(const struct bill_reader *reader, struct field raw)
{
    if (raw.size >= 2 && raw.text[0] == '"' && raw.text[raw.size - 1] == '"' && !record_is_json(&reader->record))
        raw = (struct field){raw.text + 1, raw.size - 2};
    return or_nothing(raw);
}

static bool
decode_row(struct bill_reader *reader, struct field *cell)
{
    const struct bill_format *format = reader->format;

    for (size_t i = 0; i < format->count; i++) {
        bool is_value = format->columns[i].part == BILL_VALUE;

        reader->value[i] = is_value ? value_of(reader, reader->raw[i]) : (struct field){"", 0};
        cell[i] = reader->value[i];
        if (!is_value && !decode(reader, i, &cell[i]))
            return false;
    }
    for (size_t i = format->count; i < reader->slots; i++)
        if (!decode(reader, i, &reader->gathered[i - format->count].cell))
            return false;
    reader->context.gathered = reader->gathered;
    reader->context.gathered_count = reader->slots - format->count;
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

    if (!decode_row(reader, cell) || format->period_start(&reader->context, reader->value, &start))
        return;
    if (format->hint)
        hint = format->hint(reader->raw);
    if (format->classify(&reader->context, cell, hint, &class))
        return;
    check_class(&class);
    if (format->charge(&reader->context, &class, reader->value, &charge))
        return;
    check_charge(&charge);
    if (class.role == BILL_OTHER || charge.role == BILL_OTHER)
        return;
    format->describe(&reader->context, &class, cell, &item);
    check_item(&item);
}

static void
read_rows(struct bill_reader *reader, bool is_survey)
{
    struct error err = {0};
    enum csv_status status;
    int rows = 0;

    while (rows++ < ROWS_MOST && (status = record_next(&reader->record, reader->raw, &err)) <= CSV_BAD) {
        reader->context.is_plain = record_is_json(&reader->record);
        if (reader->slots < reader->format->count + record_gathered(&reader->record))
            bill_header_grow(reader);
        if (status == CSV_RECORD && is_survey)
            reader->format->survey(reader->format->notes, &reader->context, reader->raw);
        else if (status == CSV_RECORD)
            take_row(reader);
        arena_reset(&reader->scratch, (struct arena_mark){NULL, 0});
    }
}

/* ---------------------------------------------------------------- files */

static void
read_file(const struct bill_format *format, size_t object, const char *path, bool is_survey)
{
    static const char *const names[FILES] = {"export/actual/part_0.csv", "export/amortized/part_0.csv"};
    static struct bill_reader reader;
    struct error err = {0};

    memset(&reader, 0, sizeof reader);
    reader.format = format;
    reader.context = (struct bill_context){.arena = &reader.scratch, .types = types, .state = format->state, .object = object,
                                           .path = names[object], .delivery_type = object ? "AmortizedCost" : NULL};
    if (!stream_open(&reader.stream, path, &err))
        return;
    if (record_open(&reader.record, reader.stream, format->delimiter, &err)) {
        if (record_columns(&reader.record) && bill_header_read(&reader, &err))
            read_rows(&reader, is_survey);
        record_close(&reader.record);
    }
    stream_close(reader.stream);
    arena_free(&reader.scratch);
}

static void
read_files(const struct bill_format *format, char path[FILES][32], size_t count)
{
    struct error err = {0};
    bool is_good[FILES] = {true, true};

    for (size_t i = 0; i < count && format->survey; i++)
        read_file(format, i, path[i], true);
    for (size_t i = 0; i < count && format->settle; i++) {
        is_good[i] = format->settle(format->notes, i, path[i], &err);
        if (!is_good[i] && !err.text[0])
            abort();
    }
    for (size_t i = 0; i < count; i++)
        if (is_good[i])
            read_file(format, i, path[i], false);
}

static int
make_file(const uint8_t *data, size_t size, char path[32])
{
    int fd = memfd_create("fuzz", 0);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, 32, "/dev/fd/%d", fd);
    return fd;
}

static void
begin(void)
{
    log_open(LOG_QUIET, false);
    bill_key_begin();
    types = gpu_types_new(&types_arena);
    gpu_types_add(types, "aws", "p5.48xlarge");
    gpu_types_add(types, "azure", "Standard_ND96isr_H100_v5");
    gpu_types_add(types, "gcp", "a3-highgpu-8g");
    gpu_types_add(types, "lambda", "gpu_8x_h100");
    (void)make_file((const uint8_t *)rates, sizeof rates - 1, rates_path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct bill_format format;
    char path[FILES][32];
    int fd[FILES];
    const uint8_t *second;
    struct error err = {0};

    if (!types)
        begin();
    if (size < 2)
        return 0;
    second = memchr(data + 2, 0x1e, size - 2);
    fd[0] = make_file(data + 2, second ? (size_t)(second - data) - 2 : size - 2, path[0]);
    fd[1] = make_file(second ? second + 1 : data, second ? (size_t)(data + size - second) - 1 : 0, path[1]);
    set_format(&arena, data, &format);
    read_files(&format, path, second ? 2 : 1);
    if (format.sealed)
        aws_pods_end(((const struct aws_state *)format.state)->pods, &err);
    close(fd[0]);
    close(fd[1]);
    arena_free(&arena);
    return 0;
}
