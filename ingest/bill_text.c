/* What mappers of bills share: reading cells. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "ingest/billing.h"

bool
bill_time(struct bill_clock *clock, struct field text, int64_t *ret_time)
{
    unsigned slot;
    int64_t time;

    for (unsigned i = 0; i < BILL_CLOCK; i++)
        if (text.size == clock->size[i] && text.size && !memcmp(text.text, clock->text[i], text.size)) {
            *ret_time = clock->time[i];
            return true;
        }
    if (!time_parse(text.text, text.size, &time))
        return false;
    *ret_time = time;
    if (text.size > sizeof clock->text[0])
        return true;
    slot = clock->next++ % BILL_CLOCK;
    memcpy(clock->text[slot], text.text, text.size);
    clock->size[slot] = text.size;
    clock->time[slot] = time;
    return true;
}

/* Cut where a character begins: names stand in indexes, which take no more than some kilobytes. */
const char *
bill_text(struct arena *arena, struct field field)
{
    size_t size = field.size;

    if (size > BILL_TEXT_MOST)
        for (size = BILL_TEXT_MOST; size && (field.text[size] & 0xC0) == 0x80;)
            size--;
    return arena_strndup(arena, field.text, size);
}

bool
bill_is(struct field field, const char *word)
{
    return field.size == strlen(word) && !strncasecmp(field.text, word, field.size);
}

bool
bill_contains(struct field field, const char *lower)
{
    size_t size = strlen(lower);

    for (size_t at = 0; at + size <= field.size; at++)
        if ((field.text[at] | 0x20) == (*lower | 0x20) && !strncasecmp(field.text + at, lower, size))
            return true;
    return false;
}

/* ---------------------------------------------------------------- units */

enum { BLOCK_MOST = 10000 };

struct unit {
    const char *name;
    int seconds;
};

static const struct unit units[] = {
    {"hour", 3600}, {"hours", 3600}, {"hr", 3600},   {"hrs", 3600},  {"h", 3600},   {"instance hour", 3600},
    {"instance hours", 3600},        {"instance-hour", 3600},        {"instance-hours", 3600},
    {"vm hour", 3600},               {"vm hours", 3600},             {"node hour", 3600},
    {"node hours", 3600},            {"second", 1},  {"seconds", 1}, {"sec", 1},    {"secs", 1},
    {"s", 1},       {"minute", 60},  {"minutes", 60}, {"min", 60},   {"mins", 60},  {"day", 86400},
    {"days", 86400},    {"per hour", 3600},              {"instance per hour", 3600},   {"node per hour", 3600},
};

/* The number a unit begins with ("100 Hours"), taken off it; 1 without one, 0 when it is too large. */
static int
leading_number(struct field *unit)
{
    int number = 0;

    if (!unit->size || unit->text[0] < '0' || unit->text[0] > '9')
        return 1;
    while (unit->size && unit->text[0] >= '0' && unit->text[0] <= '9') {
        if (number <= BLOCK_MOST)
            number = number * 10 + (unit->text[0] - '0');
        unit->text++;
        unit->size--;
    }
    *unit = csv_trim(*unit);
    return number <= BLOCK_MOST ? number : 0;
}

int
bill_unit_seconds(struct field unit, bool *ret_gpu_time)
{
    static const char *const gpu[] = {"gpu-", "gpu ", "gpu_"};
    int number;
    bool gpu_time = false;

    unit = csv_trim(unit);
    number = leading_number(&unit);
    for (int i = 0; i < 3; i++)
        if (unit.size > 4 && !strncasecmp(unit.text, gpu[i], 4)) {
            unit = (struct field){unit.text + 4, unit.size - 4};
            gpu_time = true;
        }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (bill_is(unit, units[i].name)) {
            *ret_gpu_time = gpu_time;
            return units[i].seconds * number;
        }
    *ret_gpu_time = false;
    return 0;
}

/* ---------------------------------------------------------------- JSON cells */

/* The string that begins at the quote at *at, which moves behind it. */
static struct field
quoted(struct field json, size_t *at)
{
    size_t start = ++*at;

    while (*at < json.size && json.text[*at] != '"')
        *at += json.text[*at] == '\\' ? 2 : 1;
    if (*at >= json.size) {
        *at = json.size;
        return (struct field){"", 0};
    }
    return (struct field){json.text + start, (*at)++ - start};
}

