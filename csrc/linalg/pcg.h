/* Preconditioned conjugate gradients for a symmetric positive definite system A x = b. */
#ifndef ARAP_PCG_H
#define ARAP_PCG_H

#include "base/context.h"

/* The system to solve. multiply: out = A p. precondition: replace z by an approximate solution for
 * z. enough: whether to stop because x, whose residual r has been preconditioned to z, is accurate
 * enough or hopeless; left: r'z, the square of the error in the norm of A. `enough` may change x,
 * and is called once for each step, starting with step 0. */
typedef struct arap_pcg {
    int size;
    void *data;
    arap_status (*multiply)(arap_context *context, void *data, const double *p, double *out);
    arap_status (*precondition)(arap_context *context, void *data, double *z);
    int (*enough)(void *data, int step, double left, const double *z, double *x);
} arap_pcg;

double arap_dot_of(int size, const double *a, const double *b);

/* x (size): b on entry, the solution on return; work (4 size): starts with the residual on return.
 * Also stops if A is not positive definite along the next step. */
arap_status arap_pcg_solve(arap_context *context, const arap_pcg *pcg, double *work, double *x);

#endif
