#include <config.h>

#include <string.h>

#include "common/csv.h"

bool
csv_decode(struct field raw, char *into, struct field *ret_field)
{
    const char *text = raw.text + 1, *end = raw.text + raw.size - 1, *quote;
    size_t size = 0;

    *ret_field = raw;
    if (!raw.size || raw.text[0] != '"')
        return true;
    if (raw.size < 2 || *end != '"')
        return false;
    *ret_field = (struct field){text, (size_t)(end - text)};
    while ((quote = memchr(text, '"', (size_t)(end - text)))) {
        size_t part = (size_t)(quote - text) + 1;

        if (quote + 1 == end || quote[1] != '"') {
            *ret_field = raw;
            return false;
        }
        memcpy(into + size, text, part);
        size += part;
        text = quote + 2;
    }
    if (size) {
        memcpy(into + size, text, (size_t)(end - text));
        *ret_field = (struct field){into, size + (size_t)(end - text)};
    }
    return true;
}

struct field
csv_trim(struct field field)
{
    while (field.size && (field.text[0] == ' ' || field.text[0] == '\t')) {
        field.text++;
        field.size--;
    }
    while (field.size && (field.text[field.size - 1] == ' ' || field.text[field.size - 1] == '\t'))
        field.size--;
    return field;
}
