/*
 * The look through all files: which is an actual-cost and which an amortized export, in which order
 * a file writes day and month, which months and subscriptions stand in which export.
 */
#include <config.h>

#include "ingest/bill_azure.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "common/log.h"
#include "ingest/billing_private.h"

enum { HOURS_KEPT = 1000000 }; /* machines and days watched for more hours than a day has */

/* What one file shows. */
struct file {
    const char *path;
    bool is_seen;
    enum azure_dataset dataset, told; /* told: by its manifest */
    bool has_unused, has_share, has_purchase, has_free; /* rows that only one of the exports has */
    enum azure_order order;
    uint64_t no_currency;
};

/* A file's part in a month of a subscription. */
struct part {
    size_t object;
    int64_t month;
    struct bill_key subscription;
    uint64_t free_gpu_rows; /* GPU use that is covered and costs nothing */
    double plain;           /* money that both exports state alike: no commitment has to do with it */
    /* of all files, at the first amortized part: */
    double actual, amortized;
    bool has_actual;
};

struct azure_notes {
    struct arena *arena;
    enum azure_dataset dataset;
    enum azure_order order;
    const char *currency;
    bool is_settled;
    struct file *files;
    size_t file_room;
    struct part *parts;
    size_t part_count, part_room;
    struct bill_key_table part_keys, amortized, days;
    double *hours;
    size_t hour_count, long_days, blocks;
    const char *long_day;
};

struct azure_notes *
azure_notes_new(struct arena *arena, enum azure_dataset dataset, enum azure_order order, const char *currency)
{
    struct azure_notes *notes = arena_alloc(arena, sizeof *notes);

    *notes = (struct azure_notes){.arena = arena, .dataset = dataset, .order = order, .currency = currency};
    return notes;
}

const char *
azure_currency(const struct azure_notes *notes)
{
    return notes->currency;
}

static const struct file *
file_of(const struct azure_notes *notes, size_t object)
{
    static const struct file none;

    return object < notes->file_room ? &notes->files[object] : &none;
}

enum azure_dataset
azure_dataset(const struct azure_notes *notes, size_t object)
{
    return file_of(notes, object)->dataset;
}

enum azure_order
azure_order(const struct azure_notes *notes, size_t object)
{
    return notes->order ? notes->order : file_of(notes, object)->order;
}

/* ---------------------------------------------------------------- rows */

static enum azure_dataset
dataset_of_manifest(const char *type)
{
    if (!type)
        return AZURE_UNKNOWN;
    return !strcasecmp(type, "ActualCost") ? AZURE_ACTUAL : !strcasecmp(type, "AmortizedCost") ? AZURE_AMORTIZED : AZURE_UNKNOWN;
}

static struct file *
file_at(struct azure_notes *notes, const struct bill_context *context)
{
    if (context->object >= notes->file_room) {
        size_t room = notes->file_room ? notes->file_room * 2 : 16;
        struct file *grown;

        while (room <= context->object)
            room *= 2;
        grown = arena_alloc(notes->arena, room * sizeof *grown);
        memset(grown, 0, room * sizeof *grown);
        if (notes->file_room)
            memcpy(grown, notes->files, notes->file_room * sizeof *grown);
        notes->files = grown;
        notes->file_room = room;
    }
    if (!notes->files[context->object].is_seen) {
        notes->files[context->object].is_seen = true;
        notes->files[context->object].path = arena_strdup(notes->arena, context->path);
        notes->files[context->object].told = dataset_of_manifest(context->delivery_type);
    }
    return &notes->files[context->object];
}

static struct bill_key
part_key(struct field subscription, int64_t month, int64_t object)
{
    struct bill_key key = bill_key_new();
    char lower[64] = {0}; /* exports differ in case */

    for (size_t i = 0; i < subscription.size && i < sizeof lower; i++)
        lower[i] = subscription.text[i] | (subscription.text[i] >= 'A' && subscription.text[i] <= 'Z' ? 0x20 : 0);
    bill_key_add(&key, lower, sizeof lower);
    bill_key_add(&key, (const char *)&month, sizeof month);
    bill_key_add(&key, (const char *)&object, sizeof object);
    return key;
}

