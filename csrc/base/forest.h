/* Work on the nodes of a forest, on all threads of a context: each node after those below it. */
#ifndef ARAP_FOREST_H
#define ARAP_FOREST_H

#include "base/context.h"

/* Nodes first to last - 1, done by one worker in this order. */
typedef struct arap_forest_task {
    int first, last;
} arap_forest_task;

/* Tasks of a forest: small subtrees as a whole, small neighbors together, and each larger node by
 * itself. */
typedef struct arap_forest {
    int count, task_count;
    arap_forest_task *task; /* in the order of their nodes */
    int *above;             /* (count) the other task that waits for a node, or -1 */
    int *waits;             /* (task_count) how many nodes a task waits for */
    int leaves;             /* tasks that wait for none */
    double total, path;     /* cost of all, and of the longest chain of tasks */
} arap_forest;

/* parent: (count) a node after it, or -1. cost: (count). Subtrees up to the cost `part` are done as
 * a whole when their nodes follow each other, as in a postorder. */
arap_status arap_forest_divide(arap_context *context, int count, const int *parent,
                               const double *cost, double part, arap_forest *out);
void arap_forest_clear(arap_forest *forest);

/* How many workers the tasks can use, at least 1. */
int arap_forest_workers(const arap_context *context, const arap_forest *forest);

/* The work of one node. Worker 0 is the thread of the call and may return the status of
 * arap_poll_cancel, which ends the run; the others return ARAP_OK. */
typedef arap_status (*arap_forest_fn)(void *data, int node, int worker);

/* Do the work of each node once, after that of all nodes below it. Polls for cancellation. */
arap_status arap_forest_run(arap_context *context, const arap_forest *forest, arap_forest_fn work,
                            void *data);

#endif
