/* A bounding volume hierarchy over boxes of any primitives (triangles, bone segments).
 *
 * The tree stores only boxes. The caller provides the function for the exact test of a primitive.
 * Boxes may be flat or shrink to a point. Building takes O(count log count) time and 64 bytes per
 * primitive. */
#ifndef ARAP_BVH_H
#define ARAP_BVH_H

#include <stddef.h>

#include "mesh/mesh.h"

typedef struct arap_bvh arap_bvh;

/* boxes: (count, 6) as lo x y z, hi x y z; finite. tags: (count) or NULL; a query may skip all
 * primitives with one tag, for example all triangles of one part. */
arap_status arap_bvh_build(arap_context *context, arap_bvh **out, size_t count, const double *boxes,
                           const int *tags);
void arap_bvh_free(arap_bvh *bvh);

/* Largest difference from the best squared distance so far that is attributed to rounding and
 * treated as equality. best: -1 before the first. */
static inline double arap_tie(int best, double best2) {
    const double tie = 1e-10;
    return best < 0 ? 0 : tie * best2 + tie * tie;
}

/* Make primitive `index` the best if it is nearer, or equally near with a lower index. */
static inline void arap_take_nearer(int index, double distance2, int *best, double *best2) {
    double tie = arap_tie(*best, *best2);
    if (distance2 + tie < *best2 || (*best >= 0 && distance2 <= *best2 + tie && index < *best))
        *best = index;
    *best2 = distance2 < *best2 ? distance2 : *best2;
}

/* Squared distance from `p` to primitive `index`. */
typedef double (*arap_distance_fn)(const void *data, int index, const double *p);

/* Find the primitive nearest to p and set *distance2 to its squared distance. Returns -1 if none is
 * nearer than sqrt(*distance2). Among primitives that are equally near except for rounding, the
 * lowest index wins, so rotating the whole scene does not change the result. The limit for rounding
 * assumes coordinates of about 1. Squared distances between coordinates below ARAP_FARTHEST are
 * finite, so with a *distance2 of INFINITY and without skipped primitives, a tree that is not empty
 * always contains a nearest one. Primitives with the tag `skip` are ignored (-1: none). */
int arap_bvh_nearest(const arap_bvh *bvh, const double *p, int skip, arap_distance_fn distance,
                     const void *data, double *distance2);

/* Return non-zero if the segment from a to b crosses primitive `index`. */
typedef int (*arap_hit_fn)(const void *data, int index, const double *a, const double *b);

/* Return non-zero if the segment [a, b] crosses any primitive. */
int arap_bvh_crossed(const arap_bvh *bvh, const double *a, const double *b, arap_hit_fn hit,
                     const void *data);

/* Squared distance from p to face t of a mesh, and the nearest point as barycentric coordinates. */
double arap_nearest_on_face(const arap_mesh *mesh, int t, const double *p, double *bary);

/* Only the distance, as a callback for arap_bvh_nearest: data is the mesh. */
double arap_face_distance(const void *mesh, int t, const double *p);

/* Build the hierarchy of the faces of a mesh; tags (part_count) or NULL: the tag of each part's
 * faces. */
arap_status arap_face_bvh(arap_context *context, const arap_mesh *mesh, const int *tags,
                          arap_bvh **out);

/* Build a hierarchy for few queries, which is faster to build but slower to search. */
arap_status arap_face_bvh_for_few(arap_context *context, const arap_mesh *mesh, arap_bvh **out);

/* Replace the tags of the parts. */
void arap_face_bvh_tag(const arap_mesh *mesh, const int *tags, arap_bvh *bvh);

#endif
