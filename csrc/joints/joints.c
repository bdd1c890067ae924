/* Determines which bone ends form joints, and how joints connect transforms: see joints.h.
 *
 * Connected bones stay connected because they share the numbers of their joint. In a pose that
 * keeps the linear parts A_d of the transforms T_d = [A_d | t_d], moving the joints by dJ changes
 * the translations by
 *     dt_d = dt_up + (A_up - A_d) dJ_pivot(d)
 * exactly (paper Eq. 10), for any source of the pose. Bones that were apart at their joint, as in
 * frames of an animation, keep their distance. A root is free to move together with its whole
 * component (joints/system.h). Finding siblings takes O(bones^2). Fails on out-of-memory and for
 * stiffnesses out of range. */
#include "joints/joints.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define SAME_PLACE 1e-6 /* share of the mesh's diagonal */
#define MIRRORED 0.01   /* maximum distance of a partner from its image */

static int find(int *set, int end) {
    while (set[end] != end) end = set[end] = set[set[end]];
    return end;
}

/* The first of the two ends represents the joint. */
static void unite(const arap_skeleton *s, int *set, int a, int b) {
    const double *p = (a % 2 ? s->tails : s->heads) + 3 * (a / 2);
    const double *q = (b % 2 ? s->tails : s->heads) + 3 * (b / 2);
    if (arap_distance2(p, q) > SAME_PLACE * SAME_PLACE) return;
    a = find(set, a);
    b = find(set, b);
    if (a < b)
        set[b] = a;
    else
        set[a] = b;
}

/* Number the joints. End 2 b is the head of bone b, 2 b + 1 its tail. */
static void number_joints(const arap_skeleton *s, int *set, arap_joints *joints) {
    for (int end = 0; end < 2 * s->count; end++) set[end] = end;
    for (int b = 0; b < s->count; b++) {
        int parent = s->parents[b];
        for (int k = 0; parent >= 0 && k < 4; k++) unite(s, set, 2 * parent + k / 2, 2 * b + k % 2);
        for (int c = 0; c < b; c++)
            if (s->parents[c] == parent) unite(s, set, 2 * c, 2 * b);
    }
    for (int end = 0; end < 2 * s->count; end++) {
        int *joint = end % 2 ? joints->tail : joints->head, first = find(set, end);
        if (first == end) {
            memcpy(joints->rest + 3 * joints->count,
                   (end % 2 ? s->tails : s->heads) + 3 * (end / 2), 3 * sizeof(double));
            joint[end / 2] = joints->count++;
        } else {
            joint[end / 2] = (first % 2 ? joints->tail : joints->head)[first / 2];
        }
    }
    memcpy(joints->place, joints->rest, 3 * (size_t)joints->count * sizeof(double));
}

static arap_status take_numbers(arap_error *error, const char *name, const double *given,
                                double usual, arap_joints *joints, double *out) {
    for (int j = 0; !given && j < joints->count; j++) out[j] = usual;
    for (int end = 0; given && end < 2 * joints->bones; end++) {
        int joint = (end % 2 ? joints->tail : joints->head)[end / 2];
        if (!(given[end] >= 0 && given[end] <= 1e6))
            return arap_fail(error, ARAP_BAD_VALUE, "%s[%d, %d] is %g: must be from 0 to 1e+06",
                             name, end / 2, end % 2, given[end]);
        out[joint] = fmax(out[joint], given[end]);
    }
    return ARAP_OK;
}

double arap_joint_bone_length(const arap_joints *joints, int joint) {
    double sum = 0;
    int count = 0;
    for (int b = 0; b < joints->bones; b++) {
        if (joints->head[b] != joint && joints->tail[b] != joint) continue;
        sum += sqrt(
            arap_distance2(joints->rest + 3 * joints->head[b], joints->rest + 3 * joints->tail[b]));
        count++;
    }
    return count ? sum / count : 0;
}

double arap_joint_distance(const arap_joints *joints, int joint) {
    return sqrt(arap_distance2(joints->place + 3 * joint, joints->rest + 3 * joint));
}

static void hang(const arap_skeleton *s, arap_joints *joints) {
    for (int k = 0; k < s->deform_count; k++) {
        int d = s->order[k];
        joints->up[d] = s->deform_parent[d];
        for (int c = 0; joints->up[d] < 0 && c < k; c++) {
            int root = s->order[c];
            if (joints->up[root] < 0 &&
                joints->head[s->deform_bone[root]] == joints->head[s->deform_bone[d]])
                joints->up[d] = root;
        }
        int up = joints->up[d];
        joints->pivot[d] = up < 0 ? -1 : joints->head[s->deform_bone[d]];
        joints->component[d] = up < 0 ? joints->component_count++ : joints->component[up];
    }
    for (int k = 0; k < s->segment_count; k++) joints->segments[s->segments[k].owner]++;
    for (int d = 0; d < s->deform_count; d++)
        if (!joints->segments[d]) joints->segments[d] = 1;
}

/* Squared distance of a joint from the image of another. */
static double off_image2(const arap_symmetry *symmetry, const arap_joints *joints, int joint,
                         int other) {
    double image[3];
    arap_reflect(symmetry, joints->rest + 3 * joint, symmetry->offset, image);
    return arap_distance2(image, joints->rest + 3 * other);
}

