/* Four numbers side by side, processed with one or two instructions: homogeneous points, or vectors
 * followed by 0. */
#ifndef ARAP_VEC4_H
#define ARAP_VEC4_H

#include "base/wide.h"

typedef double arap_v4 __attribute__((vector_size(32)));
/* arap_v4 in an array of numbers, with any alignment. */
typedef double arap_v4_at __attribute__((vector_size(32), aligned(8), may_alias));

/* The homogeneous point x (3). */
ARAP_WIDE_PART arap_v4 arap_point4(const double *x) { return (arap_v4){x[0], x[1], x[2], 1}; }

/* a . b, summed from the first number to the last. */
ARAP_WIDE_PART double arap_dot4(arap_v4 a, arap_v4 b) {
    arap_v4 t = a * b;
    return ((t[0] + t[1]) + t[2]) + t[3];
}

#endif
