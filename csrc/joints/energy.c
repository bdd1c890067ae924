/* The energy over the transforms: see joints/energy.h.
 *
 * With y_b = w_kb v_k - w_ib v_i (v homogeneous) of an edge, the posed edge is sum_b T_b y_b, and
 *     sum a_ik |e'_ik|^2 = sum_bc tr(T_b N_bc T_c^T),   N_bc = sum_ik a_ik y_b y_c^T     (4x4)
 * so the mesh is summed only once for all poses. The last row of N_bc, q_bc, describes the effect
 * of a translation dt_b of bone b, which moves the edge by (w_kb - w_ib) dt_b:
 *     -1/2 dE/dt_b = sum_i R_i sum_k a_ik (w_kb - w_ib) e_ik - sum_c T_c q_bc
 * at the best rotations R_i, whose own derivative is zero. arap_local_step_pull computes the first
 * sum.
 *
 * A spring is an additional edge, from its vertex to an anchor that moves with the joints
 * (joints/anchors.c), so its share of N_bc is summed again at every try.
 *
 * Vertices with a spine in their ring are excluded: see joints/spines.c.
 *
 * Sums are stored only for pairs of bones that meet at an edge, which are few compared with all
 * pairs.
 *
 * The cost is O(edges x influences^2) once, and a local step plus O(poses x bones^2) per
 * evaluation. Each pose is shifted by a common translation of all bones, which changes no edge, so
 * animations that travel far lose no precision. Sums over the mesh are computed in blocks in a
 * fixed order. Fails on out-of-memory and for an energy that is not finite. */
#include "joints/energy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define BLOCKS 8

typedef struct summation {
    const arap_mesh *mesh;
    const arap_influences *in;
    const int *spine_slot; /* NULL: there are no spines */
    int bones;
    int edges, springs; /* whether they take part */
    int *pair;          /* (bones, bones) index of bone pairs that meet at an edge; -1: none */
    size_t pairs;
    double *sums;   /* (BLOCKS, pairs, 4, 4) */
    double *places; /* (workers, bones, 4) y of the bones of an edge */
    int *bone;      /* (workers, bones) */
    char *seen;     /* (workers, bones) */
} summation;

/* Add w times the point to y of bone b. */
static void add_place(int b, double w, const double *point, double *y, int *bone, char *seen,
                      int *count) {
    if (!seen[b]) {
        seen[b] = 1;
        bone[(*count)++] = b;
        memset(y + 4 * b, 0, 4 * sizeof *y);
    }
    for (int c = 0; c < 3; c++) y[4 * b + c] += w * point[c];
    y[4 * b + 3] += w;
}

/* Add `sign` times the weights of vertex i, at v, to y of the edge. */
static void add_row(const arap_influences *in, int i, const double *v, double sign, double *y,
                    int *bone, char *seen, int *count) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        add_place(in->bone[e], sign * in->weight[e], v, y, bone, seen, count);
}

/* a_ik + a_ki, for the directed edges included in the sum. */
static double edge_weight(const summation *s, int i, size_t r) {
    const arap_mesh *mesh = s->mesh;
    if (!s->spine_slot) return mesh->edge_weight_sym[r];
    return (s->spine_slot[i] < 0 ? mesh->edge_weight[r] : 0) +
           (s->spine_slot[mesh->neighbor[r]] < 0 ? mesh->edge_weight[mesh->reverse[r]] : 0);
}

/* Add both y y^T of the listed bones to the sums. Without sums, mark the pairs that will have
 * one. */
static void add_squares(const summation *s, double both, const double *y, const int *bone,
                        int count, double *sum) {
    for (int p = 0; p < count; p++)
        for (int q = 0; q < count; q++) {
            int *pair = s->pair + (size_t)bone[p] * (size_t)s->bones + bone[q];
            if (!sum) {
                *pair = 0;
                continue;
            }
            const double *a = y + 4 * bone[p], *b = y + 4 * bone[q];
            double *to = sum + 16 * (size_t)*pair;
            for (int c = 0; c < 4; c++)
                for (int d = 0; d < 4; d++) to[4 * c + d] += both * a[c] * b[d];
        }
}

