/* The global step after the poses have changed, without another factorization. */
#ifndef ARAP_PCG_STEP_H
#define ARAP_PCG_STEP_H

#include "solver/solver.h"

/* Solve A y = x for the penalized system of the solver's present poses, y in place of x. Not with a
 * harmonic term. */
arap_status arap_pcg_step(arap_context *context, const arap_solver *solver, double *x);

#endif
