/* Defines functions that are also compiled for wider SIMD. Each call selects one of the two
 * versions. For example,
 *
 *     ARAP_WIDE_PART void sum_plain(const double *x, double *out) { ... }
 *     ARAP_WIDE(sum, (const double *x, double *out), (x, out))
 *
 * defines sum(x, out) from sum_plain. Neither version uses fused multiply-add, so both give the
 * same bits. The attribute target_clones is not used, because it requires Linux and a linker other
 * than zig's. */
#ifndef ARAP_WIDE_H
#define ARAP_WIDE_H

#include "base/processor.h"

#ifdef __x86_64__
#define ARAP_WIDE(name, parameters, arguments)                                                     \
    __attribute__((target("avx2"))) static void name##_avx2 parameters { name##_plain arguments; } \
    static void name parameters {                                                                  \
        if (arap_has_avx2())                                                                       \
            name##_avx2 arguments;                                                                 \
        else                                                                                       \
            name##_plain arguments;                                                                \
    }
#else
#define ARAP_WIDE(name, parameters, arguments)                                                     \
    static void name parameters { name##_plain arguments; }
#endif

/* A task (base/context.h). */
#define ARAP_WIDE_TASK(name)                                                                       \
    ARAP_WIDE(name, (void *data, int chunk, int worker), (data, chunk, worker))

/* A part of such a function, compiled with it. */
#define ARAP_WIDE_PART static inline __attribute__((always_inline))

#endif
