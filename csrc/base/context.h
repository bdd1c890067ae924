/* A context controls how work is run. It holds the thread count, the progress callback and the
 * error text. Every function that does work takes a context. A context holds no results. */
#ifndef ARAP_CONTEXT_H
#define ARAP_CONTEXT_H

#include "arap.h"
#include "base/status.h"
#include "base/thread_pool.h"

/* Report progress. Returns ARAP_CANCELLED when the callback requests cancellation. The stage must
 * be a literal. */
arap_status arap_progress(arap_context *context, const char *stage, double fraction);

/* Seconds between two progress reports of long work. */
#define ARAP_POLL_SECONDS 0.05

/* Repeat the last report if it is at least ARAP_POLL_SECONDS old. The thread that made the call
 * should call this function between the reports of long work. A call takes 30 ns. While
 * context->uncancellable is set, for work that cannot stop halfway, the function returns ARAP_OK,
 * and a request to stop takes effect with the next report after that work. */
arap_status arap_poll_cancel(arap_context *context);

/* Within a long chunk, poll for cancellation on the thread that made the call. Returns whether the
 * section is stopping, so that the rest of the chunk may be skipped. */
int arap_chunk_stops(arap_context *context, int worker);

/* Run task(data, chunk, worker) for chunk = 0..chunks-1 on up to context->threads threads. `worker`
 * identifies the scratch space that the task may use. It is less than both context->threads and
 * chunks, and 0 is the thread that made the call. The assignment of chunks to workers is not fixed.
 * A task writes only the data of its own chunk, so results do not depend on the thread count. The
 * calling thread polls for cancellation between chunks (arap_poll_cancel). ARAP_CANCELLED means
 * that only some of the chunks have been run. This status is never returned while
 * context->uncancellable is set. */
typedef void (*arap_task)(void *data, int chunk, int worker);
#if defined(__GNUC__)
__attribute__((warn_unused_result))
#endif
arap_status arap_parallel(arap_context *context, int chunks, arap_task task, void *data);

/* Work on `count` items in chunks of `size`: the number of chunks, and the end of one of them. */
static inline int arap_chunks(int count, int size) { return (count + size - 1) / size; }
static inline int arap_chunk_end(int chunk, int size, int count) {
    return count - chunk * size < size ? count : (chunk + 1) * size;
}

/* Between these two calls, parallel sections keep their threads in `pool`, which belongs to the
 * caller. If a caller further up has already set a pool, the calls have no effect. A call with many
 * sections should use both. */
void arap_keep_threads(arap_context *context, arap_thread_pool *pool);
void arap_end_threads(arap_context *context, arap_thread_pool *pool);

/* Like arap_parallel, for chunks of a few microseconds each. Uses no more threads than the amount
 * of work justifies. */
#if defined(__GNUC__)
__attribute__((warn_unused_result))
#endif
arap_status arap_parallel_short(arap_context *context, int chunks, arap_task task, void *data);

/* On one thread, record that n processors would reduce these past seconds to the share serial + (1
 * - serial) / n at most. Sections of more than one chunk are recorded automatically. */
void arap_note_shared(arap_context *context, double seconds, double serial);

/* Like arap_parallel, for long work. Runs `slice` chunks at a time, with a progress report for
 * `stage` before each slice. After ARAP_CANCELLED, only the chunks of earlier slices have been
 * run. */
arap_status arap_parallel_slices(arap_context *context, const char *stage, int chunks, int slice,
                                 arap_task task, void *data);

#endif
