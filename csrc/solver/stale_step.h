/* The global step after the poses have changed, without another factorisation. */
#ifndef ARAP_STALE_STEP_H
#define ARAP_STALE_STEP_H

#include "solver/solver.h"

/* Solve A y = x for the penalised system of the solver's present poses, y in place of x. Not with a
 * harmonic term. */
arap_status arap_stale_solve(arap_job *job, const arap_solver *solver, double *x);

#endif
