/* Mixed finite elements for given rotations: see mixed_state.h.
 *
 * Automatic skinning by mixed finite elements (A. Kassahun, D. Kachkovski, H. Song, S. Monem, SGI
 * 2022) has two kinds of unknowns, the points x and a symmetric stretch S of each element. It ties
 * them to each other by B x = R S, where B x = F are the deformation gradients and R are given
 * rotations. In 2D, this tie gives one equation too many for each triangle. In 3D, a triangle has 6
 * equations for the 3 numbers of S, and a tet has 9 equations for the 6 numbers of S. Since there
 * are twice (for tets, five times) as many elements as vertices, only rigid motions satisfy the
 * equations. This implementation therefore softens the tie. With multipliers l and a compliance 1 /
 * (2 m),
 *     L = sum A |S - I|^2 + sum h_i |x_i - y_i|^2 + sum A (l : (F - R S) - |l|^2 / (4 m)),
 * where y_i is the position to which vertex i is moved by its nearest bone (hold.c; the pins of the
 * report cited above). The KKT system
 *     2 (S - I) - sym(R^T l) = 0,   2 h (x - y) + B^T A l = 0,   F - R S - l / (2 m) = 0
 * is solved by elimination, element by element. Let M = R^T F in the axes of the element and, for a
 * triangle, let n be the part of F along the normal. Then
 *     S = (I + m sym M) / (1 + m),   l = 2 m (F - R S),
 * and a sparse positive definite system K(R) x = b(R) remains, which minimizes
 *     sum A (a |sym M - I|^2 + m |skew M|^2 + m |n|^2) + sum h_i |x_i - y_i|^2,   a = m / (1 + m).
 * For m -> inf, this is the system of the report.
 *
 * The rotations are R_e = exp(w_e) R0 with w_e = sum_j W_ej w_j, where W_ej is the mean of the
 * biharmonic weights at the corners of the element (samples.c). In the report, which covers 2D, w_j
 * is an angle. In this file, it is a rotation vector relative to the mean rotation R0 of the pose.
 * The energy of the turns w_j is
 *     J = sum A |S - I|^2 + sum h_i |x_i - y_i|^2 + r sum_j |R_j - T_j|^2,
 * where T_j is the rotation of the bone nearest to sample j. The gradient is computed with the
 * adjoint method. With K z = dJ/dx,
 *     dJ/dw = dJ/dw (x fixed) + z^T (db/dw - dK/dw x),
 * which takes two solves with one factorization, regardless of the number of samples. Let d be a
 * rotation of element e, applied from the left, and C the linear map from M and n to (a sym M, a
 * skew..) in the quadratic above. All of these terms are then sums of cross products of the columns
 * of F.
 *
 * Each evaluation takes O(vertices^1.5), with 27 times the operations of a factorization in body.c.
 * Fails on out-of-memory, for too many vertices, and if K is not positive definite. */
#include "extras/mixed_state.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"
#include "linalg/rotation_vector.h"

#define STIFFNESS 1.0                       /* m */
#define SHARE (STIFFNESS / (1 + STIFFNESS)) /* a */

/* Rotation vectors of the vertices, rotations of the elements. */
static void turn_elements(const arap_mixed *mixed, const arap_mixed_pose *pose, const double *turns,
                          arap_mixed_work *work) {
    size_t n = (size_t)mixed->body->mesh.count, samples = (size_t)mixed->samples.count;
    memset(work->turn, 0, 3 * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < samples; s++)
            for (size_t c = 0; c < 3; c++)
                work->turn[3 * i + c] += mixed->samples.weight[i * samples + s] * turns[3 * s + c];
    for (size_t t = 0; t < mixed->count; t++) {
        const arap_mixed_element *e = mixed->element + t;
        double mean[3], own[9];
        arap_mean_turn(work->turn, e->corners, e->corner, mean);
        arap_rotation_from_vector(mean, own);
        arap_multiply33(own, pose->mean, work->rotation + 9 * t);
    }
}

