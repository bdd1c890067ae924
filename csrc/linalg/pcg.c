/* Conjugate gradients: see pcg.h.
 *
 * Uses the textbook recurrence (Hestenes & Stiefel 1952) from x = 0, with one product with A and
 * one application of the preconditioner per step. Sums run from the first unknown to the last on
 * one thread, so results are the same with any number of threads. Fails if the caller's functions
 * fail. */
#include "linalg/pcg.h"

#include <string.h>

double arap_dot_of(int size, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

arap_status arap_pcg_solve(arap_context *context, const arap_pcg *pcg, double *work, double *x) {
    int n = pcg->size;
    double *r = work, *z = r + n, *p = z + n, *q = p + n, before = 0;
    memcpy(r, x, (size_t)n * sizeof *x);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int step = 0;; step++) {
        memcpy(z, r, (size_t)n * sizeof *z);
        arap_status status = pcg->precondition(context, pcg->data, z);
        if (status) return status;
        double left = arap_dot_of(n, r, z);
        if (pcg->enough(pcg->data, step, left, z, x)) return ARAP_OK;
        double share = step ? left / before : 0;
        for (int i = 0; i < n; i++) p[i] = step ? z[i] + share * p[i] : z[i];
        before = left;
        status = pcg->multiply(context, pcg->data, p, q);
        if (status) return status;
        double curvature = arap_dot_of(n, p, q);
        if (!(curvature > 0)) return ARAP_OK;
        double length = left / curvature;
        for (int i = 0; i < n; i++) {
            x[i] += length * p[i];
            r[i] -= length * q[i];
        }
    }
}
