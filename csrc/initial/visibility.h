/* Determines which bones are visible from which vertices. */
#ifndef ARAP_VISIBILITY_H
#define ARAP_VISIBILITY_H

#include "base/memory.h"
#include "mesh/bvh.h"
#include "rig/skeleton.h"

/* A vertex closer to a bone than this, in units of mesh.v, lies on it. */
#define ARAP_ON_BONE 1e-4

/* Maximum number of bones that share one nearest point. Further ones are ignored. */
#define ARAP_MAX_SHARED 8

/* The skeleton as seen from each vertex. */
typedef struct arap_visibility {
    double *distance;    /* (count) distance to the nearest bone or virtual segment, in units of
                            mesh.v */
    char *visible;       /* (count) no face lies between the vertex and that point */
    char *on_bone;       /* (count) that point is on a deforming bone, not on a virtual segment */
    char *bone_inside;   /* (deform_count) the bone is inside the mesh, judged by most vertices */
    char *nearest_count; /* (count) number of equally near bones (within 3e-8 of that distance) */
    int *nearest;        /* (count, ARAP_MAX_SHARED) these bones, in ascending order */
    arap_arena arena;    /* of the arrays */
} arap_visibility;

arap_status arap_visibility_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_skeleton *skeleton, const arap_bvh *faces,
                                   arap_visibility *visibility);
/* Return non-zero if no face lies between vertex i and the point. The vertex's own faces and faces
 * that touch the point do not count. faces: those of the mesh. */
int arap_sees(const arap_mesh *mesh, const arap_bvh *faces, int i, const double *point);

/* An arap_distance_fn for arap_bvh_nearest on the segments `data`: the squared distance of p. */
double arap_segment_distance2(const void *data, int index, const double *p);

/* The segments in a bounding volume hierarchy. The caller frees *out. Fails on out-of-memory. */
arap_status arap_segment_bvh(arap_context *context, const arap_segment *segments, int count,
                             arap_bvh **out);

void arap_visibility_clear(arap_visibility *visibility);

#endif
