#include <config.h>

#include "common/sha256.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void
expand(uint32_t *w, const unsigned char *block)
{
    for (int i = 0; i < 16; i++) {
        memcpy(&w[i], block + 4 * i, 4);
        w[i] = __builtin_bswap32(w[i]);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3)
            + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void
blocks_portable(uint32_t *state, const unsigned char *data, size_t count)
{
    for (; count; count--, data += 64) {
        uint32_t w[64], s[8];

        expand(w, data);
        memcpy(s, state, sizeof s);
        for (int i = 0; i < 64; i++) {
            uint32_t t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25))
                + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
            uint32_t u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22))
                + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += t;
            s[0] = t + u;
        }
        for (int i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

#ifdef __x86_64__
/* Four rounds a step; the message schedule runs three steps ahead. The instructions want the state
 * as ABEF and CDGH. */
__attribute__((target("sha,sse4.1"))) static void
blocks_native(uint32_t *state, const unsigned char *data, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);

    for (; count; count--, data += 64) {
        __m128i a = abef, c = cdgh, m[4];

        for (int i = 0; i < 4; i++)
            m[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)), swap);
        for (int i = 0; i < 16; i++) {
            __m128i k = _mm_add_epi32(m[i & 3], _mm_load_si128((const __m128i *)(const void *)(K + 4 * i)));

            c = _mm_sha256rnds2_epu32(c, a, k);
            a = _mm_sha256rnds2_epu32(a, c, _mm_shuffle_epi32(k, 0x0e));
            if (i < 12) {
                __m128i w = _mm_sha256msg1_epu32(m[i & 3], m[(i + 1) & 3]);

                w = _mm_add_epi32(w, _mm_alignr_epi8(m[(i + 3) & 3], m[(i + 2) & 3], 4));
                m[i & 3] = _mm_sha256msg2_epu32(w, m[(i + 3) & 3]);
            }
        }
        abef = _mm_add_epi32(abef, a);
        cdgh = _mm_add_epi32(cdgh, c);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

static bool
has_native(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1 && __get_cpuid(1, &a, &b, &c, &d) && c >> 19 & 1;
}
#endif

static void
blocks(uint32_t *state, const unsigned char *data, size_t count)
{
#ifdef __x86_64__
    static int native = -1;

    if (native < 0)
        native = has_native();
    if (native) {
        blocks_native(state, data, count);
        return;
    }
#endif
    blocks_portable(state, data, count);
}

void
sha256_begin(struct sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(hash->state, start, sizeof start);
    hash->size = 0;
}

void
sha256_add(struct sha256 *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    size_t held = hash->size % 64, part = size < 64 - held ? size : 64 - held;

    hash->size += size;
    if (held) {
        memcpy(hash->block + held, bytes, part);
        if (held + part < 64)
            return;
        blocks(hash->state, hash->block, 1);
        bytes += part;
        size -= part;
    }
    blocks(hash->state, bytes, size / 64);
    if (size % 64)
        memcpy(hash->block, bytes + size / 64 * 64, size % 64);
}

void
sha256_bytes(const struct sha256 *hash, unsigned char ret_bytes[32])
{
    static const unsigned char pad[64] = {0x80};
    struct sha256 end = *hash;
    uint64_t bits = __builtin_bswap64(hash->size * 8);

    sha256_add(&end, pad, 1 + (119 - hash->size % 64) % 64);
    sha256_add(&end, &bits, 8);
    for (int i = 0; i < 32; i++)
        ret_bytes[i] = (unsigned char)(end.state[i / 4] >> (24 - 8 * (i % 4)));
}

void
sha256_hex(const struct sha256 *hash, char ret_hex[65])
{
    unsigned char bytes[32];

    sha256_bytes(hash, bytes);
    for (int i = 0; i < 64; i++)
        ret_hex[i] = "0123456789abcdef"[bytes[i / 2] >> (4 - 4 * (i % 2)) & 15];
    ret_hex[64] = '\0';
}

void
sha256_hmac(const void *key, size_t key_size, const void *data, size_t size, unsigned char ret_bytes[32])
{
    unsigned char inner[64] = {0}, outer[64];
    struct sha256 hash;

    sha256_begin(&hash);
    if (key_size > sizeof inner) {
        sha256_add(&hash, key, key_size);
        sha256_bytes(&hash, inner);
    } else if (key_size) {
        memcpy(inner, key, key_size);
    }
    for (size_t i = 0; i < sizeof inner; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_begin(&hash);
    sha256_add(&hash, inner, sizeof inner);
    sha256_add(&hash, data, size);
    sha256_bytes(&hash, ret_bytes);
    sha256_begin(&hash);
    sha256_add(&hash, outer, sizeof outer);
    sha256_add(&hash, ret_bytes, 32);
    sha256_bytes(&hash, ret_bytes);
}