static void
blanks(struct field json, size_t *at)
{
    while (*at < json.size && strchr(" \t\r\n", json.text[*at]) && json.text[*at])
        (*at)++;
}

static struct field
value(struct field json, size_t at)
{
    size_t start = at;

    if (at < json.size && json.text[at] == '"')
        return quoted(json, &at);
    while (at < json.size && !strchr(",}] \t\r\n", json.text[at]))
        at++;
    return (struct field){json.text + start, at - start};
}

struct field
bill_json_member(struct field json, const char *key)
{
    size_t at = 0;

    while (at < json.size) {
        struct field name;

        if (json.text[at] != '"') {
            at++;
            continue;
        }
        name = quoted(json, &at);
        blanks(json, &at);
        if (at >= json.size || json.text[at] != ':')
            continue;
        at++;
        blanks(json, &at);
        if (bill_is(name, key))
            return value(json, at);
        if (at < json.size && json.text[at] == '"')
            (void)quoted(json, &at);
    }
    return (struct field){"", 0};
}

static bool
is_object(const char *text, size_t size)
{
    json_t *json = json_loadb(text, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    bool yes = json_is_object(json) && json_object_size(json);

    json_decref(json);
    return yes;
}

/* The same JSON with each string cut at BILL_TEXT_MOST bytes, escapes whole. */
static const char *
shortened(struct arena *arena, struct field json)
{
    char *into = arena_alloc(arena, json.size + 1);
    size_t used = 0, length = 0, step;
    bool in_string = false;

    for (size_t at = 0; at < json.size; at += step) {
        const char *c = json.text + at;

        step = in_string && *c == '\\' && at + 1 < json.size ? (c[1] == 'u' ? 6 : 2) : 1;
        step = step < json.size - at ? step : json.size - at;
        if (step == 1 && *c == '"') {
            in_string = !in_string;
            length = 0;
        } else if (in_string) {
            length += step;
        }
        if (length <= BILL_TEXT_MOST) {
            memcpy(into + used, c, step);
            used += step;
        }
    }
    into[used] = '\0';
    return into;
}

const char *
bill_json_object(struct arena *arena, struct field json)
{
    const char *text;

    if (!json.size)
        return NULL;
    if (json.text[0] == '{')
        return is_object(json.text, json.size) ? shortened(arena, json) : NULL;
    text = arena_printf(arena, "{%.*s}", (int)(json.size < 1 << 20 ? json.size : 0), json.text);
    return is_object(text, strlen(text)) ? shortened(arena, (struct field){text, strlen(text)}) : NULL;
}

/* ---------------------------------------------------------------- tags in columns of their own */

static json_t *
tag_value(struct field cell)
{
    size_t size = cell.size;

    if (size > BILL_TEXT_MOST)
        for (size = BILL_TEXT_MOST; size && (cell.text[size] & 0xC0) == 0x80;)
            size--;
    return json_stringn(cell.text, size); /* NULL when it is not UTF-8 */
}

const char *
bill_json_gathered(const struct bill_context *context, const char *base)
{
    json_t *object = base ? json_loads(base, 0, NULL) : NULL;
    const char *ret = NULL;
    char *text;

    if (!json_is_object(object)) {
        json_decref(object);
        object = json_object();
    }
    for (size_t i = 0; i < context->gathered_count; i++) {
        const struct bill_gathered *tag = &context->gathered[i];

        if (tag->cell.size && !json_object_get(object, tag->name))
            (void)json_object_set_new(object, tag->name, tag_value(tag->cell));
    }
    text = json_object_size(object) ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text)
        ret = arena_strdup(context->arena, text);
    mem_free(text);
    json_decref(object);
    return ret;
}

/* ---------------------------------------------------------------- sums within a row */

struct field
bill_sum(struct arena *arena, struct field a, struct field b)
{
    struct decimal_sum sum = {0};
    char text[DECIMAL_TEXT];

    if (!a.size || !b.size)
        return a.size ? a : b;
    (void)decimal_add(&sum, a.text, a.size);
    (void)decimal_add(&sum, b.text, b.size);
    decimal_format(&sum, text);
    return (struct field){arena_strdup(arena, text), strlen(text)};
}
