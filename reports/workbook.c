#include <config.h>

#include "reports/workbook.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/palette.h"

enum { FORMATS_MAX = 128 };

struct look {
    enum style style;
    const char *number_format;
    unsigned flags;
    lxw_format *format;
};

struct workbook {
    lxw_workbook *book;
    struct arena *arena;
    const char *path;
    struct look looks[FORMATS_MAX];
    size_t count;
    bool has_failed;
};

static const struct {
    double size;
    unsigned colour;
    bool is_bold;
    unsigned fill; /* 0: none */
    uint8_t bottom, top;
} styles[STYLES] = {
    [STYLE_PLAIN] = {10, COLOUR_INK, false, 0, LXW_BORDER_HAIR, 0},
    [STYLE_TOTAL] = {10, COLOUR_INK, true, COLOUR_HEAD, LXW_BORDER_THIN, LXW_BORDER_THIN},
    [STYLE_HEAD] = {10, COLOUR_INK, true, COLOUR_HEAD, LXW_BORDER_THIN, 0},
    [STYLE_TITLE] = {16, COLOUR_INK, true, 0, 0, 0},
    [STYLE_SUBTITLE] = {10, COLOUR_MUTED, false, 0, 0, 0},
    [STYLE_SECTION] = {12, COLOUR_INK, true, 0, 0, 0},
    [STYLE_NOTE] = {10, COLOUR_INK, false, 0, 0, 0},
    [STYLE_DRAFT] = {10, COLOUR_DRAFT, true, 0, 0, 0},
    [STYLE_UNKNOWN] = {10, COLOUR_MUTED, false, 0, LXW_BORDER_HAIR, 0},
    [STYLE_HOLDS] = {10, COLOUR_BUSY, true, 0, LXW_BORDER_HAIR, 0},
    [STYLE_DEVIATES] = {10, COLOUR_IDLE_UNALLOCATED, true, 0, LXW_BORDER_HAIR, 0},
    [STYLE_CARD_LABEL] = {9, COLOUR_MUTED, false, COLOUR_HEAD, 0, 0},
    [STYLE_CARD_VALUE] = {15, COLOUR_INK, true, COLOUR_HEAD, 0, 0},
    [STYLE_CARD_UNKNOWN] = {13, COLOUR_MUTED, false, COLOUR_HEAD, 0, 0},
};

/* The library keeps its parts in temporary files, one a sheet: TMPDIR says where, as for others. */
static lxw_workbook *
make_book(const char *path)
{
    char *folder = getenv("TMPDIR");
    lxw_workbook_options options = {0};
    if (folder != NULL && access(folder, W_OK) == 0)
        options.tmpdir = folder;
    return workbook_new_opt(path, &options);
}

static bool
set_properties(struct workbook *workbook, const struct facts *facts, struct error *err)
{
    double created = 0;
    const char *text = facts_value(facts, "created_unix");
    if (text == NULL || !value_number(text, &created))
        return error_set(err, ERR_BUG, "the audit has no time of creation");
    struct arena *arena = workbook->arena;
    lxw_doc_properties properties = {
        .title = arena_printf(arena, "GPU audit %s", facts_text(facts, arena, "quarter")),
        .subject = arena_printf(arena, "Revision %s, %s", facts_text(facts, arena, "revision"),
                                facts_text(facts, arena, "state")),
        .author = arena_printf(arena, "gpu-audit %s", facts_text(facts, arena, "program_version")),
        .comments =
            arena_printf(arena, "Inputs sha256 %s", facts_text(facts, arena, "inputs_sha256")),
        .created = (time_t)created, /* fixed, so that equal audits give equal bytes */
    };
    lxw_error code = workbook_set_properties(workbook->book, &properties);
    if (code != LXW_NO_ERROR)
        return error_set(err, ERR_REPORT, "could not set the properties of the workbook: %s",
                         lxw_strerror(code));
    return true;
}

