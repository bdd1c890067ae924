/* The energy of given weights in given poses: see energy.h.
 *
 * Uses the paper's edge weights, but neither links nor bone springs. An additional last bone, which
 * never moves, carries the vertices without weights. The cost is that of a local step in double
 * precision. Fails for invalid meshes, skeletons, poses and rows. */

#include <string.h>

#include "base/memory.h"
#include "energy/energy.h"
#include "mesh/mesh.h"
#include "mesh/rings.h"
#include "rig/skeleton.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"
#include "weights/rows.h"

/* Convert weights to influences over `bones` + 1 bones. Rows sum to 1, and a vertex without weights
 * follows the last bone, which never moves, as an unweighted vertex does in Blender. */
static arap_status evaluated_weights(arap_context *context, const arap_mesh *mesh,
                                     const arap_sparse_weights *rows, int bones,
                                     arap_influences *out) {
    arap_status status = arap_check_sparse_weights(&context->error, rows, mesh->input_count, bones);
    arap_rows made = {0};
    if (!status) status = arap_rows_create(context, mesh->count, &made);
    for (int i = 0; i < mesh->count && !status; i++) {
        long long from = rows->start[mesh->first[i]], end = rows->start[mesh->first[i] + 1];
        double sum = 0;
        for (long long e = from; e < end; e++) sum += rows->weight[e];
        status = arap_rows_next(context, &made, (size_t)(end - from) + 1);
        for (long long e = from; e < end && sum > 0 && !status; e++)
            arap_rows_insert(&made, rows->bone[e], rows->weight[e] / sum, 0);
        if (!(sum > 0) && !status) arap_rows_add(&made, bones, 1, 0);
    }
    return arap_rows_end(status, &made, out);
}

arap_status arap_evaluate(arap_context *context, const arap_geometry *geometry, int weld,
                          const arap_sparse_weights *rows, const arap_bones *given_bones,
                          const arap_given_poses *given_poses, double *energy,
                          double *vertex_energy) {
    arap_arena arena = {0};
    arap_mesh mesh = {0};
    arap_skeleton skeleton = {0};
    arap_bones roots = *given_bones;
    arap_given_poses all = *given_poses;
    int bones = roots.count, count = given_poses->count;
    arap_poses poses = {0};
    arap_packed_poses packed = {0};
    arap_influences in = {0};
    size_t size = 12 * (size_t)bones;
    double *padded = NULL, *welded = NULL;
    int *parents = NULL;
    arap_status status =
        arap_mesh_create(context, geometry, given_bones, weld ? ARAP_WELD_TOLERANCE : -1, &mesh);
    if (!status) status = arap_mesh_connect(context, &mesh, NULL, 0);
    if (status) goto done;
    padded = ARAP_TAKE_ZERO(&arena, (size + 12) * (size_t)count, double);
    welded = ARAP_TAKE(&arena, mesh.count, double);
    parents = ARAP_TAKE(&arena, roots.heads ? bones : 0, int);
    status = arap_arena_status(&arena, &context->error, "the energy");
    if (status) goto done;
    roots.parents = parents;
    for (int b = 0; b < bones && roots.heads; b++) parents[b] = -1;
    if (roots.heads) status = arap_skeleton_create(context, &roots, &mesh, &skeleton);
    for (size_t p = 0; p < (size_t)count; p++) {
        memcpy(padded + (size + 12) * p, given_poses->transforms + size * p, size * sizeof(double));
        for (int k = 0; k < 12; k += 5) padded[(size + 12) * p + size + (size_t)k] = 1;
    }
    all.transforms = padded;
    if (!status) status = arap_poses_given(context, &skeleton, &mesh, bones + 1, &all, &poses);
    if (!status) status = arap_packed_poses_create(context, &poses, ARAP_DOUBLE, &packed);
    if (!status) status = evaluated_weights(context, &mesh, rows, bones, &in);
    if (!status)
        status = arap_energy(context, &mesh, &poses, &packed, &in, energy,
                             vertex_energy ? welded : NULL);
    if (!status && vertex_energy)
        for (int i = 0; i < mesh.input_count; i++) vertex_energy[i] = welded[mesh.weld[i]];

done:
    arap_arena_clear(&arena);
    arap_influences_clear(&in);
    arap_packed_poses_clear(&packed);
    arap_poses_clear(&poses);
    arap_skeleton_clear(&skeleton);
    arap_mesh_clear(&mesh);
    return status;
}
