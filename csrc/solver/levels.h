/* The coarse level of a solver. On large meshes, weights are first computed on a coarser mesh. */
#ifndef ARAP_LEVELS_H
#define ARAP_LEVELS_H

#include "base/async_task.h"
#include "solver/solver.h"

/* The search for solver->clusters, which needs the mesh, its symmetry and its rigid parts, and runs
 * in parallel with other work. The struct must not be moved in memory until the search has
 * ended. */
typedef struct arap_clustering {
    arap_solver *solver;
    int *group;
    int *found; /* (vertices) the order of the finest mesh, or NULL */
    const int *visit;
    arap_arena arena; /* of group and found */
    arap_async_task async_task;
} arap_clustering;

arap_status arap_clusters_begin(arap_context *context, arap_solver *solver,
                                const arap_problem *problem, arap_clustering *out);

/* Wait for the clusters. A search initialized to {0} has none and ends immediately. */
arap_status arap_clusters_end(arap_context *context, arap_clustering *clustering);

/* Create solver->coarse, a solver for the same problem on the clusters. If there are hardly fewer
 * clusters than vertices, or too few for each bone, clear the clusters and leave it NULL. */
arap_status arap_coarse_create(arap_context *context, arap_solver *solver,
                               const arap_problem *problem);
void arap_coarse_free(arap_solver *solver);

/* Pass the edits of this level's problem to the coarse level. */
arap_status arap_coarse_edit(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Compute weights for the vertices of this level from the current weights of the coarse level. */
static inline arap_status arap_coarse_weights(arap_context *context, const arap_solver *s,
                                              arap_influences *out) {
    return arap_prolong(context, &s->mesh, &s->clusters, &s->coarse->influences,
                        s->skeleton.deform_count, out);
}

/* Take over results of the coarse level: insert its rows that keep bones useful, for the seeds of
 * their clusters, before the current ones, and take its report of unseen islands. */
arap_status arap_coarse_inherit(arap_context *context, arap_solver *solver);

/* Determine the order in which the vertices of a mesh grow into clusters (mesh/coarse.h). visit
 * (vertices): an order based on the positions of the vertices relative to the bones, independent of
 * vertex numbering. */
arap_status arap_find_visits(arap_context *context, const arap_solver *solver, int *visit);

#endif
