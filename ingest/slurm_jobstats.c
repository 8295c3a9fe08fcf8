/* What jobstats leaves in AdminComment at the end of a job: JS1: and gzipped JSON in base64. */
#include <config.h>

#include <jansson.h>
#include <string.h>
#include <zlib.h>

#include "ingest/slurm.h"

enum { PACKED_MOST = 48 * 1024, TEXT_MOST = 512 * 1024, GZIP_WINDOW = 15 + 16, GPUS_MOST = 4096 };

static int
digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Bytes; 0 when it is no base64. */
static size_t
decode(struct field text, unsigned char *into)
{
    unsigned bits = 0, have = 0;
    size_t size = 0;

    while (text.size > 0 && text.text[text.size - 1] == '=') {
        text.size--;
    }
    for (size_t i = 0; i < text.size; i++) {
        int digit = digit_of(text.text[i]);

        if (digit < 0 || size >= PACKED_MOST) {
            return 0;
        }
        bits = (bits << 6 | (unsigned)digit) & 0xFFFF;
        have += 6;
        if (have >= 8) {
            have -= 8;
            into[size++] = (unsigned char)(bits >> have);
        }
    }
    return size;
}

static size_t
inflate_all(unsigned char *packed, size_t size, char *into)
{
    z_stream stream = {.next_in = packed, .avail_in = (uInt)size, .next_out = (Bytef *)into, .avail_out = TEXT_MOST};

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return 0;
    }
    int status = inflate(&stream, Z_FINISH);
    size_t made = TEXT_MOST - stream.avail_out;

    inflateEnd(&stream);
    return status == Z_STREAM_END ? made : 0;
}

struct means {
    double util, memory;
    int util_count, memory_count;
};

static void
add_node(const json_t *node, struct means *means)
{
    json_t *util = json_object_get(node, "gpu_utilization"), *used = json_object_get(node, "gpu_used_memory");
    const json_t *total = json_object_get(node, "gpu_total_memory"), *value;
    const char *gpu;

    json_object_foreach(util, gpu, value) {
        if (json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= 100) {
            means->util += json_number_value(value);
            means->util_count++;
        }
    }
    json_object_foreach(used, gpu, value) {
        double of = json_number_value(json_object_get(total, gpu));

        if (json_is_number(value) && of > 0 && json_number_value(value) >= 0 && json_number_value(value) <= of) {
            means->memory += 100 * json_number_value(value) / of;
            means->memory_count++;
        }
    }
}

static bool
read_summary(const char *text, size_t size, struct means *means)
{
    json_t *summary = json_loadb(text, size, 0, NULL);
    json_t *nodes = json_object_get(summary, "nodes"), *node;
    const char *name;

    json_object_foreach(nodes, name, node) {
        add_node(node, means);
    }
    json_decref(summary);
    return means->util_count > 0 && means->util_count <= GPUS_MOST;
}

bool
slurm_jobstats(struct field admin_comment, double *ret_util_pct, double *ret_memory_pct)
{
    static const char mark[] = "JS1:";
    struct means means = {0};
    struct arena arena = {0};
    bool good = false;

    admin_comment = csv_trim(admin_comment);
    if (admin_comment.size < sizeof(mark) || admin_comment.size > PACKED_MOST ||
        memcmp(admin_comment.text, mark, sizeof(mark) - 1) != 0) {
        return false;
    }
    struct field packed = {admin_comment.text + sizeof(mark) - 1, admin_comment.size - sizeof(mark) + 1};
    unsigned char *bytes = arena_alloc(&arena, PACKED_MOST);
    size_t size = decode(packed, bytes);

    if (size > 0) {
        char *text = arena_alloc(&arena, TEXT_MOST);
        size_t length = inflate_all(bytes, size, text);

        good = length > 0 && read_summary(text, length, &means);
    }
    arena_free(&arena);
    if (good) {
        *ret_util_pct = means.util / means.util_count;
        *ret_memory_pct = means.memory_count ? means.memory / means.memory_count : -1;
    }
    return good;
}
