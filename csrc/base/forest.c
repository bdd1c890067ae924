/* Work on the nodes of a forest: see forest.h.
 *
 * Tasks are runs of consecutive nodes, and a parent comes after its children. Tasks therefore wait
 * only for earlier tasks, which rules out deadlocks. A task waits for w nodes and becomes ready
 * when the last of these nodes is done. With w = 0, the task is ready from the beginning.
 *
 * Every run ends. At any time, each task is waiting, ready, running or done, and its state changes
 * only under the lock. A worker sleeps only while another worker runs a task, and the running
 * worker wakes all others when it is done. If no task is ready or running although some tasks are
 * not done, nothing can wake the workers. The worker that detects this state ends the run with
 * ARAP_FAULT. A worker that finishes a node of a task that waits for no nodes also ends the run.
 * Counters detect both errors. No clock is involved.
 *
 * Takes O(nodes) time and memory in addition to the work. Fails on out-of-memory, when cancelled,
 * or if a parent comes before its child. */
#include "base/forest.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define WAIT 0.02 /* seconds until the thread that polls for cancellation polls again */

void arap_forest_clear(arap_forest *forest) {
    arap_arena_clear(&forest->arena);
    *forest = (arap_forest){0};
}

/* Group runs of nodes into tasks. cost: (count) of whole subtrees. */
static void cut(arap_forest *f, const int *parent, const double *own, const double *cost,
                double part) {
    double sum = 0;
    int first = 0;
    for (int s = 0; s < f->count; s++) {
        int above = parent[s], single = cost[s] > part;
        f->total += own[s];
        if (!single && above >= 0 && cost[above] <= part) continue; /* within a subtree */
        if (!single) sum += cost[s];
        if (!single && sum < part / 2 && s + 1 < f->count) continue; /* with the next one */
        int last = single ? s : s + 1;
        if (first < last) f->task[f->task_count++] = (arap_forest_task){first, last};
        if (single) f->task[f->task_count++] = (arap_forest_task){s, s + 1};
        first = s + 1;
        sum = 0;
    }
}

/* Determine which task waits for which node. task_of: (count) scratch */
static void connect(arap_forest *f, const int *parent, int *task_of) {
    for (int t = 0; t < f->task_count; t++) {
        f->waits[t] = 0;
        for (int s = f->task[t].first; s < f->task[t].last; s++) task_of[s] = t;
    }
    for (int s = 0; s < f->count; s++) {
        f->above[s] = parent[s] < 0 ? -1 : task_of[parent[s]];
        if (f->above[s] == task_of[s]) f->above[s] = -1;
        if (f->above[s] >= 0) f->waits[f->above[s]]++;
    }
    for (int t = 0; t < f->task_count; t++) f->leaves += !f->waits[t];
}

/* Compute the maximum cost of a chain of tasks that wait for each other. below: (task_count)
 * scratch */
static void find_path(arap_forest *f, const double *own, double *below) {
    for (int t = 0; t < f->task_count; t++) below[t] = 0;
    for (int t = 0; t < f->task_count; t++) {
        double length = below[t];
        for (int s = f->task[t].first; s < f->task[t].last; s++) length += own[s];
        if (length > f->path) f->path = length;
        for (int s = f->task[t].first; s < f->task[t].last; s++)
            if (f->above[s] >= 0 && length > below[f->above[s]]) below[f->above[s]] = length;
    }
}

arap_status arap_forest_divide(arap_context *context, int count, const int *parent,
                               const double *cost, double part, arap_forest *out) {
    arap_arena arena = {0};
    double *total_cost = ARAP_TAKE(&arena, count, double);
    int *task_of = ARAP_TAKE(&arena, count, int);
    *out = (arap_forest){.count = count};
    out->task = ARAP_TAKE(&out->arena, count, arap_forest_task);
    out->above = ARAP_TAKE(&out->arena, count, int);
    out->waits = ARAP_TAKE(&out->arena, count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the order of work");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the order of work");
    if (status) goto done;
    memcpy(total_cost, cost, (size_t)count * sizeof *total_cost);
    for (int s = 0; s < count; s++) {
        int above = parent[s];
        if (above < 0) continue;
        if (above <= s || above >= count) {
            status = arap_fail(&context->error, ARAP_FAULT,
                               "a bug in araplbs: parent %d of node %d of %d", above, s, count);
            goto done;
        }
        total_cost[above] += total_cost[s];
    }
    cut(out, parent, cost, total_cost, part);
    connect(out, parent, task_of);
    find_path(out, cost, total_cost);

done:
    arap_arena_clear(&arena);
    if (status) arap_forest_clear(out);
    return status;
}

