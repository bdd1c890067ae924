/* Pose sampling and forward kinematics: see poses.h.
 *
 * Local rotation of a deforming bone, in its own axes X, Y (along the bone), Z:
 *   r = swing(about an axis in the XZ plane) twist(about Y).
 * A free bone swings by at most +-swing about an axis drawn uniformly in the plane. For a bone with
 * a limit about X or Z, the rotation vector is drawn uniformly in the box of both limits. Then
 *   T_b(p) = T_parent(head_b + r_b (p - head_b)).
 * Poses come in pairs: the second pose of a pair has the opposite rotations about Y and Z, mirrored
 * within the limits of the joint. A mirror image of the skeleton keeps the axes Y and Z and
 * reverses X. A mirrored skeleton therefore gets the mirror images of the same poses, and a
 * mirrored character gets the same weights. In the second pose, a bone b with a partner b' in a
 * symmetry map rotates by S r_b' S, where S is the reflection. The second pose is therefore the
 * image of the first, regardless of the rolls of the bones. The joint limits of partners are
 * assumed to be images of each other. Partners have the same shift, so each of them rotates to the
 * lattice points and their images, as a bone without a partner does. If the number of poses is odd,
 * the last pose has no image.
 *
 * The three numbers that rotate a bone follow a low-discrepancy lattice. Each bone uses the lattice
 * points in its own order, which combines its rotations evenly with those of nearby bones
 * (pose_stratification.c).
 *
 * In the share `reach_poses` of the pairs, which are the last ones, limbs reach for targets
 * (reach.c) with separate random streams. The second pose of such a pair is created in the same
 * way.
 *
 * The bend of an STB turns the STB about itself, and the bend of a spine or bendy bone is about an
 * axis drawn uniformly from the sphere. Together with the stretch, these are four more numbers.
 * These numbers come from a separate lattice and stream, so the kinds of other bones do not affect
 * the motion of rigid bones. In the second pose of a pair, the angle of an STB is mirrored in its
 * range, and the axis of a spine is reversed except for X.
 *
 * Random numbers come from SplitMix64 (Steele et al. 2014), so a seed gives the same poses on every
 * system. Takes O(poses bones). Fails on out-of-memory, if there are no poses, and for transforms
 * that are not finite or too large. */
#include "rig/poses.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/vec3.h"
#include "rig/joint_range.h"

/* maximum number in the transforms of a mesh of size 1, which keeps rounding below that size */
#define FARTHEST 1e6

/* Like arap_stratification_lattice, with g^5 = g + 1. */
#define BEND_NUMBERS 4
static const double bend_lattice[BEND_NUMBERS] = {0.8566748838545029, 0.733891856627126,
                                                  0.6287067210378087, 0.5385972572236101};
#define BEND_STREAM 0xD1B54A32D192ED03u /* distinct from the seeds of turns */

#define REACH_STREAM 0x8CB92BA72F3D8DD7u

/* Local rotation of one bone from three numbers in [0, 1). */
static void sample_bone(const arap_skeleton *s, const arap_sampling *sampling, int b,
                        const double *u, double *out) {
    double turn[3];
    arap_joint_range range;
    arap_joint_range_of(s, sampling, b, &range);
    arap_joint_sample(&range, u, turn);
    arap_turn_to_rotation(s->axes + 9 * b, turn, out);
}

