/* The ARAP energy of weights under dual quaternion blending, and its gradient. */
#ifndef ARAP_DUAL_ENERGY_H
#define ARAP_DUAL_ENERGY_H

#include "mesh/mesh.h"
#include "rig/poses.h"
#include "weights/influences.h"

/* Create work space for given poses of rigid bones. It keeps references to the mesh and the
 * poses. */
typedef struct arap_dual_energy arap_dual_energy;

arap_status arap_dual_energy_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_skeleton *skeleton, const arap_poses *poses,
                                    arap_dual_energy **out);
void arap_dual_energy_free(arap_dual_energy *work);

/* Compute the absolute energy; force (start[count]) or NULL: minus half its slope in each weight,
 * with the best rotations. The weights need not sum to 1. */
arap_status arap_dual_energy_run(arap_context *context, arap_dual_energy *work,
                                 const arap_influences *in, double *force, double *energy);

/* Compute the relative energy of weights in temporary work space. */
arap_status arap_dual_energy_of(arap_context *context, const arap_mesh *mesh,
                                const arap_skeleton *skeleton, const arap_poses *poses,
                                const arap_influences *influences, double *energy);

#endif
