/* The few BLAS routines that the engine uses. They come from OpenBLAS or, if OpenBLAS gives wrong
 * results, are plain loops. */
#ifndef ARAP_BLAS_H
#define ARAP_BLAS_H

#include "base/context.h"

/* Permanently restrict BLAS to the calling thread. The worker threads of BLAS would spin between
 * calls on the cores that the local step needs, share one pool between all solvers, and make
 * results depend on other callers. The function is called once, when the module is loaded. */
void arap_blas_single_thread(void);

/* Switch to plain loops permanently, also for CHOLMOD. The function is called when the module is
 * loaded, or never. */
void arap_blas_use_plain_loops(void);

/* Compute the Cholesky factor of the symmetric `a` (n, n) in place. Returns 0 if `a` is not
 * positive definite. The second function uses this factor to solve for `count` right-hand sides x
 * (count, n) in place. */
int arap_cholesky(int n, double *a);
void arap_cholesky_solve(int n, const double *a, int count, double *x);

/* Compute the Cholesky factor of a part of a larger matrix, on and below the diagonal by columns.
 * Returns 0, or the number of the first column that shows that the part is not positive
 * definite. */
int arap_lower_cholesky(int n, double *a, int lda);

/* For A (high, inner) by columns and its first `wide` rows B, compute out (high, wide) = A B', of
 * which only the entries on and below the diagonal are valid. */
void arap_lower_product(int high, int wide, int inner, const double *a, int lda, double *out);

/* For A (high, inner) and B (wide, inner) by columns, compute out = keep out + scale A B'. */
void arap_scaled_product(int high, int wide, int inner, double scale, const double *a,
                         const double *b, int ldab, double keep, double *out, int ldo);

/* Compute the rows X of a factor below such a part L: solves X L' = the current content, in
 * place. */
void arap_solve_below(int rows, int columns, const double *l, double *x, int ld);

/* Single-precision versions of the four functions above, a function that solves for x in place with
 * the factor L or, with 'T', L', and one that computes y -= A x or A' x. They are available only if
 * arap_blas_has_single is true, because the plain loops use double precision. */
int arap_blas_has_single(void);
int arap_lower_cholesky_single(int n, float *a, int lda);
void arap_lower_product_single(int high, int wide, int inner, const float *a, int lda, float *out);
void arap_scaled_product_single(int high, int wide, int inner, float scale, const float *a,
                                const float *b, int ldab, float keep, float *out, int ldo);
void arap_solve_below_single(int rows, int columns, const float *l, float *x, int ld);
void arap_solve_vector_single(char op, int n, const float *l, int ldl, float *x);
void arap_subtract_product_single(char op, int rows, int columns, const float *a, int lda,
                                  const float *x, float *y);

/* Factorize a matrix that may be large, polling for cancellation (ARAP_CANCELLED); `definite`:
 * whether the factor exists. */
arap_status arap_long_cholesky(arap_context *context, int n, double *a, int *definite);

/* Compute out (columns, columns) = A^T A, symmetric, for A (rows, columns) row-major. */
void arap_gram(int rows, int columns, const double *a, double *out);

/* Compute out (columns, others) = A^T B for A (rows, columns) and B (rows, others), row-major. */
void arap_gram_between(int rows, int columns, const double *a, int others, const double *b,
                       double *out);

/* Add A^T A to out, changing only the entries on and above the diagonal. */
void arap_add_gram(int rows, int columns, const double *a, double *out);

/* Compute out (rows, columns) += A B for A (rows, inner) and B (inner, columns), all row-major. */
void arap_add_product(int rows, int inner, int columns, const double *a, const double *b,
                      double *out);

/* Compute out (rows, others) += A B' for A (rows, inner) and B (others, inner), all row-major. */
void arap_add_product_of_rows(int rows, int inner, int others, const double *a, const double *b,
                              double *out);

/* Tests whether OpenBLAS and plain loops agree on this processor. Returns the name of the routine
 * of the linked OpenBLAS that gives wrong results, "memory" if there is too little memory for the
 * test, or NULL if all results are correct. Takes milliseconds. `spoiled`, for tests: a routine
 * whose result is altered in the tenth digit of one number, or NULL. */
const char *arap_blas_wrong(const char *spoiled);

#endif
