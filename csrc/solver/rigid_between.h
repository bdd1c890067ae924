/* Assigns parts between several branches of bones. */
#ifndef ARAP_RIGID_BETWEEN_H
#define ARAP_RIGID_BETWEEN_H

#include "solver/rigid_candidates.h"

/* Make parts between several branches follow the bone from which the branches descend; *changes:
 * set if there are any. Must be called after everything else has been decided. */
arap_status arap_hold_between(arap_context *context, arap_rigid_search *search, int *changes);

#endif
