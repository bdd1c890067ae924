/* Runs one piece of work on a second thread while its caller does independent work. */
#ifndef ARAP_ASYNC_TASK_H
#define ARAP_ASYNC_TASK_H

#include <pthread.h>

#include "base/context.h"

typedef arap_status (*arap_async_fn)(arap_context *context, void *data);

/* Must not be moved in memory before it has ended. */
typedef struct arap_async_task {
    arap_async_fn work;
    void *data;
    arap_context context; /* its own context, uncancellable because the caller reports progress */
    arap_status status;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int size, has_thread, has_ended, is_under_way;
    /* For work that justifies a thread but runs without one: its duration, the time at which it
     * ended, and the time that the caller's work had saved by then. */
    double seconds, ended, saved[ARAP_SCALING_SIZES];
} arap_async_task;

/* Start work(context, data) on its own thread, and wait for the end of the work if the caller's
 * context has only one thread. If no thread can be created, or if there are too few vertices or
 * unknowns to justify a thread, the caller's thread does the work immediately. `data` must live
 * until the end. */
void arap_async_begin(arap_context *context, int size, arap_async_fn work, void *data,
                      arap_async_task *out);

/* Wait for the end, reporting progress. A failure of the work is passed to `context` unless it
 * already has one. ARAP_OK if nothing was started, or if the work has already ended. */
arap_status arap_async_end(arap_context *context, arap_async_task *async_task);

#endif
