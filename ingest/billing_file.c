/* One file: its header, its rows, and what earlier rows say about them. */
#include <config.h>

#include <string.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/billing_private.h"

enum { BATCH = 4096 };

const char *const bill_suffixes[] = {".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json",
                                     ".json.gz", ".parquet", NULL};

enum outcome { DONE, REJECT, FAILED };

/* ---------------------------------------------------------------- cells */

static struct field
value_of(const struct bill_reader *reader, struct field raw)
{
    if (raw.size >= 2 && raw.text[0] == '"' && raw.text[raw.size - 1] == '"' && !record_is_json(&reader->record))
        raw = (struct field){raw.text + 1, raw.size - 2};
    raw = csv_trim(raw);
    return raw.size == 4 && !memcmp(raw.text, "NULL", 4) ? (struct field){"", 0} : raw;
}

static bool
decode_cell(const struct bill_reader *reader, struct field raw, struct arena *arena, struct field *ret_cell)
{
    char *into = raw.size && raw.text[0] == '"' ? arena_alloc(arena, raw.size) : NULL;
    struct field cell;

    if (!record_cell(&reader->record, raw, into, &cell))
        return false;
    *ret_cell = csv_trim(cell);
    if (ret_cell->size == 4 && !memcmp(ret_cell->text, "NULL", 4))
        *ret_cell = (struct field){"", 0};
    return true;
}

/* The cells of gathered columns, for describe(). */
static const char *
decode_gathered(struct bill_reader *reader, struct arena *arena)
{
    size_t first = reader->format->count;

    for (size_t i = 0; first + i < reader->slots; i++)
        if (!decode_cell(reader, reader->raw[first + i], arena, &reader->gathered[i].cell))
            return arena_printf(arena, "stray quote or NUL byte in %s", reader->gathered[i].name);
    reader->context.gathered = reader->gathered;
    reader->context.gathered_count = reader->slots - first;
    return NULL;
}

/* All cells but values, decoded into arena; NULL, or why the row is no good. */
static const char *
decode(struct bill_reader *reader, struct arena *arena, struct field *ret_cell)
{
    for (size_t i = 0; i < reader->format->count; i++) {
        if (reader->format->columns[i].part == BILL_VALUE)
            ret_cell[i] = reader->value[i];
        else if (!decode_cell(reader, reader->raw[i], arena, &ret_cell[i]))
            return arena_printf(arena, "stray quote or NUL byte in %s", reader->format->columns[i].names[0]);
    }
    return NULL;
}

static void
add_part(const struct bill_reader *reader, enum bill_part part, struct bill_key *key)
{
    const struct bill_range *range = reader->ranges[part - BILL_CLASS];

    for (size_t n = reader->range_count[part - BILL_CLASS]; n; n--, range++) {
        struct field first = reader->raw[range->first], last = reader->raw[range->last];

        bill_key_add(key, first.text, (size_t)(last.text + last.size - first.text));
    }
}

/* ---------------------------------------------------------------- classes */

static bool
find_total(struct bill_load_run *load, const struct bill_class *class, const char *category, uint32_t *ret_no,
           struct error *err)
{
    const char *text[] = {class->provider,      class->service,           category, class->charge_class,
                          class->commitment_id, class->commitment_status, class->currency};
    struct bill_key key = bill_key_new();
    const uint32_t *known;

    for (int i = 0; i < 7; i++)
        bill_key_add(&key, text[i], strlen(text[i]));
    known = bill_key_find(&load->total_keys, key);
    if (known) {
        *ret_no = *known;
        return true;
    }
    if (load->total_count == BILL_TOTALS_MOST) {
        error_set(err, ERR_INPUT, "more than %d services and commitments", BILL_TOTALS_MOST);
        return error_hint(err, "Check that the columns of the file hold what their names say.");
    }
    if (load->total_count == load->total_room) {
        struct bill_total_key *grown;

        load->total_room = load->total_room ? load->total_room * 2 : 64;
        grown = arena_alloc(load->arena, load->total_room * sizeof *grown);
        if (load->total_count)
            memcpy(grown, load->totals, load->total_count * sizeof *grown);
        load->totals = grown;
    }
    for (int i = 0; i < 7; i++)
        load->totals[load->total_count].text[i] = arena_strdup(load->arena, text[i]);
    *ret_no = load->total_count++;
    bill_key_put(&load->total_keys, load->arena, key, *ret_no);
    return true;
}

static void
forget_classes(struct bill_reader *reader)
{
    arena_free(&reader->class_arena);
    reader->classes = (struct bill_key_table){0};
    reader->class_count = 0;
    reader->class = arena_alloc(&reader->class_arena, BILL_CLASSES_MOST * sizeof *reader->class);
}

