/* Within the CSV reader: records (csv.c) and headers (csv_header.c). */
#ifndef COMMON_CSV_PRIVATE_H
#define COMMON_CSV_PRIVATE_H

#include "common/csv.h"

enum {
#ifdef SMALL_BUFFERS /* fuzzers, whose files are small, come to their ends so */
    CSV_RECORD_MOST = 4 << 10,
    CSV_COLUMNS_MOST = 256,
    CSV_READ_BYTES = 512,
    CSV_SURVEY_BYTES = 1024,
#else
    CSV_RECORD_MOST = 1 << 20,
    CSV_COLUMNS_MOST = 4096,
    CSV_READ_BYTES = 256 << 10,
    CSV_SURVEY_BYTES = 64 << 10, /* looked at before the first record */
#endif
    CSV_BLOCK = 64,
    CSV_RESCAN_FREE = 16 << 20, /* bytes that may be read a second time at no question */
};

struct csv {
    struct stream *stream;
    struct content content;
    char *window;           /* size bytes, then at least CSV_BLOCK of padding */
    size_t room, size;
    size_t record;          /* where the current record begins */
    size_t record_size;     /* its size, without the line end */
    size_t block, next;     /* block whose masks are held, and the one after it */
    uint64_t separators;    /* commas and line ends outside quotes, not consumed yet */
    uint64_t line_ends;     /* line ends among the separators of the block, consumed or not */
    uint64_t quoted_lines;  /* line ends inside quotes, not counted yet */
    uint64_t in_quotes;     /* all ones when the next block begins inside quotes */
    char delimiter;         /* between cells */
    bool at_end, discarding; /* discarding: up to the next line end, whatever it is in */
    uint64_t line, next_line;
    uint64_t taken, rescanned; /* bytes */
    uint32_t *end;          /* where each cell ends, from the start of the record */
    size_t cells;
    char **name;
    size_t columns;
    struct csv_twin *twins; /* wanted columns whose name stands twice */
    size_t twin_count;
    char note[400];
    int *want;
    size_t wanted;
    char *unescaped;
    size_t unescaped_room;
    char reason[96];
};

struct csv_twin {
    size_t slot, column; /* what is wanted there, and the other column of that name */
};

/* The cells of the header become names; those that every record lacks are left out. */
void csv_header_keep(struct csv *csv);
/* Whether a wanted cell differs from another of the same name; then csv->reason says so. */
bool csv_header_differs(struct csv *csv);
void csv_header_free(struct csv *csv);
struct field csv_cell(const struct csv *csv, size_t column); /* of the current record, as it stands */

#endif
