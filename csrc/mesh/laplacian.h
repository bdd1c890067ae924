/* The cotangent Laplacian over the one-rings of a mesh. */
#ifndef ARAP_LAPLACIAN_H
#define ARAP_LAPLACIAN_H

#include "mesh/mesh.h"

/* Add half the cotangents opposite to each directed edge (ring[count]), over its faces: minus the
 * off-diagonal of the cotangent Laplacian; for tets, that of tets.c. The cotangents of a sliver are
 * scaled down as a whole, a face without area has none. */
void arap_add_cotangents(const arap_mesh *mesh, double *edges);

/* Conductance of every directed edge of the one-rings, minus the off-diagonal of L: cotangents, and
 * springs for wires and links. */
void arap_conductances(const arap_mesh *mesh, double *out);

#endif
