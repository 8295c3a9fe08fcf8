/*
 * What a text is, in sixteen bytes: its size and a checksum. Two readings with the same are of one
 * text, however it was packed and whatever it was called. It tells accidents, not forgeries.
 */
#ifndef COMMON_CONTENT_H
#define COMMON_CONTENT_H

#include <stddef.h>
#include <stdint.h>

struct content {
    uint64_t size, check;
};

void content_add(struct content *content, const void *data, size_t size);

#endif
