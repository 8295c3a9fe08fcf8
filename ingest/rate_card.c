#include <config.h>

#include "ingest/rate_card.h"

#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "common/stream.h"
#include "ingest/billing.h"
#include "ingest/ingest.h"

enum { CHOICES_MOST = 256, RATES_MOST = 100000 };

enum column { PROVIDER, SKU, REGION, UNIT, PRICE, CURRENCY, FROM, TO, SOURCE, COLUMN_COUNT };

static const struct {
    const char *name;
    bool is_needed;
} columns[COLUMN_COUNT] = {
    [PROVIDER] = {"provider", false}, [SKU] = {"sku", true},        [REGION] = {"region", false},
    [UNIT] = {"unit", true},          [PRICE] = {"price", true},    [CURRENCY] = {"currency", true},
    [FROM] = {"valid_from", true},    [TO] = {"valid_to", false},   [SOURCE] = {"source", false},
};

struct rate {
    const char *provider, *sku, *region, *unit, *currency, *by; /* provider, region: "" is any */
    struct field price;
    int unit_seconds;
    bool per_gpu;
    int64_t from, to;
    uint64_t line;
    struct rate *next;
};

struct rate_card {
    const char *path;
    struct rate *first;
    size_t count;
};

struct rate_choice {
    const struct rate *rate[CHOICES_MOST];
    struct {
        int multiplier, divisor;
        struct field gpus; /* empty: the price is not by GPU */
        bool divides;      /* by gpus: the price is the machine's, the quantity GPU time */
    } factor[CHOICES_MOST];
    size_t count;
};

/* ---------------------------------------------------------------- the file */

static bool
bad(const struct rate_card *card, uint64_t line, const char *what, struct error *err)
{
    error_set(err, ERR_CONFIG, "%s line %llu: %s", card->path, (unsigned long long)line, what);
    return error_hint(err, "A line is provider,sku,region,unit,price,currency,valid_from,valid_to,source, such as "
                           "coreweave,gd-8xh100ib-i128,,hour,49.24,USD,2026-07-01,,contract 17.");
}

static const char *
read_rate(const struct rate_card *card, struct arena *arena, const struct field *cell, struct rate *rate)
{
    rate->provider = cell[PROVIDER].size ? provider_key(arena, cell[PROVIDER].text, cell[PROVIDER].size) : "";
    rate->sku = bill_text(arena, cell[SKU]);
    rate->region = bill_text(arena, cell[REGION]);
    rate->unit = bill_text(arena, cell[UNIT]);
    rate->currency = bill_text(arena, cell[CURRENCY]);
    rate->unit_seconds = bill_unit_seconds(cell[UNIT], &rate->per_gpu);
    rate->price = (struct field){arena_strndup(arena, cell[PRICE].text, cell[PRICE].size), cell[PRICE].size};
    rate->by = arena_printf(arena, "rate card %s line %llu%s%s", card->path, (unsigned long long)rate->line,
                            cell[SOURCE].size ? ": " : "", bill_text(arena, cell[SOURCE]));
    if (!*rate->sku || !*rate->unit)
        return !*rate->sku ? "sku is empty" : "unit is empty";
    if (!decimal_fits(rate->price.text, rate->price.size) || decimal_sign(rate->price.text, rate->price.size) < 0)
        return "price is no number of 0 or more";
    if (strlen(rate->currency) != 3)
        return "currency is no code of three letters";
    if (!time_parse(cell[FROM].text, cell[FROM].size, &rate->from))
        return "valid_from is no date";
    rate->to = INT64_MAX;
    if (cell[TO].size && !time_parse(cell[TO].text, cell[TO].size, &rate->to))
        return "valid_to is no date";
    return rate->to > rate->from ? NULL : "valid_to is not after valid_from";
}

/* Two prices for one thing at one time: nobody could say which. */
static const char *
overlap(const struct rate_card *card, struct arena *arena, const struct rate *rate)
{
    for (const struct rate *other = card->first; other; other = other->next)
        if (!strcmp(other->provider, rate->provider) && !strcasecmp(other->sku, rate->sku)
            && !strcasecmp(other->region, rate->region) && !strcasecmp(other->unit, rate->unit)
            && !strcasecmp(other->currency, rate->currency) && other->from < rate->to && rate->from < other->to)
            return arena_printf(arena, "line %llu gives a price for the same days", (unsigned long long)other->line);
    return NULL;
}

static bool
find_columns(const struct rate_card *card, struct csv *csv, struct error *err)
{
    int want[COLUMN_COUNT];

    for (int i = 0; i < COLUMN_COUNT; i++) {
        want[i] = csv_find(csv, columns[i].name);
        if (want[i] < 0 && columns[i].is_needed) {
            error_set(err, ERR_CONFIG, "%s: no column %s", card->path, columns[i].name);
            return error_hint(err, "A rate card has the columns provider, sku, region, unit, price, currency, "
                                   "valid_from, valid_to and source.");
        }
    }
    csv_want(csv, want, COLUMN_COUNT);
    return true;
}

static bool
read_rates(struct rate_card *card, struct arena *arena, struct csv *csv, struct error *err)
{
    struct field cell[COLUMN_COUNT];
    enum csv_status status;

    while ((status = csv_next(csv, cell, err)) != CSV_END) {
        struct rate *rate = arena_alloc(arena, sizeof *rate);
        const char *reason = csv_reason(csv);

        if (status == CSV_ERROR)
            return false;
        rate->line = csv_line(csv);
        for (int i = 0; i < COLUMN_COUNT; i++)
            cell[i] = csv_trim(cell[i]);
        if (status == CSV_RECORD)
            reason = read_rate(card, arena, cell, rate);
        if (status == CSV_RECORD && !reason)
            reason = overlap(card, arena, rate);
        if (status != CSV_RECORD || reason)
            return bad(card, rate->line, reason, err);
        if (card->count++ == RATES_MOST)
            return bad(card, rate->line, "too many rates", err);
        rate->next = card->first;
        card->first = rate;
    }
    return true;
}

