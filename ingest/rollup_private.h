/* What rollup.c (series and passes), rollup_values.c (cells) and rollup_emit.c (rows) share. */
#ifndef INGEST_ROLLUP_PRIVATE_H
#define INGEST_ROLLUP_PRIVATE_H

#include "common/arena.h"
#include "ingest/rollup.h"

enum { DAY_HOURS = 24 };

enum cell_flag {
    CELL_COUNT = 1,    /* << signal */
    CELL_SUM = 1 << 2, /* << signal */
};

struct rollup_cell {
    int64_t sum[SIGNAL_SUMMED]; /* millionths of a percent */
    uint32_t count[SIGNAL_SUMMED];
    float max[SIGNAL_SUMMED]; /* NaN: none */
    uint32_t flags;
};
_Static_assert(sizeof(struct rollup_cell) == 40, "a month of 10,000 GPUs is 7.4 million of these");

struct rollup_gauge {
    float value;      /* NaN: none */
    uint32_t samples; /* behind it, where it is made of raw ones */
};

/* A gauge's hours of a day: made when the first value comes, since most sources have few. */
struct rollup_plane {
    union {
        struct rollup_gauge hour[DAY_HOURS];
        struct rollup_plane *next_free;
    };
};

struct rollup_block {
    struct rollup_block *next_free;
    struct rollup_cell cell[DAY_HOURS];
    struct rollup_plane *gauge[GAUGE_COUNT]; /* NULL: none on this day */
};

struct rollup_series {
    uint64_t key[2];
    const char *identity[IDENTITY_COUNT];
    int64_t last_sample_ms[SIGNAL_COUNT];
    double last_total[GAUGE_COUNT]; /* of a counter: its last sample */
    uint8_t bucket, rank;
    uint32_t order;             /* in which it was made */
    struct rollup_block *day[]; /* NULL: no value on that day */
};

struct rollup {
    int64_t from, to;
    size_t days;
    size_t budget_bytes, used_bytes;
    unsigned first, end, width; /* buckets of this pass; those of the one before */
    struct arena arena;         /* series and blocks of this pass */
    struct rollup_block *free_blocks;
    struct rollup_plane *free_planes;
    struct rollup_series **table; /* open addressing; NULL is free */
    struct arena table_arena;
    size_t room, count;
    uint32_t made;
    uint64_t seed[2];
};

#endif
