/* Assigns a rigid part to a bone of the joint in which the part sits, or to a bone that has no
 * other part. */
#ifndef ARAP_RIGID_OWNERS_H
#define ARAP_RIGID_OWNERS_H

#include "solver/rigid_candidates.h"
#include "springs/bone_lines.h"

/* The bone that moves most of a rigid part, by its row. */
int arap_owner_of_part(const arap_rigid_search *search, int part);

/* Add to owned (deforming bones) the number of rigid parts that each bone moves most, and to `soft`
 * that of soft vertices with much of its weight. Both arguments may be the same array. */
void arap_count_owned(const arap_rigid_search *search, int *owned, int *soft);

/* The mean distance of a part from each bone, times its area. distance: scratch, (lines); mean:
 * (deforming bones). */
void arap_part_distances(const arap_rigid_search *search, const arap_bone_lines *lines,
                         const arap_candidate *candidate, double *distance, double *mean);

/* *changes: whether any decision has been made. */
arap_status arap_hold_joints(arap_context *context, arap_rigid_search *search, int *changes);

/* Must be called after everything else has been decided. */
arap_status arap_hold_orphans(arap_context *context, arap_rigid_search *search, int *changes);

#endif
