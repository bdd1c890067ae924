/* One piece of work on a second thread, while its caller does work that does not depend on it. */
#ifndef ARAP_ASIDE_H
#define ARAP_ASIDE_H

#include <pthread.h>

#include "base/context.h"

typedef arap_status (*arap_aside_fn)(arap_context *context, void *data);

/* Must stay where it is until it has ended. */
typedef struct arap_aside {
    arap_aside_fn work;
    void *data;
    arap_context context; /* its own, uncancellable: progress belongs to the caller */
    arap_status status;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int size, has_thread, has_ended, is_under_way;
    /* Without a thread, for work that is worth one: its time, the time at which it ended, and how
     * much the caller's work had saved by then. */
    double seconds, ended, saved[ARAP_CROWDS];
} arap_aside;

/* Begin work(context, data) on a thread of its own, and wait for it where the caller's context has
 * but one; on the caller's, here and now, where none can be had, or the work is little: on fewer
 * vertices or unknowns than a thread is worth. `data` must live until the end. */
void arap_aside_begin(arap_context *context, int size, arap_aside_fn work, void *data,
                      arap_aside *out);

/* Wait for the end, with reports of progress; a failure becomes that of `context` unless it has
 * one. ARAP_OK where nothing was begun, or it has ended before. */
arap_status arap_aside_end(arap_context *context, arap_aside *aside);

#endif
