/* The instruction sets of x86-64 that this machine can run. */
#ifndef ARAP_PROCESSOR_H
#define ARAP_PROCESSOR_H

#ifdef __x86_64__
#include <cpuid.h>

/* Bits of XCR0 that say whether the system saves the XMM and YMM registers, and all ZMM and mask
 * registers. */
enum { ARAP_SAVES_YMM = 0x06, ARAP_SAVES_ZMM = 0xe6 };

/* 0: neither, 1: AVX2 and FMA, 2: also AVX-512. The processor is queried directly because the
 * variable that __builtin_cpu_supports reads is never set if zig links. */
static inline int arap_ask_processor(void) {
    unsigned a, b, c, d, saved, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & ARAP_SAVES_YMM) != ARAP_SAVES_YMM) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return 0;
    const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL;
    return (saved & ARAP_SAVES_ZMM) == ARAP_SAVES_ZMM && (b & wide) == wide ? 2 : 1;
}
#endif

/* Whether the processor can run code compiled for AVX2. */
int arap_has_avx2(void);

#endif
