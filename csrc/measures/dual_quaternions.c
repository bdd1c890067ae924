/* Dual quaternion skinning: see dual_quaternions.h.
 *
 * At a vertex v the transform T_b of a bone is a rotation q_b about v, and the translation
 * t_b = T_b v - q_b v q_b* that takes v to where T_b takes it, whatever else T_b does: scale and
 * shear move the vertex and are not blended. With s_b = 1, or -1 where q_b is on the other side of
 * the sum so far (the shorter way round),
 *     Q = sum_b s_b w_b q_b
 *     D = sum_b s_b w_b (0, t_b) q_b / 2
 *     v -> (Q v Q* + 2 Im(D Q*)) / |Q|^2
 * which needs no weights that sum to 1. Bones are summed in the order of the vertex' row.
 *
 * The rotation of a transform that is none is that of the bone's axes after it, made orthogonal
 * with the direction of Y kept, then that of X; a mirror image turns Z round.
 *
 * O(poses x entries), about 30 ns each; memory 32 bytes per pose and bone; vertices in parallel.
 * Fails without memory and for numbers that are not finite. */
#include "measures/dual_quaternions.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define CHUNK 256
#define ORTHONORMAL 1e-5 /* how far products of the columns of a rotation may be off */
#define LEAST_SUM 1e-4   /* of the weights of a vertex that is moved at all */

/* Quaternions are (w, x, y, z). */
static void multiply(const double *a, const double *b, double *out) {
    double vector[3];
    arap_cross(a + 1, b + 1, vector);
    out[0] = a[0] * b[0] - arap_dot(a + 1, b + 1);
    for (int c = 0; c < 3; c++) out[1 + c] = a[0] * b[1 + c] + b[0] * a[1 + c] + vector[c];
}

/* q v q*, |q|^2 times as long */
static void rotate(const double *q, const double *v, double *out) {
    double once[3], twice[3];
    arap_cross(q + 1, v, once);
    arap_cross(q + 1, once, twice);
    double length2 = q[0] * q[0] + arap_dot(q + 1, q + 1);
    for (int c = 0; c < 3; c++) out[c] = length2 * v[c] + 2 * (q[0] * once[c] + twice[c]);
}

/* Unit quaternion of the rotation with these columns (3, 3), each of length 1 or, where a bone has
 * no extent, 0. */
static void quaternion_of(const double (*column)[3], double *q) {
    double trace = column[0][0] + column[1][1] + column[2][2];
    int a = 0;
    for (int c = 1; c < 3; c++)
        if (column[c][c] > column[a][a]) a = c;
    int b = (a + 1) % 3, c = (a + 2) % 3;
    if (trace >= column[a][a]) {
        q[0] = 1 + trace;
        q[1] = column[1][2] - column[2][1];
        q[2] = column[2][0] - column[0][2];
        q[3] = column[0][1] - column[1][0];
    } else {
        q[0] = column[b][c] - column[c][b];
        q[1 + a] = 1 + column[a][a] - column[b][b] - column[c][c];
        q[1 + b] = column[a][b] + column[b][a];
        q[1 + c] = column[a][c] + column[c][a];
    }
    double length = sqrt(q[0] * q[0] + arap_dot(q + 1, q + 1));
    for (int k = 0; k < 4; k++) q[k] /= length;
}

static void normalize(double *v) {
    double length = sqrt(arap_dot(v, v));
    for (int c = 0; c < 3 && length > 0; c++) v[c] /= length;
}

