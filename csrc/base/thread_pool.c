/* Helper threads: see thread_pool.h.
 *
 * Helpers are created when a section first needs them (about 20 us each), and then wait for the
 * next section. Sections of microseconds follow each other closely, so a waiting helper spins for
 * SPIN before it sleeps. Waking a helper takes as long as creating a thread. However, a section
 * does not wait for a late helper, and it does not join threads at its end.
 *
 * Every wait ends, for the following reasons. A helper sleeps until `round` has changed. Each
 * section, and the end of the pool, changes `round` under the lock and then wakes the helpers, so a
 * helper cannot miss a change. The end of a section waits for the helpers that have joined the
 * section. No helper joins after `section` is NULL, each chunk is taken at most once, and the
 * number of chunks is finite, so `helping` falls to 0. The chunks of forest.c also wait, and
 * forest.c explains why those waits end.
 */
#include "base/thread_pool.h"

#include "base/clock.h"

#define SPIN 5e-6 /* seconds, about the processor time needed to wake a thread */

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int is_late(double since) {
    for (int k = 0; k < 8; k++) relax();
    return arap_seconds() - since > SPIN;
}

/* Take the first or last remaining chunk of a share, or return -1. */
static int take(arap_share *share, int is_own) {
    unsigned long long left = atomic_load(&share->left);
    for (;;) {
        unsigned first = (unsigned)(left >> 32), end = (unsigned)left;
        if (first >= end) return -1;
        unsigned long long rest = is_own ? left + (1ull << 32) : left - 1;
        if (atomic_compare_exchange_weak(&share->left, &left, rest))
            return (int)(is_own ? first : end - 1);
    }
}

int arap_section_next(arap_section *section, int worker) {
    int chunk = take(&section->share[worker], 1);
    for (int k = 1; k < section->shares && chunk < 0; k++)
        chunk = take(&section->share[(worker + k) % section->shares], 0);
    return chunk;
}

/* Find a share for a helper, if possible the one that it had in the previous section. Returns 0,
 * the caller's share, if none is left. The lock must be held. */
static int find_share(const arap_section *s, int usual) {
    if (usual < s->shares && !s->share[usual].is_taken) return usual;
    for (int k = 1; k < s->shares; k++)
        if (!s->share[k].is_taken) return k;
    return 0;
}

/* Join the next section with a free place after round `seen`; NULL: the pool has ended. */
static arap_section *join_next(arap_thread_pool *t, unsigned *seen, int *worker) {
    for (arap_section *joined = NULL;;) {
        double since = arap_seconds();
        while (atomic_load(&t->round) == *seen && !is_late(since)) {
        }
        pthread_mutex_lock(&t->lock);
        while (atomic_load(&t->round) == *seen) {
            t->asleep++;
            pthread_cond_wait(&t->begun, &t->lock);
            t->asleep--;
        }
        *seen = atomic_load(&t->round);
        int is_over = t->is_over, share = t->section ? find_share(t->section, *worker) : 0;
        if (share) {
            joined = t->section;
            joined->share[share].is_taken = 1;
            atomic_fetch_add(&joined->helping, 1);
            *worker = share;
        }
        pthread_mutex_unlock(&t->lock);
        if (is_over || joined) return joined;
    }
}

static void *help(void *argument) {
    arap_thread_pool *t = argument;
    unsigned seen = 0;
    pthread_mutex_lock(&t->lock);
    int worker = ++t->named;
    pthread_mutex_unlock(&t->lock);
    for (arap_section *s; (s = join_next(t, &seen, &worker)) != NULL;) {
        for (int chunk; !atomic_load(&s->stop) && (chunk = arap_section_next(s, worker)) >= 0;)
            s->task(s->data, chunk, worker);
        pthread_mutex_lock(&t->lock);
        if (atomic_fetch_sub(&s->helping, 1) == 1) pthread_cond_signal(&t->done);
        pthread_mutex_unlock(&t->lock);
    }
    return NULL;
}

void arap_thread_pool_begin(arap_thread_pool *pool) {
    pool->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool->begun = pool->done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool->section = NULL;
    atomic_init(&pool->round, 0);
    pool->is_over = pool->asleep = pool->named = pool->count = 0;
}

void arap_thread_pool_end(arap_thread_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_over = 1;
    pool->section = NULL;
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->count; i++) pthread_join(pool->helper[i], NULL);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
}

void arap_thread_pool_open(arap_thread_pool *pool, arap_section *section) {
    int wanted = section->shares - 1;
    pthread_mutex_lock(&pool->lock);
    pool->section = section;
    atomic_fetch_add(&pool->round, 1);
    int sleepers = pool->asleep, missing = wanted - (pool->count - sleepers);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < missing && i < sleepers; i++) pthread_cond_signal(&pool->begun);
    while (pool->count < wanted &&
           pthread_create(&pool->helper[pool->count], NULL, help, pool) == 0)
        pool->count++;
}

int arap_thread_pool_wait(arap_thread_pool *pool, arap_section *section, double seconds) {
    double since = arap_seconds();
    pthread_mutex_lock(&pool->lock);
    pool->section = NULL;
    pthread_mutex_unlock(&pool->lock);
    while (atomic_load(&section->helping) && !is_late(since)) {
    }
    pthread_mutex_lock(&pool->lock);
    if (atomic_load(&section->helping)) arap_wait_for(&pool->done, &pool->lock, seconds);
    int helping = atomic_load(&section->helping);
    pthread_mutex_unlock(&pool->lock);
    return helping;
}
