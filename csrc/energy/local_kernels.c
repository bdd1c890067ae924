/* Instances of local_kernel.h and their run-time dispatch: see local_kernels.h.
 *
 * The compiler's vector types do the work, so one source serves every instruction set; on
 * machines other than x86-64 the portable instances compile to what there is. */
#include "energy/local_kernels.h"

#include <math.h>
#include <string.h>

#include "linalg/rotation.h"

#define TOKEN_(a, b) a##_##b
#define TOKEN(a, b) TOKEN_(a, b)

#define REAL float
#define SQRT sqrtf
#define TINY 1e-30f
#define FLAT 1e-2f
#define SLIP 1e-3f
#define NEWTON 4

#define KERNEL single_portable
#define WIDTH 4
#include "energy/local_kernel.h"
#undef WIDTH
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ARAP_X86_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define KERNEL single_avx2
#define WIDTH 8
#include "energy/local_kernel.h"
#undef WIDTH
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")
#define KERNEL single_avx512
#define WIDTH 16
#include "energy/local_kernel.h"
#undef WIDTH
#pragma GCC pop_options
#endif

#undef REAL
#undef SQRT
#undef TINY
#undef FLAT
#undef SLIP
#undef NEWTON
#define REAL double
#define SQRT sqrt
#define TINY 1e-300
#define FLAT 1e-3
#define SLIP 1e-7
#define NEWTON 6

#define KERNEL double_portable
#define WIDTH 2
#include "energy/local_kernel.h"
#undef WIDTH
#ifdef ARAP_X86_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define KERNEL double_avx2
#define WIDTH 4
#include "energy/local_kernel.h"
#undef WIDTH
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")
#define KERNEL double_avx512
#define WIDTH 8
#include "energy/local_kernel.h"
#undef WIDTH
#pragma GCC pop_options
#endif

static const struct kernel_set {
    const char *name;
    arap_kernel single_precision, double_precision;
} kernel_sets[] = {
#ifdef ARAP_X86_KERNELS
    {"avx512", single_avx512, double_avx512},
    {"avx2", single_avx2, double_avx2},
#endif
    {"portable", single_portable, double_portable},
};

#define KERNEL_SETS ((int)(sizeof kernel_sets / sizeof *kernel_sets))

static int runs_here(const char *name) {
#ifdef ARAP_X86_KERNELS
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return !strcmp(name, "portable");
}

static const struct kernel_set *widest(void) {
    int i = 0;
    while (!runs_here(kernel_sets[i].name)) i++;
    return &kernel_sets[i];
}

arap_kernel arap_kernel_single(void) { return widest()->single_precision; }
arap_kernel arap_kernel_double(void) { return widest()->double_precision; }
const char *arap_kernel_name(void) { return widest()->name; }

size_t arap_kernel_input_size(void) { return sizeof(arap_kernel_input); }

arap_kernel arap_kernel_named(const char *name, int is_double) {
    for (int i = 0; i < KERNEL_SETS; i++)
        if (!strcmp(kernel_sets[i].name, name) && runs_here(name))
            return is_double ? kernel_sets[i].double_precision : kernel_sets[i].single_precision;
    return NULL;
}