bool
book_open(struct workbook **ret_workbook, struct arena *arena, const char *path,
          const struct facts *facts, struct error *err)
{
    struct workbook *workbook = arena_alloc(arena, sizeof *workbook);
    workbook->arena = arena;
    workbook->path = path;
    workbook->book = make_book(path);
    if (workbook->book == NULL)
        return error_set(err, ERR_REPORT, "could not begin the workbook \"%s\"", path);
    if (!set_properties(workbook, facts, err)) {
        book_discard(workbook);
        return false;
    }
    *ret_workbook = workbook;
    return true;
}

lxw_workbook *
book_book(struct workbook *workbook)
{
    return workbook->book;
}

bool
book_sheet(struct workbook *workbook, const char *tab, lxw_worksheet **ret_sheet, struct error *err)
{
    lxw_error code = workbook_validate_sheet_name(workbook->book, tab);
    if (code != LXW_NO_ERROR)
        return error_set(err, ERR_BUG, "\"%s\" cannot be the name of a sheet: %s", tab,
                         lxw_strerror(code));
    lxw_worksheet *sheet = workbook_add_worksheet(workbook->book, tab);
    if (sheet == NULL)
        return error_set(err, ERR_REPORT, "could not add the sheet \"%s\"", tab);
    *ret_sheet = sheet;
    return true;
}

static bool
is_centred(enum style style)
{
    return style == STYLE_CARD_LABEL || style == STYLE_CARD_VALUE || style == STYLE_CARD_UNKNOWN;
}

static void
set_look(lxw_format *format, const struct look *look)
{
    format_set_font_name(format, "Arial");
    format_set_font_size(format, styles[look->style].size);
    format_set_font_color(format, styles[look->style].colour);
    if (styles[look->style].is_bold)
        format_set_bold(format);
    if (styles[look->style].fill != 0) {
        format_set_pattern(format, LXW_PATTERN_SOLID);
        format_set_fg_color(format, styles[look->style].fill);
    }
    format_set_bottom(format, styles[look->style].bottom);
    format_set_top(format, styles[look->style].top);
    format_set_border_color(format, COLOUR_RULE);
    format_set_num_format(format, look->number_format);
    format_set_align(format, look->style == STYLE_HEAD ? LXW_ALIGN_VERTICAL_BOTTOM
                                                       : LXW_ALIGN_VERTICAL_CENTER);
    if (is_centred(look->style))
        format_set_align(format, LXW_ALIGN_CENTER);
    else if (look->flags & FORMAT_RIGHT)
        format_set_align(format, LXW_ALIGN_RIGHT);
    else
        format_set_align(format, LXW_ALIGN_LEFT);
    if (look->flags & FORMAT_INDENT)
        format_set_indent(format, 1);
    if (look->flags & FORMAT_WRAP)
        format_set_text_wrap(format);
}

lxw_format *
book_format(struct workbook *workbook, enum style style, const char *number_format, unsigned flags)
{
    for (size_t i = 0; i < workbook->count; i++) {
        const struct look *look = &workbook->looks[i];
        if (look->style == style && look->flags == flags &&
            strcmp(look->number_format, number_format) == 0)
            return look->format;
    }
    struct look look = {style, arena_strdup(workbook->arena, number_format), flags,
                        workbook_add_format(workbook->book)};
    if (look.format == NULL || workbook->count == FORMATS_MAX) {
        workbook->has_failed = true;
        return NULL;
    }
    set_look(look.format, &look);
    workbook->looks[workbook->count++] = look;
    return look.format;
}

void
book_discard(struct workbook *workbook)
{
    lxw_workbook_free(workbook->book);
    workbook->book = NULL;
}

bool
book_close(struct workbook *workbook, struct error *err)
{
    lxw_error code = workbook_close(workbook->book);
    workbook->book = NULL;
    if (code != LXW_NO_ERROR) {
        error_set(err, ERR_REPORT, "could not write \"%s\": %s", workbook->path,
                  lxw_strerror(code));
        return error_hint(err, "Check the free space there and in the folder TMPDIR names.");
    }
    if (workbook->has_failed)
        return error_set(err, ERR_BUG, "the workbook has more than %d formats", FORMATS_MAX);
    return true;
}
