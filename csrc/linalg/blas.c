/* BLAS calls: see blas.h. A product takes O(rows columns^2). A Cholesky factorization takes O(n^3),
 * and the function returns whether the matrix is positive definite. With more than UNPOLLED rows,
 * LAPACK takes longer than the time within which Esc must take effect. This file therefore
 * factorizes such a matrix panel by panel, as LAPACK does internally.
 *
 * If OpenBLAS gives wrong results, plain loops replace it everywhere, including in CHOLMOD, which
 * is compiled to call these functions (tools/sources.py). */
#include "linalg/blas.h"

#include <stddef.h>

#include "linalg/openblas.h"
#include "linalg/plain_blas.h"

/* CBLAS constants of the reference interface. */
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112, UPPER = 121, NON_UNIT = 131, LEFT = 141 };

#define UNPOLLED 1536
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

static int plain; /* set once, when the module is loaded */

void arap_blas_single_thread(void) { scipy_openblas_set_num_threads(1); }

void arap_blas_use_plain_loops(void) { plain = 1; }

/* The upper triangle by rows is the lower triangle by columns. */
static void add_gram(int rows, int columns, const double *a, double beta, double *out) {
    if (plain)
        arap_plain_syrk(columns, rows, 1, a, columns, beta, out, columns);
    else
        scipy_cblas_dsyrk(ROW_MAJOR, UPPER, TRANSPOSED, columns, rows, 1, a, columns, beta, out,
                          columns);
}

