/* Iterations of a solver on fixed influence patterns. */
#ifndef ARAP_ITERATION_H
#define ARAP_ITERATION_H

#include "arap.h"
#include "mesh/mesh.h"
#include "solver/solver.h"
#include "weights/influences.h"

/* Create work space for the current influence patterns, which must not change until it is
 * released. */
arap_status arap_begin_patterns(arap_context *context, arap_solver *solver);
void arap_release_patterns(arap_solver *solver);

/* Run one iteration, which consists of the global step, the local step and everything related to
 * them. The first iteration on new patterns assembles and factorizes the system. Sets stage_over
 * when further iterations would not help. */
arap_status arap_iteration(arap_context *context, arap_solver *solver);

/* After the iterations of a stage, whether the first positivity rows have yet to take effect. */
int arap_must_go_on(const arap_solver *solver);

/* Whether the last iteration added rows for which the next iteration would need a new
 * factorization. */
int arap_needs_factor(const arap_solver *solver);

/* Restore the best weights of these iterations, unless they are the current ones. */
arap_status arap_end_iterations(arap_context *context, arap_solver *solver);

/* Make the current weights symmetric and run a local step. Their energy is appended to the history.
 * In the stage for dual quaternions, it is that of dual quaternions. */
arap_status arap_refresh(arap_context *context, arap_solver *solver);

/* Compute F w of the current weights, and their energy. The energy is appended to the history
 * without the harmonic term. */
arap_status arap_measure(arap_context *context, arap_solver *solver);

/* Laplacian filter of the weights (paper section 5, "Local maxima"). In one step, each weight
 * becomes the mean of its neighbors' weights, weighted by the edge weights of the energy. Then the
 * free weights of a row are scaled to share what the locked ones leave. */
arap_status arap_filter_weights(arap_context *context, const arap_mesh *mesh, arap_filter filter,
                                int bones, arap_influences *weights);

/* The global step without a new factorization after the poses have changed: solve A y = x in place
 * for the penalized system of the solver's current poses. Does not support a harmonic term. */
arap_status arap_pcg_step(arap_context *context, const arap_solver *solver, double *x);

#endif
