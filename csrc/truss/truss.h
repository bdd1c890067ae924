/* The truss: springs inside the mesh that tie the skin to the bones. Each is called a spoke: an
 * extra edge from a vertex to the nearest point on a bone. */
#ifndef ARAP_TRUSS_H
#define ARAP_TRUSS_H

#include "rig/poses.h"
#include "rig/symmetry.h"
#include "truss/surround.h"

/* Give a connected mesh its spokes to these bones; rest_energy grows by theirs. strength: of a
 * spoke relative to the edges around its vertex; 0: no spokes. wanted (vertices): the deforming
 * bone that each vertex's spoke goes to, -1: no spoke, and wanted_whole: whether its part is tied
 * to that bone as a whole. wanted NULL: chosen here, among the bones not barred from the vertex
 * (barred NULL: no bone is). kept: the surroundings of the bones, once they are known. */
arap_status arap_truss_create(arap_context *context, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_symmetry *symmetry,
                              double strength, arap_barred_fn barred, const void *data,
                              const int *wanted, const char *wanted_whole, arap_surroundings *kept);

#endif
