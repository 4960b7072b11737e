/* Search sorted arrays and grow arrays on the heap. Any thread; not for the dispatch path (it allocates). */
#ifndef RTL_BASE_ARRAY_H
#define RTL_BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Return the index of the first of `count` sorted elements that isn't below the key, or `count`. `compare` returns
 * the order of the key and an element like strcmp. */
static inline size_t rtl_lower_bound(const void *array, size_t count, size_t size, const void *key,
                                     int (*compare)(const void *key, const void *element))
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (compare(key, (const char *)array + middle * size) > 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Make room for `need` elements of `size` bytes: at least double the capacity. `array` is the address of the
 * pointer. Without memory the array stays as it was, and the result is false. New elements are not cleared. */
static inline bool rtl_grow(void *array, uint32_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    if (need > UINT32_MAX) /* doubling must end */
        return false;
    size_t room = *capacity ? *capacity : 16;
    while (room < need)
        room *= 2;
    if (room > UINT32_MAX || room > SIZE_MAX / size)
        return false;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, room * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = (uint32_t)room;
    return true;
}

#endif
