/* BLAS calls: see blas.h. O(rows columns^2) for a product, O(n^3) for Cholesky, which tells by
 * its result that a matrix is not positive definite. */
#include "linalg/blas.h"

#include <stddef.h>

/* CBLAS constants of the reference interface. */
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, UPPER = 121 };

void scipy_cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double *a,
                       int lda, double beta, double *c, int ldc);

void scipy_cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                       const double *a, int lda, const double *b, int ldb, double beta, double *c,
                       int ldc);

void scipy_openblas_set_num_threads(int count);

void scipy_dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void scipy_dpotrs_(const char *uplo, const int *n, const int *count, const double *a,
                   const int *lda, double *b, const int *ldb, int *info, size_t);

void arap_blas_single_thread(void) { scipy_openblas_set_num_threads(1); }

void arap_gram(int rows, int columns, const double *a, double *out) {
    scipy_cblas_dsyrk(ROW_MAJOR, UPPER, TRANSPOSED, columns, rows, 1, a, columns, 0, out, columns);
    const size_t n = (size_t)columns;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) out[i * n + j] = out[j * n + i];
}

void arap_add_gram(int rows, int columns, const double *a, double *out) {
    scipy_cblas_dsyrk(ROW_MAJOR, UPPER, TRANSPOSED, columns, rows, 1, a, columns, 1, out, columns);
}

void arap_add_product(int rows, int inner, int columns, const double *a, const double *b,
                      double *out) {
    scipy_cblas_dgemm(ROW_MAJOR, PLAIN, PLAIN, rows, columns, inner, 1, a, inner, b, columns, 1,
                      out, columns);
}

int arap_cholesky(int n, double *a) {
    int info = 0;
    if (n > 0) scipy_dpotrf_("L", &n, a, &n, &info, 1);
    return info == 0;
}

void arap_cholesky_solve(int n, const double *a, int count, double *x) {
    int info = 0;
    if (n > 0 && count > 0) scipy_dpotrs_("L", &n, &count, a, &n, x, &n, &info, 1);
}
