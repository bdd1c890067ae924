/* The rotation nearest to a matrix: see rotation.h.
 *
 * tr(R(q)^T A) = q^T K q for the unit quaternion q of R, with a symmetric 4x4 matrix K linear
 * in A (Horn 1987): the best rotation is the eigenvector of the largest eigenvalue. Cyclic
 * Jacobi finds it to rounding, degenerate or not; about 1 us. */
#include "rotation.h"

#include <math.h>

#define SWEEPS 12

/* Jacobi rotation of rows and columns p, q that makes k[p][q] zero; v collects it. */
static void annihilate(double k[4][4], double v[4][4], int p, int q) {
    if (k[p][q] == 0) return;
    double theta = (k[q][q] - k[p][p]) / (2 * k[p][q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < 4; i++) {
        double x = k[i][p], y = k[i][q];
        k[i][p] = c * x - s * y;
        k[i][q] = s * x + c * y;
    }
    for (int i = 0; i < 4; i++) {
        double x = k[p][i], y = k[q][i];
        k[p][i] = c * x - s * y;
        k[q][i] = s * x + c * y;
        x = v[i][p], y = v[i][q];
        v[i][p] = c * x - s * y;
        v[i][q] = s * x + c * y;
    }
}

void arap_nearest_rotation(const double *a, double *rotation) {
    double scale = 0;
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(a[i]));
    double m[9];
    for (int i = 0; i < 9; i++) m[i] = scale > 0 ? a[i] / scale : 0;
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
                annihilate(k, v, p, q);
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