/* The bend of one bone from BEND_NUMBERS numbers: axis (2), angle, stretch. */
static void sample_bend(const arap_skeleton *s, const arap_sampling *sampling, int b,
                        const double *u, int is_second, double *out) {
    const double *axes = s->axes + 9 * b;
    double axis[3] = {0, 1, 0}, lo = -sampling->swing, hi = sampling->swing, share = u[2];
    arap_own_range(s, b, ARAP_RANGE_BEND, &lo, &hi);
    if (s->kinds[b] != ARAP_BONE_STB) {
        double across = 2 * sqrt(u[0] * (1 - u[0])), angle = 6.283185307179586 * u[1];
        axis[0] = across * cos(angle);
        axis[1] = (is_second ? -1 : 1) * (1 - 2 * u[0]);
        axis[2] = (is_second ? -1 : 1) * across * sin(angle);
    } else if (is_second) {
        share = 1 - share;
    }
    for (int r = 0; r < 3; r++) out[r] = (lo + (hi - lo) * share) * arap_dot(axes + 3 * r, axis);
    lo = hi = 1;
    arap_own_range(s, b, ARAP_RANGE_STRETCH, &lo, &hi);
    out[3] = lo + (hi - lo) * u[3];
}

/* The bone whose turns bone b takes in a mirrored pose, or -1. */
static int mirror_partner(const arap_skeleton *s, const arap_symmetry *symmetry, int b) {
    int d = symmetry->bone ? arap_deforming(s, b) : -1, partner = d < 0 ? -1 : symmetry->bone[d];
    return partner < 0 ? -1 : s->deform_bone[partner];
}

size_t arap_sample_size(const arap_skeleton *skeleton, const arap_sampling *sampling) {
    size_t numbers = skeleton->bent_count ? 3 + BEND_NUMBERS : 3, bones = (size_t)skeleton->count;
    return numbers * bones * (size_t)((sampling->pose_count + 1) / 2) +
           ARAP_REACH_NUMBERS * bones * (size_t)arap_reach_pairs(sampling);
}

/* The points of one lattice for all bones and pairs of poses, (pairs, bones, size). */
static void sample_lattice(const arap_skeleton *s, const arap_symmetry *symmetry, uint64_t seed,
                           int pairs, int size, const double *lattice, double *out) {
    size_t stride = (size_t)size * (size_t)s->count, bytes = (size_t)size * sizeof(double);
    /* Random numbers of each bone, independent of the order in which bones use them. */
    uint64_t numbers = (uint64_t)size + (uint64_t)pairs;
    for (int b = 0; b < s->count; b++) {
        int partner = mirror_partner(s, symmetry, b),
            first = partner >= 0 && partner < b ? partner : b;
        uint64_t state = seed + (uint64_t)first * numbers * ARAP_RANDOM_STEP;
        double *bone = out + size * b, shift[BEND_NUMBERS];
        for (int c = 0; c < size; c++) shift[c] = arap_random(&state);
        state += (uint64_t)(b - first) * numbers * ARAP_RANDOM_STEP;
        for (int p = 0; p < pairs; p++) {
            double x[BEND_NUMBERS];
            for (int c = 0; c < size; c++) {
                x[c] = shift[c] + p * lattice[c];
                x[c] -= floor(x[c]);
            }
            /* Fisher and Yates' shuffle, inside out. The p-th point goes to a random place. */
            size_t at = (size_t)(arap_random(&state) * (p + 1));
            memcpy(bone + stride * (size_t)p, bone + stride * at, bytes);
            memcpy(bone + stride * at, x, bytes);
        }
    }
}

arap_status arap_sample_rotations(arap_context *context, const arap_skeleton *skeleton,
                                  const arap_symmetry *symmetry, const arap_sampling *sampling,
                                  double *joint_rotations) {
    int pairs = (sampling->pose_count + 1) / 2, reaching = arap_reach_pairs(sampling);
    size_t bones = (size_t)skeleton->count;
    arap_status status = arap_stratify_poses(context, skeleton, symmetry, sampling,
                                             pairs - reaching, joint_rotations);
    if (status) return status;
    joint_rotations += 3 * bones * (size_t)(pairs - reaching);
    sample_lattice(skeleton, symmetry, sampling->seed ^ REACH_STREAM, reaching, 3,
                   arap_stratification_lattice, joint_rotations);
    joint_rotations += 3 * bones * (size_t)reaching;
    sample_lattice(skeleton, symmetry, ~sampling->seed ^ REACH_STREAM, reaching, ARAP_REACH_NUMBERS,
                   bend_lattice, joint_rotations);
    joint_rotations += ARAP_REACH_NUMBERS * bones * (size_t)reaching;
    if (skeleton->bent_count)
        sample_lattice(skeleton, symmetry, sampling->seed ^ BEND_STREAM, pairs, BEND_NUMBERS,
                       bend_lattice, joint_rotations);
    return ARAP_OK;
}