int arap_forest_workers(const arap_context *context, const arap_forest *forest) {
    int max = forest->leaves < context->threads ? forest->leaves : context->threads;
    return max > 1 ? max : 1;
}

/* A run. The lock protects everything after the first line. */
typedef struct forest_run {
    arap_context *context;
    const arap_forest *forest;
    arap_forest_fn work;
    void *data;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    int running, finished, stopped, faulty;
    int ready_count, *ready; /* (task_count) the last one is next */
    int *waits;              /* (task_count) nodes that are not done */
    arap_status status;      /* the status that worker 0 received when polling */
} forest_run;

static void stop(forest_run *r, arap_status status) {
    pthread_mutex_lock(&r->lock);
    if (!r->status) r->status = status;
    r->stopped = 1;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* End the run because no event can end the wait, or because an event has occurred for which no task
 * waits. The lock must be held. */
static void stop_by_fault(forest_run *r) {
    r->faulty = r->stopped = 1;
    pthread_cond_broadcast(&r->changed);
}

/* Wait for a change by other workers. The lock must be held. */
static void wait_for_change(forest_run *r, int worker) {
    if (worker) {
        pthread_cond_wait(&r->changed, &r->lock);
        return;
    }
    arap_wait_for(&r->changed, &r->lock, WAIT);
    pthread_mutex_unlock(&r->lock);
    arap_status status = arap_poll_cancel(r->context);
    if (status) stop(r, status);
    pthread_mutex_lock(&r->lock);
}

/* Get the next ready task, or -1 if all are done or the run has stopped. */
static int take_task(forest_run *r, int worker) {
    int task = -1;
    pthread_mutex_lock(&r->lock);
    while (!r->stopped && r->finished < r->forest->task_count && !r->ready_count) {
        if (r->running)
            wait_for_change(r, worker);
        else
            stop_by_fault(r);
    }
    if (!r->stopped && r->ready_count) {
        task = r->ready[--r->ready_count];
        r->running++;
    }
    pthread_mutex_unlock(&r->lock);
    return task;
}

static void finish_task(forest_run *r, const arap_forest_task *task) {
    pthread_mutex_lock(&r->lock);
    r->running--;
    r->finished++;
    for (int s = task->first; s < task->last; s++) {
        int above = r->forest->above[s];
        if (above < 0) continue;
        if (r->waits[above] <= 0)
            stop_by_fault(r);
        else if (!--r->waits[above])
            r->ready[r->ready_count++] = above;
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void run_tasks(void *data, int chunk, int worker) {
    forest_run *r = data;
    (void)chunk;
    for (int number; (number = take_task(r, worker)) >= 0;) {
        const arap_forest_task *task = &r->forest->task[number];
        arap_status status = ARAP_OK;
        for (int s = task->first; s < task->last && !status; s++)
            status = r->work(r->data, s, worker);
        if (status) stop(r, status);
        finish_task(r, task);
    }
}

arap_status arap_forest_run(arap_context *context, const arap_forest *forest, arap_forest_fn work,
                            void *data) {
    int workers = arap_forest_workers(context, forest);
    arap_status status = ARAP_OK;
    forest_run r = {.context = context,
                    .forest = forest,
                    .work = work,
                    .data = data,
                    .lock = PTHREAD_MUTEX_INITIALIZER,
                    .changed = PTHREAD_COND_INITIALIZER,
                    .ready = ARAP_NEW(int, forest->task_count),
                    .waits = ARAP_NEW(int, forest->task_count)};
    if (!r.ready || !r.waits) {
        status = arap_fail_memory(&context->error, "the order of work");
        goto done;
    }
    memcpy(r.waits, forest->waits, (size_t)forest->task_count * sizeof *r.waits);
    for (int t = forest->task_count - 1; t >= 0; t--)
        if (!r.waits[t]) r.ready[r.ready_count++] = t;
    double begin = arap_seconds();
    status = arap_parallel(context, workers, run_tasks, &r);
    if (workers == 1 && forest->leaves > 1)
        arap_note_shared(context, arap_seconds() - begin, forest->path / forest->total);
    if (r.faulty && !status && !r.status)
        status = arap_fail(&context->error, ARAP_FAULT,
                           "a bug in araplbs: %d of %d tasks are done, and no other is ready",
                           r.finished, forest->task_count);
    if (!status) status = r.status;

done:
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    arap_free(r.ready);
    arap_free(r.waits);
    return status;
}
