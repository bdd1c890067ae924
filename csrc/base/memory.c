/* Allocation: see memory.h. Blocks are 64-byte aligned so that SIMD loads never split. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define ALIGNMENT 64

#ifdef ARAP_FAULT_INJECTION
#include <stdatomic.h>
static atomic_long allocations_left = -1, live_allocations;

void arap_fail_allocations_after(long count) { atomic_store(&allocations_left, count); }
long arap_live_allocations(void) { return atomic_load(&live_allocations); }

static int allocation_denied(void) {
    if (atomic_load(&allocations_left) < 0) return 0;
    if (atomic_fetch_sub(&allocations_left, 1) > 0) return 0;
    atomic_store(&allocations_left, 0);
    return 1;
}
static void count_allocation(long change) { atomic_fetch_add(&live_allocations, change); }
#else
static int allocation_denied(void) { return 0; }
static void count_allocation(long change) { (void)change; }
#endif

/* Header before each block, for arap_realloc and arap_free. Blocks are aligned by hand because
 * Windows has no aligned_alloc, and memory from its own function may not be passed to free. */
typedef struct header {
    void *raw; /* the pointer of malloc */
    size_t bytes;
    void *before; /* the block of the same arena that was taken before */
} header;

static header *header_of(void *block) { return (header *)block - 1; }

/* calloc knows which pages are already zero, such as those of large blocks. */
static void *allocate(size_t count, size_t size, int zero) {
    if (size && count > (SIZE_MAX - ALIGNMENT - sizeof(header)) / size) return NULL;
    if (allocation_denied()) return NULL;
    size_t bytes = count * size + ALIGNMENT + sizeof(header);
    char *raw = zero ? calloc(bytes, 1) : malloc(bytes);
    if (!raw) return NULL;
    size_t past = ((uintptr_t)raw + sizeof(header)) % ALIGNMENT;
    char *block = raw + sizeof(header) + (ALIGNMENT - past) % ALIGNMENT;
    *header_of(block) = (header){.raw = raw, .bytes = count * size};
    count_allocation(1);
    return block;
}

void *arap_alloc(size_t count, size_t size) { return allocate(count, size, 0); }

void *arap_alloc_zero(size_t count, size_t size) { return allocate(count, size, 1); }

void *arap_realloc(void *block, size_t count, size_t size) {
    if (!block) return arap_alloc(count, size);
    void *moved = arap_alloc(count, size);
    if (!moved) return NULL;
    size_t old = header_of(block)->bytes;
    memcpy(moved, block, old < count * size ? old : count * size);
    arap_free(block);
    return moved;
}

void arap_free(void *block) {
    if (!block) return;
    count_allocation(-1);
    free(header_of(block)->raw);
}

static void *take(arap_arena *arena, void *block) {
    if (!block) {
        arena->failed = 1;
        return NULL;
    }
    header_of(block)->before = arena->last;
    return arena->last = block;
}

void *arap_take(arap_arena *arena, size_t count, size_t size) {
    return take(arena, allocate(count, size, 0));
}

void *arap_take_zero(arap_arena *arena, size_t count, size_t size) {
    return take(arena, allocate(count, size, 1));
}

arap_status arap_arena_status(const arap_arena *arena, arap_error *error, const char *what) {
    return arena->failed ? arap_fail_memory(error, what) : ARAP_OK;
}

void arap_arena_clear(arap_arena *arena) {
    for (void *before; arena->last; arena->last = before) {
        before = header_of(arena->last)->before;
        arap_free(arena->last);
    }
    arena->failed = 0;
}

void arap_give_back_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
