/* Measures of visible deformation: see deformation.h.
 *
 * Means over poses are stored as sums, so poses may be added a few at a time. The sums are those of
 * the squared strain of every triangle, the squared drift of every limb, and the volume. Each sum
 * runs over the poses in their order, regardless of the number of threads and of the number of
 * poses per call.
 *
 * Takes O(poses x (influences + triangles)); 50,000 triangles in 80 poses take 0.05 s on one
 * processor. In addition to the sums, the points of some poses are stored, at most 3 MB or four
 * poses. Fails on out-of-memory and for points that are not finite or too far away. */
#include "measures/deformation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measures/pose_lanes.h"
#include "mesh/extent.h"

#define POINTS_AT_ONCE 131072

static arap_status check_input(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones) {
    arap_extent extent;
    arap_skeleton skeleton = {0};
    arap_status status = arap_check_geometry(&context->error, geometry);
    if (!status) status = arap_extent_find(context, geometry, bones, &extent);
    if (status) return status;
    arap_mesh mesh = {.diagonal = extent.diagonal, .size = 1}; /* to compare with the bones */
    memcpy(mesh.center, extent.center, sizeof mesh.center);
    status = arap_skinning_skeleton(context, bones, &mesh, &skeleton);
    arap_skeleton_clear(&skeleton);
    return status;
}

static void *copy(arap_arena *arena, const void *from, size_t bytes) {
    char *to = ARAP_TAKE(arena, bytes, char);
    if (to && from) memcpy(to, from, bytes);
    return to;
}

static arap_status copy_input(arap_context *context, const arap_geometry *geometry,
                              const arap_bones *bones, arap_deformation *d) {
    size_t m = (size_t)bones->count;
    d->vertices = copy(&d->arena, geometry->vertices, 3 * (size_t)d->count * sizeof(double));
    d->heads = copy(&d->arena, bones->heads, 3 * m * sizeof(double));
    d->tails = copy(&d->arena, bones->tails, 3 * m * sizeof(double));
    d->kinds = copy(&d->arena, bones->kinds, m);
    d->segments = copy(&d->arena, bones->segments, m * sizeof(int));
    d->bones = (arap_bones){.count = bones->count,
                            .heads = m ? d->heads : NULL,
                            .tails = m ? d->tails : NULL,
                            .kinds = bones->kinds ? d->kinds : NULL,
                            .segments = bones->segments ? d->segments : NULL};
    return arap_arena_status(&d->arena, &context->error, "the deformation");
}

arap_status arap_deformation_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, arap_deformation *deformation) {
    *deformation = (arap_deformation){.count = geometry->vertex_count};
    arap_status status = check_input(context, geometry, bones);
    if (!status) status = copy_input(context, geometry, bones, deformation);
    if (status) goto done;
    status = arap_surface_create(context, deformation->vertices, geometry->triangles,
                                 geometry->triangle_count, &deformation->surface);
    if (!status)
        status = arap_enclosure_create(context, deformation->count, deformation->vertices,
                                       geometry->triangles, geometry->triangle_count,
                                       &deformation->enclosure);
    if (!status)
        status = arap_limbs_create(context, deformation->count, deformation->vertices, bones->count,
                                   deformation->heads, deformation->tails, bones->deform,
                                   &deformation->limbs);
    if (status) goto done;
    deformation->strain2 = ARAP_TAKE_ZERO(&deformation->arena, deformation->surface.count, double);
    deformation->drift2 = ARAP_TAKE_ZERO(&deformation->arena, deformation->limbs.count, double);
    status = arap_arena_status(&deformation->arena, &context->error, "the deformation");

done:
    if (status) arap_deformation_clear(deformation);
    return status;
}

void arap_deformation_clear(arap_deformation *deformation) {
    arap_arena_clear(&deformation->arena);
    arap_surface_clear(&deformation->surface);
    arap_limbs_clear(&deformation->limbs);
    arap_enclosure_clear(&deformation->enclosure);
    *deformation = (arap_deformation){0};
}

/* Fill `points` of a group from those of its poses (size, count, 3). */
static void into_lanes(size_t numbers, int size, const double *posed, double *points) {
    for (int l = 0; l < ARAP_POSE_LANES; l++) {
        const double *from = posed + numbers * (size_t)(l < size ? l : size - 1);
        for (size_t k = 0; k < numbers; k++) points[ARAP_POSE_LANES * k + (size_t)l] = from[k];
    }
}

