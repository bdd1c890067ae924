/* Skinning with centers of rotation (Algorithm 1): see rotation_centers.h.
 *
 * Let R be the rotation of the normalized sum of quaternions, each flipped to the side of the sum
 * so far, and T the transform of linear blending. Then
 *     v -> R v + T p* - R p*
 * Transforms that are not rigid motions are split into their rotation and the rest, S_b, which is
 * blended linearly: v -> R sum_b w_b S_b (v - p*) + T p*, so a single bone moves a vertex exactly
 * by its transform.
 *
 * Takes O(poses x entries) time, about 40 ns each, and 200 bytes of memory per pose and bone.
 * Vertices are processed in parallel. Fails on out-of-memory and for numbers that are not finite.
 */
#include "measures/rotation_centers.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/quaternion.h"
#include "measures/dual_quaternions.h"

#define CHUNK 256
#define MIN_SUM 1e-4 /* minimum sum of weights of a vertex that moves */

/* The transform of a bone in a pose, with its rotation and the rest of its linear part. */
typedef struct part {
    double quaternion[4], stretch[9], transform[12];
} part;

typedef struct skin_task {
    int count, bones, poses;
    const double *vertices, *centers;
    const arap_sparse_weights *rows;
    const part *parts; /* (poses, bones) */
    double *out;
} skin_task;

/* S = R^T A of a transform. */
static void split(const double *transform, const double *axes, part *out) {
    double back[4];
    memcpy(out->transform, transform, sizeof out->transform);
    arap_transform_quaternion(transform, axes, out->quaternion);
    back[0] = out->quaternion[0];
    for (int c = 1; c < 4; c++) back[c] = -out->quaternion[c];
    for (int c = 0; c < 3; c++) {
        double column[3] = {transform[c], transform[4 + c], transform[8 + c]}, turned[3];
        arap_quaternion_rotate(back, column, turned);
        for (int r = 0; r < 3; r++) out->stretch[3 * r + c] = turned[r];
    }
}

static void skin(const skin_task *task, int i, int pose, double *out) {
    const arap_sparse_weights *rows = task->rows;
    const double *v = task->vertices + 3 * (size_t)i, *center = task->centers + 3 * (size_t)i;
    const part *parts = task->parts + (size_t)pose * (size_t)task->bones;
    double total = 0, sum[4] = {0}, blended[12] = {0}, stretch[9] = {0};
    memcpy(out, v, 3 * sizeof *out);
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) total += rows->weight[e];
    if (!(total > MIN_SUM)) return;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
        const part *with = parts + rows->bone[e];
        double w = rows->weight[e] / total;
        for (int k = 0; k < 12; k++) blended[k] += w * with->transform[k];
        for (int k = 0; k < 9; k++) stretch[k] += w * with->stretch[k];
        if (arap_quaternion_dot(with->quaternion, sum) < 0) w = -w;
        for (int c = 0; c < 4; c++) sum[c] += w * with->quaternion[c];
    }
    double length2 = arap_quaternion_dot(sum, sum), from[3], stretched[3], turned[3];
    int has_center = isfinite(center[0]) && isfinite(center[1]) && isfinite(center[2]);
    const double *carried = has_center && length2 > 0 ? center : v;
    for (int c = 0; c < 3; c++) {
        out[c] = arap_dot(blended + 4 * c, carried) + blended[4 * c + 3];
        from[c] = v[c] - carried[c];
    }
    if (carried == v) return;
    for (int c = 0; c < 3; c++) stretched[c] = arap_dot(stretch + 3 * c, from);
    arap_quaternion_rotate(sum, stretched, turned);
    for (int c = 0; c < 3; c++) out[c] += turned[c] / length2;
}

static void skin_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const skin_task *task = data;
    int end = (chunk + 1) * CHUNK;
    if (end > task->count) end = task->count;
    for (int p = 0; p < task->poses; p++)
        for (int i = chunk * CHUNK; i < end; i++)
            skin(task, i, p, task->out + 3 * ((size_t)p * (size_t)task->count + (size_t)i));
}

arap_status arap_center_skinning(arap_context *context, int count, const double *vertices,
                                 const arap_sparse_weights *rows, const double *centers, int bones,
                                 int poses, const double *transforms, const double *axes,
                                 double *out) {
    arap_status status =
        arap_check_blended(&context->error, count, vertices, bones, poses, transforms, axes);
    if (status) return status;
    size_t all = (size_t)poses * (size_t)bones;
    part *parts = ARAP_NEW(part, all);
    if (!parts) return arap_fail_memory(&context->error, "the transforms");
    for (size_t k = 0; k < all; k++)
        split(transforms + 12 * k, axes ? axes + 9 * (k % (size_t)bones) : NULL, parts + k);
    skin_task task = {.count = count,
                      .bones = bones,
                      .poses = poses,
                      .vertices = vertices,
                      .centers = centers,
                      .rows = rows,
                      .parts = parts,
                      .out = out};
    status = arap_parallel(context, arap_chunks(count, CHUNK), skin_chunk, &task);
    arap_free(parts);
    return status;
}
