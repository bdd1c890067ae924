/* The few BLAS calls of our own. OpenBLAS comes from scipy-openblas32, whose symbols carry a
 * scipy_ prefix so that they never meet the BLAS of the process we are loaded into. */
#ifndef ARAP_BLAS_H
#define ARAP_BLAS_H

/* Keep BLAS to the calling thread, for good. Its worker threads would spin between calls on
 * the cores that the local step needs, share one pool between all solvers, and make results
 * depend on who else calls. Called once, when the module is loaded. */
void arap_blas_single_thread(void);

/* Cholesky factor of the symmetric positive definite `a` (n, n), in place; 0 if it is none. Then
 * solve for `count` right-hand sides x (count, n) in place. */
int arap_cholesky(int n, double *a);
void arap_cholesky_solve(int n, const double *a, int count, double *x);

/* out (columns, columns) = A^T A, symmetric, for A (rows, columns) row-major. */
void arap_gram(int rows, int columns, const double *a, double *out);

/* The same added to out, of which only what is on and above the diagonal is changed. */
void arap_add_gram(int rows, int columns, const double *a, double *out);

/* out (rows, columns) += A B for A (rows, inner) and B (inner, columns), all row-major. */
void arap_add_product(int rows, int inner, int columns, const double *a, const double *b,
                      double *out);

#endif
