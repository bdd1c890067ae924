/* The global step without a new factorization after the poses have changed. */
#ifndef ARAP_PCG_STEP_H
#define ARAP_PCG_STEP_H

#include "solver/solver.h"

/* Solve A y = x in place for the penalized system of the solver's current poses. Does not support a
 * harmonic term. */
arap_status arap_pcg_step(arap_context *context, const arap_solver *solver, double *x);

#endif
