/*
 * Local times of bills. The offsets of a zone come from PostgreSQL's own zone data, once per source;
 * the zone of the machine is never asked.
 *
 * A local time that comes twice (clocks go back) is the first of the two, unless what stands beside
 * it says otherwise: time_zone_span. One that does not come at all (clocks go forward) is refused,
 * but for the very moment at which they go: that is when the new time begins.
 */
#ifndef INGEST_TIME_ZONE_H
#define INGEST_TIME_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"

struct time_zone;

/* One zone made of offsets: from[0] must be INT64_MIN. For tests; time_zone_load reads them. */
struct time_zone *time_zone_new(struct arena *arena, const int64_t *from, const int *offset_seconds, size_t count);
/* "America/Los_Angeles". An unknown name is ERR_CONFIG, without the place: the caller adds it. */
bool time_zone_load(struct db *db, struct arena *arena, const char *name, struct time_zone **ret_zone,
                    struct error *err) MUST_CHECK;

enum time_zone_found { TIME_NONE, TIME_ONCE, TIME_TWICE };
/* local: seconds since 1970 as if the clock were UTC. Of two, ret_times holds the earlier first. */
enum time_zone_found time_zone_find(const struct time_zone *zone, int64_t local, int64_t ret_times[2]);
/* What the clocks of the zone show then, as if it were UTC. */
int64_t time_zone_local(const struct time_zone *zone, int64_t time);
/* Both ends of a span: as long as its clock times say where that can be, never negative where it can
 * be helped. NULL, or why it cannot be. */
const char *time_zone_span(const struct time_zone *zone, int64_t local_from, int64_t local_to, int64_t *ret_from,
                           int64_t *ret_to);

#endif