/* Local rotations of a pose in which every bone turns on its own. */
static void sample_swings(const arap_skeleton *s, const arap_symmetry *symmetry,
                          const arap_sampling *sampling, const double *numbers, int is_second,
                          double *local) {
    for (int b = 0; b < s->count; b++) {
        const double *u = numbers + 3 * b, flipped[3] = {u[0], 1 - u[1], 1 - u[2]};
        int partner = mirror_partner(s, symmetry, b);
        if (arap_deforming(s, b) < 0) {
            for (int i = 0; i < 9; i++) local[9 * b + i] = i % 4 == 0;
        } else if (is_second && partner >= 0) {
            double image[9];
            sample_bone(s, sampling, partner, numbers + 3 * partner, image);
            arap_reflect_rotation(symmetry, image, local + 9 * b);
        } else {
            sample_bone(s, sampling, b, is_second ? flipped : u, local + 9 * b);
        }
    }
}

/* Local rotations of a pose in which limbs reach. */
static void sample_reach(const arap_skeleton *s, const arap_symmetry *symmetry,
                         const arap_sampling *sampling, arap_reach *reach, const double *numbers,
                         const double *targets, int is_second, double *local) {
    arap_reach_pose(s, sampling, reach, numbers, targets, is_second, local);
    if (!is_second || !symmetry->bone) return;
    arap_reach_pose(s, sampling, reach, numbers, targets, 0, reach->image);
    for (int b = 0; b < s->count; b++) {
        int partner = mirror_partner(s, symmetry, b);
        if (partner >= 0)
            arap_reflect_rotation(symmetry, reach->image + 9 * partner, local + 9 * b);
    }
}

void arap_sample_pose(const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                      const arap_sampling *sampling, arap_reach *reach,
                      const double *joint_rotations, int pose, double *local, double *bends) {
    size_t bones = (size_t)skeleton->count, pairs = (size_t)((sampling->pose_count + 1) / 2);
    size_t reaching = (size_t)arap_reach_pairs(sampling), at = (size_t)(pose / 2);
    size_t swinging = pairs - reaching;
    const double *pair = joint_rotations + 3 * bones * at,
                 *targets = joint_rotations + 3 * bones * pairs;
    const double *bend_pair =
        targets + ARAP_REACH_NUMBERS * bones * reaching + BEND_NUMBERS * bones * at;
    if (at < swinging)
        sample_swings(skeleton, symmetry, sampling, pair, pose % 2, local);
    else
        sample_reach(skeleton, symmetry, sampling, reach, pair,
                     targets + ARAP_REACH_NUMBERS * bones * (at - swinging), pose % 2, local);
    for (int b = 0; b < skeleton->count; b++) {
        int partner = mirror_partner(skeleton, symmetry, b);
        double *bend = bends + ARAP_BEND * b;
        if (skeleton->kinds[b] == ARAP_BONE_RIGID) {
            for (int i = 0; i < ARAP_BEND; i++) bend[i] = i == 3;
        } else if (pose % 2 && partner >= 0) {
            double image[ARAP_BEND];
            sample_bend(skeleton, sampling, partner, bend_pair + BEND_NUMBERS * partner, 0, image);
            arap_reflect_rotation_vector(symmetry, image, bend);
            bend[3] = image[3];
        } else {
            sample_bend(skeleton, sampling, b, bend_pair + BEND_NUMBERS * b, pose % 2, bend);
        }
    }
}

/* The transform of children attached to bone `up` at `point`: that of the bone. For a spine, that
 * at the position of the point along it. */
