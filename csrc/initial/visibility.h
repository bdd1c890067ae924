/* Which bones are visible from which vertices. */
#ifndef ARAP_VISIBILITY_H
#define ARAP_VISIBILITY_H

#include "mesh/bvh.h"
#include "rig/skeleton.h"

/* A vertex nearer than this to a bone, in units of mesh.v, is on it. */
#define ARAP_ON_BONE 1e-4

/* Most bones that share one nearest point; further ones are passed over. */
#define ARAP_MAX_SHARED 8

/* Where the skeleton is, seen from each vertex. */
typedef struct arap_visibility {
    double *distance;    /* (count) to the nearest bone or virtual segment, units of mesh.v */
    char *visible;       /* (count) no face between the vertex and that point */
    char *on_bone;       /* (count) that point is on a deforming bone, not on a virtual segment */
    char *bone_inside;   /* (deform_count) the bone is inside the mesh, as most vertices see it */
    char *nearest_count; /* (count) how many bones are equally near (within 1e-7 of that) */
    int *nearest;        /* (count, ARAP_MAX_SHARED) these bones, ascending */
} arap_visibility;

arap_status arap_visibility_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_skeleton *skeleton, const arap_bvh *faces,
                                   arap_visibility *visibility);
/* Non-zero if no face is between vertex i and the point; those of the vertex do not count, and what
 * touches the point is not in between. faces: those of the mesh. */
int arap_sees(const arap_mesh *mesh, const arap_bvh *faces, int i, const double *point);

/* The segments in a bounding volume hierarchy; the caller frees *out. Fails on out-of-memory. */
arap_status arap_segment_bvh(arap_context *context, const arap_segment *segments, int count,
                             arap_bvh **out);

void arap_visibility_clear(arap_visibility *visibility);

#endif
