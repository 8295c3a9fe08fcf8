#include <config.h>

#include "common/content.h"

#ifdef HAVE_ISAL
#include <isa-l/crc64.h>

static uint64_t
check_add(uint64_t check, const void *data, size_t size)
{
    return crc64_ecma_refl(check, data, size);
}
#else
#include <zlib.h>

static uint64_t
check_add(uint64_t check, const void *data, size_t size)
{
    return (uint64_t)crc32_z(check >> 32, data, size) << 32 | adler32_z(check & UINT32_MAX, data, size);
}
#endif

void
content_add(struct content *content, const void *data, size_t size)
{
    content->check = check_add(content->check, data, size);
    content->size += size;
}
