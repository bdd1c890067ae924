/* Creates a coarser mesh of the same shape, on which the weights of large meshes are computed
 * first. */
#ifndef ARAP_COARSE_H
#define ARAP_COARSE_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "weights/influences.h"

typedef struct arap_coarse {
    int count;        /* clusters, the vertices of the coarse mesh */
    int *cluster;     /* (vertices) cluster of each vertex of the fine mesh */
    int *seed;        /* (count) the fine vertex from which each cluster grew */
    int *made;        /* (count) the clusters, most recently created first */
    double *vertices; /* (count, 3) means of the clusters, in the caller's units */
    size_t triangle_count;
    int *triangles; /* (triangle_count, 3) */
    size_t edge_count;
    int *edges; /* (edge_count, 2) of wires */
    size_t link_count;
    int *links;         /* (link_count, 2) between parts */
    size_t layer_count; /* how many of these, at the end, lie between layers */
    size_t tet_count;
    int *tets; /* (tet_count, 4) */
    arap_arena arena;
} arap_coarse;

/* Form clusters of vertices connected by faces or wires, but never across different parts or
 * different groups, group (vertices). partner (vertices): mirror images, -1 for vertices without
 * one; or NULL. visit (vertices): the order in which vertices are visited, in strides unless it is
 * scattered. */
arap_status arap_coarsen(arap_context *context, const arap_mesh *mesh, const int *group,
                         const int *partner, const int *visit, int scattered, arap_coarse *out);
void arap_coarse_clear(arap_coarse *coarse);

/* Compute the weights of the fine mesh from those of the clusters: each vertex gets the mean of the
 * weights of its own cluster and of its neighbors' clusters. */
arap_status arap_prolong(arap_context *context, const arap_mesh *mesh, const arap_coarse *coarse,
                         const arap_influences *weights, int bones, arap_influences *out);

#endif
