/* The energy of dual quaternion blending: see dual_energy.h.
 *
 * Vertices move to p_i (dual_blend.h), and springs end at points that bones carry along
 * (bone_springs.h). Let e' be the posed edges, s the weights of the springs, and y the posed ends
 * of the springs. In every pose, with all terms multiplied by the weight of the pose,
 *     E_i = sum_k a_ik |e'_ik - R_i e_ik|^2 + sum_springs s |(y - p_i) - R_i (x - v_i)|^2
 *     R_i nearest to sum_k a_ik e'_ik e_ik^T + sum_springs s (y - p_i) (x - v_i)^T
 *     f_i = sum_k [(a_ik + a_ki) e'_ik - (a_ik R_i + a_ki R_k) e_ik]
 *         + sum_springs s [(y - p_i) - R_i (x - v_i)]
 * f is minus half the gradient with respect to p_i, because at the best R, the derivative with
 * respect to R is zero. arap_dual_force applies the chain rule to obtain the gradient with respect
 * to the weights.
 *
 * A few poses are processed at a time: first all points, then all rotations and energies, then
 * forces. Vertices are processed in parallel. Each vertex is summed separately, in the order of the
 * poses. Each vertex takes about 0.5 us per pose, and 100 bytes per pose of a batch. Fails on
 * out-of-memory only. */
#include "energy/dual_energy.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/quaternion.h"
#include "linalg/rotation.h"
#include "rig/dual_blend.h"

#define CHUNK 128
#define BATCH 8 /* poses */

struct arap_dual_energy {
    const arap_mesh *mesh;
    const arap_poses *poses;
    double *quaternions; /* (poses, columns, 4) */
    double *points;      /* (BATCH, count, 3) */
    arap_dual_sum *sums; /* (BATCH, count) */
    double *rotations;   /* (BATCH, count, 9) */
    double *own;         /* (count) E_i */
    /* State of the current run: */
    const arap_influences *in;
    double *force;
    int first, end;   /* poses */
    arap_arena arena; /* of the arrays */
};

arap_status arap_dual_energy_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_skeleton *skeleton, const arap_poses *poses,
                                    arap_dual_energy **out) {
    size_t all = (size_t)poses->count * (size_t)poses->columns;
    size_t room = BATCH * (size_t)mesh->count;
    arap_dual_energy *w = *out = ARAP_NEW_ZERO(arap_dual_energy, 1);
    if (!w) return arap_fail_memory(&context->error, "the dual quaternions");
    w->mesh = mesh;
    w->poses = poses;
    w->quaternions = ARAP_TAKE(&w->arena, 4 * all, double);
    w->points = ARAP_TAKE(&w->arena, 3 * room, double);
    w->sums = ARAP_TAKE(&w->arena, room, arap_dual_sum);
    w->rotations = ARAP_TAKE(&w->arena, 9 * room, double);
    w->own = ARAP_TAKE(&w->arena, mesh->count, double);
    arap_status status = arap_arena_status(&w->arena, &context->error, "the dual quaternions");
    for (size_t k = 0; k < all && !status; k++) {
        int bone = skeleton->deform_bone[k % (size_t)poses->columns];
        arap_transform_quaternion(poses->transform + 12 * k, skeleton->axes + 9 * (size_t)bone,
                                  w->quaternions + 4 * k);
    }
    if (status) {
        arap_dual_energy_free(w);
        *out = NULL;
    }
    return status;
}

void arap_dual_energy_free(arap_dual_energy *work) {
    if (!work) return;
    arap_arena_clear(&work->arena);
    arap_free(work);
}

/* Start of the data stored for vertex i in a pose of the batch. */
static size_t place_of(const arap_dual_energy *w, int pose, int i) {
    return (size_t)(pose - w->first) * (size_t)w->mesh->count + (size_t)i;
}

static arap_dual_pose dual_pose(const arap_dual_energy *w, int pose) {
    size_t first = (size_t)pose * (size_t)w->poses->columns;
    return (arap_dual_pose){w->poses->transform + 12 * first, w->quaternions + 4 * first};
}

/* A posed edge, and a posed spring of a vertex. */
static void posed_edge(const arap_dual_energy *w, int pose, int i, size_t e, double *out) {
    arap_sub(w->points + 3 * place_of(w, pose, w->mesh->neighbor[e]),
             w->points + 3 * place_of(w, pose, i), out);
}

static void posed_spring(const arap_dual_energy *w, int pose, int i, const arap_spring *spring,
                         double *out) {
    const double *p = w->points + 3 * place_of(w, pose, i);
    for (int c = 0; c < 3; c++) out[c] = -p[c];
    for (int k = 0; k < 2; k++) {
        const double *t = w->poses->transform + 12 * ((size_t)pose * (size_t)w->poses->columns +
                                                      (size_t)spring->column[k]);
        for (int c = 0; c < 3; c++)
            out[c] += spring->share[k] * (arap_dot(t + 4 * c, spring->point) + t[4 * c + 3]);
    }
}

/* Return |moved - R rest|^2 and store the difference in `moved`. */
static double take_off(const double *rotation, const double *rest, double *moved) {
    for (int c = 0; c < 3; c++) moved[c] -= arap_dot(rotation + 3 * c, rest);
    return arap_dot(moved, moved);
}

static void add_outer(double weight, const double *a, const double *b, double *out) {
    for (int k = 0; k < 9; k++) out[k] += weight * a[k / 3] * b[k % 3];
}

