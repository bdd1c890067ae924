/* A coarser mesh of the same shape, on which the weights of large meshes are found first. */
#ifndef ARAP_COARSE_H
#define ARAP_COARSE_H

#include "mesh/mesh.h"
#include "weights/influences.h"

/* Parts with fewer vertices keep them. */
#define ARAP_FEW_OF_PART 12

typedef struct arap_coarse {
    int count;        /* clusters, the vertices of the coarse mesh */
    int *cluster;     /* (vertices) of the fine mesh -> cluster */
    int *seed;        /* (count) the fine vertex that each grew from */
    int *made;        /* (count) the clusters, the one that was made last first */
    double *vertices; /* (count, 3) means of the clusters, units of the caller */
    size_t triangle_count;
    int *triangles; /* (triangle_count, 3) */
    size_t edge_count;
    int *edges; /* (edge_count, 2) of wires */
    size_t link_count;
    int *links;         /* (link_count, 2) between parts */
    size_t layer_count; /* of these, the last ones, between layers */
    size_t tet_count;
    int *tets; /* (tet_count, 4) */
} arap_coarse;

/* Clusters of vertices that faces or wires join, never of different parts nor of different
 * groups, group (vertices). partner (vertices): mirror images, -1 without one, or NULL. visit
 * (vertices): the order in which they are visited, in strides unless it is scattered. */
arap_status arap_coarsen(arap_context *context, const arap_mesh *mesh, const int *group,
                         const int *partner, const int *visit, int scattered, arap_coarse *out);
void arap_coarse_clear(arap_coarse *coarse);

/* Weights of the fine mesh from those of the clusters: every vertex takes the mean of those of
 * its cluster and of its neighbors'. */
arap_status arap_prolong(arap_context *context, const arap_mesh *mesh, const arap_coarse *coarse,
                         const arap_influences *weights, int bones, arap_influences *out);

#endif
