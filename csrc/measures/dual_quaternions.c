/* Dual quaternion skinning: see dual_quaternions.h, and dual_blend.c for its formulas.
 *
 * Takes O(poses x entries) time, about 30 ns each, and 32 bytes of memory per pose and bone.
 * Vertices are processed in parallel. Fails on out-of-memory and for numbers that are not finite.
 */
#include "measures/dual_quaternions.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/quaternion.h"
#include "rig/dual_blend.h"

#define CHUNK 256
#define MIN_SUM 1e-4 /* minimum sum of weights of a vertex that moves */

typedef struct skinning_task {
    int count, bones, poses;
    const double *vertices, *transforms;
    const arap_sparse_weights *rows;
    const double *rotations; /* (poses, bones, 4) */
    double *out;
} skinning_task;

static void skin(const skinning_task *task, int i, int pose, double *out) {
    const arap_sparse_weights *rows = task->rows;
    const double *v = task->vertices + 3 * (size_t)i;
    size_t first = (size_t)pose * (size_t)task->bones;
    arap_dual_pose moved = {task->transforms + 12 * first, task->rotations + 4 * first};
    arap_dual_sum sum;
    long long from = rows->start[i], count = rows->start[i + 1] - from;
    double total =
        arap_dual_blend(&moved, v, (int)count, rows->bone + from, rows->weight + from, &sum);
    if (total > MIN_SUM)
        arap_dual_point(&sum, v, out);
    else
        memcpy(out, v, 3 * sizeof *out);
}

static void skin_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const skinning_task *task = data;
    int begin = chunk * CHUNK, end = arap_chunk_end(chunk, CHUNK, task->count);
    for (int p = 0; p < task->poses; p++)
        for (int i = begin; i < end; i++)
            skin(task, i, p, task->out + 3 * ((size_t)p * (size_t)task->count + (size_t)i));
}

/* The item with the first number that is not finite, with `width` numbers per item; -1: all are
 * finite. */
static long long first_bad(const double *data, size_t items, size_t width) {
    for (size_t k = 0; k < items * width; k++)
        if (!isfinite(data[k])) return (long long)k;
    return -1;
}

arap_status arap_check_blended(arap_error *error, int count, const double *vertices, int bones,
                               int poses, const double *transforms, const double *axes) {
    long long bad = first_bad(vertices, (size_t)count, 3);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "vertices[%lld, %lld] is %g: not finite", bad / 3,
                         bad % 3, vertices[bad]);
    bad = first_bad(transforms, (size_t)poses * (size_t)bones, 12);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "poses[%lld, %lld] contains %g: not finite",
                         bad / 12 / bones, bad / 12 % bones, transforms[bad]);
    if (!axes) return ARAP_OK;
    bad = first_bad(axes, (size_t)bones, 9);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "bone_axes[%lld] contains %g: not finite", bad / 9,
                         axes[bad]);
    for (int b = 0; b < bones; b++) {
        double column[3][3];
        for (int k = 0; k < 9; k++) column[k % 3][k / 3] = axes[9 * b + k];
        if (!arap_is_rotation((const double (*)[3])column))
            return arap_fail(error, ARAP_BAD_VALUE, "bone_axes[%d] is not a rotation", b);
    }
    return ARAP_OK;
}

arap_status arap_dual_quaternion_skinning(arap_context *context, int count, const double *vertices,
                                          const arap_sparse_weights *rows, int bones, int poses,
                                          const double *transforms, const double *axes,
                                          double *out) {
    arap_status status =
        arap_check_blended(&context->error, count, vertices, bones, poses, transforms, axes);
    if (status) return status;
    size_t all = (size_t)poses * (size_t)bones;
    double *rotations = ARAP_NEW(double, 4 * all);
    if (!rotations) return arap_fail_memory(&context->error, "the dual quaternions");
    for (size_t k = 0; k < all; k++)
        arap_transform_quaternion(transforms + 12 * k, axes ? axes + 9 * (k % (size_t)bones) : NULL,
                                  rotations + 4 * k);
    skinning_task task = {.count = count,
                          .bones = bones,
                          .poses = poses,
                          .vertices = vertices,
                          .transforms = transforms,
                          .rows = rows,
                          .rotations = rotations,
                          .out = out};
    status = arap_parallel(context, arap_chunks(count, CHUNK), skin_chunk, &task);
    arap_free(rotations);
    return status;
}
