/* The cotangent Laplacian over the one-rings of a mesh. */
#ifndef ARAP_LAPLACIAN_H
#define ARAP_LAPLACIAN_H

#include "mesh/mesh.h"

/* For each directed edge (ring[count]), add half the cotangents opposite to it in its faces: minus
 * the off-diagonal of the cotangent Laplacian; for tets, that of tets.c. The cotangents of a sliver
 * are all scaled down by one factor. A face without area contributes nothing. */
void arap_add_cotangents(const arap_mesh *mesh, double *edges);

/* Compute the conductance of every directed edge of the one-rings, which is minus the off-diagonal
 * of L: cotangents, and springs for wires and links. */
void arap_conductances(const arap_mesh *mesh, double *out);

#endif
