/* Processes the nodes of a forest on all threads of a context, each node after all nodes below
 * it. */
#ifndef ARAP_FOREST_H
#define ARAP_FOREST_H

#include "base/context.h"
#include "base/memory.h"

/* The nodes first to last - 1, processed by one worker in this order. */
typedef struct arap_forest_task {
    int first, last;
} arap_forest_task;

/* The tasks of a forest. A task is a whole small subtree, a group of small neighbors, or a single
 * larger node. */
typedef struct arap_forest {
    int count, task_count;
    arap_forest_task *task; /* in the order of their nodes */
    int *above;             /* (count) the other task that waits for each node, or -1 */
    int *waits;             /* (task_count) how many nodes a task waits for */
    int leaves;             /* tasks that wait for no node */
    double total, path;     /* total cost of the tasks, and cost of the longest chain of them */
    arap_arena arena;       /* of these arrays */
} arap_forest;

/* parent: (count) the parent of each node, which must come after it, or -1. cost: (count). Subtrees
 * of at most the cost `part` become one task if their nodes are consecutive, as in a postorder. */
arap_status arap_forest_divide(arap_context *context, int count, const int *parent,
                               const double *cost, double part, arap_forest *out);
void arap_forest_clear(arap_forest *forest);

/* The number of workers that the tasks can use, at least 1. */
int arap_forest_workers(const arap_context *context, const arap_forest *forest);

/* Processes one node. Worker 0 runs on the calling thread and may return the status of
 * arap_poll_cancel, which ends the run. The other workers return ARAP_OK. */
typedef arap_status (*arap_forest_fn)(void *data, int node, int worker);

/* Process each node once, after all nodes below it. Polls for cancellation. */
arap_status arap_forest_run(arap_context *context, const arap_forest *forest, arap_forest_fn work,
                            void *data);

#endif
