/* Progress and threads: see context.h.
 *
 * Threads are created for each parallel section (about 20 us each) and joined at its end:
 * sections take milliseconds, and a pool would be global state that does not survive fork().
 * When no thread can be created the caller does all the work. */
#define _GNU_SOURCE
#include "base/context.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <unistd.h>
#endif

typedef struct section {
    arap_task task;
    void *data;
    int chunks;
    atomic_int next;
} section;

typedef struct worker {
    section *section;
    int index;
    pthread_t thread;
} worker;

static void *work(void *argument) {
    const worker *self = argument;
    section *s = self->section;
    for (int chunk; (chunk = atomic_fetch_add(&s->next, 1)) < s->chunks;)
        s->task(s->data, chunk, self->index);
    return NULL;
}

static void run(const arap_context *context, int first, int chunks, arap_task task, void *data) {
    section s = {.task = task, .data = data, .chunks = chunks};
    atomic_init(&s.next, first);
    worker workers[ARAP_MOST_THREADS];
    int wanted = context->threads < ARAP_MOST_THREADS ? context->threads : ARAP_MOST_THREADS;
    if (wanted > chunks - first) wanted = chunks - first;
    int started = 1;
    workers[0] = (worker){.section = &s, .index = 0};
    while (started < wanted) {
        worker *w = &workers[started];
        *w = (worker){.section = &s, .index = started};
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
        started++;
    }
    work(&workers[0]);
    for (int i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}

void arap_parallel(const arap_context *context, int chunks, arap_task task, void *data) {
    run(context, 0, chunks, task, data);
}

arap_status arap_parallel_slices(arap_context *context, const char *stage, int chunks, int slice,
                                 arap_task task, void *data) {
    arap_status status = ARAP_OK;
    for (int first = 0; first < chunks && !status; first += slice) {
        status = arap_progress(context, stage, (double)first / chunks);
        int end = chunks - first < slice ? chunks : first + slice;
        if (!status) run(context, first, end, task, data);
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
    if (context->progress && context->progress(context->progress_data, stage, fraction))
        return arap_fail(&context->error, ARAP_CANCELLED, "cancelled during %s", stage);
    return ARAP_OK;
}
