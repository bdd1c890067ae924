/* BLAS calls: see blas.h. */
#include "blas.h"

/* CBLAS constants of the reference interface. */
enum { ROW_MAJOR = 101, TRANSPOSED = 112, UPPER = 121 };

void scipy_cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double *a,
                       int lda, double beta, double *c, int ldc);

void scipy_openblas_set_num_threads(int count);

void arap_blas_single_thread(void) { scipy_openblas_set_num_threads(1); }

void arap_gram(int rows, int columns, const double *a, double *out) {
    scipy_cblas_dsyrk(ROW_MAJOR, UPPER, TRANSPOSED, columns, rows, 1, a, columns, 0, out, columns);
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < i; j++) out[(long)i * columns + j] = out[(long)j * columns + i];
}
