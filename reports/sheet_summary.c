/* The one page that most people read: headlines, words, ledger, cost by team, verdicts, what to do.
 */
#include <config.h>

#include <string.h>

#include "reports/chart.h"
#include "reports/palette.h"
#include "reports/table.h"
#include "reports/template.h"

static const int widths_px[] = {92, 92, 92, 92, 92, 92, 92, 92, 92, 92, 0};

enum { CARDS = 5, CARD_SPAN = 2, CHART_PX = 236, PAGE_PX = 920 };

static void
put_cards(struct sheet_run *run)
{
    static const struct {
        const char *label, *fact;
        bool is_money;
    } cards[CARDS] = {
        {"GPU cost", "gpu_cost", true},
        {"GPU-hours provisioned", "provisioned_hours", false},
        {"of them busy", "busy_share", false},
        {"Cost of idle", "idle_cost", true},
        {"To save a month", "month_saving", true},
    };
    struct canvas *canvas = run->canvas;
    canvas_next(canvas);
    canvas_height(canvas, 22);
    for (int i = 0; i < CARDS; i++) {
        struct cell cell = {.column = i * CARD_SPAN, .span = CARD_SPAN, .style = STYLE_CARD_LABEL};
        const char *label = cards[i].is_money
                                ? arena_printf(run->arena, "%s, %s", cards[i].label, run->currency)
                                : cards[i].label;
        canvas_put(canvas, &cell, label);
    }
    canvas_next(canvas);
    canvas_height(canvas, 34);
    for (int i = 0; i < CARDS; i++) {
        enum value_kind kind = strcmp(cards[i].fact, "busy_share") == 0 ? VALUE_SHARE : VALUE_COUNT;
        struct cell cell = {
            .column = i * CARD_SPAN, .span = CARD_SPAN, .kind = kind, .style = STYLE_CARD_VALUE};
        canvas_put(canvas, &cell, facts_value(run->facts, cards[i].fact));
    }
    canvas_next(canvas);
}

static bool
put_words(struct sheet_run *run, struct error *err)
{
    struct template_values values = {.arena = run->arena};
    template_set_facts(&values, run->facts);
    struct buf words = {0};
    bool is_done = template_fill(&words, "templates/summary.txt", TEMPLATE_HEADER, &values, err);
    if (is_done) {
        canvas_next(run->canvas);
        canvas_across(run->canvas, STYLE_NOTE, words.data);
    }
    buf_free(&words);
    return is_done;
}

static const struct table verdicts = {
    .query = "sql/query_sheet_assumptions.sql",
    .columns =
        (const struct column[]){
            {.name = "verdict", .heading = "Verdict", .span = 2, .is_verdict = true},
            {.name = "metric", .heading = "Assumption", .span = 2},
            {.name = "scope", .heading = "Scope", .span = 2},
            {.name = "assumed", .heading = "Assumed", .kind = VALUE_MIXED},
            {.name = "measured", .heading = "Measured", .kind = VALUE_MIXED},
            {.name = "unit", .heading = "Unit"},
            {.name = "deviation_share", .heading = "Deviation", .kind = VALUE_SHARE},
            {0},
        },
    .empty = "The cost model holds no assumptions for this quarter.",
};

static const struct table ledger = {
    .query = "sql/query_sheet_ledger_short.sql",
    .columns =
        (const struct column[]){
            {.name = "line", .heading = "The ledger", .span = 2},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_ROUND_MONEY},
            {0},
        },
    .empty = "No GPU-hours were billed or owned in this quarter.",
};

static const struct chart ledger_chart = {
    .shape = CHART_SHARES,
    .title = "Where GPU-hours and money went",
    .number_format = "0%",
    .description = "Two bars of 100 %: GPU-hours and cost, each split into busy, idle, unknown, "
                   "unused commitment and corrected",
    .has_legend = true,
};

