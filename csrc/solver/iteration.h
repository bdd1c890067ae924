/* Iterations of a solver on fixed influence patterns. */
#ifndef ARAP_ITERATION_H
#define ARAP_ITERATION_H

#include "solver/solver.h"

/* Work space for the present influence patterns, which must not change until it is
 * released. */
arap_status arap_begin_patterns(arap_context *context, arap_solver *solver);
void arap_release_patterns(arap_solver *solver);

/* One iteration: global step, local step and what comes with them. The first on new patterns
 * assembles and factorizes. Sets stage_over when further ones would not help. */
arap_status arap_iteration(arap_context *context, arap_solver *solver);

/* After iterations of a stage: are the first positivity rows still to count? */
int arap_must_go_on(const arap_solver *solver);

/* Have rows come in the last iteration that the next one would need a new factor for? */
int arap_needs_factor(const arap_solver *solver);

/* Back to the best weights of these iterations, unless they are the present ones. */
arap_status arap_end_iterations(arap_context *context, arap_solver *solver);

/* Local step at the present weights, made symmetric; their energy goes to the history: that of dual
 * quaternions in the stage for these. */
arap_status arap_refresh(arap_context *context, arap_solver *solver);

/* F w of the present weights, and with it their energy, which goes to the history; the harmonic
 * term does not. */
arap_status arap_measure(arap_context *context, arap_solver *solver);

#endif