static arap_status check_points(arap_error *error, int first, size_t count, const double *points) {
    for (size_t at = 0; at < 3 * ARAP_POSE_LANES * count; at++)
        if (!isfinite(points[at])) {
            size_t lane = at % ARAP_POSE_LANES, point = at / (3 * ARAP_POSE_LANES);
            const double *own = points + 3 * ARAP_POSE_LANES * point + lane;
            return arap_fail(error, ARAP_BAD_VALUE, "posed[%zu, %zu] is (%g, %g, %g): not finite",
                             (size_t)first + lane, point, own[0], own[ARAP_POSE_LANES],
                             own[2 * ARAP_POSE_LANES]);
        }
    return ARAP_OK;
}

typedef struct drift_task {
    arap_deformation *deformation;
    const arap_skinning *skinning;
    int first, poses;
    const double *points;
} drift_task;

static void add_limb(void *data, int limb, int worker) {
    (void)worker;
    const drift_task *task = data;
    arap_deformation *d = task->deformation;
    for (int p = 0; p < task->poses; p++) {
        const double *lane = task->points +
                             arap_group_stride(d->count) * (size_t)(p / ARAP_POSE_LANES) +
                             p % ARAP_POSE_LANES;
        double carried[3];
        arap_skin_beside(task->skinning, task->first + p, d->limbs.bone[limb],
                         d->limbs.center + 3 * (size_t)limb, carried);
        d->drift2[limb] += arap_limb_drift2(&d->limbs, limb, lane, carried);
    }
}

/* Add the poses first..first + poses - 1 with the positions `points`. volumes: (poses) scratch. */
static arap_status add_poses(arap_context *context, arap_deformation *d,
                             const arap_skinning *skinning, int first, int poses,
                             const double *points, double *volumes) {
    drift_task task = {d, skinning, first, poses, points};
    arap_status status =
        arap_surface_add(context, &d->surface, poses, d->count, points, d->strain2);
    if (!status) status = arap_parallel(context, d->limbs.count, add_limb, &task);
    if (!status) status = arap_enclosed_volume(context, &d->enclosure, poses, points, volumes);
    for (int p = 0; p < poses && !status; p++) d->volume += volumes[p];
    d->poses += poses;
    return status;
}

/* The farthest point of these poses, for the error about an overflowing measure. */
static arap_status fail_far(arap_error *error, int first, int poses, size_t count,
                            const double *points) {
    size_t far[2] = {0, 0};
    const double *at = points;
    double max = 0;
    for (int p = 0; p < poses; p++) {
        const double *lane = points +
                             arap_group_stride((int)count) * (size_t)(p / ARAP_POSE_LANES) +
                             p % ARAP_POSE_LANES;
        for (size_t k = 0; k < 3 * count; k++) {
            if (!(fabs(lane[ARAP_POSE_LANES * k]) > max)) continue;
            max = fabs(lane[ARAP_POSE_LANES * k]);
            at = lane + 3 * ARAP_POSE_LANES * (k / 3);
            far[0] = (size_t)(first + p);
            far[1] = k / 3;
        }
    }
    return arap_fail(error, ARAP_BAD_VALUE,
                     "posed[%zu, %zu] is (%g, %g, %g): too far away to be measured", far[0], far[1],
                     at[0], at[ARAP_POSE_LANES], at[2 * ARAP_POSE_LANES]);
}

/* Whether all sums are finite. */
static int is_measured(const arap_deformation *d) {
    double sum = 0;
    for (size_t t = 0; t < d->surface.count; t++) sum += d->surface.area[t] * d->strain2[t];
    for (int l = 0; l < d->limbs.count; l++) sum += d->drift2[l];
    return isfinite(sum) && isfinite(d->volume);
}

/* The sums of a deformation, saved so that they can be restored. */
static double *keep_sums(arap_arena *arena, const arap_deformation *d) {
    double *kept = ARAP_TAKE(arena, d->surface.count + (size_t)d->limbs.count, double);
    if (!kept) return NULL;
    memcpy(kept, d->strain2, d->surface.count * sizeof *kept);
    memcpy(kept + d->surface.count, d->drift2, (size_t)d->limbs.count * sizeof *kept);
    return kept;
}

