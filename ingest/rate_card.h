/*
 * A rate card: the user's own table of prices for bills that tell quantities and no money. CSV with
 * provider, sku, region, unit, price, currency, valid_from, valid_to, source; empty provider or
 * region: any; valid_to is the first day the price is not valid any more, empty: still valid. sku is
 * what the bill calls the thing: its SKU, instance type, GPU type or the catalog's model.
 *
 * A charge takes the price valid for all of it, exactly: quantity x price, divided only where the
 * units differ. What no price fits stays without a cost: unknown, not nothing.
 */
#ifndef INGEST_RATE_CARD_H
#define INGEST_RATE_CARD_H

#include "common/arena.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/settings.h"

struct rate_card;

/* The card that `rate-card` of the section names; NULL when the section has none. *ret_sha256 (65
 * bytes, or "") is the file's. A row that cannot be used is an error. */
bool rate_card_load(const struct settings *settings, const struct section *section, struct arena *arena,
                    const struct rate_card **ret_card, char *ret_sha256, struct error *err) MUST_CHECK;

enum { RATE_NAMES = 5 };

/* What charges of one kind have in common. */
struct rate_ask {
    const char *provider;                /* provider_key */
    struct field region, currency;       /* empty: not said */
    struct field names[RATE_NAMES];      /* most exact first; empty ones are passed over */
    struct field unit;                   /* as the bill writes it */
    int unit_seconds;                    /* 0: no time */
    bool counts_gpus;                    /* quantity is GPU time */
    struct field gpus;                   /* of the machine; empty: unknown */
};

struct rate_choice;

/* The prices that fit, whenever valid; NULL: none. */
const struct rate_choice *rate_choose(const struct rate_card *card, struct arena *arena, const struct rate_ask *ask);
const char *rate_currency(const struct rate_choice *choice);
/* The cost of a quantity used from..to, and which line of which card says so; false when no price
 * is valid for all of that time, or the quantity is no number. */
bool rate_price(const struct rate_choice *choice, struct arena *arena, int64_t from, int64_t to, struct field quantity,
                struct field *ret_cost, const char **ret_by);

/* a x b x multiplier / divisor, exactly; rounded (half to even) at 18 decimals only where the
 * division does not come out even. False when a or b is no number that fits. */
bool rate_product(struct arena *arena, struct field a, struct field b, int multiplier, int divisor, struct field *ret_text);

#endif
