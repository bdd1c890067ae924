/* The tetrahedra of a volume: their surface and their Laplacian. */
#ifndef ARAP_TETS_H
#define ARAP_TETS_H

#include "mesh/mesh.h"

/* Signed volume, positive where d sees a, b, c counterclockwise from behind. */
double arap_tet_volume(const double *a, const double *b, const double *c, const double *d);

/* Signed volume of tet t of the mesh. */
double arap_mesh_tet_volume(const arap_mesh *mesh, size_t t);

/* Insert the surface of the tets before the mesh's own triangles, and remove those of the latter
 * that are duplicates or faces of tets. Sets surface_count and thickness. */
arap_status arap_tets_surface(arap_context *context, arap_mesh *mesh);

/* Add minus the off-diagonal of the tets' Laplacian to each directed edge (ring[count]). */
void arap_add_tet_cotangents(const arap_mesh *mesh, double *edges);

#endif
