/* Google's cells that hold arrays: credits, labels, tags. */
#include <config.h>

#include "ingest/bill_gcp.h"

#include <string.h>

#include <jansson.h>

#include "common/decimal.h"

/* ---------------------------------------------------------------- arrays */

/* A raw CSV cell has its quotes doubled: the first is followed by another, which no array of objects
 * has, since keys are not empty. */
static struct field
undoubled(struct arena *arena, struct field cell)
{
    const char *quote = cell.size ? memchr(cell.text, '"', cell.size) : NULL;
    char *into;
    size_t used = 0;

    if (!quote || quote + 1 >= cell.text + cell.size || quote[1] != '"')
        return cell;
    into = arena_alloc(arena, cell.size);
    for (size_t at = 0; at < cell.size; at++) {
        into[used++] = cell.text[at];
        at += cell.text[at] == '"' && at + 1 < cell.size && cell.text[at + 1] == '"';
    }
    return (struct field){into, used};
}

/* The next object of an array, taken off its front; false when there is none. */
static bool
next_object(struct field *rest, struct field *ret_object)
{
    bool in_string = false;
    size_t at = 0, from;

    while (at < rest->size && rest->text[at] != '{')
        at++;
    for (from = at; at < rest->size; at++) {
        char c = rest->text[at];

        if (in_string && c == '\\')
            at++;
        else if (c == '"')
            in_string = !in_string;
        else if (c == '}' && !in_string)
            break;
    }
    if (at >= rest->size)
        return false;
    *ret_object = (struct field){rest->text + from, at + 1 - from};
    *rest = (struct field){rest->text + at + 1, rest->size - at - 1};
    return true;
}

static bool
is_empty(struct field array)
{
    static const char blank[] = "[] \t\r\n";

    for (size_t i = 0; i < array.size; i++)
        if (!memchr(blank, array.text[i], sizeof blank - 1))
            return false;
    return true;
}

/* ---------------------------------------------------------------- credits */

struct field
gcp_negative(struct arena *arena, struct field number)
{
    if (!number.size)
        return number;
    if (number.text[0] == '-')
        return (struct field){number.text + 1, number.size - 1};
    number.text = arena_printf(arena, "-%.*s", (int)number.size, number.text[0] == '+' ? number.text + 1 : number.text);
    return (struct field){number.text, strlen(number.text)};
}

static bool
add_credit(struct arena *arena, struct field credit, struct gcp_credits *credits)
{
    struct field amount = bill_json_member(credit, "amount"), type = bill_json_member(credit, "type");

    if (!amount.size || !decimal_fits(amount.text, amount.size))
        return false;
    credits->all = bill_sum(arena, credits->all, amount);
    if (bill_is(type, "PROMOTION"))
        credits->promotion = bill_sum(arena, credits->promotion, amount);
    else if (bill_is(type, "COMMITTED_USAGE_DISCOUNT"))
        credits->used = bill_sum(arena, credits->used, amount);
    else if (bill_is(type, "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE"))
        credits->spent = bill_sum(arena, credits->spent, amount);
    else if (bill_is(type, "FEE_UTILIZATION_OFFSET"))
        credits->offsets_fee = true;
    return true;
}

bool
gcp_credits_read(struct arena *arena, struct field cell, struct gcp_credits *ret)
{
    static const struct field none = {"", 0};
    struct gcp_credits credits = {none, none, none, none, false};
    struct field rest, credit;

    if (is_empty(cell)) {
        *ret = credits;
        return true;
    }
    rest = undoubled(arena, cell);
    while (next_object(&rest, &credit))
        if (!add_credit(arena, credit, &credits))
            return false;
    if (!credits.all.size || !is_empty(rest) || (cell.text[0] == '[') != (cell.text[cell.size - 1] == ']'))
        return false; /* no array of objects, or one that is cut off */
    *ret = credits;
    return true;
}

/* ---------------------------------------------------------------- labels */

struct field
gcp_label(struct field labels, const char *key)
{
    struct field rest = labels, label;

    if (labels.size && labels.text[0] == '{')
        return bill_json_member(labels, key);
    while (next_object(&rest, &label))
        if (bill_is(bill_json_member(label, "key"), key))
            return bill_json_member(label, "value");
    return (struct field){"", 0};
}

static void
add_pair(json_t *tags, const char *key, json_t *value)
{
    if (key && *key && value && !json_is_null(value) && !json_object_get(tags, key))
        (void)json_object_set(tags, key, value);
}

static void
add_labels(json_t *tags, struct field labels)
{
    json_t *array = is_empty(labels) ? NULL : json_loadb(labels.text, labels.size, 0, NULL);
    size_t size = json_is_array(array) ? json_array_size(array) : 0;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < size; i++) {
        json_t *label = json_array_get(array, i);

        add_pair(tags, json_string_value(json_object_get(label, "key")), json_object_get(label, "value"));
    }
    if (json_is_object(array))
        json_object_foreach(array, key, value)
            add_pair(tags, key, value);
    json_decref(array);
}

const char *
gcp_tags(struct arena *arena, struct field labels, struct field tags, struct field project_labels)
{
    json_t *all = json_object();
    const char *ret = NULL;
    char *text;

    add_labels(all, labels);
    add_labels(all, tags);
    add_labels(all, project_labels);
    text = json_object_size(all) ? json_dumps(all, JSON_COMPACT) : NULL;
    if (text)
        ret = bill_json_object(arena, (struct field){text, strlen(text)});
    mem_free(text);
    json_decref(all);
    return ret;
}
