/* The harmonic term of the weights (paper Eq. 13): smoother ones, at the price of energy. */
#ifndef ARAP_HARMONIC_H
#define ARAP_HARMONIC_H

#include "weights/influences.h"
#include "mesh/mesh.h"

/* delta sum_i c_i sum_b |(L w_b)_i|^2 = w'Hw, with h_kl between the influences of vertices k and
 * l that share a bone. Two-rings: row k holds the vertices within two edges of k, ascending. All
 * NULL: no such term. */
typedef struct arap_harmonic {
    int largest_ring;
    size_t *ring;   /* (count + 1) */
    int *neighbour; /* (ring[count]) */
    double *both;   /* (ring[count]) a_kl + a_lk of the mesh, 0 where there is no edge */
    double *edge;   /* (ring[count]) h_kl */
    double *own;    /* (count) h_kk */
} arap_harmonic;

/* The like for L' diag(factor) L, factor (count) and L from minus its off-diagonal, conductance
 * (one for each directed edge). */
arap_status arap_two_ring_create(arap_job *job, const arap_mesh *mesh, const double *factor,
                                 const double *conductance, arap_harmonic *out);

/* delta c_i = strength Lambda_i. */
arap_status arap_harmonic_create(arap_job *job, const arap_mesh *mesh, double strength,
                                 arap_harmonic *out);
void arap_harmonic_clear(arap_harmonic *harmonic);

/* out[e] = (H w)_e for every influence. */
void arap_harmonic_product(const arap_job *job, const arap_harmonic *harmonic,
                           const arap_influences *influences, double *out);

#endif
