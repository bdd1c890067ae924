/* Work on a second thread: see aside.h. A thread costs about 20 us. It is also used on one
 * processor: the search for the elimination order of a million vertices cannot report progress, so
 * the caller does.
 * Fails only if the work fails: without a thread, the caller does it. The wait for its end ends
 * when the work does, which waits for nothing: it has one thread, and `has_ended` is set under the
 * lock before it wakes. */
#include "base/aside.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define LEAST 2000  /* ordered or analyzed in some 100 us */
#define MANY 100000 /* that leave tens of megabytes free */

static void *run(void *argument) {
    arap_aside *aside = argument;
    aside->status = aside->work(&aside->context, aside->data);
    pthread_mutex_lock(&aside->lock);
    aside->has_ended = 1;
    pthread_cond_signal(&aside->done);
    pthread_mutex_unlock(&aside->lock);
    return NULL;
}

/* For its thread. The work cannot stop: a request to stop takes effect after it. */
static void wait_for_end(arap_context *context, arap_aside *aside) {
    int deaf = context->deaf, has_ended = 0;
    if (!deaf) context->deaf = 1;
    while (!has_ended) {
        pthread_mutex_lock(&aside->lock);
        if (!aside->has_ended) arap_wait_for(&aside->done, &aside->lock, ARAP_LISTEN);
        has_ended = aside->has_ended;
        pthread_mutex_unlock(&aside->lock);
        (void)arap_listen(context);
    }
    context->deaf = deaf;
    pthread_join(aside->thread, NULL);
    aside->has_thread = 0;
    if (aside->size >= MANY) arap_give_back_memory();
}

void arap_aside_begin(arap_context *context, int size, arap_aside_fn work, void *data,
                      arap_aside *out) {
    *out = (arap_aside){.work = work,
                        .data = data,
                        .context = {.threads = 1, .deaf = 2},
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .done = PTHREAD_COND_INITIALIZER,
                        .size = size,
                        .is_under_way = 1};
    double begin = arap_seconds();
    out->has_thread = size >= LEAST && pthread_create(&out->thread, NULL, run, out) == 0;
    if (out->has_thread && context->threads > 1) return;
    if (out->has_thread)
        wait_for_end(context, out);
    else
        run(out);
    out->ended = arap_seconds();
    out->seconds = size >= LEAST && context->threads == 1 ? out->ended - begin : 0;
    memcpy(out->saved, context->saved, sizeof out->saved);
}

/* On n processors, work and what the caller has done since would take as long as the longer of
 * both, and no less than their n-th part. */
static void note_beside(arap_context *context, const arap_aside *aside) {
    double own = aside->seconds, since = arap_seconds() - aside->ended;
    context->shared += own;
    for (int k = 0; k < ARAP_CROWDS; k++) {
        double less = since - (context->saved[k] - aside->saved[k]);
        double both = fmax(fmax(own, less), (own + since) / arap_crowds[k]);
        context->saved[k] += fmax(own + less - both, 0);
    }
}

arap_status arap_aside_end(arap_context *context, arap_aside *aside) {
    if (!aside->is_under_way) return ARAP_OK;
    if (aside->has_thread) wait_for_end(context, aside);
    pthread_cond_destroy(&aside->done);
    pthread_mutex_destroy(&aside->lock);
    if (aside->seconds > 0) note_beside(context, aside);
    aside->is_under_way = 0;
    if (aside->status && !context->error.status) context->error = aside->context.error;
    return aside->status ? aside->status : arap_listen(context);
}
