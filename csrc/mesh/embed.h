/* Points embedded in tets: the tet that holds each, and its barycentric coordinates there. */
#ifndef ARAP_EMBED_H
#define ARAP_EMBED_H

#include "base/context.h"
#include "mesh/bvh.h"

/* Tets over any vertices, (count, 3), with a hierarchy of their boxes. They are about 1 in size, as
 * for bvh.h. */
typedef struct arap_tet_set {
    const double *vertices;
    const int *tets; /* (tet_count, 4) indices in range */
    size_t tet_count;
    arap_bvh *tree;
} arap_tet_set;

arap_status arap_tet_set_create(arap_context *context, const double *vertices, const int *tets,
                                size_t tet_count, arap_tet_set *out);
void arap_tet_set_clear(arap_tet_set *set);

/* The tet that holds p, or the nearest to it, -1 without any; the barycentric coordinates of the
 * point there, and its distance to p, 0 inside. */
int arap_locate(const arap_tet_set *set, const double *p, double *bary, double *distance);

/* arap_locate for all points, (count, 3), in parallel, in any unit: tets (tet_count, 4) of vertices
 * (vertex_count, 3), at least one. Errors name the first point that is too far away. */
arap_status arap_embed(arap_context *context, size_t vertex_count, const double *vertices,
                       const int *tets, size_t tet_count, int count, const double *points, int *tet,
                       double *bary, double *distance);

#endif
