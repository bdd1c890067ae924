/* Embeds points in tets: finds the tet that contains each point and the barycentric coordinates
 * there. */
#ifndef ARAP_EMBED_H
#define ARAP_EMBED_H

#include "base/context.h"
#include "mesh/bvh.h"

/* Tets over any vertices, (count, 3), with a hierarchy of their boxes. As bvh.h requires, the whole
 * is about 1 in size. */
typedef struct arap_tet_set {
    const double *vertices;
    const int *tets; /* (tet_count, 4) indices in range */
    size_t tet_count;
    arap_bvh *tree;
} arap_tet_set;

arap_status arap_tet_set_create(arap_context *context, const double *vertices, const int *tets,
                                size_t tet_count, arap_tet_set *out);
void arap_tet_set_clear(arap_tet_set *set);

/* Find the tet that contains p, or else the nearest one; -1 without tets. Also returns the
 * barycentric coordinates of the point in the tet nearest to p, and its distance to p, which is 0
 * inside. */
int arap_locate(const arap_tet_set *set, const double *p, double *bary, double *distance);

/* Run arap_locate for all points, (count, 3), in parallel and in any unit: tets (tet_count, 4), at
 * least one, over vertices (vertex_count, 3). Errors name the first point that is too far away. */
arap_status arap_embed(arap_context *context, size_t vertex_count, const double *vertices,
                       const int *tets, size_t tet_count, int count, const double *points, int *tet,
                       double *bary, double *distance);

#endif
