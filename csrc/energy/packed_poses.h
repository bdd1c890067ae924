/* Poses in the memory layout of the local step. */
#ifndef ARAP_PACKED_POSES_H
#define ARAP_PACKED_POSES_H

#include "base/memory.h"
#include "rig/poses.h"

/* Poses in the layout of the local step: (columns, 12, lanes), where lanes are the poses, padded
 * with zeros. Each pose is shifted to a mean translation of 0, which changes no edge and keeps
 * single precision accurate for animations that travel far. */
typedef struct arap_packed_poses {
    arap_precision precision;
    int poses;
    int lanes;
    int columns;              /* transforms of a pose: see arap_poses */
    long filled;              /* version number, which changes whenever the poses change */
    void *transform;          /* float or double */
    void *weight;             /* (lanes) of each pose; NULL: all 1 */
    void *stretch;            /* the same layout of poses.stretches, (count, 6, lanes), or NULL */
    const arap_poses *source; /* the poses must stay valid because they are still used where spines
                                 move vertices */
    arap_arena arena;         /* of the arrays */
} arap_packed_poses;

arap_status arap_packed_poses_create(arap_context *context, const arap_poses *poses,
                                     arap_precision precision, arap_packed_poses *packed);
/* Replace the transforms of the same poses and bones. After cancellation, they must be filled
 * again. */
arap_status arap_packed_poses_fill(arap_context *context, const arap_poses *poses,
                                   arap_packed_poses *packed);
void arap_packed_poses_clear(arap_packed_poses *packed);

#endif
