/*
 * Telemetry from files: saved answers, logs, tables. Every file is looked through once for its
 * hash, its times and its units; then each month that overlaps the window and whose files changed
 * is loaded whole, in as many passes over its files as memory asks for. A format only reads.
 */
#ifndef INGEST_TELEMETRY_FILES_H
#define INGEST_TELEMETRY_FILES_H

#include "common/stream.h"
#include "ingest/telemetry.h"

struct telemetry_file {
    struct telemetry_object object;
    bool is_first; /* to be read before those that are not: counts, before what needs them */
    void *own;     /* the format's */
};

struct telemetry_files {
    struct source_run *run;
    const struct telemetry_files_format *format;
    const void *state; /* the format's, of the source */
    struct telemetry_file *files;
    size_t count;
    struct telemetry_shares shares;
    struct telemetry_file **chosen; /* of the month being loaded, in order of reading */
    size_t chosen_count;
    uint64_t bytes_done; /* over all passes */
};

struct telemetry_files_format {
    const char *const *suffixes; /* files of a folder */
    const char *unusable_hint;   /* a sentence for a file that cannot be read */
    /* NULL, or sets is_first and own of a file; false: it is of no use, and left out. */
    bool (*prepare)(const struct telemetry_files *files, struct telemetry_file *file);
    /* Reads the stream to its end into the feed: looked at (is_taking false: the object's times,
     * problem and completeness) or taken. */
    bool (*read)(const struct telemetry_files *files, struct telemetry_file *file, struct stream *stream,
                 struct telemetry_feed *feed, bool is_taking, struct error *err);
};

/* Loads what overlaps the window. */
bool telemetry_files_load(struct source_run *run, const struct telemetry_files_format *format, const void *state,
                          struct error *err) MUST_CHECK;

#endif
