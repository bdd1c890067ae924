/* The rotation nearest to a matrix: see rotation.h.
 *
 * tr(R(q)^T A) = q^T K q for the unit quaternion q of R, with a symmetric 4x4 matrix K linear in A
 * (Horn 1987). The best rotation is therefore the eigenvector of the largest eigenvalue. The cyclic
 * Jacobi method finds this eigenvector up to rounding errors, even in degenerate cases, in about 1
 * us.
 *
 * The formula of local_kernel.h is tried first, with Newton steps until convergence. The formula is
 * equally accurate unless z, the distance of the best rotation from the next best, is tiny, or
 * Newton's method has converged to another root. Each rotation takes about 0.15 us, with four
 * computed side by side. The function cannot fail. It returns the identity for a matrix of zeros.
 * */
#include "linalg/rotation.h"

#include <math.h>

#include "base/wide.h"
#include "linalg/jacobi.h"

#define SWEEPS 12
#define NEWTON 30
#define FLAT 1e-7 /* z below which matrices are left to the Jacobi method */

typedef double lane4 __attribute__((vector_size(32)));
typedef long long mask4 __attribute__((vector_size(32)));

/* Replace r by r (3 - r^T r) / 2, a Newton-Schulz step. */
ARAP_WIDE_PART void orthogonalize(lane4 *r) {
    lane4 g[9], q[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            g[3 * i + j] = (i == j ? 1.5 : 0) -
                           0.5 * (r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            q[3 * i + j] = r[3 * i] * g[j] + r[3 * i + 1] * g[3 + j] + r[3 * i + 2] * g[6 + j];
    for (int i = 0; i < 9; i++) r[i] = q[i];
}

ARAP_WIDE_PART int any(mask4 m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

/* x where the mask is set, otherwise y. */
ARAP_WIDE_PART lane4 choose(mask4 mask, lane4 x, lane4 y) {
    return (lane4)((mask & (mask4)x) | (~mask & (mask4)y));
}

/* FOAM for four matrices m with largest entry 1, with interleaved numbers. The result is unreliable
 * for matrices in the returned mask. */
ARAP_WIDE_PART void by_formula(const lane4 *m, lane4 *r, mask4 *left) {
    lane4 norm2 = {0}, f2 = {0}, a[9], f[9], bb[9], inverse;
    for (int i = 0; i < 9; i++) norm2 += m[i] * m[i];
    for (int i = 0; i < 4; i++) inverse[i] = 1 / sqrt(norm2[i]);
    for (int i = 0; i < 9; i++) a[i] = m[i] * inverse;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            f[3 * i + j] = a[3 * i1 + j1] * a[3 * i2 + j2] - a[3 * i1 + j2] * a[3 * i2 + j1];
            f2 += f[3 * i + j] * f[3 * i + j];
        }
    lane4 det = a[0] * f[0] + a[1] * f[1] + a[2] * f[2];
    /* The largest root is at most sqrt 3; from above, Newton descends to it. */
    lane4 l = (lane4){0} + 1.7320508075688774, slip = l;
    mask4 astray = {0}, going = slip > 1e-16;
    for (int step = 0; step < NEWTON && any(going); step++) {
        lane4 u = l * l - 1.0, slope = 4.0 * l * u - 8.0 * det;
        astray |= going & ~(slope > 0);
        going &= slope > 0;
        lane4 next = (u * u - 8.0 * l * det - 4.0 * f2) / slope;
        slip = choose(going, next, slip);
        l = choose(going, l - next, l);
        going &= slip > 1e-16;
    }
    lane4 k = 0.5 * (l * l - 1.0), z = k * l - det;
    *left = astray | ~(z > FLAT) | (slip > 1e-9 * z);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            bb[3 * i + j] =
                a[3 * i] * a[3 * j] + a[3 * i + 1] * a[3 * j + 1] + a[3 * i + 2] * a[3 * j + 2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = ((k + 1.0) * a[3 * i + j] + l * f[3 * i + j] - bb[3 * i] * a[j] -
                            bb[3 * i + 1] * a[3 + j] - bb[3 * i + 2] * a[6 + j]) /
                           z;
    orthogonalize(r);
    orthogonalize(r);
}

/* The eigenvector of the largest eigenvalue of K, for m with largest entry 1 or of zeros. */
static void by_jacobi(const double *m, double *rotation) {
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
        if (off < 1e-10) break; /* the error after that sweep is its square */
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

/* Up to four. */
ARAP_WIDE_PART void four_rotations_plain(int count, const double *a, double *rotations) {
    lane4 m[9], r[9];
    mask4 left;
    for (int k = 0; k < 4; k++) {
        const double *own = a + 9 * (k < count ? k : 0);
        double scale = 0;
        for (int i = 0; i < 9; i++) scale = fabs(own[i]) > scale ? fabs(own[i]) : scale;
        for (int i = 0; i < 9; i++) m[i][k] = scale > 0 ? own[i] / scale : 0;
    }
    by_formula(m, r, &left);
    for (int k = 0; k < count; k++) {
        double *out = rotations + 9 * k, own[9];
        for (int i = 0; i < 9; i++) {
            out[i] = r[i][k];
            own[i] = m[i][k];
        }
        if (left[k]) by_jacobi(own, out);
    }
}
ARAP_WIDE(four_rotations, (int count, const double *a, double *rotations), (count, a, rotations))

void arap_nearest_rotations(size_t count, const double *a, double *rotations) {
    for (size_t k = 0; k < count; k += 4)
        four_rotations(count - k < 4 ? (int)(count - k) : 4, a + 9 * k, rotations + 9 * k);
}

void arap_nearest_rotation(const double *a, double *rotation) {
    arap_nearest_rotations(1, a, rotation);
}
