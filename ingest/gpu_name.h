/*
 * What clouds call a GPU, and which model of the catalog that is: "NVIDIA A100 80GB PCIe",
 * "H100_SXM", "8x H200", "gd-8xh100ib-i128". One table, in gpu_name.c. Where the text leaves open
 * which of several models it is, the family is named if that is certain, else the bare chip
 * ("A100" without its memory), which the audit lists as not in the catalog.
 */
#ifndef INGEST_GPU_NAME_H
#define INGEST_GPU_NAME_H

#include <stdbool.h>

#include "common/csv.h"

struct gpu_name {
    const char *model; /* constant text */
    int count;         /* "8x"; 0: not said */
};

/* False when the text names no GPU the table knows; *ret_name is untouched then. */
bool gpu_name_find(struct field text, struct gpu_name *ret_name);

#endif