static void carry(const arap_skeleton *s, const double *bends, const double *transforms, int up,
                  const double *point, double *out) {
    const double *base = transforms + 12 * up;
    if (!bends || s->kinds[up] == ARAP_BONE_RIGID) {
        memcpy(out, base, 12 * sizeof(double));
        return;
    }
    const double *head = s->heads + 3 * up, *tail = s->tails + 3 * up;
    double own[12];
    arap_spine_transform(head, tail, bends + ARAP_BEND * up,
                         arap_spine_parameter(head, tail, point), own, NULL);
    arap_compose(base, own, out);
}

void arap_forward_kinematics(const arap_skeleton *skeleton, const double *local,
                             const double *bends, double *transforms) {
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    for (int i = 0; i < skeleton->deform_count; i++) {
        int d = skeleton->order[i], b = skeleton->deform_bone[d], up = skeleton->deform_parent[d];
        const double *r = local + 9 * b, *head = skeleton->heads + 3 * b;
        double offset[3], parent[12];
        if (up < 0)
            memcpy(parent, identity, sizeof identity);
        else
            carry(skeleton, bends, transforms, skeleton->deform_bone[up], head, parent);
        for (int k = 0; k < 3; k++) offset[k] = head[k] - arap_dot(r + 3 * k, head);
        double *out = transforms + 12 * b;
        for (int k = 0; k < 3; k++) {
            const double *row = parent + 4 * k;
            for (int c = 0; c < 3; c++)
                out[4 * k + c] = row[0] * r[c] + row[1] * r[3 + c] + row[2] * r[6 + c];
            out[4 * k + 3] = arap_dot(row, offset) + row[3];
        }
    }
    for (int b = 0; b < skeleton->count; b++) { /* virtual bones move with their owners */
        int owner = skeleton->owner[b] < 0 ? -1 : skeleton->deform_bone[skeleton->owner[b]];
        if (owner < 0)
            memcpy(transforms + 12 * b, identity, sizeof identity);
        else if (owner != b)
            carry(skeleton, bends, transforms, owner, skeleton->heads + 3 * b, transforms + 12 * b);
    }
}

/* Copy the deforming bones of one pose. */
static void store_pose(const arap_skeleton *s, const double *transforms, double *out) {
    for (int d = 0; d < s->deform_count; d++)
        memcpy(out + 12 * d, transforms + 12 * s->deform_bone[d], 12 * sizeof(double));
}

/* x -> R x + t in the caller's units, as a map of centered, scaled coordinates. */
static void rescale_pose(const arap_mesh *mesh, int bones, const double *in, double *out) {
    for (int b = 0; b < bones; b++)
        for (int k = 0; k < 3; k++) {
            const double *row = in + 12 * b + 4 * k;
            memcpy(out + 12 * b + 4 * k, row, 3 * sizeof(double));
            out[12 * b + 4 * k + 3] =
                (arap_dot(row, mesh->center) + row[3] - mesh->center[k]) / mesh->diagonal;
        }
}

/* Allocate `sampled` poses with the weight `each` and the caller's poses, for this many bones,
 * which begin with those of the skeleton. */
static arap_status allocate_poses(arap_context *context, const arap_skeleton *s,
                                  const arap_mesh *mesh, int sampled, double each, int bones,
                                  const arap_given_poses *given, arap_poses *poses) {
    const double *parameters = given->parameters;
    int count = sampled + given->count;
    *poses = (arap_poses){.count = count, .columns = bones + arap_bendy_columns(s)};
    if (count < 1) return arap_fail(&context->error, ARAP_BAD_VALUE, "there are no poses");
    size_t columns = (size_t)poses->columns;
    poses->transform = ARAP_NEW(double, 12 * (size_t)count * columns);
    poses->gram = ARAP_NEW(double, 16 * columns * columns);
    arap_status status = poses->transform && poses->gram
                             ? arap_spines_create(context, s, poses->columns, count, &poses->spines)
                             : arap_fail_memory(&context->error, "the poses");
    if (!status) status = arap_bendy_create(context, s, mesh, bones, parameters, &poses->bendy);
    if (!status)
        status = arap_pose_weights_create(context, sampled, each, given->count, given->weights,
                                          &poses->weight, &poses->total);
    if (status) arap_poses_clear(poses);
    return status;
}