/* The class of the row, and the hash it goes by. */
static enum outcome
find_class(struct bill_reader *reader, struct bill_key *ret_key, const struct bill_class **ret_class, const char **reason,
           struct error *err)
{
    struct bill_key key = bill_key_new();
    struct field cell[BILL_COLUMNS], hint = {"", 0};
    const uint32_t *known;
    struct bill_class *class;

    add_part(reader, BILL_CLASS, &key);
    if (reader->format->hint) {
        hint = reader->format->hint(reader->raw);
        bill_key_add(&key, hint.text, hint.size);
    }
    *ret_key = key;
    known = bill_key_find(&reader->classes, key);
    if (known) {
        *ret_class = &reader->class[*known];
        return DONE;
    }
    if (reader->class_count == BILL_CLASSES_MOST)
        forget_classes(reader);
    reader->context.arena = &reader->class_arena;
    class = &reader->class[reader->class_count];
    *reason = decode(reader, &reader->scratch, cell);
    if (!*reason)
        *reason = reader->format->classify(&reader->context, cell, hint, class);
    if (*reason)
        return REJECT;
    if (!find_total(reader->load, class, class->charge_category, &class->total_no, err)
        || (class->aside_category && !find_total(reader->load, class, class->aside_category, &class->aside_no, err)))
        return FAILED;
    bill_key_put(&reader->classes, &reader->class_arena, key, reader->class_count++);
    *ret_class = class;
    return DONE;
}

/* ---------------------------------------------------------------- rows */

/* Sets reader->slice; false: the row has no readable period. */
static enum outcome
find_slice(struct bill_reader *reader, const char **reason, struct error *err)
{
    struct field text = reader->raw[reader->format->period];
    struct bill_slice *slice;
    int64_t start;

    if (reader->slice && text.size && text.size == reader->period_size && !memcmp(text.text, reader->period, text.size))
        return DONE;
    *reason = reader->format->period_start(&reader->context, reader->value, &start);
    if (*reason)
        return REJECT;
    if (!bill_slice_find(reader->load, start, &slice, err)
        || !bill_slice_part(slice, reader->load->arena, reader->object, err))
        return FAILED;
    if (!slice->is_skipped && !slice->is_failed && !reader->load->only_open && !bill_slice_open(reader->load, slice, err))
        return FAILED;
    reader->slice = slice;
    reader->period_size = text.size < sizeof reader->period ? text.size : 0;
    memcpy(reader->period, text.text, reader->period_size);
    return DONE;
}

static enum outcome
keep(struct bill_reader *reader, struct bill_key key, const struct bill_class *class, const struct bill_charge *charge,
     const char **reason, struct error *err)
{
    struct bill_slice *slice = reader->slice;
    struct field cell[BILL_COLUMNS];
    struct bill_item item;
    const uint32_t *known;
    uint32_t no;
    char variant[] = {(char)('a' + charge->role), charge->unit_seconds == class->unit_seconds ? 'c' : 'p'};

    add_part(reader, BILL_ITEM, &key);
    bill_key_add(&key, variant, sizeof variant);
    if (charge->priced_by)
        bill_key_add(&key, charge->priced_by, strlen(charge->priced_by));
    known = bill_key_find(&slice->items, key);
    if (known)
        return bill_slice_charge(reader->load, slice, *known, record_line(&reader->record), charge, err) ? DONE : FAILED;
    reader->context.arena = &reader->scratch;
    *reason = decode(reader, &reader->scratch, cell);
    if (!*reason)
        *reason = decode_gathered(reader, &reader->scratch);
    if (*reason)
        return REJECT;
    reader->format->describe(&reader->context, class, cell, &item);
    if (!bill_slice_item(reader->load, slice, class, charge, &item, &no, err))
        return FAILED;
    if (slice->items.count == BILL_ITEMS_MOST) {
        arena_free(&slice->items_arena);
        slice->items = (struct bill_key_table){0};
    }
    bill_key_put(&slice->items, &slice->items_arena, key, no);
    return bill_slice_charge(reader->load, slice, no, record_line(&reader->record), charge, err) ? DONE : FAILED;
}

/* What a purchase paid for and nothing used. */
static enum outcome
keep_unused(struct bill_reader *reader, struct bill_key key, const struct bill_class *class,
            const struct bill_charge *charge, const char **reason, struct error *err)
{
    struct bill_charge unused = *charge;

    unused.role = BILL_COMMITMENT_UNUSED;
    unused.quantity = charge->unused_quantity;
    unused.billed = (struct field){"0", 1};
    unused.effective = charge->unused;
    unused.list = (struct field){"", 0};
    return keep(reader, key, class, &unused, reason, err);
}