static void sum_block(void *data, int block, int worker) {
    const summation *s = data;
    const arap_mesh *mesh = s->mesh;
    size_t n = (size_t)mesh->count, bones = (size_t)s->bones;
    double *sum = s->sums ? s->sums + 16 * s->pairs * (size_t)block : NULL;
    double *y = s->places + 4 * bones * (size_t)worker;
    int *bone = s->bone + bones * (size_t)worker;
    char *seen = s->seen + bones * (size_t)worker;
    for (size_t i = n * (size_t)block / BLOCKS; i < n * (size_t)(block + 1) / BLOCKS; i++) {
        for (size_t r = mesh->ring[i]; s->edges && r < mesh->ring[i + 1]; r++) {
            int k = mesh->neighbor[r], count = 0;
            double both = edge_weight(s, (int)i, r);
            if ((size_t)k < i || both == 0) continue; /* both directions at once */
            add_row(s->in, k, mesh->v + 3 * (size_t)k, 1, y, bone, seen, &count);
            add_row(s->in, (int)i, mesh->v + 3 * i, -1, y, bone, seen, &count);
            add_squares(s, both, y, bone, count, sum);
            for (int p = 0; p < count; p++) seen[bone[p]] = 0;
        }
        const arap_spring *spring;
        int left = s->springs ? arap_mesh_springs(mesh, (int)i, &spring) : 0;
        for (; left; left--, spring++) {
            int count = 0;
            add_row(s->in, (int)i, mesh->v + 3 * i, -1, y, bone, seen, &count);
            for (int k = 0; k < 2 && spring->share[k] > 0; k++)
                add_place(spring->column[k], spring->share[k], spring->point, y, bone, seen,
                          &count);
            add_squares(s, spring->weight, y, bone, count, sum);
            for (int p = 0; p < count; p++) seen[bone[p]] = 0;
        }
    }
}

