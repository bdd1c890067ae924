/* Linear blend skinning: see skinning.h.
 *
 *     p_i = sum_b w_ib T_b(u_ib) v_i,   sum_b w_ib = 1
 * where T_b is the transform of a rigid bone, the blend of two joints of a bendy bone (bendy.h), or
 * the transform of a spine at the position u_ib of the vertex along it (spines.h).
 *
 * Takes O(poses x influences), about 4 ns each, or ten times as long for spines. Points are
 * processed in parallel. Only the transforms take memory. Fails on out-of-memory and for invalid
 * transforms, bends, parameters and weights. */
#include "measures/skinning.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "weights/sparse_weights.h"
#include "weights/rows.h"

#define CHUNK 512

static void apply(const double *transform, const double *v, double *out) {
    for (int r = 0; r < 3; r++) out[r] = arap_dot(transform + 4 * r, v) + transform[4 * r + 3];
}

static arap_status check_finite(arap_error *error, const double *transforms, size_t poses,
                                size_t items, const char *name, const char *item) {
    for (size_t k = 0; k < 12 * poses * items && transforms; k++)
        if (!isfinite(transforms[k]))
            return arap_fail(error, ARAP_BAD_VALUE, "%s[%zu] of %s %zu contains %g", name,
                             k / 12 / items, item, k / 12 % items, transforms[k]);
    return ARAP_OK;
}

arap_status arap_skinning_skeleton(arap_context *context, const arap_bones *bones,
                                   const arap_mesh *mesh, arap_skeleton *skeleton) {
    arap_bones roots = *bones;
    if (!bones->heads) return ARAP_OK;
    int *parents = ARAP_NEW(int, bones->count);
    if (!parents) return arap_fail_memory(&context->error, "the bones");
    for (int b = 0; b < bones->count; b++) parents[b] = -1;
    roots.parents = parents;
    roots.deform = NULL;
    arap_status status = arap_skeleton_create(context, &roots, mesh, skeleton);
    arap_free(parents);
    return status;
}

/* The pose of a lane. The last pose is repeated beyond the end. */
static int lane_pose(const arap_skinning *s, int group, int lane) {
    int pose = group * ARAP_POSE_LANES + lane;
    return pose < s->poses ? pose : s->poses - 1;
}

static void fill_lanes(arap_skinning *s) {
    size_t size = 12 * (size_t)s->columns;
    for (int g = 0; g < arap_pose_groups(s->poses); g++)
        for (int l = 0; l < ARAP_POSE_LANES; l++) {
            const double *from = s->transform + size * (size_t)lane_pose(s, g, l);
            double *to = s->lanes + size * ARAP_POSE_LANES * (size_t)g + l;
            for (size_t k = 0; k < size; k++) to[ARAP_POSE_LANES * k] = from[k];
        }
}

static void fill_columns(arap_skinning *s, const arap_given_poses *given, int joints) {
    size_t size = 12 * (size_t)s->columns, bones = (size_t)s->bones;
    for (size_t p = 0; p < (size_t)s->poses; p++) {
        double *to = s->transform + size * p;
        memcpy(to, given->transforms + 12 * bones * p, 12 * bones * sizeof(double));
        if (given->joints)
            arap_bendy_take(&s->bendy, given->joints + 12 * (size_t)joints * p, to);
        else
            arap_bendy_bend(&s->bendy, &s->skeleton,
                            given->bends ? given->bends + ARAP_BEND * bones * p : NULL, to);
    }
}