static arap_status check_transforms(arap_error *error, const arap_given_poses *given,
                                    size_t bones) {
    for (size_t i = 0; i < 12 * bones * (size_t)given->count; i++)
        if (!isfinite(given->transforms[i]))
            return arap_fail(error, ARAP_BAD_VALUE, "poses[%zu] of bone %zu contains %g",
                             i / (12 * bones), i / 12 % bones, given->transforms[i]);
    return ARAP_OK;
}

/* Check the joints of the caller's poses and copy them to the poses from `first` on. Without
 * joints, bend the bones. */
static arap_status take_joints(arap_context *context, const arap_skeleton *s, const arap_mesh *mesh,
                               int first, const arap_given_poses *given, arap_poses *poses) {
    int joints = arap_bendy_columns(s) + poses->bendy.count;
    double *scaled = ARAP_NEW(double, given->joints ? 12 * joints : 0);
    if (!scaled) return arap_fail_memory(&context->error, "the poses");
    arap_status status = ARAP_OK;
    for (size_t p = 0; p < (size_t)given->count && !status; p++) {
        double *to = poses->transform + 12 * ((size_t)first + p) * (size_t)poses->columns;
        const double *from = given->joints ? given->joints + 12 * p * (size_t)joints : NULL;
        for (int i = 0; i < 12 * joints && from && !status; i++)
            if (!isfinite(from[i]))
                status =
                    arap_fail(&context->error, ARAP_BAD_VALUE,
                              "segment_poses[%zu] of joint %d contains %g", p, i / 12, from[i]);
        if (from) {
            rescale_pose(mesh, joints, from, scaled);
            arap_bendy_take(&poses->bendy, scaled, to);
        } else {
            arap_bendy_bend(&poses->bendy, s,
                            given->bends ? given->bends + ARAP_BEND * p * (size_t)s->count : NULL,
                            to);
        }
    }
    arap_free(scaled);
    return status;
}

arap_status arap_check_reach(arap_error *error, size_t poses, size_t bones, const double *x) {
    size_t size = 12 * bones;
    for (size_t i = 0; i < size * poses; i++)
        if (!(fabs(x[i]) <= FARTHEST))
            return arap_fail(error, ARAP_BAD_VALUE,
                             i % 4 == 3 ? "poses[%zu] is too far away: a bone moves the mesh by %g "
                                          "times its size, more than %g"
                                        : "poses[%zu] is too large: a bone scales the mesh by %g, "
                                          "more than %g",
                             i / size, fabs(x[i]), FARTHEST);
    return ARAP_OK;
}

/* Finish the poses once all transforms are set. */
static arap_status complete(arap_context *context, const arap_skeleton *s, const arap_mesh *mesh,
                            const arap_given_poses *given, arap_poses *poses) {
    size_t size = 12 * (size_t)poses->columns;
    arap_status status =
        arap_check_reach(&context->error, (size_t)given->count, (size_t)poses->columns,
                         poses->transform + size * (size_t)(poses->count - given->count));
    if (!status) status = arap_poses_gram(context, poses);
    if (!status)
        status = arap_stretches_create(context, s, &poses->bendy, poses->columns, poses->count,
                                       poses->transform, &poses->stretches);
    if (status) return status;
    return arap_spines_place(context, s, mesh, given->parameters, poses->columns, poses->count,
                             poses->transform, &poses->spines);
}

