/* Dual quaternion blending and its derivative: see dual_blend.h.
 *
 * At a vertex v, the transform T_b of a bone is replaced by its rotation q_b and the translation
 * t_b = T_b v - q_b v q_b*, which together move v to T_b v. Scale and shear move the vertex but are
 * not blended. Let s_b be -1 if q_b lies on the other side of the sum so far, and 1 otherwise, so
 * that rotations take the shorter path. Then
 *     Q = sum_b s_b w_b q_b
 *     D = sum_b s_b w_b d_b,  d_b = (0, t_b) q_b / 2
 *     p = (Q v Q* + 2 Im(D Q*)) / |Q|^2
 * The weights need not sum to 1. Bones are summed in the given order.
 *
 * With quaternions V = (0, v) and P = (0, f), and <a, b> their dot product, <f, Q v Q*> = <P Q V*,
 * Q> and <f, Im(D Q*)> = <P Q, D> = -<P D, Q>, so that
 *     f . dp/dw_b = s_b <g, q_b> + s_b <h, d_b>
 *     g = -2 (P Q V + P D + (f . p) Q) / |Q|^2,   h = 2 P Q / |Q|^2
 * with s_b held fixed; p jumps when s_b changes. For a bone without weight, s_b is determined
 * relative to the whole sum.
 *
 * Takes O(count), about 20 ns per bone. Cannot fail. */
#include "rig/dual_blend.h"

#include <stddef.h>

#include "linalg/quaternion.h"

/* d_b, twice as long. */
static void twice_dual(const arap_dual_pose *pose, const double *v, int bone, double *out) {
    const double *t = pose->transforms + 12 * (size_t)bone;
    const double *q = pose->quaternions + 4 * (size_t)bone;
    double turned[3], moved[4] = {0};
    arap_quaternion_rotate(q, v, turned);
    for (int c = 0; c < 3; c++) moved[1 + c] = arap_dot(t + 4 * c, v) + t[4 * c + 3] - turned[c];
    arap_quaternion_product(moved, q, out);
}

double arap_dual_blend(const arap_dual_pose *pose, const double *v, int count, const int *bone,
                       const double *weight, arap_dual_sum *sum) {
    double total = 0;
    *sum = (arap_dual_sum){{0}, {0}};
    for (int k = 0; k < count; k++) {
        const double *q = pose->quaternions + 4 * (size_t)bone[k];
        double w = weight[k], part[4];
        total += w;
        if (arap_quaternion_dot(q, sum->real) < 0) w = -w;
        twice_dual(pose, v, bone[k], part);
        for (int c = 0; c < 4; c++) {
            sum->real[c] += w * q[c];
            sum->dual[c] += 0.5 * w * part[c];
        }
    }
    return total;
}

void arap_dual_point(const arap_dual_sum *sum, const double *v, double *out) {
    const double *real = sum->real;
    double length2 = arap_quaternion_dot(real, real), turned[3], shift[4];
    double conjugate[4] = {real[0], -real[1], -real[2], -real[3]};
    arap_quaternion_rotate(real, v, turned);
    arap_quaternion_product(sum->dual, conjugate, shift);
    for (int c = 0; c < 3; c++) out[c] = length2 > 0 ? (turned[c] + 2 * shift[1 + c]) / length2 : 0;
}

void arap_dual_force(const arap_dual_pose *pose, const double *v, int count, const int *bone,
                     const double *weight, const arap_dual_sum *sum, const double *point,
                     const double *pull, double *out) {
    const double *real = sum->real;
    double length2 = arap_quaternion_dot(real, real), so_far[4] = {0};
    double f[4] = {0, pull[0], pull[1], pull[2]}, at[4] = {0, v[0], v[1], v[2]};
    double turned[4], g[4], shifted[4], h[4], along = arap_dot(pull, point);
    if (!(length2 > 0)) return;
    arap_quaternion_product(f, real, h);
    arap_quaternion_product(h, at, turned);
    arap_quaternion_product(f, sum->dual, shifted);
    for (int c = 0; c < 4; c++) {
        g[c] = -2 * (turned[c] + shifted[c] + along * real[c]) / length2;
        h[c] /= length2; /* half of it: d_b comes twice as long */
    }
    for (int k = 0; k < count; k++) {
        const double *q = pose->quaternions + 4 * (size_t)bone[k];
        const double *side = weight[k] != 0 ? so_far : real;
        double sign = arap_quaternion_dot(q, side) < 0 ? -1 : 1, part[4];
        twice_dual(pose, v, bone[k], part);
        out[k] += sign * (arap_quaternion_dot(g, q) + arap_quaternion_dot(h, part));
        for (int c = 0; c < 4; c++) so_far[c] += sign * weight[k] * q[c];
    }
}
