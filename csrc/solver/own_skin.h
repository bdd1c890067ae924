/* Determines the skin that each bone should move. */
#ifndef ARAP_OWN_SKIN_H
#define ARAP_OWN_SKIN_H

#include "solver/solver.h"

#define ARAP_MAX_OF_VERTEX 0.5

/* Find the own skin of the bones: (vertex, bone) with its initial weight. Minor bones, which have
 * most of their weight on the skin of others, have own skin with weights of ARAP_MAX_OF_VERTEX or
 * less. */
arap_status arap_own_skin(arap_context *context, const arap_solver *solver, arap_influences *out);

#endif
