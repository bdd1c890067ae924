/* Preconditioned conjugate gradients for a symmetric positive definite system A x = b. */
#ifndef ARAP_PCG_H
#define ARAP_PCG_H

#include "base/context.h"

/* What is solved. multiply: out = A p. precondition: z becomes what solves for it about. enough: is
 * x good, whose residual r has been preconditioned to z, or hopeless? left: r'z, the square of the
 * error in the norm of A. It may change x, and sees each step once, from 0 on. */
typedef struct arap_pcg {
    int size;
    void *data;
    arap_status (*multiply)(arap_context *context, void *data, const double *p, double *out);
    arap_status (*precondition)(arap_context *context, void *data, double *z);
    int (*enough)(void *data, int step, double left, const double *z, double *x);
} arap_pcg;

double arap_dot_of(int size, const double *a, const double *b);

/* x (size): b, and then the solution; work (4 size): begins with the residual afterwards. Ends,
 * too, where A is not positive definite along the next step. */
arap_status arap_pcg_solve(arap_context *context, const arap_pcg *pcg, double *work, double *x);

#endif