/* The partner of a joint is the same end of the partner bone. If a bone is its own partner, each
 * end is its own partner or, if the bone lies across the plane, the partner of the other end. */
static void pair_joints(const arap_symmetry *symmetry, const int *partners, arap_joints *joints) {
    for (int end = 0; end < 2 * joints->bones; end++) {
        const int *joint = end % 2 ? joints->tail : joints->head;
        const int *opposite = end % 2 ? joints->head : joints->tail;
        int j = joint[end / 2], b = partners[end / 2], other = b < 0 ? -1 : joint[b];
        if (b == end / 2 &&
            off_image2(symmetry, joints, j, opposite[b]) < off_image2(symmetry, joints, j, j))
            other = opposite[b];
        if (other >= 0 && off_image2(symmetry, joints, j, other) > MIRRORED * MIRRORED) other = -1;
        if (joints->partner[j] == -2 || joints->partner[j] == other)
            joints->partner[j] = other;
        else
            joints->partner[j] = -3; /* bones disagree */
    }
    for (int j = 0; j < joints->count; j++)
        if (joints->partner[j] < 0 || joints->partner[joints->partner[j]] != j)
            joints->partner[j] = joints->partner[j] >= 0 ? -3 : joints->partner[j];
    for (int j = 0; j < joints->count; j++)
        if (joints->partner[j] < 0) joints->partner[j] = -1;
}

arap_status arap_joints_create(arap_context *context, const arap_skeleton *skeleton,
                               const arap_symmetry *symmetry, const int *partners,
                               const arap_joint_settings *settings, arap_joints *joints) {
    int bones = skeleton->count, deforming = skeleton->deform_count;
    *joints = (arap_joints){.bones = bones, .deforming = deforming};
    joints->head = ARAP_TAKE(&joints->arena, bones, int);
    joints->tail = ARAP_TAKE(&joints->arena, bones, int);
    joints->rest = ARAP_TAKE(&joints->arena, 6 * bones, double);
    joints->place = ARAP_TAKE(&joints->arena, 6 * bones, double);
    joints->max_shift = ARAP_TAKE(&joints->arena, 2 * bones, double);
    joints->pinned = ARAP_TAKE_ZERO(&joints->arena, 2 * bones, char);
    joints->joint_stiffness = ARAP_TAKE_ZERO(&joints->arena, 2 * bones, double);
    joints->tangential = ARAP_TAKE_ZERO(&joints->arena, 2 * bones, double);
    joints->partner = ARAP_TAKE(&joints->arena, 2 * bones, int);
    joints->up = ARAP_TAKE(&joints->arena, deforming, int);
    joints->pivot = ARAP_TAKE(&joints->arena, deforming, int);
    joints->component = ARAP_TAKE(&joints->arena, deforming, int);
    joints->segments = ARAP_TAKE_ZERO(&joints->arena, deforming, int);
    int *set = ARAP_NEW(int, 2 * bones);
    arap_status status = set ? arap_arena_status(&joints->arena, &context->error, "the joints")
                             : arap_fail_memory(&context->error, "the joints");
    if (status) goto done;
    number_joints(skeleton, set, joints);
    hang(skeleton, joints);
    for (int j = 0; j < joints->count; j++) {
        joints->max_shift[j] = settings->max_shift * arap_joint_bone_length(joints, j);
        joints->partner[j] = symmetry && partners ? -2 : -1;
    }
    for (int end = 0; settings->pinned && end < 2 * bones; end++)
        if (settings->pinned[end])
            joints->pinned[(end % 2 ? joints->tail : joints->head)[end / 2]] = 1;
    status = take_numbers(&context->error, "joint_stiffness", settings->end_joint_stiffness,
                          settings->joint_stiffness, joints, joints->joint_stiffness);
    if (!status)
        status = take_numbers(&context->error, "tangential", settings->end_tangential,
                              settings->tangential, joints, joints->tangential);
    if (status) goto done;
    if (symmetry && partners) pair_joints(symmetry, partners, joints);
    for (int j = 0; j < joints->count; j++) { /* partners get the same */
        int other = joints->partner[j];
        if (other < 0 || other >= j) continue;
        joints->pinned[j] = joints->pinned[other] |= joints->pinned[j];
        joints->max_shift[j] = joints->max_shift[other] =
            fmin(joints->max_shift[j], joints->max_shift[other]);
        joints->joint_stiffness[j] = joints->joint_stiffness[other] =
            fmax(joints->joint_stiffness[j], joints->joint_stiffness[other]);
        joints->tangential[j] = joints->tangential[other] =
            fmax(joints->tangential[j], joints->tangential[other]);
    }

done:
    arap_free(set);
    if (status) arap_joints_clear(joints);
    return status;
}

void arap_joints_clear(arap_joints *joints) {
    arap_arena_clear(&joints->arena);
    *joints = (arap_joints){0};
}

void arap_joints_symmetrize(const arap_joints *joints, const arap_symmetry *symmetry,
                            double *moves) {
    for (int j = 0; j < joints->count; j++) {
        int other = joints->partner[j];
        double image[3];
        if (other < 0 || other < j) continue;
        arap_reflect(symmetry, moves + 3 * j, 0, image);
        for (int c = 0; c < 3; c++)
            moves[3 * other + c] = other == j ? 0.5 * (moves[3 * j + c] + image[c]) : image[c];
    }
}