static const struct table teams = {
    .query = "sql/query_sheet_team_top.sql",
    .columns =
        (const struct column[]){
            {.name = "name", .heading = "Team", .span = 2},
            {.name = "gpu_cost", .heading = "Cost", .kind = VALUE_ROUND_MONEY},
            {.name = "busy_cost", .heading = "Busy", .kind = VALUE_ROUND_MONEY},
            {.name = "idle_cost", .heading = "Idle", .kind = VALUE_ROUND_MONEY},
            {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_ROUND_MONEY},
            {.name = "unused_cost", .heading = "Unused", .kind = VALUE_ROUND_MONEY},
            {.name = "idle_share", .heading = "Idle share", .kind = VALUE_SHARE},
            {.name = "coverage_share", .heading = "Measured share", .kind = VALUE_SHARE},
            {.name = "busy_rate", .heading = "Per busy GPU-hour", .kind = VALUE_RATE},
            {0},
        },
    .empty = "No cost is attributed to any team.",
};

static const struct chart teams_chart = {
    .shape = CHART_STACKED,
    .title = "Cost by team",
    .number_format = "#,##0",
    .description =
        "One bar per team: its GPU cost, split into busy, idle, unknown and unused commitment",
    .series =
        (const struct series[]){
            {3, "busy", COLOUR_BUSY, false},
            {4, "idle", COLOUR_IDLE, false},
            {5, "unknown", COLOUR_UNKNOWN, false},
            {6, "unused commitment", COLOUR_UNUSED, false},
            {0},
        },
    .has_legend = true,
};

static const struct table top = {
    .query = "sql/query_sheet_top.sql",
    .columns =
        (const struct column[]){
            {.name = "title", .heading = "What to do", .span = 3},
            {.name = "scope", .heading = "Where", .span = 3},
            {.name = "owner", .heading = "Owner", .span = 2},
            {.name = "effort", .heading = "Effort"},
            {.name = "saving", .heading = "Saving a month", .kind = VALUE_ROUND_MONEY},
            {0},
        },
    .empty = "Nothing to recommend: no rule found a saving with enough evidence.",
};

/* The ledger's table stands left, its picture right of it. */
static bool
put_ledger(struct sheet_run *run, struct error *err)
{
    struct canvas *canvas = run->canvas;
    struct place place;
    canvas_section(canvas, "What happened to the GPU-hours");
    uint32_t top_row = canvas->row;
    if (!table_write(run, &ledger, &place, err))
        return false;
    uint32_t end = canvas->row;
    canvas->row = top_row;
    struct box box = {
        .x_px = 4 * 92 + 12, .width_px = PAGE_PX - 4 * 92 - 12, .height_px = CHART_PX};
    if (!chart_rows(run, &ledger_chart, &place, 2, 3, &box, err))
        return false;
    canvas_skip(canvas, CHART_PX);
    canvas->row = canvas->row > end ? canvas->row : end;
    return true;
}

static bool
put_teams(struct sheet_run *run, struct error *err)
{
    struct place place;
    canvas_section(run->canvas, "Who it was spent for");
    if (!table_write(run, &teams, &place, err))
        return false;
    struct box box = {.width_px = PAGE_PX, .height_px = chart_height(&place)};
    if (!chart_columns(run, &teams_chart, &place, &box, err))
        return false;
    if (place.last >= place.first)
        canvas_skip(run->canvas, box.height_px);
    return true;
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    put_cards(run);
    if (!put_words(run, err) || !put_ledger(run, err) || !put_teams(run, err))
        return false;
    canvas_section(run->canvas, "The cost model against what was measured");
    if (!table_write(run, &verdicts, &place, err))
        return false;
    canvas_section(run->canvas, "What to do first");
    return table_write(run, &top, &place, err);
}

const struct sheet sheet_summary = {
    .tab = "Summary",
    .title = "GPU audit",
    .is_one_page = true,
    .widths_px = widths_px,
    .fill = fill,
};
