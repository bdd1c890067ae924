/* Instruction sets of the processor: see processor.h. The instruction sets do not change while the
 * process runs, so they are queried once for all threads. In a virtual machine, each query takes a
 * microsecond. */
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
