/* Progress and threads: see context.h.
 *
 * Threads belong to a call, which reuses them in its parallel sections, or to a single section
 * (thread_pool.h). A pool that outlives calls would be global state that does not survive fork().
 * Sections of short chunks start on the caller's thread, because on a small mesh many such sections
 * are finished before another thread could start. Such sections get more threads if the remaining
 * work, estimated from the finished chunks, is large enough.
 *
 * On one thread, the speedup with more threads is estimated under two assumptions. A section of c
 * equal chunks on w threads takes ceil(c / w) chunk times, and all threads except one start late.
 * Times measured on one processor do not show how long several processors would wait for memory.
 *
 * If no thread can be created, the caller does all the work. The caller's thread is the first
 * worker. Only this thread calls the progress callback, between its chunks and while it waits for
 * the other threads. */
#define _GNU_SOURCE
#include "base/context.h"

#include "base/clock.h"

#include <sched.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#define SHARE 5e-5 /* seconds of short chunks that justify a thread */
#define LATE 2e-5  /* seconds until a sleeping thread has started */

const int arap_scaling_sizes[ARAP_SCALING_SIZES] = {2, 4, 16};

int arap_chunk_stops(arap_context *context, int worker) {
    return !worker && arap_poll_cancel(context) != ARAP_OK;
}

/* Run the first worker, then wait until the others are done. */
static arap_status work_and_poll(arap_context *context, arap_thread_pool *pool, arap_section *s) {
    arap_status status = ARAP_OK;
    for (int chunk; !status && (chunk = arap_section_next(s, 0)) >= 0;) {
        s->task(s->data, chunk, 0);
        status = arap_poll_cancel(context);
    }
    if (status) atomic_store(&s->stop, 1);
    while (pool && arap_thread_pool_wait(pool, s, ARAP_POLL_SECONDS)) {
        arap_status polled = status ? status : arap_poll_cancel(context);
        if (!status && polled) atomic_store(&s->stop, 1);
        status = polled;
    }
    return status;
}

/* Divide the chunks from `first` on into shares. */
static void cut(arap_section *s, int first, int chunks) {
    unsigned long long left = (unsigned long long)(chunks - first), shares = (unsigned)s->shares;
    for (unsigned k = 0; k < shares; k++) {
        unsigned long long from = (unsigned)first + left * k / shares;
        unsigned long long end = (unsigned)first + left * (k + 1) / shares;
        atomic_init(&s->share[k].left, from << 32 | end);
        s->share[k].is_taken = 0;
    }
}

void arap_note_shared(arap_context *context, double seconds, double serial) {
    if (context->threads > 1) return;
    context->shared += seconds;
    for (int k = 0; k < ARAP_SCALING_SIZES; k++)
        context->saved[k] += seconds * (1 - serial) * (1 - 1.0 / arap_scaling_sizes[k]);
}

/* arap_note_shared for equal chunks, if this many seconds justify a thread. */
static void note_chunks(arap_context *context, double seconds, int chunks, double worth) {
    if (context->threads > 1 || chunks < 2 || seconds < 2 * worth) return;
    context->shared += seconds;
    for (int k = 0; k < ARAP_SCALING_SIZES; k++) {
        int threads = arap_scaling_sizes[k] < chunks ? arap_scaling_sizes[k] : chunks;
        if (threads * worth > seconds) threads = (int)(seconds / worth);
        int rounds = (chunks + threads - 1) / threads;
        double saved = seconds * (1 - (double)rounds / chunks) - LATE * (1 - 1.0 / threads);
        if (saved > 0) context->saved[k] += saved;
    }
}