static struct part *
part_at(struct azure_notes *notes, size_t object, struct field subscription, int64_t month)
{
    struct bill_key key = part_key(subscription, month, (int64_t)object);
    const uint32_t *known = bill_key_find(&notes->part_keys, key);

    if (known)
        return &notes->parts[*known];
    if (notes->part_count == notes->part_room) {
        size_t room = notes->part_room ? notes->part_room * 2 : 64;
        struct part *grown = arena_alloc(notes->arena, room * sizeof *grown);

        if (notes->part_count)
            memcpy(grown, notes->parts, notes->part_count * sizeof *grown);
        notes->parts = grown;
        notes->part_room = room;
    }
    bill_key_put(&notes->part_keys, notes->arena, key, (uint32_t)notes->part_count);
    notes->parts[notes->part_count] = (struct part){.object = object, .month = month,
                                                     .subscription = part_key(subscription, month, -1)};
    return &notes->parts[notes->part_count++];
}

static void
note_order(struct file *file, struct field date)
{
    enum azure_order order = azure_order_of(date);

    if (order && file->order && file->order != order)
        file->order = AZURE_ORDER_BOTH;
    else if (order)
        file->order = order;
}

/* A machine cannot run more than 24 hours a day; a scale set is many machines under one id. */
static void
note_hours(struct azure_notes *notes, size_t object, const struct field *cell)
{
    struct bill_key key = part_key((struct field){"", 0}, 0, (int64_t)object);
    const uint32_t *known;
    double *hours, before;

    if (!cell[AZURE_RESOURCE].size || bill_contains(cell[AZURE_RESOURCE], "virtualmachinescalesets"))
        return;
    bill_key_add(&key, cell[AZURE_RESOURCE].text, cell[AZURE_RESOURCE].size);
    bill_key_add(&key, cell[AZURE_DATE].text, cell[AZURE_DATE].size);
    known = bill_key_find(&notes->days, key);
    if (!known) {
        if (notes->hour_count == HOURS_KEPT)
            return;
        if (!notes->hours)
            notes->hours = arena_alloc(notes->arena, HOURS_KEPT * sizeof *notes->hours);
        notes->hours[notes->hour_count] = 0;
        bill_key_put(&notes->days, notes->arena, key, (uint32_t)notes->hour_count++);
        known = bill_key_find(&notes->days, key);
    }
    hours = &notes->hours[*known];
    before = *hours;
    *hours += azure_number(cell[AZURE_QUANTITY]);
    if (before > 24.01 || *hours <= 24.01)
        return;
    if (!notes->long_days++)
        notes->long_day = arena_printf(notes->arena, "%.*s on %.*s", (int)cell[AZURE_RESOURCE].size, cell[AZURE_RESOURCE].text,
                                       (int)cell[AZURE_DATE].size, cell[AZURE_DATE].text);
}

/* The cost of so many hours at the price of one is what a quantity in blocks of them comes to. */
static void
note_blocks(struct azure_notes *notes, const struct field *cell)
{
    double hours = azure_number(azure_block(cell[AZURE_UNIT])), cost = azure_number(cell[AZURE_COST]), asked = azure_number(cell[AZURE_PRICE]) * azure_number(cell[AZURE_QUANTITY]);

    if (hours > 1 && asked > 0 && cost > asked * hours * 0.99 && cost < asked * hours * 1.01)
        notes->blocks++;
}

static void
note_row(struct azure_notes *notes, struct bill_context *context, const struct field *cell, struct file *file,
         struct part *part)
{
    struct azure_row row;
    int cost = decimal_sign(cell[AZURE_COST].text, cell[AZURE_COST].size);
    bool is_use;

    azure_row_read(context->arena, context->types, cell, &row);
    is_use = !strcmp(row.category, "Usage") && !row.is_unused;
    if (!row.is_commitment)
        part->plain += azure_number(cell[AZURE_COST]);
    if (row.is_unused)
        file->has_unused = true;
    else if (row.is_commitment && is_use && cost)
        file->has_share = true;
    else if (row.is_commitment && is_use && decimal_sign(cell[AZURE_QUANTITY].text, cell[AZURE_QUANTITY].size) > 0)
        file->has_free = true;
    else if (row.is_commitment && !strcmp(row.category, "Purchase") && cost)
        file->has_purchase = true;
    if (!row.is_gpu || !row.is_machine || !is_use)
        return;
    note_hours(notes, context->object, cell);
    note_blocks(notes, cell);
    if (row.is_commitment && !row.is_unused && !cost)
        part->free_gpu_rows++;
}

