/* What delivery.c (which delivery) and delivery_files.c (which objects) share. */
#ifndef INGEST_DELIVERY_PRIVATE_H
#define INGEST_DELIVERY_PRIVATE_H

#include "ingest/delivery.h"

struct choosing {
    const struct delivery_query *query;
    struct arena *arena;
    struct delivery **all;    /* every manifest that was read */
    size_t all_count;
    struct delivery **chosen;
    size_t chosen_count;
    bool *is_taken;           /* of each object: in use, or known not to be */
    struct delivery_choice *choice;
    struct error *err;
};

/* In the folder, or beneath it; "" holds everything. */
bool delivery_is_beneath(const char *key, const char *folder);
/* The objects of a delivery, or what is wrong with it. */
void delivery_take(struct choosing *choosing, struct delivery *delivery);
/* What no manifest names. */
bool delivery_take_others(struct choosing *choosing) MUST_CHECK;

#endif