/* The posed axes R E of an element, columns of (3, 3). */
static void pose_axes(const arap_mixed_element *e, const double *rotation, double *axes) {
    arap_multiply33(rotation, e->rest, axes);
}

/* F = sum x_k slope_k^T from numbers in elimination order, as the first `dimension` columns of (3,
 * 3). */
static void gradient_of(const arap_mixed *mixed, const arap_mixed_element *e, const double *x,
                        double *f) {
    memset(f, 0, 9 * sizeof *f);
    for (int k = 0; k < e->corners; k++) {
        const double *at = x + 3 * (size_t)mixed->place[e->corner[k]];
        for (int r = 0; r < 3; r++)
            for (int b = 0; b < e->dimension; b++)
                f[3 * r + b] += at[r] * e->slope[k * e->dimension + b];
    }
}

/* G = axes^T F. */
static void to_axes(const double *axes, const double *f, double *g) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            g[3 * a + b] = axes[a] * f[b] + axes[3 + a] * f[3 + b] + axes[6 + a] * f[6 + b];
}

/* C: half the derivative of a |sym G|^2 + m |skew G|^2 + m |n|^2. */
static void respond(int dimension, const double *g, double *out) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double own = g[3 * a + b], other = g[3 * b + a];
            out[3 * a + b] = a < dimension && b < dimension
                                 ? SHARE * (own + other) / 2 + STIFFNESS * (own - other) / 2
                                 : STIFFNESS * own;
        }
    for (int a = 0; a < 3; a++)
        for (int b = dimension; b < 3; b++) out[3 * a + b] = 0;
}

/* sym G - I in the plane of the element, 0 elsewhere. */
static void strain_of(int dimension, const double *g, double *out) {
    memset(out, 0, 9 * sizeof *out);
    for (int a = 0; a < dimension; a++)
        for (int b = 0; b < dimension; b++)
            out[3 * a + b] = (g[3 * a + b] + g[3 * b + a]) / 2 - (a == b);
}

/* The location of the 3 x 3 block of two vertices: its first entry, and the strides of its
 * columns. */
