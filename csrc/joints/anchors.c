/* Anchors that move with the joints: see joints/energy.h.
 *
 * A spring (bone_springs.h) adds sum_p s |r_p|^2, r_p = T_b x - f_i - R_i e, e = x - v_i, with the
 * anchor x on the bone from h to l, and with s at its initial value. The anchor keeps its position
 * along the bone, of direction a, and moves across it with the joints: x = x_0 + (1 - a a^T) ((1 -
 * u) dh + u dl), where u is its position along the bone, from 0 to 1. To first order, x is again
 * the nearest point of the moved bone. If a bone slides along its own axis, its nearest points stay
 * in place. Joints and weights share one energy, which no step raises, so no stage has to be
 * repeated. E is always relative to the initial rest energy, because the rest energy of springs
 * changes with x.
 *
 * Direction of the pull on joints. At the point J where two bones meet, skin of weights w and an
 * anchor near J have r = (w A_b + (1 - w) A_up - R_i) (J - v_i). This is the error of blending,
 * which grows with the distance from the joint. With equal s on all sides, the sum is smallest if J
 * is the centroid of the vertices. Since s is proportional to 1 / |e|^2 at the start, springs
 * around a circle do not determine J (log |x| is harmonic, so the sum of e / |e|^2 is 0 anywhere
 * inside). The edges then determine J, because their stretch is smallest when J is in the middle.
 * An anchor that stayed in place while joints move would have r = (1 - w) (A_up - A_b) dJ in
 * addition. This additional term is of first order in the angle, whereas the error of blending is
 * of second order. Such an anchor would therefore tie the joint to its old position.
 *
 * The slope of E follows from dr/dx = A_b - R_i:
 *     -1/2 dE/dx = s sum_p R_i^T (T_b x - f_i) + A_b^T R_i e - e - A_b^T (T_b x - f_i).
 * The first two terms come from the local step (arap_local_step_anchors). The last term is summed
 * once for the mesh, by bone and end, as sum_p A_b^T sum_c T_c Q_c with Q_c = sum_springs s u y_c
 * (1 - u for the head), where y_c is that of the anchor minus that of the vertex (joints/energy.c).
 * The curvature is S, the curvature for fixed anchors. As shown above, S exceeds the curvature for
 * moving anchors, so steps are shorter than they could be. Steps that are too long are halved
 * (joints/step.c). The free ends of chains have no curvature, because no bone turns about them, so
 * they stay in place.
 *
 * On tubes whose joint is displaced by 0.4 of the radius, a displacement of 0.04 of the radius
 * remains, compared with 0.11 for fixed anchors (bone_spring_stiffness 12, 30 poses). On six
 * characters (cesium_man, m2m_dragon, m2m_horse, q_trex, q_rat, leap_hand) the two variants give
 * nearly equal results in bench/yardstick.py. The ratios are geometric means of strain by
 * area and p99, in random poses and then in animations. For joints displaced by 2 % with anchor
 * 0.3, they are 1.00 and 1.02, 1.00 and 0.97. For the artist's joints without an anchor, they are
 * 1.02 and 1.04, 1.01 and 1.02, with a drift of 0.81. If anchors could also slide along their
 * bones, joints would slide as well, with the same strain.
 *
 * Moving anchors cost one additional local step per joint step, and O(springs influences^2) per
 * trial step. Fails on out-of-memory only. */
#include "joints/energy.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

/* Rest energy of all springs. */
static double rest_of_springs(const arap_mesh *mesh) {
    double sum = 0;
    for (int i = 0; i < mesh->count; i++) {
        double own;
        arap_mesh_tie(mesh, i, &own);
        sum += own;
    }
    return sum;
}

