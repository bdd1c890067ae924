/* Pairs of rigid plates that lie on each other. */
#ifndef ARAP_RIGID_SHELLS_H
#define ARAP_RIGID_SHELLS_H

#include "solver/rigid_candidates.h"

/* Give both parts of each pair of plates that cover each other the same bone; *changes: set if any
 * part gets another bone. nearest (vertices): scratch. */
arap_status arap_hold_shells(arap_context *context, arap_rigid_search *search, int *nearest,
                             int *changes);

#endif
