/* The threads that help a caller with sections of chunks, one section after another. */
#ifndef ARAP_THREAD_POOL_H
#define ARAP_THREAD_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "arap.h"

/* Chunks that one worker begins with; the first and the end, as one number. */
typedef struct arap_share {
    atomic_ullong left;
    int is_taken;    /* by a worker, who has its number */
    char apart[112]; /* from the next in another line of the cache */
} arap_share;

/* A section: task(data, chunk, worker) for each chunk from `first` on. Each possible worker has a
 * share of consecutive chunks, whose data are consecutive as well. After its own share, a worker
 * takes chunks from the ends of the others. */
typedef struct arap_section {
    void (*task)(void *data, int chunk, int worker);
    void *data;
    int shares; /* as many as may work */
    atomic_int stop;
    atomic_int helping; /* helpers that have not come to its end */
    arap_share *share;
} arap_section;

/* All its threads end with it. Only `begin`, which cannot fail, starts none. */
typedef struct arap_thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    arap_section *section; /* the present one, NULL: none that may be joined */
    atomic_uint round;     /* sections so far, and the end */
    int is_over, asleep, named, count;
    pthread_t helper[ARAP_MAX_THREADS];
} arap_thread_pool;

void arap_thread_pool_begin(arap_thread_pool *pool);
void arap_thread_pool_end(arap_thread_pool *pool);

/* Let helpers join, as many as there are shares but the caller's, or as there can be, where threads
 * fail. The caller works too, as worker 0, and then waits. */
void arap_thread_pool_open(arap_thread_pool *pool, arap_section *section);

/* The next chunk for a worker; -1: none is left. */
int arap_section_next(arap_section *section, int worker);

/* No helper may join any more: waits until those that have joined are done, or for about this long.
 * Non-zero while they are not. */
int arap_thread_pool_wait(arap_thread_pool *pool, arap_section *section, double seconds);

#endif
