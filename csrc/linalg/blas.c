/* BLAS calls: see blas.h. O(rows columns^2) for a product, O(n^3) for Cholesky, which returns
 * whether the matrix is positive definite. With more than UNHEARD rows LAPACK takes longer than an
 * Esc may wait: such a matrix is factorized panel by panel here, as LAPACK does internally. */
#include "linalg/blas.h"

#include <stddef.h>

/* CBLAS constants of the reference interface. */
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, UPPER = 121, NON_UNIT = 131, LEFT = 141 };

#define UNHEARD 1536
#define PANEL 384
#define TILE 16

void scipy_cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double *a,
                       int lda, double beta, double *c, int ldc);

void scipy_cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                       const double *a, int lda, const double *b, int ldb, double beta, double *c,
                       int ldc);

void scipy_cblas_dtrsm(int order, int side, int uplo, int trans, int diagonal, int m, int n,
                       double alpha, const double *a, int lda, double *b, int ldb);

void scipy_openblas_set_num_threads(int count);

void scipy_dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void scipy_dpotrs_(const char *uplo, const int *n, const int *count, const double *a,
                   const int *lda, double *b, const int *ldb, int *info, size_t);

void arap_blas_single_thread(void) { scipy_openblas_set_num_threads(1); }

void arap_gram(int rows, int columns, const double *a, double *out) {
    scipy_cblas_dsyrk(ROW_MAJOR, UPPER, TRANSPOSED, columns, rows, 1, a, columns, 0, out, columns);
    const size_t n = (size_t)columns;
    for (size_t tile = 0; tile < n; tile += TILE) /* of columns: each is read along its rows */
        for (size_t i = tile; i < n; i++)
            for (size_t j = tile; j < i && j < tile + TILE; j++) out[i * n + j] = out[j * n + i];
}

void arap_gram_between(int rows, int columns, const double *a, int others, const double *b,
                       double *out) {
    scipy_cblas_dgemm(ROW_MAJOR, TRANSPOSED, PLAIN, columns, others, rows, 1, a, columns, b, others,
                      0, out, others);
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

/* Rows and columns k to k + width of A are those of its factor, the rest is what remains. */
static arap_status factor_panel(arap_context *context, size_t n, size_t k, size_t width,
                                double *a) {
    arap_status status = ARAP_OK;
    const double *above = a + k * n;
    int lda = (int)n, rows = (int)width;
    if (k + width < n)
        scipy_cblas_dtrsm(ROW_MAJOR, LEFT, UPPER, TRANSPOSED, NON_UNIT, rows, (int)(n - k - width),
                          1, above + k, lda, a + k * n + k + width, lda);
    for (size_t j = k + width; j < n && !status; j += width) {
        size_t wide = n - j < width ? n - j : width;
        status = arap_listen(context);
        if (!status)
            scipy_cblas_dgemm(ROW_MAJOR, TRANSPOSED, PLAIN, (int)wide, (int)(n - j), rows, -1,
                              above + j, lda, above + j, lda, 1, a + j * n + j, lda);
    }
    return status;
}

arap_status arap_long_cholesky(arap_context *context, int n, double *a, int *definite) {
    arap_status status = arap_listen(context);
    int info = 0;
    *definite = n > UNHEARD || arap_cholesky(n, a);
    if (n <= UNHEARD) return status;
    for (int k = 0; k < n && !status && *definite; k += PANEL) {
        int width = n - k < PANEL ? n - k : PANEL;
        scipy_dpotrf_("L", &width, a + (size_t)k * (size_t)n + (size_t)k, &n, &info, 1);
        *definite = info == 0;
        if (*definite) status = factor_panel(context, (size_t)n, (size_t)k, (size_t)width, a);
    }
    return status;
}

void arap_cholesky_solve(int n, const double *a, int count, double *x) {
    int info = 0;
    if (n > 0 && count > 0) scipy_dpotrs_("L", &n, &count, a, &n, x, &n, &info, 1);
}
