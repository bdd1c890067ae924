/* The routines of BLAS and LAPACK that we and CHOLMOD call, as plain loops. These routines are the
 * reference for OpenBLAS when the module is loaded (blas_test.c), and replace OpenBLAS if it gives
 * wrong results. Matrices are stored by columns, as in Fortran. Triangles are lower triangles with
 * a general diagonal. */
#ifndef ARAP_PLAIN_BLAS_H
#define ARAP_PLAIN_BLAS_H

/* 'N' for the matrix itself, 'T' or 'C' for the transposed matrix. C (m, n) = alpha op(A) op(B) +
 * beta C */
void arap_plain_gemm(char op_a, char op_b, int m, int n, int k, double alpha, const double *a,
                     int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* Lower triangle of C (n, n) = alpha A A' + beta C, for A (n, k). */
void arap_plain_syrk(int n, int k, double alpha, const double *a, int lda, double beta, double *c,
                     int ldc);

/* Replace B by X (m, n): op(L) X = B for side 'L', X op(L) = B for side 'R'. */
void arap_plain_trsm(char side, char op, int m, int n, const double *l, int ldl, double *b,
                     int ldb);

/* Lower Cholesky factor of A (n, n) in place. Returns 0, or the number of the first column that
 * shows that A is not positive definite. */
int arap_plain_potrf(int n, double *a, int lda);

#endif