/* Are these columns those of a rotation? */
static int is_rotation(const double (*column)[3]) {
    double normal[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            if (fabs(arap_dot(column[i], column[j]) - (i == j)) > ORTHONORMAL) return 0;
    arap_cross(column[0], column[1], normal);
    return arap_dot(normal, column[2]) > 0;
}

/* Make columns orthonormal that need be neither orthogonal nor of length 1. Which of X and Z gives
 * way to Y is Blender's choice, by lengths as they are. */
static void orthogonalize(double (*column)[3]) {
    double *x = column[0], *y = column[1], *z = column[2];
    normalize(y);
    if (arap_dot(y, x) < 1) {
        arap_cross(x, y, z);
        normalize(z);
        arap_cross(y, z, x);
    } else {
        double other[3] = {y[1], y[2], y[0]};
        arap_cross(y, arap_dot(x, z) < 1 ? z : other, x);
        normalize(x);
        arap_cross(x, y, z);
    }
}

/* Rotation of an affine map (3, 4) of a bone with these axes at rest, (3, 3) or NULL. */
static void rotation_of(const double *transform, const double *axes, double *q) {
    double column[3][3], posed[3][3], rest[3][3], turned[4], back[4];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) {
            column[c][r] = transform[4 * r + c];
            rest[c][r] = axes ? axes[3 * r + c] : r == c;
        }
    if (is_rotation((const double (*)[3])column)) {
        quaternion_of((const double (*)[3])column, q);
        return;
    }
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            posed[c][r] =
                column[0][r] * rest[c][0] + column[1][r] * rest[c][1] + column[2][r] * rest[c][2];
    orthogonalize(posed);
    quaternion_of((const double (*)[3])posed, turned);
    quaternion_of((const double (*)[3])rest, back);
    for (int c = 1; c < 4; c++) back[c] = -back[c];
    multiply(turned, back, q);
}

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
    double real[4] = {0}, dual[4] = {0}, turned[3], shift[4], total = 0;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
        size_t at = (size_t)pose * (size_t)task->bones + (size_t)rows->bone[e];
        const double *t = task->transforms + 12 * at, *q = task->rotations + 4 * at;
        double w = rows->weight[e], moved[4] = {0}, part[4];
        total += w;
        if (q[0] * real[0] + arap_dot(q + 1, real + 1) < 0) w = -w;
        rotate(q, v, turned);
        for (int c = 0; c < 3; c++)
            moved[1 + c] = arap_dot(t + 4 * c, v) + t[4 * c + 3] - turned[c];
        multiply(moved, q, part);
        for (int k = 0; k < 4; k++) {
            real[k] += w * q[k];
            dual[k] += 0.5 * w * part[k];
        }
    }
    memcpy(out, v, 3 * sizeof *out);
    if (!(total > LEAST_SUM)) return;
    double length2 = real[0] * real[0] + arap_dot(real + 1, real + 1);
    double conjugate[4] = {real[0], -real[1], -real[2], -real[3]};
    rotate(real, v, turned);
    multiply(dual, conjugate, shift);
    for (int c = 0; c < 3; c++) out[c] = length2 > 0 ? (turned[c] + 2 * shift[1 + c]) / length2 : 0;
}

static void skin_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const skinning_task *task = data;
    int begin = chunk * CHUNK, end = begin + CHUNK < task->count ? begin + CHUNK : task->count;
    for (int p = 0; p < task->poses; p++)
        for (int i = begin; i < end; i++)
            skin(task, i, p, task->out + 3 * ((size_t)p * (size_t)task->count + (size_t)i));
}

/* The first number that is not finite, `width` to an item; -1: all are. */
static long long first_bad(const double *data, size_t items, size_t width) {
    for (size_t k = 0; k < items * width; k++)
        if (!isfinite(data[k])) return (long long)k;
    return -1;
}

static arap_status check_numbers(arap_error *error, int count, const double *vertices, int bones,
                                 int poses, const double *transforms, const double *axes) {
    long long bad = first_bad(vertices, (size_t)count, 3);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "vertices[%lld, %lld] is %g: not finite", bad / 3,
                         bad % 3, vertices[bad]);
    bad = first_bad(transforms, (size_t)poses * (size_t)bones, 12);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "poses[%lld, %lld] holds %g: not finite",
                         bad / 12 / bones, bad / 12 % bones, transforms[bad]);
    if (!axes) return ARAP_OK;
    bad = first_bad(axes, (size_t)bones, 9);
    if (bad >= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "bone_axes[%lld] holds %g: not finite", bad / 9,
                         axes[bad]);
    for (int b = 0; b < bones; b++) {
        double column[3][3];
        for (int k = 0; k < 9; k++) column[k % 3][k / 3] = axes[9 * b + k];
        if (!is_rotation((const double (*)[3])column))
            return arap_fail(error, ARAP_BAD_VALUE, "bone_axes[%d] is no rotation", b);
    }
    return ARAP_OK;
}

arap_status arap_dual_quaternion_skinning(arap_context *context, int count, const double *vertices,
                                          const arap_sparse_weights *rows, int bones, int poses,
                                          const double *transforms, const double *axes,
                                          double *out) {
    arap_status status =
        check_numbers(&context->error, count, vertices, bones, poses, transforms, axes);
    if (status) return status;
    size_t all = (size_t)poses * (size_t)bones;
    double *rotations = ARAP_NEW(double, 4 * all);
    if (!rotations) return arap_fail_memory(&context->error, "the dual quaternions");
    for (size_t k = 0; k < all; k++)
        rotation_of(transforms + 12 * k, axes ? axes + 9 * (k % (size_t)bones) : NULL,
                    rotations + 4 * k);
    skinning_task task = {.count = count,
                          .bones = bones,
                          .poses = poses,
                          .vertices = vertices,
                          .transforms = transforms,
                          .rows = rows,
                          .rotations = rotations,
                          .out = out};
    arap_parallel(context, (count + CHUNK - 1) / CHUNK, skin_chunk, &task);
    arap_free(rotations);
    return ARAP_OK;
}
