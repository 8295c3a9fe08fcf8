/*
 * Deliveries: of all objects that lie where bills are delivered, those that are the bill. Providers
 * deliver a month again and again; a manifest says which files a delivery has, and what it leaves
 * out is old. Of each export and period the newest delivery counts, and only what its manifest names.
 *
 *     AWS CUR          REPORT/PERIOD/[ASSEMBLY/]REPORT-Manifest.json: reportKeys; a copy one level up
 *     AWS Data Exports EXPORT/metadata/BILLING_PERIOD=…/[RUN/]EXPORT-Manifest.json: dataFiles
 *     Azure exports    EXPORT/PERIOD/[TIME/]RUN/manifest.json: blobs, runInfo.submittedTime
 *
 * Objects where no manifest is are taken as they stand. A delivery that is not whole is failed: its
 * period stays as it was. What cannot be decided (two exports of one month) is ERR_CONFIG.
 */
#ifndef INGEST_DELIVERY_H
#define INGEST_DELIVERY_H

#include "common/object.h"

enum delivery_kind { DELIVERY_CUR, DELIVERY_EXPORT, DELIVERY_AZURE };

struct delivery {
    enum delivery_kind kind;
    const char *manifest;      /* the name of its manifest */
    const char *folder;        /* of the manifest, beneath the root; "" is the root */
    const char *base;          /* the folder of the export: what lies in it is of this export */
    const char *export_name;   /* as the manifest calls it */
    const char *scope, *type;  /* Azure: what it is of; ActualCost, AmortizedCost, FocusCost … */
    const char *id;            /* assembly, execution or run */
    int64_t from, to;          /* what it says it is of */
    int64_t delivered;         /* unix seconds; 0: unknown */
    const char **columns;      /* as it declares them, in order; NULL: it does not */
    size_t column_count;
    struct delivery_file {
        const char *path;      /* as the manifest has it */
        int64_t size;          /* -1: it does not say */
    } *file;
    size_t file_count;
    const char *problem, *hint; /* NULL, or why it cannot be loaded */
};

struct delivery_object {
    struct object object;
    const struct delivery *delivery; /* NULL: no manifest names it */
    const char *origin;        /* what it is a part of: objects of one period and two origins are two bills */
};

struct delivery_choice {
    struct delivery_object *object;
    size_t count;
    struct delivery **failed;
    size_t failed_count;
};

struct delivery_query {
    struct arena *arena;
    const struct object_list *list;
    const char *const *suffixes;  /* of data */
    const char *exports;          /* NULL, or names of the exports that are wanted, separated by commas */
    bool times_are_true;          /* the store's own, not those of copies */
    bool pairs_types;             /* actual and amortized cost of one scope belong together */
    int64_t from;                 /* deliveries that end before it are left out */
    /* The text of a small object. */
    bool (*read)(void *context, struct object *object, struct buf *ret_text, struct error *err);
    void *context;
};

/* Suffixes of data and of manifests, for listing. */
const char *const *delivery_suffixes(struct arena *arena, const char *const *suffixes);
bool delivery_choose(const struct delivery_query *query, struct delivery_choice *ret_choice, struct error *err) MUST_CHECK;

/* ---- delivery_manifest.c */

bool delivery_is_manifest(const char *key);
/* *ret_delivery NULL: it is a manifest of something else. What is wrong with it stands in its problem. */
void delivery_parse(struct arena *arena, const struct object *object, const struct buf *text,
                    struct delivery **ret_delivery);
/* The period a folder on the way to an object is named for; false: none is. */
bool delivery_path_period(const char *key, int64_t *ret_from, int64_t *ret_to);
/* The folder an object lies in, without the parts that are but months, years and partitions. */
const char *delivery_origin(struct arena *arena, const char *key);

#endif
