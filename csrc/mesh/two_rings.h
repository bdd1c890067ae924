/* Two-rings: quadratic forms in the Laplacian of a function on the vertices. */
#ifndef ARAP_TWO_RINGS_H
#define ARAP_TWO_RINGS_H

#include "linalg/factor.h"
#include "mesh/mesh.h"

/* A symmetric matrix h_kl between vertices within two edges of each other. Row k holds, in
 * ascending order, the neighbors of k and those vertices two edges away that are connected to it
 * through a factor. All NULL: no matrix. */
typedef struct arap_two_rings {
    int largest_ring;
    size_t *ring;            /* (count + 1) */
    int *neighbor;           /* (ring[count]) */
    double *edge_weight_sym; /* (ring[count]) a_kl + a_lk of the mesh, 0 where there is no edge */
    double *edge;            /* (ring[count]) h_kl */
    double *own;             /* (count) h_kk */
    arap_arena arena;
} arap_two_rings;

/* h = L' diag(factor) L, factor (count) and L from minus its off-diagonal, conductance (one for
 * each directed edge). */
arap_status arap_two_rings_create(arap_context *context, const arap_mesh *mesh,
                                  const double *factor, const double *conductance,
                                  arap_two_rings *out);
/* The bi-Laplacian Q = L M^-1 L. M contains cell areas (volumes), where tiny cells count as larger
 * ones, and L is the cotangent Laplacian, with springs for wires and links. */
arap_status arap_bilaplacian(arap_context *context, const arap_mesh *mesh, arap_two_rings *out);

/* The matrix of some of the vertices. vertex (size): these vertices, in elimination order. place
 * (vertices of the mesh): the position of each in that order; for other vertices -1, or a position
 * elsewhere. */
arap_status arap_two_rings_matrix(arap_context *context, const arap_two_rings *h, int size,
                                  const int *vertex, const int *place, arap_matrix *out);
/* Create or update the factor of such a matrix, with its diagonal set to `diagonal` times own
 * (size), or slightly more if rounding prevents a factorization. */
arap_status arap_two_rings_factor(arap_context *context, arap_matrix *matrix, const double *own,
                                  double diagonal, arap_factor **factor);

void arap_two_rings_clear(arap_two_rings *harmonic);

#endif
