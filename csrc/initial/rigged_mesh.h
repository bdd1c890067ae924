/* A mesh with its skeleton, prepared for the methods of this folder. */
#ifndef ARAP_RIGGED_MESH_H
#define ARAP_RIGGED_MESH_H

#include "initial/visibility.h"

typedef struct arap_rigged_mesh {
    arap_mesh mesh; /* welded and connected */
    arap_skeleton skeleton;
    arap_visibility visibility;
    int *order; /* fill-reducing, (mesh.count) */
} arap_rigged_mesh;

/* link_parts: link loose parts to the surface on which they lie. `rigged` must be zeroed before the
 * call. Release it with arap_rigged_mesh_clear, even after a failure. */
arap_status arap_rigged_mesh_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, int link_parts,
                                    arap_rigged_mesh *rigged);
void arap_rigged_mesh_clear(arap_rigged_mesh *rigged);

#endif
