/* The ARAP energy of any weights. */
#ifndef ARAP_ENERGY_H
#define ARAP_ENERGY_H

#include "base/context.h"
#include "energy/packed_poses.h"

/* Compute the relative ARAP energy of any weights (rows should sum to 1) over the poses: E /
 * (#poses sum a_ik |e_ik|^2), docs/energy.md 3. vertex_energy (count) or NULL: E_i over #poses
 * sum_k a_ik |e_ik|^2. */
arap_status arap_energy(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                        const arap_packed_poses *packed, const arap_influences *influences,
                        double *energy, double *vertex_energy);

/* The ARAP energy of weights and poses supplied by a caller: the relative energy of the caller's
 * weights, normalized to sum to 1, and, unless NULL, that of each of the caller's vertices. weld:
 * merge coincident vertices. given_bones: those of the poses; with NULL heads, all are rigid. */
arap_status arap_evaluate(arap_context *context, const arap_geometry *geometry, int weld,
                          const arap_sparse_weights *rows, const arap_bones *given_bones,
                          const arap_given_poses *given_poses, double *energy,
                          double *vertex_energy);

#endif