arap_status arap_skinning_create(arap_context *context, int count, const double *points,
                                 const arap_bones *bones, const arap_given_poses *poses,
                                 arap_skinning *skinning) {
    /* The part of a mesh that bones need, which is its points in the caller's units. */
    arap_mesh mesh = {.input_count = count,
                      .count = count,
                      .first = ARAP_NEW(int, count),
                      .v = (double *)points,
                      .diagonal = 1};
    *skinning = (arap_skinning){
        .count = count, .points = points, .bones = bones->count, .poses = poses->count};
    arap_status status = ARAP_OK;
    if (!mesh.first) return arap_fail_memory(&context->error, "the skinning");
    for (int i = 0; i < count; i++) mesh.first[i] = i;
    status = check_finite(&context->error, poses->transforms, (size_t)poses->count,
                          (size_t)bones->count, "poses", "bone");
    if (!status) status = arap_skinning_skeleton(context, bones, &mesh, &skinning->skeleton);
    if (!status)
        status = arap_bendy_create(context, &skinning->skeleton, &mesh, skinning->bones,
                                   poses->parameters, &skinning->bendy);
    if (status) goto done;
    int further = arap_bendy_columns(&skinning->skeleton), joints = further + skinning->bendy.count;
    skinning->columns = skinning->bones + further;
    status = check_finite(&context->error, poses->joints, (size_t)poses->count, (size_t)joints,
                          "segment_poses", "joint");
    if (!status)
        status = arap_spines_create(context, &skinning->skeleton, skinning->columns,
                                    skinning->poses, &skinning->spines);
    if (!status)
        status = arap_spines_take_bends(&context->error, &skinning->skeleton, 0, skinning->poses,
                                        poses->bends, &skinning->spines);
    if (status) goto done;
    skinning->transform = ARAP_TAKE(
        &skinning->arena, 12 * (size_t)skinning->columns * (size_t)skinning->poses, double);
    skinning->lanes = ARAP_TAKE(&skinning->arena,
                                12 * ARAP_POSE_LANES * (size_t)skinning->columns *
                                    (size_t)arap_pose_groups(skinning->poses),
                                double);
    skinning->spine_parameter =
        ARAP_TAKE(&skinning->arena, (size_t)count * (size_t)skinning->spines.count, double);
    status = arap_arena_status(&skinning->arena, &context->error, "the skinning");
    if (status) goto done;
    for (int k = 0; k < skinning->spines.count && !status; k++)
        status = arap_bone_parameters(&context->error, &skinning->skeleton, &mesh,
                                      skinning->skeleton.deform_bone[skinning->spines.bone[k]],
                                      poses->parameters, skinning->spine_parameter + k,
                                      skinning->spines.count);
    if (status) goto done;
    fill_columns(skinning, poses, joints);
    fill_lanes(skinning);

done:
    arap_free(mesh.first);
    if (status) arap_skinning_clear(skinning);
    return status;
}

void arap_skinning_clear(arap_skinning *skinning) {
    arap_arena_clear(&skinning->arena);
    arap_skeleton_clear(&skinning->skeleton);
    arap_bendy_clear(&skinning->bendy);
    arap_spines_clear(&skinning->spines);
    *skinning = (arap_skinning){0};
}

arap_status arap_skinning_weights(arap_context *context, const arap_skinning *skinning,
                                  const arap_sparse_weights *rows, arap_influences *out) {
    arap_influences of_bones;
    arap_rows made = {0};
    arap_status status =
        arap_check_sparse_weights(&context->error, rows, skinning->count, skinning->bones);
    if (!status) status = arap_rows_create(context, skinning->count, &made);
    for (int i = 0; i < skinning->count && !status; i++) {
        long long from = rows->start[i], end = rows->start[i + 1];
        double sum = 0;
        for (long long e = from; e < end; e++) sum += rows->weight[e];
        status = arap_rows_next(context, &made, (size_t)(end - from));
        for (long long e = from; e < end && sum > 0 && !status; e++)
            arap_rows_add(&made, rows->bone[e], rows->weight[e] / sum, 0);
    }
    status = arap_rows_end(status, &made, &of_bones);
    if (!status && skinning->bendy.count) {
        status = arap_bendy_expand(context, &skinning->bendy, &of_bones, out);
        arap_influences_clear(&of_bones);
    } else if (!status) {
        *out = of_bones;
    }
    return status;
}

/* The position to which the spine of this column moves a point with parameter u. */
static void follow_spine(const arap_skinning *s, int pose, int spine, double u, const double *base,
                         const double *point, double *out) {
    double own[12], local[3];
    arap_spine_transform(s->spines.head + 3 * spine, s->spines.tail + 3 * spine,
                         s->spines.bend +
                             ARAP_BEND * ((size_t)pose * (size_t)s->spines.count + (size_t)spine),
                         u, own, NULL);
    apply(own, point, local);
    apply(base, local, out);
}

typedef struct skin_task {
    const arap_skinning *skinning;
    const arap_influences *columns;
    int first, groups;
    double *out;
} skin_task;

