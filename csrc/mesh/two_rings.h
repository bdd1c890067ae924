/* Two-rings: what is quadratic in the Laplacian of a number on the vertices. */
#ifndef ARAP_TWO_RINGS_H
#define ARAP_TWO_RINGS_H

#include "mesh/mesh.h"

/* A symmetric matrix h_kl between vertices within two edges of each other: row k holds those of k,
 * ascending, of vertices two edges away those with a factor between them. All NULL: there is none.
 */
typedef struct arap_two_rings {
    int largest_ring;
    size_t *ring;            /* (count + 1) */
    int *neighbor;           /* (ring[count]) */
    double *edge_weight_sym; /* (ring[count]) a_kl + a_lk of the mesh, 0 where there is no edge */
    double *edge;            /* (ring[count]) h_kl */
    double *own;             /* (count) h_kk */
} arap_two_rings;

/* h = L' diag(factor) L, factor (count) and L from minus its off-diagonal, conductance (one for
 * each directed edge). */
arap_status arap_two_rings_create(arap_context *context, const arap_mesh *mesh,
                                  const double *factor, const double *conductance,
                                  arap_two_rings *out);
void arap_two_rings_clear(arap_two_rings *harmonic);

#endif
