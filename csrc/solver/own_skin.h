/* The skin that each bone should move. */
#ifndef ARAP_OWN_SKIN_H
#define ARAP_OWN_SKIN_H

#include "solver/solver.h"

#define ARAP_MAX_OF_VERTEX 0.5

/* Own skin of the bones: (vertex, bone) with its initial weight. A minor bone, with most of its
 * weight on the skin of others, has own skin with weights of ARAP_MAX_OF_VERTEX or less. */
arap_status arap_own_skin(arap_context *context, const arap_solver *solver, arap_influences *out);

#endif
