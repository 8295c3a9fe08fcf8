#include <config.h>

#include "reports/report.h"

#include "reports/canvas.h"
#include "reports/facts.h"
#include "reports/output.h"
#include "reports/sheet.h"
#include "reports/workbook.h"

const char *
report_path(struct settings *settings, struct arena *arena, const char *quarter, const char *suffix)
{
    const char *folder = section_path(settings, settings_section(settings, "report"), "folder");
    return arena_printf(arena, "%s/gpu-audit-%s%s",
                        folder == NULL || folder[0] == '\0' ? "out" : folder, quarter, suffix);
}

static bool
is_shown(struct sheet_run *run, const struct sheet *sheet, bool *ret_shown, struct error *err)
{
    struct rows *rows = NULL;
    if (sheet->shown_if == NULL) {
        *ret_shown = true;
        return true;
    }
    bool ok = rows_open(&rows, run->db, sheet->shown_if, 1, &run->audit_id, err);
    if (ok) {
        *ret_shown = rows_next(rows, err);
        ok = *ret_shown || err->code == ERR_NONE;
    }
    rows_close(rows);
    return ok;
}

static bool
fill_sheet(struct sheet_run *run, const struct sheet *sheet, struct error *err)
{
    return canvas_open(&run->canvas, run->workbook, run->arena, sheet, run->facts, err) &&
           sheet->fill(run, err) && canvas_finish(run->canvas, run->facts, err);
}

static bool
fill_sheets(struct sheet_run *run, struct error *err)
{
    for (size_t i = 0; sheets[i] != NULL; i++) {
        bool shown = false;
        if (!interrupt_check(err) || !is_shown(run, sheets[i], &shown, err) ||
            (shown && !fill_sheet(run, sheets[i], err)))
            return false;
    }
    return true;
}

static bool
write_book(struct sheet_run *run, const char *path, struct error *err)
{
    if (!book_open(&run->workbook, run->arena, path, run->facts, err))
        return false;
    if (fill_sheets(run, err))
        return book_close(run->workbook, err);
    book_discard(run->workbook);
    return false;
}

static bool
make_workbook(struct db *db, struct arena *arena, int audit_id, const char *path, struct error *err)
{
    struct facts facts;
    struct output output;
    const char *id = arena_printf(arena, "%d", audit_id);
    if (!facts_read(&facts, db, arena, id, err) || !output_open(&output, arena, path, err))
        return false;
    struct sheet_run run = {.db = db,
                            .arena = arena,
                            .facts = &facts,
                            .audit_id = id,
                            .currency = facts_text(&facts, arena, "currency")};
    if (write_book(&run, output.temporary, err) && output_commit(&output, err))
        return true;
    output_discard(&output);
    return false;
}

bool
report_workbook(struct settings *settings, struct db *db, int audit_id, const char *path,
                struct error *err)
{
    (void)settings;
    struct arena arena = {0};
    bool is_done = make_workbook(db, &arena, audit_id, path, err);
    arena_free(&arena);
    return is_done || error_context(err, "workbook");
}
