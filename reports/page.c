/* The audit as one HTML file: no scripts, nothing loaded from elsewhere. */
#include <config.h>

#include "reports/facts.h"
#include "reports/html.h"
#include "reports/output.h"
#include "reports/palette.h"
#include "reports/report.h"
#include "reports/template.h"

enum { IDLE_ROWS = 100, QUALITY_ROWS = 50, PAGE_BYTES_MAX = 8 << 20 };

struct part {
    const char *name; /* of the hole in templates/page.html */
    struct table table;
    int limit;
};

static const struct part parts[] = {
    {.name = "ledger_table",
     .table = {.query = "sql/query_sheet_ledger.sql",
               .columns =
                   (const struct column[]){
                       {.name = "line", .heading = "Ledger line"},
                       {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
                       {.name = "hours_share", .heading = "Share", .kind = VALUE_SHARE},
                       {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
                       {.name = "cost_share", .heading = "Share", .kind = VALUE_SHARE},
                       {0},
                   },
               .empty = "No GPU-hours were billed or owned in this quarter."}},
    {.name = "team_table",
     .table =
         {.query = "sql/query_sheet_team_top.sql",
          .columns =
              (const struct column[]){
                  {.name = "name", .heading = "Team"},
                  {.name = "gpu_cost", .heading = "GPU cost", .kind = VALUE_MONEY},
                  {.name = "busy_cost", .heading = "Busy", .kind = VALUE_MONEY},
                  {.name = "idle_cost", .heading = "Idle", .kind = VALUE_MONEY},
                  {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_MONEY},
                  {.name = "unused_cost", .heading = "Unused commitment", .kind = VALUE_MONEY},
                  {.name = "idle_share", .heading = "Idle, share of covered", .kind = VALUE_SHARE},
                  {.name = "coverage_share", .heading = "Coverage", .kind = VALUE_SHARE},
                  {0},
              },
          .empty = "No cost is attributed to any team."}},
    {.name = "verdict_table",
     .table = {.query = "sql/query_sheet_assumptions.sql",
               .columns =
                   (const struct column[]){
                       {.name = "verdict", .heading = "Verdict", .is_verdict = true},
                       {.name = "metric", .heading = "Assumption"},
                       {.name = "scope", .heading = "Scope"},
                       {.name = "assumed", .heading = "Assumed", .kind = VALUE_MIXED},
                       {.name = "measured", .heading = "Measured", .kind = VALUE_MIXED},
                       {.name = "unit", .heading = "Unit"},
                       {.name = "deviation_share", .heading = "Deviation", .kind = VALUE_SHARE},
                       {.name = "why", .heading = "Why"},
                       {0},
                   },
               .empty = "The cost model holds no assumptions for this quarter."}},
    {.name = "recommendation_table",
     .table =
         {.query = "sql/query_sheet_recommendations.sql",
          .columns =
              (const struct column[]){
                  {.name = "title", .heading = "What to do"},
                  {.name = "scope", .heading = "Where"},
                  {.name = "owner", .heading = "Owner"},
                  {.name = "low_saving", .heading = "Saving a month, low", .kind = VALUE_MONEY},
                  {.name = "saving", .heading = "expected", .kind = VALUE_MONEY},
                  {.name = "high_saving", .heading = "high", .kind = VALUE_MONEY},
                  {.name = "effort", .heading = "Effort"},
                  {0},
              },
          .empty = "Nothing to recommend: no rule found a saving with enough evidence."},
     .limit = IDLE_ROWS},
    {.name = "idle_table",
     .table = {.query = "sql/query_sheet_idle.sql",
               .columns =
                   (const struct column[]){
                       {.name = "team", .heading = "Team"},
                       {.name = "project", .heading = "Project"},
                       {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
                       {.name = "hours", .heading = "Hours", .kind = VALUE_COUNT},
                       {.name = "from_time", .heading = "From, UTC", .kind = VALUE_TIME},
                       {.name = "to_time", .heading = "To, UTC", .kind = VALUE_TIME},
                       {.name = "util_share", .heading = "Mean activity", .kind = VALUE_SHARE},
                       {.name = "model", .heading = "Model"},
                       {.name = "instance", .heading = "Instance"},
                       {0},
                   },
               .empty = "No instance was idle for more than 24 hours on end."},
     .limit = IDLE_ROWS},
    {.name = "quality_table",
     .table = {.query = "sql/query_sheet_quality.sql",
               .columns =
                   (const struct column[]){
                       {.name = "finding", .heading = "Finding"},
                       {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
                       {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
                       {.name = "remedy", .heading = "What to do"},
                       {0},
                   },
               .empty = "No check found anything."},
     .limit = QUALITY_ROWS},
    {.name = "completeness_table",
     .table = {.query = "sql/query_sheet_completeness.sql",
               .columns =
                   (const struct column[]){
                       {.name = "source_name", .heading = "Source"},
                       {.name = "period", .heading = "Period"},
                       {.name = "state", .heading = "State"},
                       {.name = "is_trusted", .heading = "Can be trusted"},
                       {.name = "days", .heading = "Days with use"},
                       {.name = "reason", .heading = "Why"},
                       {.name = "doubt", .heading = "What speaks against it"},
                       {0},
                   },
               .empty = "No bill was read."},
     .limit = QUALITY_ROWS},
    {.name = "restated_table",
     .table = {.query = "sql/query_sheet_restated.sql",
               .columns =
                   (const struct column[]){
                       {.name = "figure", .heading = "Figure"},
                       {.name = "unit", .heading = "Unit"},
                       {.name = "before", .heading = "Before", .kind = VALUE_MIXED},
                       {.name = "after", .heading = "Now", .kind = VALUE_MIXED},
                       {.name = "change", .heading = "Change", .kind = VALUE_MIXED},
                       {0},
                   },
               .empty = "No figure of the whole differs from the revision before, or there is none before."},
     .limit = QUALITY_ROWS},
    {.name = "invoice_table",
     .table = {.query = "sql/query_sheet_invoices.sql",
               .columns =
                   (const struct column[]){
                       {.name = "provider", .heading = "Provider"},
                       {.name = "month", .heading = "Month"},
                       {.name = "currency", .heading = "Currency"},
                       {.name = "invoice", .heading = "Invoice", .kind = VALUE_MIXED},
                       {.name = "kept", .heading = "Kept", .kind = VALUE_MIXED},
                       {.name = "totalled", .heading = "Totalled", .kind = VALUE_MIXED},
                       {.name = "check", .heading = "Kept + totalled = invoice"},
                       {.name = "state", .heading = "Period"},
                       {0},
                   },
               .empty = "No bill was read."},
     .limit = QUALITY_ROWS},
};

static const struct html_bars team_bars = {
    .query = "sql/query_sheet_team_top.sql",
    .parts =
        (const struct html_part[]){
            {"busy_cost", "busy", COLOUR_BUSY},
            {"idle_cost", "idle", COLOUR_IDLE},
            {"unknown_cost", "unknown", COLOUR_UNKNOWN},
            {"unused_cost", "unused commitment", COLOUR_UNUSED},
            {0},
        },
    .label_column = "gpu_cost",
    .label_kind = VALUE_ROUND_MONEY,
    .description = "One bar per team: GPU cost split into busy, idle, unknown and unused "
                   "commitment, as in the table below",
};

/* Fills the scratch buffer by one of the calls and keeps the markup as a value. */
static void
keep(struct template_values *values, const char *name, struct buf *scratch)
{
    template_set_markup(
        values, name,
        arena_strndup(values->arena, scratch->size > 0 ? scratch->data : "", scratch->size));
    buf_clear(scratch);
}

static bool
set_parts(struct template_values *values, struct buf *scratch, struct db *db, const char *audit_id,
          const char *currency, struct error *err)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!html_table(scratch, db, &parts[i].table, audit_id, currency, HTML_PAGE, parts[i].limit,
                        err))
            return false;
        keep(values, parts[i].name, scratch);
    }
    if (!html_ledger(scratch, db, audit_id, err))
        return false;
    keep(values, "ledger_picture", scratch);
    if (!html_bars(scratch, db, &team_bars, audit_id, err))
        return false;
    keep(values, "team_picture", scratch);
    return true;
}

static bool
set_words(struct template_values *values, struct buf *scratch, const struct facts *facts,
          struct error *err)
{
    template_set_facts(values, facts);
    if (!template_fill(scratch, "templates/summary.txt", TEMPLATE_HEADER, values, err))
        return false;
    template_set(values, "words", arena_strndup(values->arena, scratch->data, scratch->size));
    buf_clear(scratch);
    template_set_markup(values, "draft",
                        facts_is(facts, "is_final") ? ""
                                                    : "<p class=\"draft\" role=\"note\">DRAFT: a "
                                                      "bill of this window may still change.</p>");
    return true;
}

static bool
make_page(struct db *db, struct arena *arena, const char *audit_id, struct buf *scratch,
          struct buf *page, struct error *err)
{
    struct facts facts;
    struct template_values values = {.arena = arena};
    if (!facts_read(&facts, db, arena, audit_id, err) || !set_words(&values, scratch, &facts, err))
        return false;
    return set_parts(&values, scratch, db, audit_id, facts_text(&facts, arena, "currency"), err) &&
           template_fill(page, "templates/page.html", TEMPLATE_HTML, &values, err);
}

bool
report_page(struct settings *settings, struct db *db, int audit_id, const char *path,
            struct error *err)
{
    (void)settings;
    struct arena arena = {0};
    struct buf scratch = {.cap = PAGE_BYTES_MAX}, page = {.cap = PAGE_BYTES_MAX};
    bool is_done =
        make_page(db, &arena, arena_printf(&arena, "%d", audit_id), &scratch, &page, err);
    if (is_done && scratch.overflow)
        is_done = error_set(err, ERR_REPORT, "the page would be larger than %d MiB",
                            PAGE_BYTES_MAX >> 20);
    is_done = is_done && output_write(&arena, path, &page, err);
    buf_free(&scratch);
    buf_free(&page);
    arena_free(&arena);
    return is_done || error_context(err, "page");
}