arap_status arap_joint_anchors_create(arap_context *context, const arap_mesh *mesh,
                                      const arap_skeleton *skeleton, const arap_joints *joints,
                                      arap_joint_anchors *anchors) {
    size_t count = mesh->spring_start ? mesh->spring_start[mesh->count] : 0;
    size_t bones = (size_t)skeleton->deform_count;
    *anchors = (arap_joint_anchors){.count = count, .bones = (int)bones};
    if (!count) return ARAP_OK;
    anchors->end = ARAP_TAKE(&anchors->arena, 2 * bones, int);
    anchors->turns = ARAP_TAKE_ZERO(&anchors->arena, 2 * bones, char);
    anchors->along = ARAP_TAKE_ZERO(&anchors->arena, 3 * bones, double);
    anchors->at = ARAP_TAKE(&anchors->arena, count, double);
    anchors->start = ARAP_TAKE(&anchors->arena, 3 * count, double);
    anchors->moments = ARAP_TAKE(&anchors->arena, 8 * bones * bones, double);
    anchors->turned = ARAP_TAKE(&anchors->arena, 3 * count, double);
    arap_status status =
        arap_arena_status(&anchors->arena, &context->error, "the anchors of springs");
    if (status) {
        arap_joint_anchors_clear(anchors);
        return status;
    }
    for (size_t d = 0; d < bones; d++) {
        anchors->end[2 * d] = joints->head[skeleton->deform_bone[d]];
        anchors->end[2 * d + 1] = joints->tail[skeleton->deform_bone[d]];
        for (size_t c = 0; c < bones; c++)
            for (size_t end = 0; end < 2; end++)
                anchors->turns[2 * d + end] |= joints->pivot[c] == anchors->end[2 * d + end];
        double along[3];
        arap_sub(joints->rest + 3 * anchors->end[2 * d + 1], joints->rest + 3 * anchors->end[2 * d],
                 along);
        double length = sqrt(arap_dot(along, along));
        for (size_t c = 0; length > 0 && c < 3; c++) anchors->along[3 * d + c] = along[c] / length;
    }
    for (size_t k = 0; k < count; k++) {
        const arap_spring *spring = &mesh->spring[k];
        const double *head = joints->rest + 3 * anchors->end[2 * spring->bone];
        const double *tail = joints->rest + 3 * anchors->end[2 * spring->bone + 1];
        double along[3], from[3];
        arap_sub(tail, head, along);
        arap_sub(spring->point, head, from);
        double length2 = arap_dot(along, along);
        anchors->at[k] = length2 > 0 ? fmin(fmax(arap_dot(from, along) / length2, 0), 1) : 0;
        memcpy(anchors->start + 3 * k, spring->point, 3 * sizeof(double));
    }
    anchors->rest = mesh->rest_energy - rest_of_springs(mesh);
    return ARAP_OK;
}

void arap_joint_anchors_clear(arap_joint_anchors *anchors) {
    arap_arena_clear(&anchors->arena);
    *anchors = (arap_joint_anchors){0};
}

/* Keep only the part of x across the bone. */
static void across(const arap_joint_anchors *anchors, int bone, double *x) {
    const double *along = anchors->along + 3 * bone;
    double share = arap_dot(x, along);
    for (int c = 0; c < 3; c++) x[c] -= share * along[c];
}

int arap_joint_anchors_move(const arap_joint_anchors *anchors, const arap_joints *joints,
                            const double *places, arap_mesh *mesh) {
    int moved = 0;
    if (!anchors->count) return 0;
    for (int i = 0; i < mesh->count; i++)
        for (size_t k = mesh->spring_start[i]; k < mesh->spring_start[i + 1]; k++) {
            arap_spring *spring = &mesh->spring[k];
            size_t head = 3 * (size_t)anchors->end[2 * spring->bone];
            size_t tail = 3 * (size_t)anchors->end[2 * spring->bone + 1];
            double move[3];
            for (size_t c = 0; c < 3; c++)
                move[c] = (1 - anchors->at[k]) * (places[head + c] - joints->rest[head + c]) +
                          anchors->at[k] * (places[tail + c] - joints->rest[tail + c]);
            across(anchors, spring->bone, move);
            for (size_t c = 0; c < 3; c++) {
                double x = anchors->start[3 * k + c] + move[c];
                moved |= x != spring->point[c];
                spring->point[c] = x;
            }
        }
    if (moved) mesh->rest_energy = anchors->rest + rest_of_springs(mesh);
    return moved;
}

