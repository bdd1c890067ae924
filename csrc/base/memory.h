/* Allocation. All memory of the solver comes from here. In builds with ARAP_FAULT_INJECTION, tests
 * make the k-th allocation fail and so reach every clean-up path. */
#ifndef ARAP_MEMORY_H
#define ARAP_MEMORY_H

#include <stddef.h>

#include "arap.h"

/* `count` elements of `size` bytes, uninitialized / zeroed; NULL when there is no memory or
 * the product overflows. A count of 0 gives a valid pointer to nothing. */
void *arap_alloc(size_t count, size_t size);
void *arap_alloc_zero(size_t count, size_t size);
void *arap_realloc(void *block, size_t count, size_t size);

/* Numbers, of any type, from the scratch space of one worker to that of the next, of which each
 * uses `count`: no two workers write to the same cache line, which would bounce between them. */
static inline size_t arap_apart(size_t count) { return count + 128; }

/* Give back to the system what is free in pages of its own. The GNU C library keeps such pages for
 * threads that have ended, unless another thread uses them. Takes milliseconds; does nothing with
 * other C libraries. */
void arap_give_back_memory(void);

#define ARAP_NEW(type, count) ((type *)arap_alloc((size_t)(count), sizeof(type)))
#define ARAP_NEW_ZERO(type, count) ((type *)arap_alloc_zero((size_t)(count), sizeof(type)))

#ifdef ARAP_FAULT_INJECTION
/* Let the next `count` allocations of the process succeed and all later ones fail;
 * a negative count switches the fault off. */
void arap_fail_allocations_after(long count);
/* Blocks that were allocated and not yet freed. */
long arap_live_allocations(void);
#endif

#endif