arap_status arap_poses_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, const arap_symmetry *symmetry,
                              const arap_sampling *sampling, double each,
                              const arap_given_poses *given, arap_poses *poses) {
    arap_arena arena = {0};
    size_t bones = (size_t)skeleton->count;
    arap_status status = check_transforms(&context->error, given, bones);
    if (!status)
        status = allocate_poses(context, skeleton, mesh, sampling->pose_count, each,
                                skeleton->deform_count, given, poses);
    if (status) return status;
    size_t size = 12 * (size_t)poses->columns;
    double *joint_rotations = ARAP_TAKE(&arena, arap_sample_size(skeleton, sampling), double);
    double *local = ARAP_TAKE(&arena, 9 * bones, double),
           *transforms = ARAP_TAKE(&arena, 12 * bones, double);
    double *bends = ARAP_TAKE(&arena, ARAP_BEND * bones, double);
    arap_reach reach = {0};
    status = arap_arena_status(&arena, &context->error, "the poses");
    if (status) goto done;
    status = arap_reach_create(context, skeleton, sampling, &reach);
    if (!status)
        status = arap_sample_rotations(context, skeleton, symmetry, sampling, joint_rotations);
    if (status) goto done;
    for (int p = 0; p < sampling->pose_count; p++) {
        double *out = poses->transform + size * (size_t)p;
        arap_sample_pose(skeleton, symmetry, sampling, &reach, joint_rotations, p, local, bends);
        arap_forward_kinematics(skeleton, local, bends, transforms);
        store_pose(skeleton, transforms, out);
        arap_bendy_bend(&poses->bendy, skeleton, bends, out);
        status = arap_spines_take_bends(&context->error, skeleton, p, 1, bends, &poses->spines);
        if (!status) status = arap_poll_cancel(context);
        if (status) goto done;
    }
    for (int p = 0; p < given->count; p++) {
        status = arap_poll_cancel(context);
        if (status) goto done;
        rescale_pose(mesh, skeleton->count, given->transforms + 12 * bones * (size_t)p, transforms);
        store_pose(skeleton, transforms,
                   poses->transform + size * (size_t)(sampling->pose_count + p));
    }
    status = arap_spines_take_bends(&context->error, skeleton, sampling->pose_count, given->count,
                                    given->bends, &poses->spines);
    if (!status) status = take_joints(context, skeleton, mesh, sampling->pose_count, given, poses);
    if (!status) status = complete(context, skeleton, mesh, given, poses);

done:
    arap_reach_clear(&reach);
    arap_arena_clear(&arena);
    if (status) arap_poses_clear(poses);
    return status;
}

arap_status arap_poses_given(arap_context *context, const arap_skeleton *skeleton,
                             const arap_mesh *mesh, int bones, const arap_given_poses *given,
                             arap_poses *poses) {
    arap_status status = check_transforms(&context->error, given, (size_t)bones);
    if (!status) status = allocate_poses(context, skeleton, mesh, 0, 1, bones, given, poses);
    if (status) return status;
    for (size_t p = 0; p < (size_t)given->count && !status; p++) {
        rescale_pose(mesh, bones, given->transforms + 12 * (size_t)bones * p,
                     poses->transform + 12 * (size_t)poses->columns * p);
        status = arap_poll_cancel(context);
    }
    if (!status)
        status = arap_spines_take_bends(&context->error, skeleton, 0, given->count, given->bends,
                                        &poses->spines);
    if (!status) status = take_joints(context, skeleton, mesh, 0, given, poses);
    if (!status) status = complete(context, skeleton, mesh, given, poses);
    if (status) arap_poses_clear(poses);
    return status;
}

void arap_poses_clear(arap_poses *poses) {
    arap_free(poses->transform);
    arap_free(poses->gram);
    arap_gram_tiles_clear(&poses->tiles);
    arap_free(poses->weight);
    arap_spines_clear(&poses->spines);
    arap_bendy_clear(&poses->bendy);
    arap_stretches_clear(&poses->stretches);
    *poses = (arap_poses){0};
}
