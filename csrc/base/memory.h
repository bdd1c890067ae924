/* These functions allocate all memory of the engine. In builds with ARAP_FAULT_INJECTION, tests
 * make the k-th allocation fail to exercise every cleanup path. */
#ifndef ARAP_MEMORY_H
#define ARAP_MEMORY_H

#include <stddef.h>

#include "arap.h"
#include "base/status.h"

/* Allocate `count` elements of `size` bytes, uninitialized / zeroed. Returns NULL when memory runs
 * out or the product overflows. A count of 0 gives a valid pointer to nothing. */
void *arap_alloc(size_t count, size_t size);
void *arap_alloc_zero(size_t count, size_t size);
void *arap_realloc(void *block, size_t count, size_t size);

/* Distance between the scratch spaces of two workers, in numbers of any type, if each uses `count`
 * of them. With this distance, no two workers write to the same cache line. */
static inline size_t arap_apart(size_t count) { return count + 128; }

/* Return entirely free pages to the system. The GNU C library keeps the pages of threads that have
 * ended until another thread uses them. This takes milliseconds. With other C libraries it does
 * nothing. */
void arap_give_back_memory(void);

#define ARAP_NEW(type, count) ((type *)arap_alloc((size_t)(count), sizeof(type)))
#define ARAP_NEW_ZERO(type, count) ((type *)arap_alloc_zero((size_t)(count), sizeof(type)))

/* Blocks that are released together. An arena of zeros is empty. A block of an arena may not be
 * freed or reallocated. */
typedef struct arap_arena {
    void *last; /* the block that was taken last */
    int failed; /* a block could not be allocated and is NULL */
} arap_arena;

void *arap_take(arap_arena *arena, size_t count, size_t size);
void *arap_take_zero(arap_arena *arena, size_t count, size_t size);

/* The error if any block could not be allocated: there is not enough memory for `what`. */
arap_status arap_arena_status(const arap_arena *arena, arap_error *error, const char *what);
void arap_arena_clear(arap_arena *arena);

#define ARAP_TAKE(arena, count, type) ((type *)arap_take(arena, (size_t)(count), sizeof(type)))
#define ARAP_TAKE_ZERO(arena, count, type)                                                         \
    ((type *)arap_take_zero(arena, (size_t)(count), sizeof(type)))

#ifdef ARAP_FAULT_INJECTION
/* Let the next `count` allocations of the process succeed and all later ones fail. A negative count
 * switches the fault off. */
void arap_fail_allocations_after(long count);
/* Number of blocks that were allocated and not yet freed. */
long arap_live_allocations(void);
#endif

#endif
