/* A context: how work is run. It holds the thread count, the progress callback and the error text.
 * Every function that does work takes one. It holds no results. */
#ifndef ARAP_CONTEXT_H
#define ARAP_CONTEXT_H

#include "arap.h"
#include "base/status.h"
#include "base/thread_pool.h"

/* Report progress; ARAP_CANCELLED when the callback asks to stop. The stage is a literal. */
arap_status arap_progress(arap_context *context, const char *stage, double fraction);

/* Seconds from one report of long work to the next. */
#define ARAP_POLL_SECONDS 0.05

/* Between reports of long work: repeats the last report if it was ARAP_POLL_SECONDS ago. For the
 * thread that made the call. Cheap: 30 ns. While context->uncancellable, for work that cannot stop
 * halfway, it returns ARAP_OK, and a request to stop takes effect with the next report after that
 * work. */
arap_status arap_poll_cancel(arap_context *context);

/* Within a long chunk: polls for cancellation on the thread that made the call. Returns whether the
 * rest of the chunk may be skipped, because the section stops. */
int arap_chunk_stops(arap_context *context, int worker);

/* Run task(data, chunk, worker) for chunk = 0..chunks-1 on up to context->threads threads;
 * `worker`, less than both context->threads and chunks, identifies the scratch space the task may
 * use, 0 is the thread that made the call. Which worker takes which chunk is not fixed. A task
 * writes only the data of its chunk, so results do not depend on the thread count.
 * That thread polls for cancellation between chunks (arap_poll_cancel). ARAP_CANCELLED: some chunks
 * have been run, others have not; never while context->uncancellable. */
typedef void (*arap_task)(void *data, int chunk, int worker);
#if defined(__GNUC__)
__attribute__((warn_unused_result))
#endif
arap_status arap_parallel(arap_context *context, int chunks, arap_task task, void *data);

/* Between these two calls, parallel sections keep their threads in `pool`, the caller's. If a
 * caller further up has already done so, nothing happens. A call with many sections uses both. */
void arap_keep_threads(arap_context *context, arap_thread_pool *pool);
void arap_end_threads(arap_context *context, arap_thread_pool *pool);

/* arap_parallel for chunks of microseconds each: no more threads than there is work for. */
#if defined(__GNUC__)
__attribute__((warn_unused_result))
#endif
arap_status arap_parallel_short(arap_context *context, int chunks, arap_task task, void *data);

/* On one thread: on n processors, these past seconds would be at most the share serial + (1 -
 * serial) / n. Sections of more than one chunk are noted by themselves. */
void arap_note_shared(arap_context *context, double seconds, double serial);

/* arap_parallel for long work, `slice` chunks at a time with progress of `stage` before each slice.
 * ARAP_CANCELLED: the chunks of the slices before have been run, the others have not.
 */
arap_status arap_parallel_slices(arap_context *context, const char *stage, int chunks, int slice,
                                 arap_task task, void *data);

#endif