static void put_back(arap_deformation *d, const double *kept, int poses, double volume) {
    memcpy(d->strain2, kept, d->surface.count * sizeof *kept);
    memcpy(d->drift2, kept + d->surface.count, (size_t)d->limbs.count * sizeof *kept);
    d->poses = poses;
    d->volume = volume;
}

arap_status arap_deformation_add(arap_context *context, arap_deformation *deformation,
                                 const arap_skinning *skinning, const arap_sparse_weights *rows,
                                 const double *posed) {
    arap_arena arena = {0};
    int groups = arap_pose_groups(skinning->poses), before = deformation->poses;
    int at_once = POINTS_AT_ONCE / ARAP_POSE_LANES / deformation->count;
    double volume = deformation->volume;
    at_once = at_once < 1 ? 1 : at_once < groups ? at_once : groups;
    size_t numbers = 3 * (size_t)deformation->count, stride = arap_group_stride(deformation->count);
    double *points = ARAP_TAKE(&arena, stride * (size_t)at_once, double);
    double *volumes = ARAP_TAKE(&arena, ARAP_POSE_LANES * at_once, double),
           *kept = keep_sums(&arena, deformation);
    arap_influences columns = {0};
    arap_status status = arap_arena_status(&arena, &context->error, "the deformation");
    if (status) goto done;
    status = arap_progress(context, "deformation", 0);
    if (!status && rows) status = arap_skinning_weights(context, skinning, rows, &columns);
    if (!status) status = arap_progress(context, "deformation", 0);
    for (int first = 0; first < groups && !status; first += at_once) {
        int some = at_once < groups - first ? at_once : groups - first;
        int pose = first * ARAP_POSE_LANES, poses = some * ARAP_POSE_LANES;
        if (poses > skinning->poses - pose) poses = skinning->poses - pose;
        if (rows) status = arap_skin(context, skinning, &columns, first, some, points);
        for (int g = 0; g < some && !status; g++) {
            if (!rows)
                into_lanes(numbers, arap_group_size(poses, g),
                           posed + numbers * (size_t)(pose + g * ARAP_POSE_LANES),
                           points + stride * (size_t)g);
            status = check_points(&context->error, pose + g * ARAP_POSE_LANES,
                                  (size_t)deformation->count, points + stride * (size_t)g);
        }
        if (!status)
            status = add_poses(context, deformation, skinning, pose, poses, points, volumes);
        if (!status && !is_measured(deformation))
            status = fail_far(&context->error, pose, poses, (size_t)deformation->count, points);
        if (status) break;
        status = arap_progress(context, "deformation", (double)(pose + poses) / skinning->poses);
    }
    if (status) put_back(deformation, kept, before, volume);

done:
    arap_influences_clear(&columns);
    arap_arena_clear(&arena);
    return status;
}

void arap_deformation_restart(arap_deformation *deformation) {
    memset(deformation->strain2, 0, deformation->surface.count * sizeof *deformation->strain2);
    memset(deformation->drift2, 0, (size_t)deformation->limbs.count * sizeof *deformation->drift2);
    deformation->poses = 0;
    deformation->volume = 0;
}

arap_status arap_deformation_measures(arap_context *context, const arap_deformation *deformation,
                                      arap_measures *out) {
    *out = (arap_measures){.drift = NAN, .worst_drift = NAN, .volume = NAN};
    arap_status status = arap_surface_summarize(context, &deformation->surface, deformation->poses,
                                                deformation->strain2, &out->strain);
    if (status || deformation->poses < 1) return status;
    double sum = 0, max = 0;
    for (int l = 0; l < deformation->limbs.count; l++) {
        double drift = sqrt(deformation->drift2[l] / deformation->poses);
        sum += drift;
        max = fmax(max, drift);
    }
    if (deformation->limbs.count) {
        out->drift = sum / deformation->limbs.count;
        out->worst_drift = max;
    }
    if (deformation->enclosure.volume > 0)
        out->volume = deformation->volume / deformation->poses / deformation->enclosure.volume - 1;
    return status;
}

void arap_bone_drift(const arap_deformation *deformation, double *out) {
    for (int b = 0; b < deformation->bones.count; b++) out[b] = NAN;
    for (int l = 0; l < deformation->limbs.count && deformation->poses > 0; l++)
        out[deformation->limbs.bone[l]] = sqrt(deformation->drift2[l] / deformation->poses);
}
