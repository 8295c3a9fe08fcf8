/* The known word that someone probably meant: for hints after a misspelling. */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* what was written */
    const char *best; /* the closest word offered so far; NULL: none is close */
    size_t distance;
};

void nearest_offer(struct nearest *nearest, const char *known);

#endif
