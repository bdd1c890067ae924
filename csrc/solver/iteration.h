/* Iterations of a solver on fixed influence patterns. */
#ifndef ARAP_ITERATION_H
#define ARAP_ITERATION_H

#include "solver/solver.h"

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

#endif
