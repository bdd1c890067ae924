/* Quaternions of affine maps: see quaternion.h.
 *
 * If the linear part of a map is not a rotation, the mapped axes of the bone are made orthogonal.
 * This step preserves the direction of Y exactly, and that of X as far as possible. The result is
 * the rotation to these axes. For a mirror image, Z is flipped. Constant cost; cannot fail. */
#include "linalg/quaternion.h"

#define ORTHONORMAL 1e-5 /* tolerance for products of the columns of a rotation */

/* Unit quaternion of the rotation with these columns (3, 3), each of length 1, or 0 if a bone has
 * no extent. */
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
    double length = sqrt(arap_quaternion_dot(q, q));
    for (int k = 0; k < 4; k++) q[k] /= length;
}

static void normalize(double *v) {
    double length = sqrt(arap_dot(v, v));
    for (int c = 0; c < 3 && length > 0; c++) v[c] /= length;
}

int arap_is_rotation(const double (*column)[3]) {
    double normal[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            if (fabs(arap_dot(column[i], column[j]) - (i == j)) > ORTHONORMAL) return 0;
    arap_cross(column[0], column[1], normal);
    return arap_dot(normal, column[2]) > 0;
}

/* Make columns orthonormal that need not be orthogonal or of length 1. Like Blender, use their
 * lengths to choose which of X and Z is adjusted to Y. */
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

void arap_transform_quaternion(const double *transform, const double *axes, double *q) {
    double column[3][3], posed[3][3], rest[3][3], turned[4], back[4];
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++) {
            column[c][r] = transform[4 * r + c];
            rest[c][r] = axes ? axes[3 * r + c] : r == c;
        }
    if (arap_is_rotation((const double (*)[3])column)) {
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
    arap_quaternion_product(turned, back, q);
}
