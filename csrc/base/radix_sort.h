/* Sorts indices by keys of 64 bits. */
#ifndef ARAP_RADIX_SORT_H
#define ARAP_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

typedef struct arap_keyed {
    uint64_t key;
    size_t index;
} arap_keyed;

/* Convert a number to a key and back. Keys are in the order of their numbers; -0 becomes 0. */
uint64_t arap_key_of(double number);
double arap_number_of(uint64_t key);

/* Sort `count` items by key. Items of equal keys stay in order. The two arrays change places until
 * *items is the one that holds the result. Polls for cancellation. */
arap_status arap_radix_sort(arap_context *context, size_t count, arap_keyed **items,
                            arap_keyed **scratch);

#endif
