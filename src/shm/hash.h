/* Hashes. Pure. */
#ifndef RTL_SHM_HASH_H
#define RTL_SHM_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a, for tables of text and for the marks of long names. Not safe against made collisions. */
static inline uint64_t rtl_hash(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return hash;
}

/* SipHash-2-4 (Aumasson, Bernstein, 2012): only a holder of the key can compute it. */
struct rtl_hash_key {
    uint64_t word[2];
};

static inline void rtl_sip_rounds(uint64_t v[4], int rounds)
{
#define ROTATED(x, by) ((x) << (by) | (x) >> (64 - (by)))
    while (rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = ROTATED(v[1], 13) ^ v[0];
        v[3] = ROTATED(v[3], 16) ^ v[2];
        v[0] = ROTATED(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = ROTATED(v[3], 21) ^ v[0];
        v[1] = ROTATED(v[1], 17) ^ v[2];
        v[2] = ROTATED(v[2], 32);
    }
#undef ROTATED
}

static inline uint64_t rtl_keyed_hash(const struct rtl_hash_key *key, const void *bytes, size_t length)
{
    uint64_t v[4] = {key->word[0] ^ 0x736f6d6570736575ull, key->word[1] ^ 0x646f72616e646f6dull,
                     key->word[0] ^ 0x6c7967656e657261ull, key->word[1] ^ 0x7465646279746573ull};
    for (size_t at = 0; at <= length; at += 8) {
        uint64_t word = 0; /* the last one has the length in its highest byte */
        if (length - at >= 8)
            memcpy(&word, (const char *)bytes + at, 8);
        else if (length > at)
            memcpy(&word, (const char *)bytes + at, length - at);
        word |= length - at < 8 ? (uint64_t)length << 56 : 0;
        v[3] ^= word;
        rtl_sip_rounds(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    rtl_sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
