/* Determines which bones are excluded from a vertex by locks and marks. */
#ifndef ARAP_EXCLUDED_H
#define ARAP_EXCLUDED_H

#include "solver/solver.h"

/* Return non-zero if the bone is locked for any of the caller's vertices welded into this one,
 * excluded from it, or not allowed to move its part. An arap_excluded_fn. */
int arap_is_excluded(const void *solver, int vertex, int bone);

/* Return that function if any bone may be excluded, otherwise NULL. */
arap_excluded_fn arap_excluded_of(const arap_solver *solver);

/* Also non-zero if the vertex is out of the reach of the bone (spread.h), unless the user allows
 * the bone there or constrains its weight. An arap_excluded_fn for influences that the user has not
 * chosen. */
int arap_cannot_adopt(const void *solver, int vertex, int bone);

#endif