/* Run the chunks from `first` on with at most this many threads. */
static arap_status run(arap_context *context, int max, int first, int chunks, arap_task task,
                       void *data) {
    arap_share shares[ARAP_MAX_THREADS];
    arap_thread_pool own, *pool = context->pool ? context->pool : &own;
    if (max > ARAP_MAX_THREADS) max = ARAP_MAX_THREADS;
    if (max > chunks - first) max = chunks - first;
    if (max < 1) return ARAP_OK;
    arap_section s = {.task = task, .data = data, .shares = max, .share = shares};
    cut(&s, first, chunks);
    atomic_init(&s.stop, 0);
    atomic_init(&s.helping, 0);
    if (max < 2) {
        double begin = arap_seconds();
        arap_status status = work_and_poll(context, NULL, &s);
        note_chunks(context, arap_seconds() - begin, chunks - first, 0);
        return status;
    }
    if (pool == &own) arap_thread_pool_begin(pool);
    arap_thread_pool_open(pool, &s);
    arap_status status = work_and_poll(context, pool, &s);
    if (pool == &own) arap_thread_pool_end(pool);
    return status;
}

void arap_keep_threads(arap_context *context, arap_thread_pool *pool) {
    if (context->pool) return;
    arap_thread_pool_begin(pool);
    context->pool = pool;
}

void arap_end_threads(arap_context *context, arap_thread_pool *pool) {
    if (context->pool != pool) return;
    arap_thread_pool_end(pool);
    context->pool = NULL;
}

arap_status arap_parallel(arap_context *context, int chunks, arap_task task, void *data) {
    return run(context, context->threads, 0, chunks, task, data);
}

arap_status arap_parallel_short(arap_context *context, int chunks, arap_task task, void *data) {
    arap_status status = ARAP_OK;
    double begin = arap_seconds();
    for (int done = 0; done < chunks && !status;) {
        task(data, done++, 0);
        double left = (arap_seconds() - begin) / done * (chunks - done);
        if (context->threads > 1 && left > 2 * SHARE) {
            int max = left / SHARE < context->threads ? (int)(left / SHARE) : context->threads;
            return run(context, max, done, chunks, task, data);
        }
        status = arap_poll_cancel(context);
    }
    note_chunks(context, arap_seconds() - begin, chunks, SHARE);
    return status;
}

arap_status arap_parallel_slices(arap_context *context, const char *stage, int chunks, int slice,
                                 arap_task task, void *data) {
    arap_status status = ARAP_OK;
    for (int first = 0; first < chunks && !status; first += slice) {
        status = arap_progress(context, stage, (double)first / chunks);
        int end = chunks - first < slice ? chunks : first + slice;
        if (!status) status = run(context, context->threads, first, end, task, data);
    }
    return status;
}

int arap_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int count = CPU_COUNT(&set);
        return count < 1 ? 1 : count > ARAP_MAX_THREADS ? ARAP_MAX_THREADS : count;
    }
#endif
#ifdef _WIN32
    long long count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); /* 0 where it fails */
#else
    long long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > ARAP_MAX_THREADS ? ARAP_MAX_THREADS : (int)count;
}

static void report(arap_context *context, const char *stage, double fraction) {
    if (context->progress && context->progress(context->progress_data, stage, fraction))
        context->asked = stage;
    context->stage = stage;
    context->fraction = fraction;
    context->reported = arap_seconds();
}

static arap_status stop_if_asked(arap_context *context) {
    if (!context->asked) return ARAP_OK;
    return arap_fail(&context->error, ARAP_CANCELLED, "cancelled during %s", context->asked);
}

arap_status arap_progress(arap_context *context, const char *stage, double fraction) {
    if (fraction > 1) fraction = 1; /* due to rounding */
    if (!context->asked) report(context, stage, fraction);
    return stop_if_asked(context);
}

arap_status arap_poll_cancel(arap_context *context) {
    int is_due = context->uncancellable < 2 && context->stage && !context->asked &&
                 arap_seconds() - context->reported >= ARAP_POLL_SECONDS;
    if (is_due) report(context, context->stage, context->fraction);
    return context->uncancellable ? ARAP_OK : stop_if_asked(context);
}
