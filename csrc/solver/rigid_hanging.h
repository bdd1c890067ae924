/* Makes cards follow the surface below their roots. */
#ifndef ARAP_RIGID_HANGING_H
#define ARAP_RIGID_HANGING_H

#include "solver/rigid_candidates.h"

/* Make cards that hang by one end open, with the mean row beneath that end; *changes: whether there
 * are any. */
arap_status arap_hold_hanging(arap_context *context, arap_rigid_search *search, int *changes);

#endif
