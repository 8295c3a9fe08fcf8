/* Azure's cells: dates, units, meters, commitments. */
#include <config.h>

#include "ingest/bill_azure.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "common/decimal.h"

/* ---------------------------------------------------------------- text */

static bool
any_of(struct field text, const char *const *words)
{
    for (; *words; words++)
        if (bill_contains(text, *words))
            return true;
    return false;
}

/* A member of AdditionalInfo; null is nothing. */
static struct field
info(const struct field *cell, const char *key)
{
    struct field value = bill_json_member(cell[AZURE_INFO], key);

    return bill_is(value, "null") ? (struct field){"", 0} : value;
}

static bool
cut_tail(struct field *text, const char *tail)
{
    size_t size = strlen(tail);

    if (text->size <= size || !bill_is((struct field){text->text + text->size - size, size}, tail))
        return false;
    text->size -= size;
    return true;
}

bool
azure_is_spot(const struct field *cell)
{
    struct field meter = cell[AZURE_METER];

    return bill_is(cell[AZURE_PRICING], "Spot") || cut_tail(&meter, " Spot") || cut_tail(&meter, " Low Priority");
}

/* ---------------------------------------------------------------- units */

static struct field
without_number(struct field unit)
{
    while (unit.size && ((unit.text[0] >= '0' && unit.text[0] <= '9') || unit.text[0] == ' ')) {
        unit.text++;
        unit.size--;
    }
    return unit;
}

bool
azure_unit_is_hours(struct field unit)
{
    static const char *const words[] = {"hora", "horas", "heure", "heures", "stunde", "stunden", "ora", "ore", "uur",
                                        "小时", "小時", "時間", "시간", "час"};
    struct field name = without_number(unit);
    bool gpu_time;

    if (!unit.size || bill_unit_seconds(name, &gpu_time) == 3600)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bill_is(name, words[i]))
            return true;
    return false;
}

bool
azure_unit_is_one(struct field unit)
{
    struct field number = azure_block(unit);

    return !number.size || bill_is(number, "1");
}

struct field
azure_block(struct field unit)
{
    struct field name = without_number(unit);

    return csv_trim((struct field){unit.text, unit.size - name.size});
}

double
azure_number(struct field number)
{
    char text[64] = {0};

    if (!decimal_valid(number.text, number.size) || number.size >= sizeof text)
        return 0;
    memcpy(text, number.text, number.size);
    return strtod(text, NULL);
}

/* ---------------------------------------------------------------- dates */

/* The three numbers of 09/30/2023 or 30.09.2023; what follows a blank is a time of day. */
static bool
date_parts(struct field date, char mark, int part[3])
{
    const char *at = date.text, *end = date.text + date.size;

    for (int i = 0; i < 3; i++) {
        const char *from = at;

        part[i] = 0;
        while (at < end && *at >= '0' && *at <= '9' && at - from < 4)
            part[i] = part[i] * 10 + (*at++ - '0');
        if (at == from || (i < 2 && (at == end || *at++ != mark)))
            return false;
    }
    return at == end || *at == ' ';
}

enum azure_order
azure_order_of(struct field date)
{
    int part[3];

    if (!date_parts(date, '/', part) || (part[0] > 12) == (part[1] > 12))
        return AZURE_ORDER_UNKNOWN;
    return part[0] > 12 ? AZURE_DAY_FIRST : AZURE_MONTH_FIRST;
}

bool
azure_date(struct bill_clock *clock, enum azure_order order, struct field date, int64_t *ret_day)
{
    int part[3];
    bool is_dotted = date_parts(date, '.', part);
    bool is_day_first = is_dotted || order == AZURE_DAY_FIRST;
    char text[] = "0000-00-00";
    int64_t time;

    if (!is_dotted && !date_parts(date, '/', part)) {
        if (!bill_time(clock, date, &time))
            return false;
    } else {
        int number[] = {part[2], part[is_day_first], part[!is_day_first]};

        for (int i = 0, digits = 4, end = 4; i < 3; i++, digits = 2, end += 3)
            for (int k = 1, rest = number[i]; k <= digits; k++, rest /= 10)
                text[end - k] = (char)('0' + rest % 10);
        if (part[0] > 99 || part[1] > 99 || part[2] < 1900 || !bill_time(clock, (struct field){text, 10}, &time))
            return false;
    }
    *ret_day = time - time % DAY_SECONDS;
    return true;
}

/* ---------------------------------------------------------------- machines */

/* "NC24ads A100 v4 Spot" -> Standard_NC24ads_A100_v4. */
static struct field
type_of_meter(struct arena *arena, struct field meter)
{
    char *type;

    (void)(cut_tail(&meter, " Spot") || cut_tail(&meter, " Low Priority"));
    type = arena_printf(arena, "Standard_%.*s", (int)(meter.size < 100 ? meter.size : 0), meter.text);
    for (char *at = type; *at; at++)
        if (*at == ' ')
            *at = '_';
    return (struct field){type, strlen(type)};
}

static bool
is_gpu_type(const struct gpu_types *types, struct field type)
{
    return gpu_type_known(types, "azure", type) || gpu_type_family("azure", type);
}

/* A meter may name two sizes, "NC6 v3/NC6s v3": the first with GPUs, else the first. */
static struct field
meter_type(struct arena *arena, const struct gpu_types *types, struct field meter)
{
    struct field first = {"", 0};

    while (meter.size) {
        const char *slash = memchr(meter.text, '/', meter.size);
        size_t size = slash ? (size_t)(slash - meter.text) : meter.size;
        struct field type = type_of_meter(arena, csv_trim((struct field){meter.text, size}));

        if (is_gpu_type(types, type))
            return type;
        first = first.size ? first : type;
        meter = (struct field){meter.text + size + (slash != NULL), meter.size - size - (slash != NULL)};
    }
    return first;
}

