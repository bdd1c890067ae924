/* The rotation nearest to a matrix: see rotation.h.
 *
 * tr(R(q)^T A) = q^T K q for the unit quaternion q of R, with a symmetric 4x4 matrix K linear
 * in A (Horn 1987): the best rotation is the eigenvector of the largest eigenvalue. Cyclic
 * Jacobi finds it to rounding, degenerate or not; about 1 us.
 *
 * The formula of local_kernel.h comes first, with Newton steps until they end. It is as good
 * unless z, how far the best rotation is from the next best, is tiny or Newton went astray;
 * about 0.15 us. It cannot fail: of a matrix of zeros the identity is nearest. */
#include "linalg/rotation.h"

#include <math.h>

#include "linalg/jacobi.h"

#define SWEEPS 12
#define NEWTON 30
#define FLAT 1e-7 /* z of matrices that are left to Jacobi */

/* r <- r (3 - r^T r) / 2, a Newton-Schulz step. */
static void orthogonalize(double *r) {
    double g[9], q[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            g[3 * i + j] = (i == j ? 1.5 : 0) -
                           0.5 * (r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            q[3 * i + j] = r[3 * i] * g[j] + r[3 * i + 1] * g[3 + j] + r[3 * i + 2] * g[6 + j];
    for (int i = 0; i < 9; i++) r[i] = q[i];
}

/* FOAM for m with largest entry 1; 0 where it cannot be relied on. */
static int by_formula(const double *m, double *r) {
    double norm2 = 0, f2 = 0, a[9], f[9], bb[9];
    for (int i = 0; i < 9; i++) norm2 += m[i] * m[i];
    double inverse = 1 / sqrt(norm2);
    for (int i = 0; i < 9; i++) a[i] = m[i] * inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            f[3 * i + j] = a[3 * i1 + j1] * a[3 * i2 + j2] - a[3 * i1 + j2] * a[3 * i2 + j1];
            f2 += f[3 * i + j] * f[3 * i + j];
        }
    double det = a[0] * f[0] + a[1] * f[1] + a[2] * f[2];
    /* The largest root is at most sqrt 3; from above, Newton descends to it. */
    double l = 1.7320508075688774, slip = l;
    for (int step = 0; step < NEWTON && slip > 1e-16; step++) {
        double u = l * l - 1, slope = 4 * l * u - 8 * det;
        if (!(slope > 0)) return 0;
        slip = (u * u - 8 * l * det - 4 * f2) / slope;
        l -= slip;
    }
    double k = 0.5 * (l * l - 1), z = k * l - det;
    if (!(z > FLAT) || slip > 1e-9 * z) return 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            bb[3 * i + j] =
                a[3 * i] * a[3 * j] + a[3 * i + 1] * a[3 * j + 1] + a[3 * i + 2] * a[3 * j + 2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = ((k + 1) * a[3 * i + j] + l * f[3 * i + j] - bb[3 * i] * a[j] -
                            bb[3 * i + 1] * a[3 + j] - bb[3 * i + 2] * a[6 + j]) /
                           z;
    orthogonalize(r);
    orthogonalize(r);
    return 1;
}

void arap_nearest_rotation(const double *a, double *rotation) {
    double scale = 0;
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(a[i]));
    double m[9];
    for (int i = 0; i < 9; i++) m[i] = scale > 0 ? a[i] / scale : 0;
    if (scale > 0 && by_formula(m, rotation)) return;
    double k[4][4] = {
        {m[0] + m[4] + m[8], m[7] - m[5], m[2] - m[6], m[3] - m[1]},
        {m[7] - m[5], m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]},
        {m[2] - m[6], m[1] + m[3], m[4] - m[0] - m[8], m[5] + m[7]},
        {m[3] - m[1], m[2] + m[6], m[5] + m[7], m[8] - m[0] - m[4]},
    };
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0;
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 4; q++) {
                off += fabs(k[p][q]);
                arap_annihilate(4, &k[0][0], &v[0][0], p, q);
            }
        if (off < 1e-10) break; /* what that sweep left is its square */
    }
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (k[i][i] > k[best][best]) best = i;
    double w = v[0][best], x = v[1][best], y = v[2][best], z = v[3][best];
    double norm = 2 / (w * w + x * x + y * y + z * z);
    double r[9] = {
        1 - norm * (y * y + z * z), norm * (x * y - w * z),     norm * (x * z + w * y),
        norm * (x * y + w * z),     1 - norm * (x * x + z * z), norm * (y * z - w * x),
        norm * (x * z - w * y),     norm * (y * z + w * x),     1 - norm * (x * x + y * y)};
    for (int i = 0; i < 9; i++) rotation[i] = r[i];
}
