/* The bones that locks and marks exclude from a vertex. */
#ifndef ARAP_EXCLUDED_H
#define ARAP_EXCLUDED_H

#include "solver/solver.h"

/* Non-zero if the bone is locked for any of the caller's vertices in this one, excluded from it, or
 * kept from its part;
 * an arap_excluded_fn. */
int arap_is_excluded(const void *solver, int vertex, int bone);

/* The function if any bone may be excluded, else NULL. */
arap_excluded_fn arap_excluded_of(const arap_solver *solver);

#endif
