/* SHA-256 (FIPS 180-4), with the processor's own instructions where it has them. */
#ifndef COMMON_SHA256_H
#define COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t size;          /* bytes so far */
    unsigned char block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
void sha256_hex(const struct sha256 *hash, char ret_hex[65]); /* of all so far; more may be added */
void sha256_bytes(const struct sha256 *hash, unsigned char ret_bytes[32]);
/* HMAC-SHA256 (RFC 2104). */
void sha256_hmac(const void *key, size_t key_size, const void *data, size_t size, unsigned char ret_bytes[32]);

#endif
