/* Progress and threads: see context.h.
 *
 * Threads are created for each parallel section (about 20 us each) and joined at its end:
 * sections take milliseconds, and a pool would be global state that does not survive fork().
 * Sections of short chunks, many of which take less on a small mesh, begin on the caller's thread,
 * and get others by what is left to do as the chunks so far tell.
 * When no thread can be created the caller does all the work. The caller's thread is the first
 * worker, and alone calls progress: between its chunks, and while it waits for the others. */
#define _GNU_SOURCE
#include "base/context.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

#define LISTEN 0.05 /* seconds from one report to the next */
#define SHARE 5e-5  /* seconds of short chunks that are worth a thread */

typedef struct section {
    arap_task task;
    void *data;
    int chunks;
    atomic_int next, stop;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int running; /* workers but the first */
} section;

typedef struct worker {
    section *section;
    int index;
    pthread_t thread;
} worker;

static void *work(void *argument) {
    const worker *self = argument;
    section *s = self->section;
    for (int chunk; !atomic_load(&s->stop) && (chunk = atomic_fetch_add(&s->next, 1)) < s->chunks;)
        s->task(s->data, chunk, self->index);
    pthread_mutex_lock(&s->lock);
    if (!--s->running) pthread_cond_signal(&s->done);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Until the other workers are done, or it is time to listen; non-zero while they are not. */
static int wait_for_others(section *s) {
    pthread_mutex_lock(&s->lock);
    if (s->running) arap_wait_for(&s->done, &s->lock, LISTEN);
    int running = s->running;
    pthread_mutex_unlock(&s->lock);
    return running;
}

/* The first worker, and then until the others are done. */
static arap_status work_and_listen(arap_context *context, section *s) {
    arap_status status = ARAP_OK;
    for (int chunk; !status && (chunk = atomic_fetch_add(&s->next, 1)) < s->chunks;) {
        s->task(s->data, chunk, 0);
        status = arap_listen(context);
    }
    while (!status && wait_for_others(s)) status = arap_listen(context);
    if (status) atomic_store(&s->stop, 1);
    return status;
}

/* Chunks from `first` on, on at most so many threads. */
static arap_status run(arap_context *context, int most, int first, int chunks, arap_task task,
                       void *data) {
    section s = {.task = task,
                 .data = data,
                 .chunks = chunks,
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .done = PTHREAD_COND_INITIALIZER};
    atomic_init(&s.next, first);
    atomic_init(&s.stop, 0);
    worker workers[ARAP_MOST_THREADS];
    int wanted = most < ARAP_MOST_THREADS ? most : ARAP_MOST_THREADS;
    if (wanted > chunks - first) wanted = chunks - first;
    int started = 1;
    s.running = wanted > 1 ? wanted - 1 : 0;
    while (started < wanted) {
        worker *w = &workers[started];
        *w = (worker){.section = &s, .index = started};
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
        started++;
    }
    if (started < wanted) { /* those that there are not */
        pthread_mutex_lock(&s.lock);
        s.running -= wanted - started;
        pthread_mutex_unlock(&s.lock);
    }
    arap_status status = work_and_listen(context, &s);
    for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
    pthread_cond_destroy(&s.done);
    pthread_mutex_destroy(&s.lock);
    return status;
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
            int most = left / SHARE < context->threads ? (int)(left / SHARE) : context->threads;
            return run(context, most, done, chunks, task, data);
        }
        status = arap_listen(context);
    }
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
        return count < 1 ? 1 : count > ARAP_MOST_THREADS ? ARAP_MOST_THREADS : count;
    }
#endif
#ifdef _WIN32
    long long count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS); /* 0 where it fails */
#else
    long long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > ARAP_MOST_THREADS ? ARAP_MOST_THREADS : (int)count;
}

arap_status arap_progress(arap_context *context, const char *stage, double fraction) {
    if (fraction > 1) fraction = 1; /* by rounding */
    if (context->progress && context->progress(context->progress_data, stage, fraction))
        return arap_fail(&context->error, ARAP_CANCELLED, "cancelled during %s", stage);
    context->stage = stage;
    context->fraction = fraction;
    context->reported = arap_seconds();
    return ARAP_OK;
}

arap_status arap_listen(arap_context *context) {
    if (context->deaf || !context->stage || arap_seconds() - context->reported < LISTEN)
        return ARAP_OK;
    return arap_progress(context, context->stage, context->fraction);
}