/* Set out to `first`, or 0, plus the moments of edges or springs or both. */
static arap_status sum_up(arap_context *context, const arap_joint_energy *energy, int edges,
                          int springs, const double *first, double *out) {
    arap_arena arena = {0};
    size_t bones = (size_t)energy->poses->columns, size = 16 * bones * bones;
    size_t rows = (size_t)context->threads * bones;
    summation s = {.mesh = energy->mesh,
                   .in = energy->influences,
                   .spine_slot = energy->spines->slot,
                   .bones = (int)bones,
                   .edges = edges,
                   .springs = springs,
                   .pair = ARAP_TAKE(&arena, bones * bones, int),
                   .places = ARAP_TAKE(&arena, 4 * rows, double),
                   .bone = ARAP_TAKE(&arena, rows, int),
                   .seen = ARAP_TAKE_ZERO(&arena, rows, char)};
    arap_status status = arap_arena_status(&arena, &context->error, "the joint energy");
    if (status) goto done;
    for (size_t k = 0; k < bones * bones; k++) s.pair[k] = -1;
    for (int block = 0; block < BLOCKS && !status; block++) {
        sum_block(&s, block, 0);
        status = arap_poll_cancel(context);
    }
    if (status) goto done;
    for (size_t k = 0; k < bones * bones; k++)
        if (s.pair[k] == 0) s.pair[k] = (int)s.pairs++;
    s.sums = ARAP_TAKE_ZERO(&arena, BLOCKS * 16 * s.pairs, double);
    status = arap_arena_status(&arena, &context->error, "the joint energy");
    if (status) goto done;
    status = arap_parallel(context, BLOCKS, sum_block, &s);
    if (status) goto done;
    for (size_t k = 0; k < size; k++) out[k] = first ? first[k] : 0;
    for (int block = 0; block < BLOCKS; block++) {
        const double *sum = s.sums + 16 * s.pairs * (size_t)block;
        for (size_t k = 0; k < bones * bones; k++)
            for (size_t c = 0; s.pair[k] >= 0 && c < 16; c++)
                out[16 * k + c] += sum[16 * (size_t)s.pair[k] + c];
    }

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_joint_energy_weights(arap_context *context, arap_joint_energy *energy) {
    if (!energy->edge_moments) return sum_up(context, energy, 1, 1, NULL, energy->moments);
    arap_status status = sum_up(context, energy, 1, 0, NULL, energy->edge_moments);
    return status ? status : sum_up(context, energy, 0, 1, energy->edge_moments, energy->moments);
}

arap_status arap_joint_energy_place(arap_context *context, arap_joint_energy *energy,
                                    const double *places) {
    if (!arap_joint_anchors_move(energy->anchors, energy->joints, places, energy->mesh))
        return ARAP_OK;
    return sum_up(context, energy, 0, 1, energy->edge_moments, energy->moments);
}

/* sum a_ik |e_ik|^2 over the vertices without a spine in their ring. */
static double energy_at_rest(const arap_mesh *mesh, const int *spine_slot) {
    double sum = 0, edge[3];
    for (int i = 0; i < mesh->count; i++)
        for (size_t r = mesh->ring[i]; spine_slot[i] < 0 && r < mesh->ring[i + 1]; r++) {
            arap_mesh_edge(mesh, i, r, edge);
            sum += mesh->edge_weight[r] * arap_dot(edge, edge);
        }
    return sum;
}

arap_status arap_joint_energy_create(arap_context *context, arap_mesh *mesh,
                                     const arap_poses *poses, const arap_influences *influences,
                                     const arap_joints *joints, arap_joint_spines *spines,
                                     arap_joint_anchors *anchors, arap_joint_energy *energy) {
    size_t bones = (size_t)poses->columns, size = 16 * bones * bones;
    *energy = (arap_joint_energy){.mesh = mesh,
                                  .poses = poses,
                                  .influences = influences,
                                  .joints = joints,
                                  .spines = spines,
                                  .anchors = anchors,
                                  .unit = poses->total * mesh->rest_energy};
    arap_status status = arap_joint_spines_find(context, mesh, influences, spines);
    if (!status)
        status = arap_packed_poses_create(context, spines->count ? &spines->posed : poses,
                                          ARAP_DOUBLE, &energy->packed);
    if (!status)
        status = arap_local_step_create(context, mesh, &energy->packed, influences, NULL, NULL,
                                        &energy->local_step);
    if (status) goto done;
    energy->moments = ARAP_TAKE(&energy->arena, size, double);
    if (anchors->count) energy->edge_moments = ARAP_TAKE(&energy->arena, size, double);
    energy->alignment = ARAP_TAKE(&energy->arena, mesh->count, double);
    energy->pull = ARAP_TAKE(&energy->arena,
                             ARAP_PULL_BLOCKS * 3 * bones * (size_t)energy->packed.lanes, double);
    status = arap_arena_status(&energy->arena, &context->error, "the joint energy");
    if (status) goto done;
    if (spines->count) energy->rest = energy_at_rest(mesh, spines->slot);
    status = arap_joint_energy_weights(context, energy);

done:
    if (status) arap_joint_energy_clear(energy);
    return status;
}

void arap_joint_energy_clear(arap_joint_energy *energy) {
    arap_local_step_free(energy->local_step);
    arap_packed_poses_clear(&energy->packed);
    arap_arena_clear(&energy->arena);
    *energy = (arap_joint_energy){0};
}

/* Transform of a bone in a pose, from the lanes. */
static void read_lane(const arap_packed_poses *packed, int pose, int bone, double *out) {
    const double *from = (const double *)packed->transform +
                         (size_t)bone * 12 * (size_t)packed->lanes + (size_t)pose;
    for (int i = 0; i < 12; i++) out[i] = from[(size_t)i * (size_t)packed->lanes];
}

/* force_b -= sum_c T_c q_bc of one pose. Returns sum_bc tr(T_b N_bc T_c^T). */
static double add_pose(const arap_joint_energy *energy, int pose, double *transforms,
                       double *force) {
    int bones = energy->poses->columns;
    double sum = 0;
    for (int b = 0; b < bones; b++) read_lane(&energy->packed, pose, b, transforms + 12 * b);
    for (int b = 0; b < bones; b++) {
        double moved[12] = {0}; /* sum_c T_c N_cb */
        for (int c = 0; c < bones; c++) {
            const double *n = energy->moments + 16 * ((size_t)b * (size_t)bones + (size_t)c);
            const double *t = transforms + 12 * c;
            if (n[15] == 0 && n[0] == 0 && n[5] == 0 && n[10] == 0) continue;
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 4; k++) /* N_bc is the transpose of N_cb */
                    moved[4 * r + k] += t[4 * r] * n[4 * k] + t[4 * r + 1] * n[4 * k + 1] +
                                        t[4 * r + 2] * n[4 * k + 2] + t[4 * r + 3] * n[4 * k + 3];
        }
        for (int i = 0; i < 12; i++) sum += moved[i] * transforms[12 * b + i];
        for (int r = 0; r < 3; r++) force[3 * b + r] -= moved[4 * r + 3];
    }
    return sum;
}

