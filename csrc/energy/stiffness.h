/* The quadratic part of the energy, as products with F of E(w) = w'Fw - 2 b'w + const. */
#ifndef ARAP_STIFFNESS_H
#define ARAP_STIFFNESS_H

#include "energy/mirror_reuse.h"
#include "rig/poses.h"
#include "weights/influences.h"

/* Blocks of F between the influences of two vertices, s_kl = a_kl + a_lk (docs/energy.md 4):
 *     F_kl[b, c] = -s_kl v_k^T G_bc v_l          (neighbors)
 *     F_kk[b, c] = (sum_l s_kl) v_k^T G_bc v_k
 * v homogeneous; if b or c is a spine, sum_poses phi_kb . phi_lc of the points to which they move
 * the vertices (spines.h) replaces v_k^T G_bc v_l. This function writes `factor` times that block
 * for the bones of rows k and l, row-major. */
void arap_gram_block(const arap_mesh *mesh, const arap_poses *poses, const arap_influences *in,
                     int k, int l, double factor, double *block);

/* Add factor v_k v_l^T to m (4, 4). A block over any number of vertex pairs needs only such sums:
 * factor F_kl[b, c] = sum of G_bc m, entry by entry. */
static inline void arap_add_gram_moment(const arap_mesh *mesh, int k, int l, double factor,
                                        double *m) {
    const double *vk = mesh->v + 3 * (size_t)k, *vl = mesh->v + 3 * (size_t)l;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            m[4 * r + c] += factor * (r < 3 ? vk[r] : 1) * (c < 3 ? vl[c] : 1);
}

/* sum of G_bc m, entry by entry. */
static inline double arap_gram_moment(const arap_poses *poses, int b, int c, const double *m) {
    const double *g = poses->gram + 16 * ((size_t)b * (size_t)poses->columns + (size_t)c);
    double sum = 0;
    for (int k = 0; k < 16; k++) sum += g[k] * m[k];
    return sum;
}

/* Compute that sum for the bones of row i, row-major. Not for spines and bendy bones, whose
 * position depends on the vertex. */
void arap_moment_block(const arap_poses *poses, const arap_influences *in, int i, const double *m,
                       double *block);

/* Compute out[e] = (F w)_e for every influence and, if requested, stretch[i], the sum over poses
 * and neighbors of a_ik |e'_ik|^2 (count). With bone springs, out also includes their pull, and
 * fixed (count) or NULL completes the energy of both, see stiffness.c. Costs O(vertices x bones of
 * a row x bones of a one-ring): no loop runs over pairs of neighbors' rows or over poses. Wide rows
 * (wide_products.h) take O(poses x bones of a one-ring) each. With spines, the cost is O(vertices x
 * poses x influences of a one-ring), plus memory for the posed mesh in every pose. */
arap_status arap_stiffness_product(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *influences,
                                   const arap_mirror_reuse *mirror_reuse, double *out,
                                   double *stretch, double *fixed);

#endif
