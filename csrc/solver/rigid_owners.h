/* Assigns rigid parts by the joint in which they sit, or to a bone that has no other part. */
#ifndef ARAP_RIGID_OWNERS_H
#define ARAP_RIGID_OWNERS_H

#include "solver/rigid_candidates.h"

/* *changes: whether any decision has been made. */
arap_status arap_hold_joints(arap_context *context, arap_rigid_search *search, int *changes);

/* To be called after everything else has been decided. */
arap_status arap_hold_orphans(arap_context *context, arap_rigid_search *search, int *changes);

#endif
