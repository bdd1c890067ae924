/* Which bones locks and marks keep from a vertex. */
#ifndef ARAP_BARRED_H
#define ARAP_BARRED_H

#include "solver/solver.h"

/* Non-zero if the bone is locked for any of the caller's vertices in this one, forbidden to it, or
 * kept from its part;
 * an arap_barred_fn. */
int arap_is_barred(const void *solver, int vertex, int bone);

/* The function if any bone may be barred, else NULL. */
arap_barred_fn arap_barred_of(const arap_solver *solver);

#endif