static int find_block(const arap_mixed *mixed, int row, int column) {
    int low = mixed->row_start[column], high = mixed->row_start[column + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (mixed->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low - mixed->row_start[column];
}

/* Add H (row, column) to the blocks of two corners, places row >= column. */
static void add_block(const arap_mixed *mixed, arap_matrix *matrix, int row, int column,
                      const double *h) {
    int block = find_block(mixed, row, column);
    for (int c = 0; c < 3; c++) {
        double *to = matrix->value + matrix->start[3 * column + c];
        if (!block)
            for (int r = c; r < 3; r++) to[r - c] += h[3 * r + c];
        else
            for (int r = 0; r < 3; r++) to[3 - c + 3 * (block - 1) + r] += h[3 * r + c];
    }
}

/* K and b of an element. */
static void add_element(const arap_mixed *mixed, const arap_mixed_element *e, const double *axes,
                        arap_matrix *matrix, double *pull) {
    int d = e->dimension;
    for (int l = 0; l < e->corners; l++) {
        const double *sl = e->slope + l * d;
        int column = mixed->place[e->corner[l]];
        for (int r = 0; r < 3; r++)
            for (int b = 0; b < d; b++)
                pull[3 * column + r] += e->size * SHARE * axes[3 * r + b] * sl[b];
        for (int k = 0; k < e->corners; k++) {
            const double *sk = e->slope + k * d;
            int row = mixed->place[e->corner[k]];
            double local[9], half[9], h[9], dot = 0;
            if (row < column) continue;
            for (int b = 0; b < d; b++) dot += sk[b] * sl[b];
            /* d^2 / dG_ab dG_a'b' s_kb s_lb' */
            for (int a = 0; a < 3; a++)
                for (int o = 0; o < 3; o++) {
                    double same = a == o ? dot : 0;
                    double crossed = a < d && o < d ? sk[o] * sl[a] : 0;
                    local[3 * a + o] = a < d && o < d ? (SHARE + STIFFNESS) / 2 * same +
                                                            (SHARE - STIFFNESS) / 2 * crossed
                                                      : STIFFNESS * same;
                }
            arap_multiply33(axes, local, half);
            arap_multiply_transposed(half, axes, h);
            for (int c = 0; c < 9; c++) h[c] *= e->size;
            add_block(mixed, matrix, row, column, h);
        }
    }
}

static arap_status solve_points(arap_context *context, const arap_mixed *mixed,
                                const arap_mixed_pose *pose, arap_mixed_work *work) {
    size_t n = (size_t)mixed->body->mesh.count;
    arap_matrix *matrix = &work->matrix;
    memset(matrix->value, 0, (size_t)matrix->start[3 * n] * sizeof(double));
    memset(work->x, 0, 3 * n * sizeof(double));
    for (size_t t = 0; t < mixed->count; t++) {
        double axes[9];
        pose_axes(mixed->element + t, work->rotation + 9 * t, axes);
        add_element(mixed, mixed->element + t, axes, matrix, work->x);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            size_t at = 3 * (size_t)mixed->place[i] + c;
            matrix->value[matrix->start[at]] += mixed->hold->strength[i];
            work->x[at] += mixed->hold->strength[i] * pose->target[3 * i + c];
        }
    arap_status status = work->factor ? arap_factor_update(context, work->factor, matrix)
                                      : arap_factor_create(context, matrix, &work->factor);
    return status ? status : arap_factor_solve(context, work->factor, work->x);
}

/* Add u x v, columns of (3, 3). */
static void add_moment(const double *u, const double *v, double factor, double *out) {
    for (int b = 0; b < 3; b++) {
        const double p[3] = {u[b], u[3 + b], u[6 + b]}, q[3] = {v[b], v[3 + b], v[6 + b]};
        double n[3];
        arap_cross(p, q, n);
        for (int c = 0; c < 3; c++) out[c] += factor * n[c];
    }
}

/* The cost of the elements and pins at x. Its derivative by x is stored in pull. */
static double cost_of_points(const arap_mixed *mixed, const arap_mixed_pose *pose,
                             arap_mixed_work *work, double *stretches) {
    double energy = 0;
    memset(work->pull, 0, 3 * (size_t)mixed->hold->count * sizeof(double));
    for (size_t t = 0; t < mixed->count; t++) {
        const arap_mixed_element *e = mixed->element + t;
        double axes[9], f[9], g[9], q[9], stress[9];
        pose_axes(e, work->rotation + 9 * t, axes);
        gradient_of(mixed, e, work->x, f);
        to_axes(axes, f, g);
        strain_of(e->dimension, g, q);
        for (int c = 0; c < 9; c++) energy += e->size * SHARE * SHARE * q[c] * q[c];
        if (stretches)
            for (int c = 0; c < 9; c++)
                stretches[9 * t + (size_t)c] =
                    c / 3 < e->dimension && c % 3 < e->dimension ? (c % 4 == 0) + SHARE * q[c] : 0;
        arap_multiply33(axes, q, stress);
        for (int k = 0; k < e->corners; k++)
            for (int r = 0; r < 3; r++)
                for (int b = 0; b < e->dimension; b++)
                    work->pull[3 * (size_t)mixed->place[e->corner[k]] + (size_t)r] +=
                        2 * e->size * SHARE * SHARE * stress[3 * r + b] *
                        e->slope[k * e->dimension + b];
    }
    for (size_t i = 0; i < (size_t)mixed->hold->count; i++)
        for (size_t c = 0; c < 3; c++) {
            size_t at = 3 * (size_t)mixed->place[i] + c;
            double off = work->x[at] - pose->target[3 * i + c];
            energy += mixed->hold->strength[i] * off * off;
            work->pull[at] += 2 * mixed->hold->strength[i] * off;
        }
    return energy;
}

/* dJ/dw of the element for turns from the left, where z is the adjoint. */
static void turn_element(const arap_mixed *mixed, const arap_mixed_element *e, const double *axes,
                         const double *x, const double *z, double *out) {
    double f[9], fz[9], g[9], gz[9], q[9], d[9], dz[9], side[9];
    gradient_of(mixed, e, x, f);
    gradient_of(mixed, e, z, fz);
    to_axes(axes, f, g);
    to_axes(axes, fz, gz);
    strain_of(e->dimension, g, q);
    out[0] = out[1] = out[2] = 0;
    arap_multiply33(axes, q, side);
    add_moment(f, side, -2 * e->size * SHARE * SHARE, out);
    respond(e->dimension, g, d);
    for (int c = 0; c < e->dimension; c++) d[4 * c] -= SHARE;
    arap_multiply33(axes, d, side);
    add_moment(side, fz, -e->size, out);
    respond(e->dimension, gz, dz);
    arap_multiply33(axes, dz, side);
    add_moment(f, side, e->size, out);
}

/* The derivatives by the turns of the samples. */
static void gather_gradient(const arap_mixed *mixed, const arap_mixed_pose *pose,
                            const double *turns, arap_mixed_work *work, double *energy,
                            double *gradient) {
    size_t n = (size_t)mixed->body->mesh.count, samples = (size_t)mixed->samples.count;
    memset(work->slope, 0, 3 * n * sizeof(double));
    for (size_t t = 0; t < mixed->count; t++) {
        const arap_mixed_element *e = mixed->element + t;
        double axes[9], own[3], mean[3], by_vector[3];
        pose_axes(e, work->rotation + 9 * t, axes);
        turn_element(mixed, e, axes, work->x, work->z, own);
        arap_mean_turn(work->turn, e->corners, e->corner, mean);
        arap_turn_back(mean, own, by_vector);
        for (int k = 0; k < e->corners; k++)
            for (int c = 0; c < 3; c++)
                work->slope[3 * (size_t)e->corner[k] + (size_t)c] += by_vector[c] / e->corners;
    }
    memset(gradient, 0, 3 * samples * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t s = 0; s < samples; s++)
            for (size_t c = 0; c < 3; c++)
                gradient[3 * s + c] +=
                    mixed->samples.weight[i * samples + s] * work->slope[3 * i + c];
    for (size_t s = 0; s < samples; s++) {
        double own[9], rotation[9], left[3] = {0}, by_vector[3];
        const double *bone = pose->bone_turn + 9 * s;
        arap_rotation_from_vector(turns + 3 * s, own);
        arap_multiply33(own, pose->mean, rotation);
        for (int c = 0; c < 9; c++) {
            double off = rotation[c] - bone[c];
            *energy += mixed->turn_pull * off * off;
        }
        add_moment(rotation, bone, -2 * mixed->turn_pull, left);
        arap_turn_back(turns + 3 * s, left, by_vector);
        for (size_t c = 0; c < 3; c++) gradient[3 * s + c] += by_vector[c];
    }
}

arap_status arap_mixed_evaluate(arap_context *context, const arap_mixed *mixed,
                                const arap_mixed_pose *pose, const double *turns,
                                arap_mixed_work *work, double *energy, double *gradient, double *x,
                                double *stretches) {
    turn_elements(mixed, pose, turns, work);
    arap_status status = solve_points(context, mixed, pose, work);
    if (status) return status;
    *energy = cost_of_points(mixed, pose, work, stretches);
    memcpy(work->z, work->pull, 3 * (size_t)mixed->hold->count * sizeof(double));
    status = arap_factor_solve(context, work->factor, work->z);
    if (status) return status;
    gather_gradient(mixed, pose, turns, work, energy, gradient);
    for (size_t i = 0; i < (size_t)mixed->hold->count; i++)
        for (size_t c = 0; c < 3; c++) x[3 * i + c] = work->x[3 * (size_t)mixed->place[i] + c];
    return ARAP_OK;
}
