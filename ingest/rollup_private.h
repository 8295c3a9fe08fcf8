/* What rollup.c (cells) and rollup_emit.c (rows) share. */
#ifndef INGEST_ROLLUP_PRIVATE_H
#define INGEST_ROLLUP_PRIVATE_H

#include "common/arena.h"
#include "ingest/rollup.h"

enum { DAY_HOURS = 24 };

/* Sums and counts by signal: util, sm. */
enum { SUMMED = 2 };

enum cell_flag {
    CELL_COUNT = 1,                /* << signal */
    CELL_SUM = 1 << 2,             /* << signal */
    CELL_POWER_SAMPLES_SHIFT = 16, /* the upper half counts samples behind power, where it is raw */
};

struct rollup_cell {
    int64_t sum[SUMMED]; /* millionths of a percent */
    uint32_t count[SUMMED];
    float max[SUMMED], memory, power, temperature; /* NaN: none */
    uint32_t flags;
};
_Static_assert(sizeof(struct rollup_cell) == 48, "a month of 10,000 GPUs is 7.4 million of these");

struct rollup_block {
    union {
        struct rollup_cell cell[DAY_HOURS];
        struct rollup_block *next_free;
    };
};

struct rollup_series {
    uint64_t key[2];
    const char *identity[IDENTITY_COUNT];
    int64_t last_sample_ms[SIGNAL_COUNT];
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
    struct rollup_series **table; /* open addressing; NULL is free */
    struct arena table_arena;
    size_t room, count;
    uint32_t made;
    uint64_t seed[2];
};

#endif