void
azure_survey(void *state, struct bill_context *context, const struct field *raw)
{
    struct azure_notes *notes = state;
    struct file *file = file_at(notes, context);
    struct field cell[AZURE_COLUMNS];
    struct field month;
    int64_t day;

    for (int i = 0; i < AZURE_COLUMNS; i++) {
        char *into = raw[i].size && raw[i].text[0] == '"' ? arena_alloc(context->arena, raw[i].size) : NULL;

        if (context->is_plain)
            cell[i] = raw[i];
        else if (!csv_decode(raw[i], into, &cell[i]))
            cell[i] = (struct field){"", 0};
        cell[i] = csv_trim(cell[i]);
        if (cell[i].size == 4 && !memcmp(cell[i].text, "NULL", 4))
            cell[i] = (struct field){"", 0};
    }
    note_order(file, cell[AZURE_PERIOD]);
    note_order(file, cell[AZURE_PERIOD_END]);
    note_order(file, cell[AZURE_DATE]);
    file->no_currency += !cell[AZURE_CURRENCY].size;
    month = cell[AZURE_PERIOD].size ? cell[AZURE_PERIOD] : cell[AZURE_DATE];
    /* of 01/09 and 09/01 nobody knows yet which it is; the rest of the file may tell, so the month is
     * taken as the file has proved it so far: period ends prove it in the first row */
    if (azure_date(&context->clock, azure_order(notes, context->object), month, &day))
        note_row(notes, context, cell, file, part_at(notes, context->object, cell[AZURE_SUBSCRIPTION], month_start(day)));
}

/* ---------------------------------------------------------------- which export it is */

static enum azure_dataset
dataset_of_rows(const struct file *file)
{
    bool is_amortized = file->has_unused || file->has_share;

    if (is_amortized && file->has_purchase)
        return AZURE_BOTH;
    return is_amortized ? AZURE_AMORTIZED : file->has_purchase ? AZURE_ACTUAL : AZURE_UNKNOWN;
}

static size_t
folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

/* Parts of one export lie in one folder: what the others are, where they are all the same. */
static enum azure_dataset
dataset_of_folder(const struct azure_notes *notes, const struct file *file)
{
    enum azure_dataset dataset = AZURE_UNKNOWN;

    for (size_t i = 0; i < notes->file_room; i++) {
        const struct file *other = &notes->files[i];

        if (!other->is_seen || !other->dataset || folder_size(other->path) != folder_size(file->path)
            || memcmp(other->path, file->path, folder_size(file->path)))
            continue;
        if (dataset && other->dataset != dataset)
            return AZURE_UNKNOWN;
        dataset = other->dataset;
    }
    return dataset;
}

static void
find_datasets(struct azure_notes *notes)
{
    enum azure_dataset *late = arena_alloc(notes->arena, (notes->file_room + 1) * sizeof *late);

    for (size_t i = 0; i < notes->file_room; i++) {
        struct file *file = &notes->files[i];

        if (!file->is_seen)
            continue;
        file->dataset = notes->dataset ? notes->dataset : file->told ? file->told : dataset_of_rows(file);
        if (!file->dataset)
            file->dataset = azure_dataset_of_name(file->path);
        if (!file->dataset && file->has_free)
            file->dataset = AZURE_ACTUAL;
    }
    for (size_t i = 0; i < notes->file_room; i++)
        late[i] = notes->files[i].is_seen && !notes->files[i].dataset ? dataset_of_folder(notes, &notes->files[i]) : AZURE_UNKNOWN;
    for (size_t i = 0; i < notes->file_room; i++)
        if (late[i] == AZURE_ACTUAL || late[i] == AZURE_AMORTIZED)
            notes->files[i].dataset = late[i];
}

/* ---------------------------------------------------------------- settling */

static bool
is_amortized_too(const struct azure_notes *notes, const struct part *part)
{
    return bill_key_find(&notes->amortized, part->subscription) != NULL;
}

/* Both exports of a subscription and month must be of the same days: what stands in both is then the same. */
static void
compare_exports(struct azure_notes *notes)
{
    for (size_t i = 0; i < notes->part_count; i++) {
        const struct part *part = &notes->parts[i];
        const uint32_t *first = bill_key_find(&notes->amortized, part->subscription);
        enum azure_dataset dataset = notes->files[part->object].dataset;

        if (first && dataset == AZURE_AMORTIZED)
            notes->parts[*first].amortized += part->plain;
        if (first && dataset == AZURE_ACTUAL) {
            notes->parts[*first].actual += part->plain;
            notes->parts[*first].has_actual = true;
        }
    }
}

