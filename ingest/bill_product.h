/* Products and ratios of decimal text, for mappers whose bill states a cost only as its factors. */
#ifndef INGEST_BILL_PRODUCT_H
#define INGEST_BILL_PRODUCT_H

#include "common/arena.h"
#include "common/csv.h"

/* a × b exactly; empty when one is empty, has more than 40 digits or an exponent. */
struct field bill_product(struct arena *arena, struct field a, struct field b);
/* a ÷ b to 30 places, the rest cut off; empty likewise, and when b is 0. */
struct field bill_ratio(struct arena *arena, struct field a, struct field b);

#endif
