/* A hash of text (FNV-1a) for tables and for the marks of long names. Not safe against made collisions. Pure. */
#ifndef RTL_SHM_HASH_H
#define RTL_SHM_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t rtl_hash(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return hash;
}

#endif
