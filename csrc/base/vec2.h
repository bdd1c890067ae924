/* Two numbers side by side, processed with one instruction on x86-64. */
#ifndef ARAP_VEC2_H
#define ARAP_VEC2_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef double arap_v2 __attribute__((vector_size(16)));

/* a > b ? a : b for both numbers. */
static inline arap_v2 arap_larger2(arap_v2 a, arap_v2 b) {
#ifdef __SSE2__
    return _mm_max_pd(a, b);
#else
    return (arap_v2){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

/* a < b ? a : b for both numbers. */
static inline arap_v2 arap_smaller2(arap_v2 a, arap_v2 b) {
#ifdef __SSE2__
    return _mm_min_pd(a, b);
#else
    return (arap_v2){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
#endif
}

#endif
