/* The ARAP energy of a mesh posed by any means. */
#ifndef ARAP_POSED_ENERGY_H
#define ARAP_POSED_ENERGY_H

#include "mesh/mesh.h"

/* posed (poses, input_count, 3) in the caller's units; among welded vertices, the first one is
 * used. weights (poses): weight of each pose; NULL: 1 (pose_weights.c). energy: relative, as
 * returned by arap_energy; vertex_energy (count) or NULL: energy of each vertex, relative to its
 * own one-ring. Errors name the first coordinate that is not finite. */
arap_status arap_posed_energy(arap_context *context, const arap_mesh *mesh, int poses,
                              const double *posed, const double *weights, double *energy,
                              double *vertex_energy);

/* The same for the caller's geometry, with the paper's edge weights; vertex_energy: of each of the
 * caller's vertices, or NULL. */
arap_status arap_evaluate_posed(arap_context *context, const arap_geometry *geometry, int weld,
                                int poses, const double *posed, const double *weights,
                                double *energy, double *vertex_energy);

#endif