static void
count_row(struct bill_reader *reader, const struct bill_class *class, const struct bill_charge *charge)
{
    struct bill_slice *slice = reader->slice;

    if (charge->role == BILL_OTHER)
        slice->load->totalled++;
    else
        slice->load->kept++;
    reader->load->without_hours += class->role == BILL_GPU_USE && charge->role == BILL_GPU_MONEY;
    if (class->aside_category && charge->aside.size)
        bill_slice_aside(reader->load, slice, class->aside_no, charge->aside);
    if (reader->has_invoice && value_of(reader, reader->raw[reader->format->invoice]).size)
        slice->invoiced++;
    else if (reader->has_invoice)
        slice->not_invoiced++;
    bill_period_note(slice, class, charge);
}

static enum outcome
take_row(struct bill_reader *reader, const char **reason, struct error *err)
{
    const struct bill_class *class = NULL;
    struct bill_charge charge;
    struct bill_key key;
    enum outcome outcome;

    for (size_t i = 0; i < reader->format->count; i++)
        if (reader->format->columns[i].part == BILL_VALUE)
            reader->value[i] = value_of(reader, reader->raw[i]);
    outcome = find_slice(reader, reason, err);
    if (outcome == DONE && !reader->slice->is_open)
        reader->slice->load->kept++; /* before the window, or in already: only counted */
    if (outcome != DONE || !reader->slice->is_open)
        return outcome;
    outcome = find_class(reader, &key, &class, reason, err);
    if (outcome != DONE)
        return outcome;
    reader->context.arena = &reader->scratch;
    *reason = reader->format->charge(&reader->context, class, reader->value, &charge);
    if (*reason)
        return REJECT;
    if (class->role == BILL_OTHER)
        charge.role = BILL_OTHER;
    if (charge.role == BILL_OTHER)
        bill_slice_total(reader->load, reader->slice, class->total_no, &charge);
    else
        outcome = keep(reader, key, class, &charge, reason, err);
    if (outcome == DONE && charge.role != BILL_OTHER && charge.unused.size)
        outcome = keep_unused(reader, key, class, &charge, reason, err);
    if (outcome == DONE)
        count_row(reader, class, &charge);
    return outcome;
}

static void
reject(struct bill_reader *reader, const char *reason)
{
    bool is_passed_over = reader->slice && reader->slice->is_skipped; /* then of what period this row is, nobody knows */
    struct bill_part_load *part = reader->slice && !is_passed_over ? reader->slice->load : &reader->early;

    bill_reject(reader->load, part, record_line(&reader->record), reason, record_raw(&reader->record));
}

static bool
batch_end(struct bill_reader *reader, struct error *err)
{
    struct bill_load_run *load = reader->load;

    progress_at(load->run->progress, load->done_bytes + stream_offset(reader->stream), load->total_bytes, "bytes");
    return interrupt_check(err);
}

/* A broken row that the file ends in, without a line end: what should follow it is missing too. */
static bool
cut_short(const struct bill_reader *reader, struct error *err)
{
    error_set(err, ERR_INPUT, "%s: the file is cut short in line %llu: %s", reader->load->objects[reader->object].path,
              (unsigned long long)record_line(&reader->record), record_reason(&reader->record));
    return error_hint(err, "Fetch the file again; if it is whole, end its last line with a line break.");
}

static bool
read_rows(struct bill_reader *reader, struct error *err)
{
    uint64_t *rows = &reader->load->objects[reader->object].rows;
    enum csv_status status;

    while ((status = record_next(&reader->record, reader->raw, err)) != CSV_END) {
        const char *reason = record_reason(&reader->record);
        enum outcome outcome = REJECT;

        if (status == CSV_ERROR)
            return false;
        if (status == CSV_BAD && record_is_cut(&reader->record))
            return cut_short(reader, err);
        if (reader->slots < reader->format->count + record_gathered(&reader->record))
            bill_header_grow(reader);
        if (status == CSV_RECORD)
            outcome = take_row(reader, &reason, err);
        if (outcome == FAILED)
            return false;
        if (outcome == REJECT)
            reject(reader, reason);
        if (reader->scratch.head)
            arena_reset(&reader->scratch, (struct arena_mark){NULL, 0});
        if (++*rows % BATCH == 0 && !batch_end(reader, err))
            return false;
    }
    return batch_end(reader, err);
}

/* The earliest period of the file that is not passed over, whatever of it is open in this reading. */
static const struct bill_slice *
first_slice(const struct bill_reader *reader)
{
    const struct bill_slice *first = NULL;

    for (const struct bill_slice *slice = reader->load->slices; slice; slice = slice->next)
        if (slice->load && slice->load->object == reader->object
            && (!first || (first->is_skipped && !slice->is_skipped)
                || (first->is_skipped == slice->is_skipped && slice->from < first->from)))
            first = slice;
    return first;
}