static void blend_vertex(const arap_dual_energy *w, int pose, int i) {
    const arap_influences *in = w->in;
    size_t at = place_of(w, pose, i), from = in->start[i];
    const double *v = w->mesh->v + 3 * (size_t)i;
    arap_dual_pose moved = dual_pose(w, pose);
    arap_dual_blend(&moved, v, (int)(in->start[i + 1] - from), in->bone + from, in->weight + from,
                    w->sums + at);
    arap_dual_point(w->sums + at, v, w->points + 3 * at);
}

static double rotate_vertex(const arap_dual_energy *w, int pose, int i) {
    const arap_mesh *mesh = w->mesh;
    const arap_spring *springs;
    int spring_count = arap_mesh_springs(mesh, i, &springs);
    double covariance[9] = {0}, rest[3], moved[3], sum = 0;
    double *rotation = w->rotations + 9 * place_of(w, pose, i);
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        arap_mesh_edge(mesh, i, e, rest);
        posed_edge(w, pose, i, e, moved);
        add_outer(mesh->edge_weight[e], moved, rest, covariance);
    }
    for (int k = 0; k < spring_count; k++) {
        arap_sub(springs[k].point, mesh->v + 3 * (size_t)i, rest);
        posed_spring(w, pose, i, springs + k, moved);
        add_outer(springs[k].weight, moved, rest, covariance);
    }
    arap_nearest_rotation(covariance, rotation);
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        arap_mesh_edge(mesh, i, e, rest);
        posed_edge(w, pose, i, e, moved);
        sum += mesh->edge_weight[e] * take_off(rotation, rest, moved);
    }
    for (int k = 0; k < spring_count; k++) {
        arap_sub(springs[k].point, mesh->v + 3 * (size_t)i, rest);
        posed_spring(w, pose, i, springs + k, moved);
        sum += springs[k].weight * take_off(rotation, rest, moved);
    }
    return sum;
}

static void pull_vertex(const arap_dual_energy *w, int pose, int i, double *out) {
    const arap_mesh *mesh = w->mesh;
    const arap_spring *springs;
    int spring_count = arap_mesh_springs(mesh, i, &springs);
    const double *own = w->rotations + 9 * place_of(w, pose, i);
    double rest[3], off[3], other[3];
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        double to = mesh->edge_weight[e], fro = mesh->edge_weight_sym[e] - to;
        arap_mesh_edge(mesh, i, e, rest);
        posed_edge(w, pose, i, e, off);
        for (int c = 0; c < 3; c++) other[c] = off[c];
        take_off(own, rest, off);
        take_off(w->rotations + 9 * place_of(w, pose, mesh->neighbor[e]), rest, other);
        for (int c = 0; c < 3; c++) out[c] += to * off[c] + fro * other[c];
    }
    for (int k = 0; k < spring_count; k++) {
        arap_sub(springs[k].point, mesh->v + 3 * (size_t)i, rest);
        posed_spring(w, pose, i, springs + k, off);
        take_off(own, rest, off);
        for (int c = 0; c < 3; c++) out[c] += springs[k].weight * off[c];
    }
}

static void blend_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_dual_energy *w = data;
    for (int p = w->first; p < w->end; p++)
        for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, w->mesh->count); i++)
            blend_vertex(w, p, i);
}

static void rotate_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_dual_energy *w = data;
    for (int p = w->first; p < w->end; p++)
        for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, w->mesh->count); i++)
            w->own[i] += arap_pose_weight(w->poses, p) * rotate_vertex(w, p, i);
}

static void force_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_dual_energy *w = data;
    const arap_influences *in = w->in;
    for (int p = w->first; p < w->end; p++) {
        arap_dual_pose moved = dual_pose(w, p);
        for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, w->mesh->count); i++) {
            size_t at = place_of(w, p, i), from = in->start[i];
            double pull[3];
            pull_vertex(w, p, i, pull);
            for (int c = 0; c < 3; c++) pull[c] *= arap_pose_weight(w->poses, p);
            arap_dual_force(&moved, w->mesh->v + 3 * (size_t)i, (int)(in->start[i + 1] - from),
                            in->bone + from, in->weight + from, w->sums + at, w->points + 3 * at,
                            pull, w->force + from);
        }
    }
}

arap_status arap_dual_energy_run(arap_context *context, arap_dual_energy *work,
                                 const arap_influences *in, double *force, double *energy) {
    int chunks = arap_chunks(work->mesh->count, CHUNK);
    arap_status status = ARAP_OK;
    *energy = 0;
    work->in = in;
    work->force = force;
    for (int i = 0; i < work->mesh->count; i++) work->own[i] = 0;
    for (size_t e = 0; force && e < in->start[in->count]; e++) force[e] = 0;
    for (work->first = 0; work->first < work->poses->count && !status; work->first = work->end) {
        work->end =
            work->first + BATCH < work->poses->count ? work->first + BATCH : work->poses->count;
        status = arap_parallel(context, chunks, blend_chunk, work);
        if (!status) status = arap_parallel(context, chunks, rotate_chunk, work);
        if (!status && force) status = arap_parallel(context, chunks, force_chunk, work);
    }
    for (int i = 0; i < work->mesh->count; i++) *energy += work->own[i];
    return status;
}

arap_status arap_dual_energy_of(arap_context *context, const arap_mesh *mesh,
                                const arap_skeleton *skeleton, const arap_poses *poses,
                                const arap_influences *influences, double *energy) {
    arap_dual_energy *work;
    arap_status status = arap_dual_energy_create(context, mesh, skeleton, poses, &work);
    if (status) return status;
    double unit = poses->total * mesh->rest_energy;
    *energy = 0;
    if (unit > 0) status = arap_dual_energy_run(context, work, influences, NULL, energy);
    if (unit > 0) *energy /= unit;
    if (!status && !isfinite(*energy))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", *energy);
    arap_dual_energy_free(work);
    return status;
}
