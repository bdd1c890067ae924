/* A context: how a piece of work is run. It carries the thread count, the progress callback and
 * the error text, and is passed to every function that does work. It holds no result. */
#ifndef ARAP_CONTEXT_H
#define ARAP_CONTEXT_H

#include "arap.h"
#include "base/status.h"

/* Report progress; ARAP_CANCELLED when the callback asks to stop. */
arap_status arap_progress(arap_context *context, const char *stage, double fraction);

/* Run task(data, chunk, worker) for chunk = 0..chunks-1 on up to context->threads threads;
 * `worker` < context->threads identifies the scratch space the task may use. Which worker takes
 * which chunk is not fixed: a task writes only what belongs to its chunk, so that results do
 * not depend on the thread count. */
typedef void (*arap_task)(void *data, int chunk, int worker);
void arap_parallel(const arap_context *context, int chunks, arap_task task, void *data);

/* The same for long work, `slice` chunks at a time with progress of `stage` before each slice.
 * ARAP_CANCELLED: the chunks of the slices before have been run, the others have not. */
arap_status arap_parallel_slices(arap_context *context, const char *stage, int chunks, int slice,
                                 arap_task task, void *data);

#endif
