/* The coarse level of a solver: on large meshes, weights are first found on a coarser mesh. */
#ifndef ARAP_LEVELS_H
#define ARAP_LEVELS_H

#include "base/async_task.h"
#include "solver/solver.h"

/* The search for solver->clusters, which needs the mesh, its symmetry and its rigid parts, and
 * runs in parallel with other work. Must stay where it is until it has ended. */
typedef struct arap_clustering {
    arap_solver *solver;
    int *group;
    int *found; /* (vertices) the order of the finest mesh, or NULL */
    const int *visit;
    arap_async_task async_task;
} arap_clustering;

arap_status arap_clusters_begin(arap_context *context, arap_solver *solver,
                                const arap_problem *problem, arap_clustering *out);

/* Wait for the clusters; what began as {0} has none and ends at once. */
arap_status arap_clusters_end(arap_context *context, arap_clustering *clustering);

/* Make solver->coarse, a solver of the same problem on the clusters, and clear these and leave it
 * NULL if there are hardly fewer of them than vertices, or few for each bone. */
arap_status arap_coarse_create(arap_context *context, arap_solver *solver,
                               const arap_problem *problem);
void arap_coarse_free(arap_solver *solver);

/* Edits of this level's problem, for the coarse one. */
arap_status arap_coarse_edit(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* The present weights of the coarse level for the vertices of this one. */
static inline arap_status arap_coarse_weights(arap_context *context, const arap_solver *s,
                                              arap_influences *out) {
    return arap_prolong(context, &s->mesh, &s->clusters, &s->coarse->influences,
                        s->skeleton.deform_count, out);
}

/* Take over from the coarse level: the rows that keep bones useful, for the seeds of
 * their clusters, in front of the present ones; and its report of unseen islands. */
arap_status arap_coarse_inherit(arap_context *context, arap_solver *solver);

#endif
