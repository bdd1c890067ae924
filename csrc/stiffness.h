/* The quadratic part of the energy: products with F of E(w) = w'Fw - 2 b'w + const. */
#ifndef ARAP_STIFFNESS_H
#define ARAP_STIFFNESS_H

#include "influences.h"
#include "poses.h"

/* Blocks of F between the influences of two vertices, s_kl = a_kl + a_lk (SPEC section 4):
 *     F_kl[b, c] = -s_kl v_k^T G_bc v_l          (neighbours)
 *     F_kk[b, c] = (sum_l s_kl) v_k^T G_bc v_k
 * v homogeneous. This writes factor * v_k^T G_bc v_l for the bones of rows k and l, row-major. */
void arap_gram_block(const arap_poses *poses, const double *vk, int k_bones, const int *k_bone,
                     const double *vl, int l_bones, const int *l_bone, double factor,
                     double *block);

/* out[e] = (F w)_e for every influence, and, if wanted, stretch[i], the sum over poses and
 * neighbours of a_ik |e'_ik|^2 (count). O(vertices x bones of a row x bones of a one-ring):
 * neither neighbours' rows nor poses are paired. */
arap_status arap_stiffness_product(arap_job *job, const arap_mesh *mesh, const arap_poses *poses,
                                   const arap_influences *influences, double *out, double *stretch);

#endif
