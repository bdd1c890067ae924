/* Declares the OpenBLAS routines that we call, by their Fortran interface. OpenBLAS comes from
 * scipy-openblas32, whose symbols carry a scipy_ prefix so that they never conflict with the BLAS
 * of the host process. Only blas.c and the self-test include this file. */
#ifndef ARAP_OPENBLAS_H
#define ARAP_OPENBLAS_H

#include <stddef.h>

void scipy_dgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
                  const double *alpha, const double *a, const int *lda, const double *b,
                  const int *ldb, const double *beta, double *c, const int *ldc);
void scipy_dsyrk_(const char *uplo, const char *op, const int *n, const int *k, const double *alpha,
                  const double *a, const int *lda, const double *beta, double *c, const int *ldc);
void scipy_dtrsm_(const char *side, const char *uplo, const char *op, const char *diagonal,
                  const int *m, const int *n, const double *alpha, const double *l, const int *ldl,
                  double *b, const int *ldb);
void scipy_dgemv_(const char *op, const int *m, const int *n, const double *alpha, const double *a,
                  const int *lda, const double *x, const int *step_x, const double *beta, double *y,
                  const int *step_y);
void scipy_dtrsv_(const char *uplo, const char *op, const char *diagonal, const int *n,
                  const double *l, const int *ldl, double *x, const int *step);
void scipy_dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void scipy_dpotrs_(const char *uplo, const int *n, const int *count, const double *a,
                   const int *lda, double *b, const int *ldb, int *info, size_t);

void scipy_sgemm_(const char *op_a, const char *op_b, const int *m, const int *n, const int *k,
                  const float *alpha, const float *a, const int *lda, const float *b,
                  const int *ldb, const float *beta, float *c, const int *ldc);
void scipy_ssyrk_(const char *uplo, const char *op, const int *n, const int *k, const float *alpha,
                  const float *a, const int *lda, const float *beta, float *c, const int *ldc);
void scipy_strsm_(const char *side, const char *uplo, const char *op, const char *diagonal,
                  const int *m, const int *n, const float *alpha, const float *l, const int *ldl,
                  float *b, const int *ldb);
void scipy_sgemv_(const char *op, const int *m, const int *n, const float *alpha, const float *a,
                  const int *lda, const float *x, const int *step_x, const float *beta, float *y,
                  const int *step_y);
void scipy_strsv_(const char *uplo, const char *op, const char *diagonal, const int *n,
                  const float *l, const int *ldl, float *x, const int *step);
void scipy_spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t);

#endif