/* "Reserved VM Instance, Standard_NC24ads_A100_v4, West Europe, 3 Years" */
static struct field
ordered_type(struct field name)
{
    static const char start[] = "standard_";

    for (size_t at = 0; at + sizeof start - 1 <= name.size; at++)
        if (!strncasecmp(name.text + at, start, sizeof start - 1)) {
            struct field type = {name.text + at, 0};

            while (at + type.size < name.size && !strchr(", ", name.text[at + type.size]))
                type.size++;
            return type;
        }
    return (struct field){"", 0};
}

static bool
is_machine(const struct field *cell, struct field usage)
{
    static const char *const licences[] = {"licen", "software", NULL};

    if (any_of(cell[AZURE_CATEGORY], licences) || bill_is(cell[AZURE_PUBLISHER_TYPE], "Marketplace"))
        return false;
    if (bill_is(cell[AZURE_CATEGORY], "Virtual Machines"))
        return !usage.size || bill_contains(usage, "compute");
    /* categories are translated, AdditionalInfo is not */
    return bill_is(cell[AZURE_CONSUMED_SERVICE], "Microsoft.Compute")
        && (bill_is(usage, "ComputeHR") || bill_is(usage, "ComputeCR"));
}

/* ---------------------------------------------------------------- commitments */

/* What stands behind "…Orders/" of a benefit's id, else all of it. */
static struct field
order_of(struct field benefit)
{
    static const char mark[] = "orders/";

    for (size_t at = 0; at + sizeof mark - 1 < benefit.size; at++)
        if (!strncasecmp(benefit.text + at, mark, sizeof mark - 1)) {
            struct field order = {benefit.text + at + sizeof mark - 1, 0};

            while (order.text + order.size < benefit.text + benefit.size && order.text[order.size] != '/')
                order.size++;
            return order.size ? order : benefit;
        }
    return benefit;
}

const char *
azure_commitment(struct arena *arena, const struct field *cell)
{
    bool is_reservation = bill_is(cell[AZURE_PRICING], "Reservation") || cell[AZURE_RESERVATION].size;
    struct field id = order_of(cell[AZURE_BENEFIT]);
    char *text;

    if (!id.size)
        id = info(cell, "ReservationOrderId");
    if (!id.size && is_reservation && cell[AZURE_ORDER].size)
        id = cell[AZURE_ORDER];
    if (!id.size)
        id = cell[AZURE_RESERVATION];
    text = (char *)(uintptr_t)bill_text(arena, id);
    for (char *at = text; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at |= 0x20;
    return text;
}

/* ---------------------------------------------------------------- rows */

static const char *
category(struct arena *arena, struct field type)
{
    static const struct {
        const char *word, *category;
    } words[] = {
        {"", "Usage"},         {"Usage", "Usage"},     {"UnusedReservation", "Usage"}, {"UnusedSavingsPlan", "Usage"},
        {"Purchase", "Purchase"}, {"Refund", "Refund"}, {"Tax", "Tax"},               {"Credit", "Credit"},
        {"RoundingAdjustment", "Adjustment"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bill_is(type, words[i].word))
            return words[i].category;
    return bill_text(arena, type);
}

void
azure_row_read(struct arena *arena, const struct gpu_types *types, const struct field *cell, struct azure_row *ret)
{
    struct field usage = info(cell, "UsageType");
    struct azure_row row = {.category = category(arena, cell[AZURE_CHARGE_TYPE]), .type = info(cell, "ServiceType")};
    bool is_reserved;

    row.is_plan = bill_contains(cell[AZURE_BENEFIT], "billingbenefits") || bill_is(cell[AZURE_PRICING], "SavingsPlan")
        || bill_is(cell[AZURE_CHARGE_TYPE], "UnusedSavingsPlan");
    is_reserved = bill_is(cell[AZURE_PRICING], "Reservation") || cell[AZURE_BENEFIT].size || cell[AZURE_RESERVATION].size;
    row.is_unused = bill_is(cell[AZURE_CHARGE_TYPE], "UnusedReservation") || bill_is(cell[AZURE_CHARGE_TYPE], "UnusedSavingsPlan");
    row.is_commitment = row.is_plan || row.is_unused || is_reserved;
    row.is_machine = is_machine(cell, usage);
    if (!row.type.size && row.is_commitment)
        row.type = ordered_type(cell[AZURE_ORDER_NAME]);
    if (!row.type.size && bill_is(cell[AZURE_CATEGORY], "Virtual Machines"))
        row.type = meter_type(arena, types, cell[AZURE_METER]);
    row.is_gpu = row.type.size && is_gpu_type(types, row.type);
    row.is_idle_capacity = bill_contains(cell[AZURE_RESOURCE], "/capacityreservationgroups/")
        && bill_contains(cell[AZURE_RESOURCE], "/capacityreservations/");
    *ret = row;
}

/* ---------------------------------------------------------------- names of files */

static bool
holds(const char *text, size_t size, const char *word)
{
    return bill_contains((struct field){text, size}, word);
}

enum azure_dataset
azure_dataset_of_name(const char *path)
{
    const char *end = path + strlen(path);

    while (end > path) {
        const char *slash = memrchr(path, '/', (size_t)(end - path));
        const char *from = slash ? slash + 1 : path;
        size_t size = (size_t)(end - from);
        bool is_actual = holds(from, size, "actual");
        bool is_amortized = holds(from, size, "amortized") || holds(from, size, "amortised");

        if (is_actual != is_amortized)
            return is_actual ? AZURE_ACTUAL : AZURE_AMORTIZED;
        end = slash ? slash : path;
    }
    return AZURE_UNKNOWN;
}
