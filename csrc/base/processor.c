/* Instruction sets of the processor: see processor.h. They do not change while the process runs, so
 * one answer is kept for all threads: a query takes a microsecond in a virtual machine. */
#include "base/processor.h"

#ifdef __x86_64__
#include <stdatomic.h>

int arap_has_avx2(void) {
    static atomic_int answer = -1;
    int has = atomic_load_explicit(&answer, memory_order_relaxed);
    if (has < 0) {
        has = arap_ask_processor() >= 1;
        atomic_store_explicit(&answer, has, memory_order_relaxed);
    }
    return has;
}
#else
int arap_has_avx2(void) { return 0; }
#endif
