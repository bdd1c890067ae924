/* Threads that help a caller process sections of chunks, one section at a time. */
#ifndef ARAP_THREAD_POOL_H
#define ARAP_THREAD_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "arap.h"

/* The initial chunks of one worker, with the first and the end packed into one number. */
typedef struct arap_share {
    atomic_ullong left;
    int is_taken;    /* taken by a worker, which gets its number */
    char apart[112]; /* separates it from the next one, in another cache line */
} arap_share;

/* A section: task(data, chunk, worker) for each chunk from `first` on. Each possible worker has a
 * share of consecutive chunks, whose data are consecutive as well. After its own share, a worker
 * takes chunks from the ends of the others. */
typedef struct arap_section {
    void (*task)(void *data, int chunk, int worker);
    void *data;
    int shares; /* maximum number of workers */
    atomic_int stop;
    atomic_int helping; /* helpers that have not finished it */
    arap_share *share;
} arap_section;

/* All threads of a pool end with it. `begin` cannot fail because it starts no threads. */
typedef struct arap_thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    arap_section *section; /* the current section; NULL: none that may be joined */
    atomic_uint round;     /* number of sections so far, including the end */
    int is_over, asleep, named, count;
    pthread_t helper[ARAP_MAX_THREADS];
} arap_thread_pool;

void arap_thread_pool_begin(arap_thread_pool *pool);
void arap_thread_pool_end(arap_thread_pool *pool);

/* Let helpers join, one for each share except the caller's, or fewer if threads cannot be created.
 * The caller also works, as worker 0, and then waits. */
void arap_thread_pool_open(arap_thread_pool *pool, arap_section *section);

/* Return the next chunk for a worker; -1: none is left. */
int arap_section_next(arap_section *section, int worker);

/* Close the section to further helpers, and wait until those that have joined are done or about
 * this much time has passed. Returns non-zero if they are not done. */
int arap_thread_pool_wait(arap_thread_pool *pool, arap_section *section, double seconds);

#endif