/* By rows: C (m, n) = alpha A' B + beta C for A (k, m), B (k, n). */
static void product_of_transposed(int m, int n, int k, double alpha, const double *a, int lda,
                                  const double *b, int ldb, double beta, double *c, int ldc) {
    if (plain)
        arap_plain_gemm('N', 'T', n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
    else
        scipy_cblas_dgemm(ROW_MAJOR, TRANSPOSED, PLAIN, m, n, k, alpha, a, lda, b, ldb, beta, c,
                          ldc);
}

void arap_gram(int rows, int columns, const double *a, double *out) {
    add_gram(rows, columns, a, 0, out);
    const size_t n = (size_t)columns;
    for (size_t tile = 0; tile < n; tile += TILE) /* tiles of columns, each read along its rows */
        for (size_t i = tile; i < n; i++)
            for (size_t j = tile; j < i && j < tile + TILE; j++) out[i * n + j] = out[j * n + i];
}

void arap_gram_between(int rows, int columns, const double *a, int others, const double *b,
                       double *out) {
    product_of_transposed(columns, others, rows, 1, a, columns, b, others, 0, out, others);
}

void arap_add_gram(int rows, int columns, const double *a, double *out) {
    add_gram(rows, columns, a, 1, out);
}

void arap_add_product(int rows, int inner, int columns, const double *a, const double *b,
                      double *out) {
    if (plain)
        arap_plain_gemm('N', 'N', columns, rows, inner, 1, b, columns, a, inner, 1, out, columns);
    else
        scipy_cblas_dgemm(ROW_MAJOR, PLAIN, PLAIN, rows, columns, inner, 1, a, inner, b, columns, 1,
                          out, columns);
}

int arap_lower_cholesky(int n, double *a, int lda) {
    int info = 0;
    if (plain) return arap_plain_potrf(n, a, lda);
    scipy_dpotrf_("L", &n, a, &lda, &info, 1);
    return info;
}

int arap_cholesky(int n, double *a) { return n <= 0 || arap_lower_cholesky(n, a, n) == 0; }

/* Replace rows and columns k to k + width of A by those of its factor, and the rest by the
 * remainder. */
static arap_status factor_panel(arap_context *context, size_t n, size_t k, size_t width,
                                double *a) {
    arap_status status = ARAP_OK;
    const double *above = a + k * n;
    int lda = (int)n, rows = (int)width;
    int after = (int)(n - k - width);
    if (after && plain)
        arap_plain_trsm('R', 'T', after, rows, above + k, lda, a + k * n + k + width, lda);
    else if (after)
        scipy_cblas_dtrsm(ROW_MAJOR, LEFT, UPPER, TRANSPOSED, NON_UNIT, rows, after, 1, above + k,
                          lda, a + k * n + k + width, lda);
    for (size_t j = k + width; j < n && !status; j += width) {
        size_t wide = n - j < width ? n - j : width;
        status = arap_poll_cancel(context);
        if (!status)
            product_of_transposed((int)wide, (int)(n - j), rows, -1, above + j, lda, above + j, lda,
                                  1, a + j * n + j, lda);
    }
    return status;
}

arap_status arap_long_cholesky(arap_context *context, int n, double *a, int *definite) {
    arap_status status = arap_poll_cancel(context);
    *definite = n > UNPOLLED || arap_cholesky(n, a);
    if (n <= UNPOLLED) return status;
    for (int k = 0; k < n && !status && *definite; k += PANEL) {
        int width = n - k < PANEL ? n - k : PANEL;
        *definite = arap_lower_cholesky(width, a + (size_t)k * (size_t)n + (size_t)k, n) == 0;
        if (*definite) status = factor_panel(context, (size_t)n, (size_t)k, (size_t)width, a);
    }
    return status;
}

void arap_cholesky_solve(int n, const double *a, int count, double *x) {
    int info = 0;
    if (n <= 0 || count <= 0) return;
    if (!plain) {
        scipy_dpotrs_("L", &n, &count, a, &n, x, &n, &info, 1);
        return;
    }
    arap_plain_trsm('L', 'N', n, count, a, n, x, n);
    arap_plain_trsm('L', 'T', n, count, a, n, x, n);
}

/* Replacements for the OpenBLAS routines that CHOLMOD calls; dpotrf_ is called through factor.c.
 * Strides and the scales of solves are always 1 in the calls of CHOLMOD. */
void arap_dgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
                 const double *alpha, const double *a, const int *lda, const double *b,
                 const int *ldb, const double *beta, double *c, const int *ldc) {
    if (plain)
        arap_plain_gemm(*op_a, *op_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);
    else
        scipy_dgemm_(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void arap_dsyrk_(const char *uplo, const char *op, const int *n, const int *k, const double *alpha,
                 const double *a, const int *lda, const double *beta, double *c, const int *ldc) {
    if (plain)
        arap_plain_syrk(*n, *k, *alpha, a, *lda, *beta, c, *ldc);
    else
        scipy_dsyrk_(uplo, op, n, k, alpha, a, lda, beta, c, ldc);
}

void arap_dtrsm_(const char *side, const char *uplo, const char *op, const char *diagonal,
                 const int *m, const int *n, const double *alpha, const double *l, const int *ldl,
                 double *b, const int *ldb) {
    if (plain)
        arap_plain_trsm(*side, *op, *m, *n, l, *ldl, b, *ldb);
    else
        scipy_dtrsm_(side, uplo, op, diagonal, m, n, alpha, l, ldl, b, ldb);
}

void arap_dgemv_(const char *op, const int *m, const int *n, const double *alpha, const double *a,
                 const int *lda, const double *x, const int *step_x, const double *beta, double *y,
                 const int *step_y) {
    int out = *op == 'N' ? *m : *n, in = *op == 'N' ? *n : *m;
    if (plain)
        arap_plain_gemm(*op, 'N', out, 1, in, *alpha, a, *lda, x, in, *beta, y, out);
    else
        scipy_dgemv_(op, m, n, alpha, a, lda, x, step_x, beta, y, step_y);
}

void arap_dtrsv_(const char *uplo, const char *op, const char *diagonal, const int *n,
                 const double *l, const int *ldl, double *x, const int *step) {
    if (plain)
        arap_plain_trsm('L', *op, *n, 1, l, *ldl, x, *n);
    else
        scipy_dtrsv_(uplo, op, diagonal, n, l, ldl, x, step);
}

void arap_add_product_of_rows(int rows, int inner, int others, const double *a, const double *b,
                              double *out) {
    const double one = 1;
    arap_dgemm_("T", "N", &others, &rows, &inner, &one, b, &inner, a, &inner, &one, out, &others);
}

void arap_lower_product(int high, int wide, int inner, const double *a, int lda, double *out) {
    const double one = 1, zero = 0;
    int below = high - wide;
    arap_dsyrk_("L", "N", &wide, &inner, &one, a, &lda, &zero, out, &high);
    if (below)
        arap_dgemm_("N", "C", &below, &wide, &inner, &one, a + wide, &lda, a, &lda, &zero,
                    out + wide, &high);
}

void arap_scaled_product(int high, int wide, int inner, double scale, const double *a,
                         const double *b, int ldab, double keep, double *out, int ldo) {
    arap_dgemm_("N", "C", &high, &wide, &inner, &scale, a, &ldab, b, &ldab, &keep, out, &ldo);
}

void arap_solve_below(int rows, int columns, const double *l, double *x, int ld) {
    const double one = 1;
    arap_dtrsm_("R", "L", "C", "N", &rows, &columns, &one, l, &ld, x, &ld);
}

int arap_blas_has_single(void) { return !plain; }

int arap_lower_cholesky_single(int n, float *a, int lda) {
    int info = 0;
    scipy_spotrf_("L", &n, a, &lda, &info, 1);
    return info;
}

void arap_lower_product_single(int high, int wide, int inner, const float *a, int lda, float *out) {
    const float one = 1, zero = 0;
    int below = high - wide;
    scipy_ssyrk_("L", "N", &wide, &inner, &one, a, &lda, &zero, out, &high);
    if (below)
        scipy_sgemm_("N", "C", &below, &wide, &inner, &one, a + wide, &lda, a, &lda, &zero,
                     out + wide, &high);
}

void arap_scaled_product_single(int high, int wide, int inner, float scale, const float *a,
                                const float *b, int ldab, float keep, float *out, int ldo) {
    scipy_sgemm_("N", "C", &high, &wide, &inner, &scale, a, &ldab, b, &ldab, &keep, out, &ldo);
}

void arap_solve_below_single(int rows, int columns, const float *l, float *x, int ld) {
    const float one = 1;
    scipy_strsm_("R", "L", "C", "N", &rows, &columns, &one, l, &ld, x, &ld);
}

void arap_solve_vector_single(char op, int n, const float *l, int ldl, float *x) {
    const int step = 1;
    scipy_strsv_("L", &op, "N", &n, l, &ldl, x, &step);
}

void arap_subtract_product_single(char op, int rows, int columns, const float *a, int lda,
                                  const float *x, float *y) {
    const float one = 1, minus = -1;
    const int step = 1;
    scipy_sgemv_(&op, &rows, &columns, &minus, a, &lda, x, &step, &one, y, &step);
}
