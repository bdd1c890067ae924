/* Islands of a mesh and the bones visible from them. They determine which vertices count as
 * evidence for a bone. */
#ifndef ARAP_ISLANDS_H
#define ARAP_ISLANDS_H

#include "initial/visibility.h"

typedef struct arap_islands_report {
    int unseen_count;    /* islands of which no vertex sees a bone */
    arap_island *unseen; /* (unseen_count) */
} arap_islands_report;

/* shines (count): the vertex sees its nearest bone, or no vertex of its island sees one; rigid_bone
 * (count): the bone that its whole island follows because no bone is near, or -1. Islands that see
 * no bone are reported. */
arap_status arap_judge_islands(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, char *shines, int *rigid_bone,
                               arap_islands_report *report);
void arap_islands_report_clear(arap_islands_report *report);

#endif
