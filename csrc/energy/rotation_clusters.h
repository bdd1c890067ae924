/* Clusters of vertices that share one rotation per pose (paper section 5, "Vertex-Clustering
 * Acceleration"). */
#ifndef ARAP_ROTATION_CLUSTERS_H
#define ARAP_ROTATION_CLUSTERS_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "weights/influences.h"

/* A partition of the vertices; count 0: no clusters. */
typedef struct arap_rotation_clusters {
    int count;
    int *start;       /* (count + 1) */
    int *vertex;      /* (vertices) those of the first cluster, then of the second, and so on */
    arap_arena arena; /* of the arrays */
} arap_rotation_clusters;

/* Form clusters of neighbors, each of whose weights differs from that of the cluster's first vertex
 * by at most `difference`. */
arap_status arap_rotation_clusters_create(arap_context *context, const arap_mesh *mesh,
                                          const arap_influences *influences, double difference,
                                          arap_rotation_clusters *out);
/* Form at most `wanted` clusters (1 or more) of vertices that are close to each other. */
arap_status arap_position_clusters_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                          uint64_t seed, arap_rotation_clusters *out);
void arap_rotation_clusters_clear(arap_rotation_clusters *clusters);

/* The vertices of cluster *c; vertex *c itself if `clusters` is NULL. */
static inline const int *arap_cluster_members(const arap_rotation_clusters *clusters, const int *c,
                                              int *size) {
    *size = clusters ? clusters->start[*c + 1] - clusters->start[*c] : 1;
    return clusters ? clusters->vertex + clusters->start[*c] : c;
}

#endif
