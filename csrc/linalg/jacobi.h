/* One rotation of the cyclic Jacobi method for the eigenvectors of small symmetric matrices. */
#ifndef ARAP_JACOBI_H
#define ARAP_JACOBI_H

#include <math.h>

/* Rotate rows and columns p, q of the symmetric matrix k (n, n) so that k[p][q] becomes zero. The
 * columns of v (n, n) accumulate the rotations. */
static inline void arap_annihilate(int n, double *k, double *v, int p, int q) {
    if (k[p * n + q] == 0) return;
    double theta = (k[q * n + q] - k[p * n + p]) / (2 * k[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < n; i++) {
        double x = k[i * n + p], y = k[i * n + q];
        k[i * n + p] = c * x - s * y;
        k[i * n + q] = s * x + c * y;
    }
    for (int i = 0; i < n; i++) {
        double x = k[p * n + i], y = k[q * n + i];
        k[p * n + i] = c * x - s * y;
        k[q * n + i] = s * x + c * y;
        x = v[i * n + p], y = v[i * n + q];
        v[i * n + p] = c * x - s * y;
        v[i * n + q] = s * x + c * y;
    }
}

#endif