bool
rate_card_load(const struct settings *settings, const struct section *section, struct arena *arena,
               const struct rate_card **ret_card, char *ret_sha256, struct error *err)
{
    const char *path = section_path(settings, section, "rate-card");
    struct rate_card *card;
    struct stream *stream = NULL;
    struct csv *csv = NULL;
    bool good;

    if (!path || !*path) {
        *ret_card = NULL;
        *ret_sha256 = '\0';
        return true;
    }
    card = arena_alloc(arena, sizeof *card);
    card->path = path;
    good = stream_open(&stream, path, err) && csv_open(&csv, stream, err) && find_columns(card, csv, err)
        && read_rates(card, arena, csv, err);
    if (good && !card->count)
        good = bad(card, 1, "no rates", err);
    if (good)
        stream_sha256(stream, ret_sha256);
    csv_close(csv);
    stream_close(stream);
    *ret_card = card;
    if (err->code == ERR_INPUT)
        err->code = ERR_CONFIG; /* nothing is wrong with a bill */
    return good || error_context(err, "%s", section_origin(settings, section, "rate-card"));
}

/* ---------------------------------------------------------------- choosing */

/* 0: does not fit; more: the better. A region that is named beats any region, an exact name the others. */
static int
fitness(const struct rate *rate, const struct rate_ask *ask)
{
    if (*rate->provider && strcmp(rate->provider, ask->provider))
        return 0;
    if (*rate->region && !bill_is(ask->region, rate->region))
        return 0;
    if (ask->currency.size && !bill_is(ask->currency, rate->currency))
        return 0;
    for (int i = 0; i < RATE_NAMES; i++)
        if (ask->names[i].size && bill_is(ask->names[i], rate->sku))
            return 4 * (RATE_NAMES - i) + (*rate->region ? 2 : 0) + (*rate->provider ? 1 : 0);
    return 0;
}

/* How the quantity's unit becomes the rate's; false when it cannot. */
static bool
add_choice(struct rate_choice *choice, const struct rate *rate, const struct rate_ask *ask)
{
    size_t n = choice->count;
    bool is_time = rate->unit_seconds && ask->unit_seconds;

    if (n == CHOICES_MOST || (!is_time && !bill_is(ask->unit, rate->unit)))
        return false;
    if (is_time && rate->per_gpu != ask->counts_gpus && !ask->gpus.size)
        return false; /* nobody says how many GPUs the machine has */
    choice->rate[n] = rate;
    choice->factor[n].multiplier = is_time ? ask->unit_seconds : 1;
    choice->factor[n].divisor = is_time ? rate->unit_seconds : 1;
    if (is_time && rate->per_gpu != ask->counts_gpus) {
        choice->factor[n].gpus = ask->gpus;
        choice->factor[n].divides = ask->counts_gpus;
    }
    choice->count++;
    return true;
}

const struct rate_choice *
rate_choose(const struct rate_card *card, struct arena *arena, const struct rate_ask *ask)
{
    struct rate_choice *choice = NULL;
    int best = 0;

    for (const struct rate *rate = card->first; rate; rate = rate->next) {
        int fit = fitness(rate, ask);

        best = fit > best ? fit : best;
    }
    for (const struct rate *rate = best ? card->first : NULL; rate; rate = rate->next) {
        if (fitness(rate, ask) != best)
            continue;
        if (!choice)
            choice = arena_alloc(arena, sizeof *choice);
        (void)add_choice(choice, rate, ask);
    }
    return choice && choice->count ? choice : NULL;
}

const char *
rate_currency(const struct rate_choice *choice)
{
    return choice->rate[0]->currency;
}

/* Machine price over GPU time: only a whole number of GPUs divides. */
static int
whole(struct field number)
{
    int value = 0;

    for (size_t i = 0; i < number.size; i++) {
        if (number.text[i] < '0' || number.text[i] > '9' || value > 100000)
            return 0;
        value = value * 10 + (number.text[i] - '0');
    }
    return value;
}

static bool
price_at(const struct rate_choice *choice, size_t n, struct arena *arena, struct field quantity, struct field *ret_cost)
{
    struct field price = choice->rate[n]->price;
    int multiplier = choice->factor[n].multiplier, divisor = choice->factor[n].divisor;
    struct field gpus = choice->factor[n].gpus;

    if (choice->factor[n].divides) {
        int count = whole(gpus);

        if (!count || divisor > INT32_MAX / count)
            return false;
        divisor *= count;
    } else if (gpus.size && !rate_product(arena, price, gpus, 1, 1, &price)) {
        return false;
    }
    return rate_product(arena, quantity, price, multiplier, divisor, ret_cost);
}

bool
rate_price(const struct rate_choice *choice, struct arena *arena, int64_t from, int64_t to, struct field quantity,
           struct field *ret_cost, const char **ret_by)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct rate *rate = choice->rate[i];

        if (from < rate->from || from >= rate->to || to > rate->to || !price_at(choice, i, arena, quantity, ret_cost))
            continue;
        *ret_by = rate->by;
        return true;
    }
    return false;
}
