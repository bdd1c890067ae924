/* Random numbers by SplitMix64 (Steele et al. 2014), so that a seed gives the same numbers on every
 * system. */
#ifndef ARAP_RANDOM_H
#define ARAP_RANDOM_H

#include <stdint.h>

#define ARAP_RANDOM_STEP 0x9E3779B97F4A7C15u /* increment of the state for each number */

/* Return the number that follows a state. */
static inline uint64_t arap_random_of(uint64_t state) {
    uint64_t z = state + ARAP_RANDOM_STEP;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Return a number in [0, 1). */
static inline double arap_random(uint64_t *state) {
    uint64_t z = arap_random_of(*state);
    *state += ARAP_RANDOM_STEP;
    return (double)(z >> 11) * 0x1p-53;
}

#endif
