/* Instances of local_kernel.h and their run-time dispatch: see local_kernels.h.
 *
 * The code uses the compiler's vector types, so one source serves every instruction set. On
 * machines other than x86-64, the portable instances are compiled for the available instructions.
 * Only sums over lanes and approximate inverses use intrinsics. See local_kernel.h for the cost.
 * The functions cannot fail. */
#include "energy/local_kernels.h"

#include <math.h>
#include <string.h>

#include "base/processor.h"
#include "base/vec4.h"
#include "linalg/rotation.h"

#define TOKEN_(a, b) a##_##b
#define TOKEN(a, b) TOKEN_(a, b)
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)

/* Code between TARGET and TARGET_END is compiled for more instruction sets. clang ignores the whole
 * attribute, with only a warning, if it contains a name known only to gcc. */
#ifdef __x86_64__
#include <immintrin.h>
#define ARAP_X86_KERNELS
#define AVX2 "avx2,fma"
#ifdef __clang__
#define AVX512 "avx512f,avx512dq,avx512vl,fma"
#define TARGET(sets)                                                                               \
    _Pragma(TEXT(clang attribute push(__attribute__((target(sets))), apply_to = function)))
#define TARGET_END _Pragma("clang attribute pop")
#else
#define AVX512 "avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512"
#define TARGET(sets) _Pragma("GCC push_options") _Pragma(TEXT(GCC target(sets)))
#define TARGET_END _Pragma("GCC pop_options")
#endif
#endif

/* Arrays traversed by such loops stay in registers; gcc unrolls the loops on its own. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL
#endif

/* The sums over the lanes of four vectors, computed in pairs, with double precision at the end. */
#ifdef ARAP_X86_KERNELS
static inline arap_v4 sums_4(__m128 a, __m128 b, __m128 c, __m128 d) {
    __m128 ab = _mm_unpacklo_ps(a, b) + _mm_unpackhi_ps(a, b);
    __m128 cd = _mm_unpacklo_ps(c, d) + _mm_unpackhi_ps(c, d);
    __m128 sum = _mm_movelh_ps(ab, cd) + _mm_movehl_ps(cd, ab);
    return (arap_v4){sum[0], sum[1], sum[2], sum[3]};
}
TARGET(AVX2)
static inline arap_v4 sums_8(__m256 a, __m256 b, __m256 c, __m256 d) {
    __m256 ab = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
    __m256 cd = _mm256_unpacklo_ps(c, d) + _mm256_unpackhi_ps(c, d);
    __m256 sum = _mm256_shuffle_ps(ab, cd, 0x44) + _mm256_shuffle_ps(ab, cd, 0xee);
    return (arap_v4)(_mm256_cvtps_pd(_mm256_castps256_ps128(sum)) +
                     _mm256_cvtps_pd(_mm256_extractf128_ps(sum, 1)));
}
static inline arap_v4 double_sums_4(__m256d a, __m256d b, __m256d c, __m256d d) {
    __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
    return (arap_v4)(_mm256_permute2f128_pd(ab, cd, 0x20) + _mm256_permute2f128_pd(ab, cd, 0x31));
}
TARGET_END
TARGET(AVX512)
static inline arap_v4 sums_16(__m512 a, __m512 b, __m512 c, __m512 d) {
    __m512 ab = _mm512_unpacklo_ps(a, b) + _mm512_unpackhi_ps(a, b);
    __m512 cd = _mm512_unpacklo_ps(c, d) + _mm512_unpackhi_ps(c, d);
    __m512 all = _mm512_shuffle_ps(ab, cd, 0x44) + _mm512_shuffle_ps(ab, cd, 0xee);
    __m256 sum = _mm512_castps512_ps256(all) + _mm512_extractf32x8_ps(all, 1);
    return (arap_v4)(_mm256_cvtps_pd(_mm256_castps256_ps128(sum)) +
                     _mm256_cvtps_pd(_mm256_extractf128_ps(sum, 1)));
}
static inline __m256d half(__m512d x) {
    return _mm512_castpd512_pd256(x) + _mm512_extractf64x4_pd(x, 1);
}
static inline arap_v4 double_sums_8(__m512d a, __m512d b, __m512d c, __m512d d) {
    return double_sums_4(half(a), half(b), half(c), half(d));
}
TARGET_END
#endif

#define REAL float
#define INTEGER int
#define SQRT sqrtf
#define TINY 1e-30f
#define MINIMUM 1e-14f
#define FLAT 1e-2f
#define SLIP 1e-3f
#define NEWTON 4

#define KERNEL single_portable
#define WIDTH 4
#ifdef ARAP_X86_KERNELS
#define SUMS(a, b, c, d) sums_4((__m128)(a), (__m128)(b), (__m128)(c), (__m128)(d))
#endif
#include "energy/local_kernel.h"
#undef SUMS
#undef WIDTH
#ifdef ARAP_X86_KERNELS
TARGET(AVX2)
#define KERNEL single_avx2
#define WIDTH 8
#define SUMS(a, b, c, d) sums_8((__m256)(a), (__m256)(b), (__m256)(c), (__m256)(d))
#include "energy/local_kernel.h"
#undef SUMS
#undef WIDTH
TARGET_END
TARGET(AVX512)
#define KERNEL single_avx512
#define WIDTH 16
#define MANY_REGISTERS
#define ABOUT_INVERSE(x) (VEC) _mm512_rcp14_ps((__m512)(x))
#define ABOUT_INVERSE_ROOT(x) (VEC) _mm512_rsqrt14_ps((__m512)(x))
#define SUMS(a, b, c, d) sums_16((__m512)(a), (__m512)(b), (__m512)(c), (__m512)(d))
#include "energy/local_kernel.h"
#undef SUMS
#undef ABOUT_INVERSE_ROOT
#undef ABOUT_INVERSE
#undef MANY_REGISTERS
#undef WIDTH
TARGET_END
#endif

#undef REAL
#undef INTEGER
#undef SQRT
#undef TINY
#undef MINIMUM
#undef FLAT
#undef SLIP
#undef NEWTON
#define REAL double
#define INTEGER long long
#define SQRT sqrt
#define TINY 1e-300
#define MINIMUM 1e-100
#define FLAT 1e-3
#define SLIP 1e-7
#define NEWTON 6

#define KERNEL double_portable
#define WIDTH 2
#include "energy/local_kernel.h"
#undef WIDTH
#ifdef ARAP_X86_KERNELS
TARGET(AVX2)
#define KERNEL double_avx2
#define WIDTH 4
#define SUMS(a, b, c, d) double_sums_4((__m256d)(a), (__m256d)(b), (__m256d)(c), (__m256d)(d))
#include "energy/local_kernel.h"
#undef SUMS
#undef WIDTH
TARGET_END
TARGET(AVX512)
#define KERNEL double_avx512
#define WIDTH 8
#define MANY_REGISTERS
#define SUMS(a, b, c, d) double_sums_8((__m512d)(a), (__m512d)(b), (__m512d)(c), (__m512d)(d))
#include "energy/local_kernel.h"
#undef SUMS
#undef MANY_REGISTERS
#undef WIDTH
TARGET_END
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
    if (!strcmp(name, "avx512")) return arap_ask_processor() >= 2;
    if (!strcmp(name, "avx2")) return arap_ask_processor() >= 1;
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
