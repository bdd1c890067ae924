/* The ARAP energy of any weights. */
#ifndef ARAP_ENERGY_H
#define ARAP_ENERGY_H

#include "energy/packed_poses.h"

/* Compute the relative ARAP energy of any weights (rows should sum to 1) over the poses: E /
 * (#poses sum a_ik |e_ik|^2), docs/energy.md 3. vertex_energy (count) or NULL: E_i over #poses
 * sum_k a_ik |e_ik|^2. */
arap_status arap_energy(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                        const arap_packed_poses *packed, const arap_influences *influences,
                        double *energy, double *vertex_energy);

#endif