/* Once, when all files have been seen. */
static void
settle_all(struct azure_notes *notes)
{
    bool has_actual = false, has_amortized = false;

    notes->is_settled = true;
    find_datasets(notes);
    for (size_t i = 0; i < notes->part_count; i++) {
        const struct part *part = &notes->parts[i];
        enum azure_dataset dataset = notes->files[part->object].dataset;

        has_actual |= dataset == AZURE_ACTUAL;
        has_amortized |= dataset == AZURE_AMORTIZED;
        if (dataset == AZURE_AMORTIZED && !is_amortized_too(notes, part))
            bill_key_put(&notes->amortized, notes->arena, part->subscription, (uint32_t)i);
    }
    compare_exports(notes);
    if (has_amortized && !has_actual)
        log_warning("only amortized exports: what the invoice asks for reservations and savings plans is not in them, so that "
                    "the billed cost is without it");
    if (notes->blocks)
        log_warning("%zu rows of GPU use cost so many times their price and quantity as their unit has hours: their quantity may "
                    "count blocks of hours, and is read as hours", notes->blocks);
    if (notes->long_days)
        log_warning("%zu days of a virtual machine have more than 24 hours, the first: %s", notes->long_days, notes->long_day);
}

/* GPU use of that month, of any file, that nobody prices. */
static uint64_t
priceless_rows(const struct azure_notes *notes, int64_t month)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < notes->part_count; i++)
        if (notes->parts[i].month == month && notes->files[notes->parts[i].object].dataset != AZURE_AMORTIZED
            && !is_amortized_too(notes, &notes->parts[i]))
            rows += notes->parts[i].free_gpu_rows;
    return rows;
}

/* Rounding apart. */
static bool
are_apart(const struct azure_notes *notes, const struct part *part)
{
    const uint32_t *first = bill_key_find(&notes->amortized, part->subscription);
    const struct part *both = first ? &notes->parts[*first] : NULL;
    double apart = both && both->has_actual ? fabs(both->actual - both->amortized) : 0;

    return apart > 0.01 && apart > 0.0001 * fabs(both->actual);
}

static bool
settle_part(const struct azure_notes *notes, const struct part *part, const char *path, struct error *err)
{
    uint64_t rows = priceless_rows(notes, part->month);
    char month[CALENDAR_TEXT];

    month_format(part->month, month);
    if (rows) {
        error_set(err, ERR_INPUT, "%s: %s has %llu rows of GPU use that a reservation or savings plan covers, and the "
                  "actual-cost export does not say what they cost", path, month, (unsigned long long)rows);
        return error_hint(err, "Put the amortized export of the same months beside the actual one.");
    }
    if (are_apart(notes, part)) {
        error_set(err, ERR_INPUT, "%s: the actual and the amortized export of %s do not agree on use that no commitment covers: they are "
                  "of different days", path, month);
        return error_hint(err, "Deliver both again, or take the older one away.");
    }
    if (notes->files[part->object].dataset == AZURE_UNKNOWN && is_amortized_too(notes, part)) {
        error_set(err, ERR_INPUT, "%s: nothing tells whether it belongs to the amortized export of %s or repeats it", path, month);
        return error_hint(err, "Let its name or its folder's hold \"actual\" or \"amortized\".");
    }
    return true;
}

bool
azure_settle(void *state, size_t object, const char *path, struct error *err)
{
    struct azure_notes *notes = state;
    const struct file *file;

    if (!notes->is_settled)
        settle_all(notes);
    file = file_of(notes, object);
    if (!file->is_seen)
        return true;
    if (file->dataset == AZURE_BOTH) {
        error_set(err, ERR_INPUT, "%s: holds purchases, as the actual-cost export does, and shares of them, as the amortized one does",
                  path);
        return error_hint(err, "Give the two exports as files of their own, or set dataset to the one it is.");
    }
    if (azure_order(notes, object) == AZURE_ORDER_BOTH) {
        error_set(err, ERR_INPUT, "%s: some dates begin with the day and others with the month", path);
        return error_hint(err, "Set date-order to day-first or month-first when the file is right so.");
    }
    if (file->no_currency && !notes->currency) {
        error_set(err, ERR_INPUT, "%s: %llu rows name no currency", path, (unsigned long long)file->no_currency);
        return error_hint(err, "Set currency in the section to the one the bill is in.");
    }
    for (size_t i = 0; i < notes->part_count; i++)
        if (notes->parts[i].object == object && !settle_part(notes, &notes->parts[i], path, err))
            return false;
    return true;
}

bool
azure_is_twice(const struct azure_notes *notes, size_t object, const struct azure_class *class, int64_t month)
{
    struct field subscription = {class->subscription, strlen(class->subscription)};
    enum azure_dataset dataset = azure_dataset(notes, object);

    if (dataset == AZURE_AMORTIZED && class->is_purchase) {
        for (size_t i = 0; i < notes->part_count; i++)
            if (notes->parts[i].month == month && notes->files[notes->parts[i].object].dataset == AZURE_ACTUAL)
                return true;
        return false;
    }
    return dataset == AZURE_ACTUAL && !class->is_purchase
        && bill_key_find(&notes->amortized, part_key(subscription, month, -1));
}