typedef struct poses_task {
    const arap_joint_energy *energy;
    double *transforms; /* (workers, bones, 12) */
    double *force;
    double *square; /* (poses) */
} poses_task;

static void pose_chunk(void *data, int pose, int worker) {
    const poses_task *task = data;
    size_t bones = (size_t)task->energy->poses->columns;
    task->square[pose] =
        add_pose(task->energy, pose, task->transforms + 12 * bones * (size_t)worker,
                 task->force + 3 * (size_t)task->energy->spines->columns * (size_t)pose);
}

arap_status arap_joint_energy_run(arap_context *context, arap_joint_energy *energy,
                                  const double *transforms, const double *places, double *relative,
                                  double *force) {
    arap_arena arena = {0};
    const arap_mesh *mesh = energy->mesh;
    arap_joint_spines *spines = energy->spines;
    arap_poses poses = *energy->poses;
    int lanes = energy->packed.lanes;
    size_t columns = (size_t)spines->columns;
    poses.transform = (double *)transforms; /* only read */
    poses_task task = {.energy = energy,
                       .force = force,
                       .transforms =
                           ARAP_TAKE(&arena, 12 * context->threads * poses.columns, double),
                       .square = ARAP_TAKE(&arena, poses.count, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the joint energy");
    if (status) goto done;
    status = arap_joint_energy_place(context, energy, places);
    if (!status) status = arap_packed_poses_fill(context, &poses, &energy->packed);
    if (status) goto done;
    if (spines->count) arap_joint_spines_place(context, mesh, places, transforms, spines);
    status = arap_local_step_pull(context, energy->local_step, energy->pull, energy->alignment,
                                  spines->slot, spines->desired);
    if (status) goto done;
    memset(force, 0, 3 * columns * (size_t)poses.count * sizeof *force);
    for (int p = 0; p < poses.count; p++)
        for (int i = 0; i < 3 * poses.columns; i++)
            force[3 * columns * (size_t)p + (size_t)i] =
                energy->pull[(size_t)i * (size_t)lanes + (size_t)p];
    status = arap_parallel(context, poses.count, pose_chunk, &task);
    if (status) goto done;
    double rest = spines->count ? energy->rest : mesh->rest_energy, beside = 0;
    double sum = poses.total * rest;
    if (spines->count)
        status =
            arap_joint_spines_energy(context, spines, mesh, energy->influences, &beside, force);
    if (status) goto done;
    sum += beside;
    for (int p = 0; p < poses.count; p++) sum += arap_pose_weight(&poses, p) * task.square[p];
    for (int i = 0; i < mesh->count; i++) sum -= 2 * energy->alignment[i];
    *relative = energy->unit > 0 ? sum / energy->unit : 0;
    if (!isfinite(*relative))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", *relative);

done:
    arap_arena_clear(&arena);
    return status;
}
