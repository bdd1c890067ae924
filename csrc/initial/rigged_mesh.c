/* A mesh with its skeleton: see rigged_mesh.h.
 *
 * Like the creation of a solver, welds the mesh, links loose parts, and determines the nearest
 * bones, their visibility, and the elimination order. Apart from the elimination order, this takes
 * O((n + m) log m). Fails on out-of-memory and for invalid input. */
#include "initial/rigged_mesh.h"

#include "base/memory.h"
#include "linalg/factor.h"
#include "mesh/links.h"
#include "mesh/rings.h"

arap_status arap_rigged_mesh_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, int link_parts,
                                    arap_rigged_mesh *rigged) {
    arap_mesh *mesh = &rigged->mesh;
    arap_bvh *faces = NULL;
    arap_links links = {0};
    arap_status status = arap_progress(context, "mesh", 0);
    if (!status) status = arap_mesh_create(context, geometry, bones, ARAP_WELD_TOLERANCE, mesh);
    if (!status) status = arap_skeleton_create(context, bones, mesh, &rigged->skeleton);
    if (!status && link_parts) status = arap_link_parts(context, mesh, NULL, &links, &faces);
    if (!status) status = arap_mesh_connect(context, mesh, &links, 0);
    if (status) goto done;
    rigged->order = ARAP_NEW(int, mesh->count);
    status = rigged->order ? arap_fill_reducing_order(context, mesh->count, mesh->ring,
                                                      mesh->neighbor, rigged->order)
                           : arap_fail_memory(&context->error, "the elimination order");
    if (!status && !faces) status = arap_face_bvh(context, mesh, NULL, &faces);
    if (!status)
        status =
            arap_visibility_create(context, mesh, &rigged->skeleton, faces, &rigged->visibility);

done:
    arap_bvh_free(faces);
    arap_links_clear(&links);
    return status;
}

void arap_rigged_mesh_clear(arap_rigged_mesh *rigged) {
    arap_free(rigged->order);
    arap_visibility_clear(&rigged->visibility);
    arap_skeleton_clear(&rigged->skeleton);
    arap_mesh_clear(&rigged->mesh);
}
