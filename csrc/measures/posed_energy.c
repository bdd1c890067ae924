/* The ARAP energy of posed points: see posed_energy.h.
 *
 *     E_i = sum_poses sum_k a_ik |e'_ik - R_i e_ik|^2
 *     R_i nearest to cov_i = sum_k a_ik e'_ik e_ik^T
 *
 * (docs/energy.md 3), each pose multiplied by its weight, relative to #poses sum_ik a_ik |e_ik|^2.
 * The method of posing is unknown, so every edge is read in every pose, which takes about 0.2 us
 * per vertex and pose. Takes O(vertices) memory. Vertices are processed in parallel. Fails on
 * out-of-memory and for points that are not finite. */
#include "measures/posed_energy.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/rotation.h"
#include "mesh/rings.h"
#include "rig/poses.h"

#define CHUNK 256

typedef struct energy_task {
    const arap_mesh *mesh;
    int poses;
    const double *posed;
    const double *pose_weight; /* (poses) weight of each pose; NULL: 1 */
    double total;              /* sum of that */
    double *own, *unit;        /* (count) E_i and its unit */
} energy_task;

/* Posed edge, in units of the mesh. */
static void posed_edge(const arap_mesh *mesh, const double *points, int i, size_t e, double *out) {
    const double *from = points + 3 * (size_t)mesh->first[i];
    const double *to = points + 3 * (size_t)mesh->first[mesh->neighbor[e]];
    for (int c = 0; c < 3; c++) out[c] = (to[c] - from[c]) / mesh->diagonal;
}

static double energy_in_pose(const arap_mesh *mesh, const double *points, int i) {
    double covariance[9] = {0}, rotation[9], sum = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        double rest[3], moved[3];
        arap_mesh_edge(mesh, i, e, rest);
        posed_edge(mesh, points, i, e, moved);
        for (int k = 0; k < 9; k++)
            covariance[k] += mesh->edge_weight[e] * moved[k / 3] * rest[k % 3];
    }
    arap_nearest_rotation(covariance, rotation);
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        double rest[3], moved[3];
        arap_mesh_edge(mesh, i, e, rest);
        posed_edge(mesh, points, i, e, moved);
        for (int c = 0; c < 3; c++) moved[c] -= arap_dot(rotation + 3 * c, rest);
        sum += mesh->edge_weight[e] * arap_dot(moved, moved);
    }
    return sum;
}

static void sum_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const energy_task *task = data;
    const arap_mesh *mesh = task->mesh;
    int end = arap_chunk_end(chunk, CHUNK, mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double unit = 0;
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            double rest[3];
            arap_mesh_edge(mesh, i, e, rest);
            unit += mesh->edge_weight[e] * arap_dot(rest, rest);
        }
        task->own[i] = 0;
        task->unit[i] = task->total * unit;
        for (int p = 0; p < task->poses; p++) {
            const double *points = task->posed + 3 * (size_t)mesh->input_count * (size_t)p;
            task->own[i] +=
                (task->pose_weight ? task->pose_weight[p] : 1) * energy_in_pose(mesh, points, i);
        }
    }
}

static arap_status check_points(arap_error *error, int poses, int vertices, const double *posed) {
    for (size_t at = 0; at < 3 * (size_t)poses * (size_t)vertices; at++)
        if (!isfinite(posed[at])) {
            const double *point = posed + at - at % 3;
            return arap_fail(error, ARAP_BAD_VALUE, "posed[%zu, %zu] is (%g, %g, %g): not finite",
                             at / 3 / (size_t)vertices, at / 3 % (size_t)vertices, point[0],
                             point[1], point[2]);
        }
    return ARAP_OK;
}

arap_status arap_posed_energy(arap_context *context, const arap_mesh *mesh, int poses,
                              const double *posed, const double *weights, double *energy,
                              double *vertex_energy) {
    arap_arena arena = {0};
    arap_status status = check_points(&context->error, poses, mesh->input_count, posed);
    double *pose_weight = NULL, sum;
    if (!status)
        status = arap_pose_weights_create(context, 0, 1, poses, weights, &pose_weight, &sum);
    if (status) return status;
    energy_task task = {.mesh = mesh,
                        .poses = poses,
                        .posed = posed,
                        .pose_weight = pose_weight,
                        .total = sum,
                        .own = ARAP_TAKE(&arena, mesh->count, double),
                        .unit = ARAP_TAKE(&arena, mesh->count, double)};
    status = arap_arena_status(&arena, &context->error, "the energy");
    if (status) goto done;
    status = arap_parallel(context, arap_chunks(mesh->count, CHUNK), sum_chunk, &task);
    if (status) goto done;
    double total = 0, unit = 0;
    for (int i = 0; i < mesh->count; i++) {
        total += task.own[i];
        unit += task.unit[i];
        if (vertex_energy) vertex_energy[i] = task.unit[i] > 0 ? task.own[i] / task.unit[i] : 0;
    }
    *energy = unit > 0 ? total / unit : 0;
    if (!isfinite(*energy))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", *energy);

done:
    arap_free(pose_weight);
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_evaluate_posed(arap_context *context, const arap_geometry *geometry, int weld,
                                int poses, const double *posed, const double *weights,
                                double *energy, double *vertex_energy) {
    arap_mesh mesh = {0};
    double *welded = NULL;
    arap_status status =
        arap_mesh_create(context, geometry, NULL, weld ? ARAP_WELD_TOLERANCE : -1, &mesh);
    if (!status) status = arap_mesh_connect(context, &mesh, NULL, 0);
    if (!status && vertex_energy && !(welded = ARAP_NEW(double, mesh.count)))
        status = arap_fail_memory(&context->error, "the energy");
    if (!status) status = arap_posed_energy(context, &mesh, poses, posed, weights, energy, welded);
    if (!status && vertex_energy)
        for (int i = 0; i < mesh.input_count; i++) vertex_energy[i] = welded[mesh.weld[i]];
    arap_free(welded);
    arap_mesh_clear(&mesh);
    return status;
}