/* Add the contribution of a column to point i in the poses of a group: out (3, ARAP_POSE_LANES). */
static inline void add_column(const arap_skinning *s, int group, int i, int column, double weight,
                              double *out) {
    const double *v = s->points + 3 * (size_t)i;
    const double *t =
        s->lanes + 12 * ARAP_POSE_LANES * ((size_t)group * (size_t)s->columns + (size_t)column);
    double x = weight * v[0], y = weight * v[1], z = weight * v[2];
    for (int c = 0; c < 3; c++, t += 4 * ARAP_POSE_LANES, out += ARAP_POSE_LANES)
        for (int l = 0; l < ARAP_POSE_LANES; l++)
            out[l] += t[l] * x + t[ARAP_POSE_LANES + l] * y + t[2 * ARAP_POSE_LANES + l] * z +
                      t[3 * ARAP_POSE_LANES + l] * weight;
}

static void add_spine(const arap_skinning *s, int group, int i, int spine, double weight,
                      double *out) {
    double u = s->spine_parameter[(size_t)i * (size_t)s->spines.count + (size_t)spine];
    for (int l = 0; l < ARAP_POSE_LANES; l++) {
        int pose = lane_pose(s, group, l);
        size_t at = (size_t)pose * (size_t)s->columns + (size_t)s->spines.bone[spine];
        double moved[3];
        follow_spine(s, pose, spine, u, s->transform + 12 * at, s->points + 3 * (size_t)i, moved);
        for (int c = 0; c < 3; c++) out[c * ARAP_POSE_LANES + l] += weight * moved[c];
    }
}

ARAP_WIDE_PART void skin_chunk_plain(void *data, int chunk, int worker) {
    (void)worker;
    const skin_task *task = data;
    const arap_skinning *s = task->skinning;
    const arap_influences *in = task->columns;
    int begin = chunk * CHUNK, end = arap_chunk_end(chunk, CHUNK, s->count);
    for (int g = 0; g < task->groups; g++)
        for (int i = begin; i < end; i++) {
            double sum[3 * ARAP_POSE_LANES];
            int stays = in->start[i] == in->start[i + 1];
            for (int c = 0; c < 3 * ARAP_POSE_LANES; c++)
                sum[c] = stays ? s->points[3 * (size_t)i + (size_t)(c / ARAP_POSE_LANES)] : 0;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
                int spine = arap_spine_of(&s->spines, in->bone[e]);
                if (spine < 0)
                    add_column(s, task->first + g, i, in->bone[e], in->weight[e], sum);
                else
                    add_spine(s, task->first + g, i, spine, in->weight[e], sum);
            }
            memcpy(task->out + arap_group_stride(s->count) * (size_t)g + arap_group_stride(i), sum,
                   sizeof sum);
        }
}
ARAP_WIDE_TASK(skin_chunk)

arap_status arap_skin(arap_context *context, const arap_skinning *skinning,
                      const arap_influences *columns, int first, int groups, double *out) {
    skin_task task = {skinning, columns, first, groups, out};
    return arap_parallel(context, arap_chunks(skinning->count, CHUNK), skin_chunk, &task);
}

void arap_skin_beside(const arap_skinning *skinning, int pose, int bone, const double *point,
                      double *out) {
    const double *transform = skinning->transform + 12 * (size_t)skinning->columns * (size_t)pose;
    const double *base = transform + 12 * (size_t)bone;
    int spine = arap_spine_of(&skinning->spines, bone),
        k = skinning->bendy.count ? skinning->bendy.place[bone] : -1;
    if (spine < 0 && k < 0) {
        apply(base, point, out);
        return;
    }
    double u = arap_spine_parameter(skinning->skeleton.heads + 3 * bone,
                                    skinning->skeleton.tails + 3 * bone, point);
    if (spine >= 0) {
        follow_spine(skinning, pose, spine, u, base, point, out);
        return;
    }
    double at = u * skinning->bendy.segments[k], from[3], to[3];
    int joint = (int)at < skinning->bendy.segments[k] ? (int)at : skinning->bendy.segments[k] - 1;
    int column = skinning->bendy.further[k] + joint;
    apply(joint ? transform + 12 * (size_t)(column - 1) : base, point, from);
    apply(transform + 12 * (size_t)column, point, to);
    for (int c = 0; c < 3; c++) out[c] = from[c] + (at - joint) * (to[c] - from[c]);
}