/* Rejects from before the first readable period, or among rows that are passed over, belong to the
 * first period of the file; a file of nothing else is no bill. */
static bool
settle_early(struct bill_reader *reader, struct error *err)
{
    const struct bill_slice *slice = first_slice(reader);
    struct bill_part_load *early = &reader->early, *part = slice ? slice->load : NULL;

    if (!early->rejected)
        return true;
    if (slice && slice->is_skipped)
        log_warning("%s: %llu rows rejected among those before the window, the first on line %llu: %s",
                    reader->load->objects[reader->object].path, (unsigned long long)early->rejected,
                    (unsigned long long)(early->first ? early->first->line : 0),
                    early->first ? early->first->reason : "unknown");
    if (!part) {
        error_set(err, ERR_INPUT, "no row can be used: %llu rejected, the first on line %llu: %s",
                  (unsigned long long)early->rejected, (unsigned long long)(early->first ? early->first->line : 0),
                  early->first ? early->first->reason : "unknown");
        return error_hint(err, "Check that the file is a %s bill.", reader->format->name);
    }
    *early->last = part->first;
    part->first = early->first;
    if (part->last == &part->first)
        part->last = early->last;
    part->rejected += early->rejected;
    return true;
}

/* ---------------------------------------------------------------- all of it */

static bool
read_opened(struct bill_reader *reader, struct error *err)
{
    if (!record_open(&reader->record, reader->stream, reader->format->delimiter, err))
        return false;
    if (record_columns(&reader->record) && (!bill_header_read(reader, err) || !read_rows(reader, err) || !settle_early(reader, err)))
        return false;
    return true;
}

bool
bill_file_read(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    struct bill_reader reader = {.load = load, .format = load->format, .object = number,
                                 .context = {.types = load->types, .state = load->format->state, .object = number,
                                             .path = object->path}};
    bool done;

    reader.early.last = &reader.early.first;
    object->is_read = true;
    if (!stream_open(&reader.stream, object->path, err))
        return false;
    stream_filter(reader.stream, (struct column_filter){bill_header_wants, reader.format});
    forget_classes(&reader);
    done = read_opened(&reader, err);
    if (done) {
        stream_sha256(reader.stream, object->sha256);
        object->size = stream_offset(reader.stream);
        object->content = record_content(&reader.record);
    } else if (err->code == ERR_INPUT && !strstr(err->text, object->path)) {
        error_context(err, "%s", object->path);
    }
    if (done && !object->rows)
        log_note("%s: no rows", object->path);
    if (done && *record_note(&reader.record))
        log_note("%s: %s", object->path, record_note(&reader.record));
    load->done_bytes += stream_offset(reader.stream);
    record_close(&reader.record);
    stream_close(reader.stream);
    arena_free(&reader.class_arena);
    arena_free(&reader.scratch);
    return done;
}

/* ---------------------------------------------------------------- looking through */

static bool
survey_opened(struct bill_reader *reader, struct error *err)
{
    enum csv_status status;
    uint64_t rows = 0;

    if (!record_open(&reader->record, reader->stream, reader->format->delimiter, err))
        return false;
    if (!record_columns(&reader->record))
        return true;
    if (!bill_header_read(reader, err))
        return false;
    while ((status = record_next(&reader->record, reader->raw, err)) != CSV_END) {
        if (status == CSV_ERROR)
            return false;
        reader->context.is_plain = record_is_json(&reader->record);
        if (status == CSV_RECORD)
            reader->format->survey(reader->format->notes, &reader->context, reader->raw);
        if (reader->scratch.head)
            arena_reset(&reader->scratch, (struct arena_mark){NULL, 0});
        if (++rows % BATCH == 0 && !interrupt_check(err))
            return false;
    }
    return true;
}

bool
bill_file_survey(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_reader reader = {.load = load, .format = load->format, .object = number,
                                 .context = {.types = load->types, .state = load->format->state, .object = number,
                                             .path = load->objects[number].path,
                                             .delivery_type = load->objects[number].delivery
                                                 ? load->objects[number].delivery->type : NULL}};
    bool done;

    if (!stream_open(&reader.stream, load->objects[number].path, err))
        return false;
    stream_filter(reader.stream, (struct column_filter){bill_header_wants, reader.format});
    reader.context.arena = &reader.scratch;
    done = survey_opened(&reader, err);
    record_close(&reader.record);
    stream_close(reader.stream);
    arena_free(&reader.scratch);
    return done;
}
