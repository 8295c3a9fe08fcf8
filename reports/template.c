#include <config.h>

#include "reports/template.h"

#include <string.h>

#include "common/asset.h"

static void
push(struct template_values *values, const char *name, const char *text, bool is_markup)
{
    struct template_value *value = arena_alloc(values->arena, sizeof *value);
    *value = (struct template_value){name, text, is_markup, values->first};
    values->first = value; /* a later value of a name hides an earlier one */
}

void
template_set(struct template_values *values, const char *name, const char *text)
{
    push(values, name, text, false);
}

void
template_set_markup(struct template_values *values, const char *name, const char *html)
{
    push(values, name, html, true);
}

void
template_set_facts(struct template_values *values, const struct facts *facts)
{
    for (int i = 0; i < facts->count; i++)
        push(values, facts->fact[i].name, facts_text(facts, values->arena, facts->fact[i].name),
             false);
}

static const struct template_value *
find(const struct template_values *values, const char *name, size_t size)
{
    const struct template_value *value = values->first;
    while (value != NULL && (strlen(value->name) != size || memcmp(value->name, name, size) != 0))
        value = value->next;
    return value;
}

static void
add_plain(struct buf *out, const char *text, enum template_kind kind)
{
    if (kind == TEMPLATE_HTML) {
        buf_html(out, text);
        return;
    }
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_kept =
            (c >= ' ' && c != 0x7F) || (kind == TEMPLATE_TEXT && (c == '\n' || c == '\t'));
        buf_putc(out, is_kept ? *text : ' ');
    }
}

static void
add_value(struct buf *out, const struct template_value *value, enum template_kind kind)
{
    if (value->is_markup && kind == TEMPLATE_HTML)
        buf_puts(out, value->text);
    else
        add_plain(out, value->text, kind);
}

/* The template's own text goes in as it is, but for a header, whose lines become one. */
static void
add_own(struct buf *out, const char *text, size_t size, enum template_kind kind)
{
    for (size_t i = 0; i < size; i++)
        buf_putc(out, kind == TEMPLATE_HEADER && (unsigned char)text[i] < ' ' ? ' ' : text[i]);
}

static bool
wrong(const char *name, const char *text, const char *at, struct error *err, const char *what,
      const char *hole, size_t size)
{
    int line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return error_set(err, ERR_REPORT, "%s line %d: %s \"%.*s\"", name, line, what,
                     (int)(size < 60 ? size : 60), hole);
}

bool
template_fill_text(struct buf *out, const char *name, const char *text, enum template_kind kind,
                   const struct template_values *values, struct error *err)
{
    const char *at = text;
    for (;;) {
        const char *open = strstr(at, "{{");
        if (open == NULL)
            break;
        add_own(out, at, (size_t)(open - at), kind);
        const char *close = strstr(open, "}}");
        if (close == NULL)
            return wrong(name, text, open, err, "no }} after", open, strcspn(open, "\n"));
        size_t size = (size_t)(close - open) - 2;
        const struct template_value *value = find(values, open + 2, size);
        if (value == NULL)
            return wrong(name, text, open, err, "no value is called", open + 2, size);
        add_value(out, value, kind);
        at = close + 2;
    }
    size_t rest = strlen(at);
    while (kind == TEMPLATE_HEADER && rest > 0 && (unsigned char)at[rest - 1] <= ' ')
        rest--;
    add_own(out, at, rest, kind);
    if (out->overflow)
        return error_set(err, ERR_REPORT, "%s: the filled text is too long", name);
    return true;
}

bool
template_fill(struct buf *out, const char *asset, enum template_kind kind,
              const struct template_values *values, struct error *err)
{
    return template_fill_text(out, asset, asset_text(asset), kind, values, err);
}
