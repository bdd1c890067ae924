/* The few BLAS calls of our own. OpenBLAS comes from scipy-openblas32, whose symbols carry a
 * scipy_ prefix so that they never meet the BLAS of the process we are loaded into. */
#ifndef ARAP_BLAS_H
#define ARAP_BLAS_H

/* Keep BLAS to the calling thread, for good. Its worker threads would spin between calls on
 * the cores that the local step needs, share one pool between all solvers, and make results
 * depend on who else calls. Called once, when the module is loaded. */
void arap_blas_single_thread(void);

/* out (columns, columns) = A^T A, symmetric, for A (rows, columns) row-major. */
void arap_gram(int rows, int columns, const double *a, double *out);

#endif
