/* Props that a hand holds. */
#ifndef ARAP_RIGID_PROPS_H
#define ARAP_RIGID_PROPS_H

#include "solver/rigid_candidates.h"

/* Make all parts of what several branches of bones hold open, with the bone from which they
 * descend; *changes: set where some do. set (parts), touched (vertices): scratch. */
arap_status arap_hold_props(arap_context *context, arap_rigid_search *search, int *set,
                            int *touched, int *changes);

#endif
