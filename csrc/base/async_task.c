/* Work on a second thread: see async_task.h. A thread costs about 20 us. The second thread is also
 * used on a single processor. The search for the elimination order of a million vertices cannot
 * report progress, so the caller reports progress during the search. If no thread can be created,
 * the caller does the work, so the function fails only if the work fails. The wait always ends,
 * because the work itself never waits. The work has its own thread and sets `has_ended` under the
 * lock before it wakes the caller. */
#include "base/async_task.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define MINIMUM 2000 /* ordered or analyzed in about 100 us */
#define MANY 100000  /* whose work leaves tens of megabytes free */

static void *run(void *argument) {
    arap_async_task *async_task = argument;
    async_task->status = async_task->work(&async_task->context, async_task->data);
    pthread_mutex_lock(&async_task->lock);
    async_task->has_ended = 1;
    pthread_cond_signal(&async_task->done);
    pthread_mutex_unlock(&async_task->lock);
    return NULL;
}

/* Wait for the end of the work. The work cannot stop, so a request to stop takes effect after it.
 * context: that of the waiting thread. */
static void wait_for_end(arap_context *context, arap_async_task *async_task) {
    int uncancellable = context->uncancellable, has_ended = 0;
    if (!uncancellable) context->uncancellable = 1;
    while (!has_ended) {
        pthread_mutex_lock(&async_task->lock);
        if (!async_task->has_ended)
            arap_wait_for(&async_task->done, &async_task->lock, ARAP_POLL_SECONDS);
        has_ended = async_task->has_ended;
        pthread_mutex_unlock(&async_task->lock);
        (void)arap_poll_cancel(context);
    }
    context->uncancellable = uncancellable;
    pthread_join(async_task->thread, NULL);
    async_task->has_thread = 0;
    if (async_task->size >= MANY) arap_give_back_memory();
}

void arap_async_begin(arap_context *context, int size, arap_async_fn work, void *data,
                      arap_async_task *out) {
    *out = (arap_async_task){.work = work,
                             .data = data,
                             .context = {.threads = 1, .uncancellable = 2},
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .done = PTHREAD_COND_INITIALIZER,
                             .size = size,
                             .is_under_way = 1};
    double begin = arap_seconds();
    out->has_thread = size >= MINIMUM && pthread_create(&out->thread, NULL, run, out) == 0;
    if (out->has_thread && context->threads > 1) return;
    if (out->has_thread)
        wait_for_end(context, out);
    else
        run(out);
    out->ended = arap_seconds();
    out->seconds = size >= MINIMUM && context->threads == 1 ? out->ended - begin : 0;
    memcpy(out->saved, context->saved, sizeof out->saved);
}

/* On n processors, the work and what the caller has done in the meantime would take as long as the
 * longer of both, but at least the n-th part of their sum. */
static void note_beside(arap_context *context, const arap_async_task *async_task) {
    double own = async_task->seconds, since = arap_seconds() - async_task->ended;
    context->shared += own;
    for (int k = 0; k < ARAP_SCALING_SIZES; k++) {
        double less = since - (context->saved[k] - async_task->saved[k]);
        double both = fmax(fmax(own, less), (own + since) / arap_scaling_sizes[k]);
        context->saved[k] += fmax(own + less - both, 0);
    }
}

arap_status arap_async_end(arap_context *context, arap_async_task *async_task) {
    if (!async_task->is_under_way) return ARAP_OK;
    if (async_task->has_thread) wait_for_end(context, async_task);
    pthread_cond_destroy(&async_task->done);
    pthread_mutex_destroy(&async_task->lock);
    if (async_task->seconds > 0) note_beside(context, async_task);
    async_task->is_under_way = 0;
    if (async_task->status && !context->error.status) context->error = async_task->context.error;
    return async_task->status ? async_task->status : arap_poll_cancel(context);
}