/* Q of all bones and ends. */
static void sum_moments(arap_joint_anchors *anchors, const arap_mesh *mesh,
                        const arap_influences *in) {
    size_t bones = (size_t)anchors->bones;
    memset(anchors->moments, 0, 8 * bones * bones * sizeof(double));
    for (int i = 0; i < mesh->count; i++)
        for (size_t k = mesh->spring_start[i]; k < mesh->spring_start[i + 1]; k++) {
            const arap_spring *spring = &mesh->spring[k];
            for (int end = 0; end < 2; end++) {
                double share = spring->weight * (end ? anchors->at[k] : 1 - anchors->at[k]);
                double *row =
                    anchors->moments + 4 * bones * (2 * (size_t)spring->bone + (size_t)end);
                double *own = row + 4 * spring->bone;
                for (int c = 0; c < 3; c++) own[c] += share * spring->point[c];
                own[3] += share;
                for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
                    double *to = row + 4 * in->bone[e], w = share * in->weight[e];
                    for (int c = 0; c < 3; c++) to[c] -= w * mesh->v[3 * (size_t)i + (size_t)c];
                    to[3] -= w;
                }
            }
        }
}

typedef struct pull_task {
    const arap_joint_anchors *anchors;
    const arap_packed_poses *packed;
    double *pull; /* (bones, 2, 3) */
} pull_task;

/* sum_p A_b^T sum_c T_c Q_bec of both ends of a bone. */
static void pull_bone(void *data, int bone, int worker) {
    (void)worker;
    const pull_task *task = data;
    const arap_packed_poses *packed = task->packed;
    size_t bones = (size_t)task->anchors->bones, width = (size_t)packed->lanes;
    const double *transform = packed->transform, *own = transform + 12 * width * (size_t)bone;
    double *pull = task->pull + 6 * bone;
    memset(pull, 0, 6 * sizeof *pull);
    for (size_t end = 0; end < 2; end++)
        for (size_t c = 0; c < bones; c++) {
            const double *q = task->anchors->moments + 4 * (bones * (2 * (size_t)bone + end) + c);
            if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) continue;
            const double *other = transform + 12 * width * c;
            for (size_t r = 0; r < 3; r++)
                for (size_t p = 0; p < (size_t)packed->poses; p++) {
                    double x = 0;
                    for (size_t k = 0; k < 4; k++) x += other[(4 * r + k) * width + p] * q[k];
                    x *= arap_pose_weight(packed->source, (int)p);
                    for (size_t k = 0; k < 3; k++)
                        pull[3 * end + k] += own[(4 * r + k) * width + p] * x;
                }
        }
}

arap_status arap_joint_anchors_pull(arap_context *context, arap_joint_anchors *anchors,
                                    const arap_mesh *mesh, const arap_packed_poses *packed,
                                    const arap_influences *influences, arap_local_step *local_step,
                                    double *right) {
    if (!anchors->count) return ARAP_OK;
    pull_task task = {anchors, packed, ARAP_NEW(double, 6 * (size_t)anchors->bones)};
    if (!task.pull) return arap_fail_memory(&context->error, "the anchors of springs");
    arap_status status = arap_local_step_anchors(context, local_step, anchors->turned);
    sum_moments(anchors, mesh, influences);
    if (!status) status = arap_parallel(context, anchors->bones, pull_bone, &task);
    for (int i = 0; i < mesh->count && !status; i++)
        for (size_t k = mesh->spring_start[i]; k < mesh->spring_start[i + 1]; k++) {
            const arap_spring *spring = &mesh->spring[k];
            const double *v = mesh->v + 3 * (size_t)i;
            for (int end = 0; end < 2; end++) {
                double share = spring->weight * (end ? anchors->at[k] : 1 - anchors->at[k]);
                double *to = task.pull + 6 * spring->bone + 3 * end;
                for (int c = 0; c < 3; c++)
                    to[c] -= share * (anchors->turned[3 * k + (size_t)c] -
                                      packed->source->total * (spring->point[c] - v[c]));
            }
        }
    for (int b = 0; b < anchors->bones && !status; b++)
        for (int end = 0; end < 2; end++) {
            double *pull = task.pull + 6 * b + 3 * end;
            across(anchors, b, pull);
            for (int c = 0; anchors->turns[2 * b + end] && c < 3; c++)
                right[3 * anchors->end[2 * b + end] + c] -= pull[c];
        }
    arap_free(task.pull);
    return status;
}
