/* Detects props that a hand holds. */
#ifndef ARAP_RIGID_PROPS_H
#define ARAP_RIGID_PROPS_H

#include "solver/rigid_candidates.h"

/* Make all parts of props held by several branches of bones open, with the bone from which the
 * branches descend; *changes: set if there are any. set (parts), touched (vertices): scratch. */
arap_status arap_hold_props(arap_context *context, arap_rigid_search *search, int *set,
                            int *touched, int *changes);

#endif
