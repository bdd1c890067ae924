/* Sparse Cholesky factorization. factor.c is the only file that uses CHOLMOD. */
#ifndef ARAP_FACTOR_H
#define ARAP_FACTOR_H

#include <stddef.h>

#include "base/context.h"

/* Lower triangle of a symmetric matrix in compressed columns with ascending rows. Each column
 * starts with its diagonal entry. Rows are already in elimination order. */
typedef struct arap_matrix {
    int size;
    int *start;    /* (size + 1) */
    int *row;      /* (start[size]) */
    double *value; /* (start[size]) */
} arap_matrix;

void arap_matrix_clear(arap_matrix *matrix);

typedef struct arap_factor arap_factor;

/* Perform symbolic and numeric factorization of a positive definite matrix. Returns
 * ARAP_NOT_FACTORED if the matrix is not positive definite. The factor keeps no reference to the
 * matrix. */
arap_status arap_factor_create(arap_context *context, const arap_matrix *matrix, arap_factor **out);

/* Perform only the symbolic half, which depends on the pattern alone. The factor cannot be used
 * before arap_factor_update. `single`: its numbers may be in single precision, for solves with
 * refinement. */
arap_status arap_factor_analyze(arap_context *context, const arap_matrix *pattern, int single,
                                arap_factor **out);

/* Factorize a matrix with the same pattern numerically. */
arap_status arap_factor_update(arap_context *context, arap_factor *factor,
                               const arap_matrix *matrix);

/* Solve for one right-hand side in place; allocates nothing after the first call. */
arap_status arap_factor_solve(arap_context *context, arap_factor *factor, double *x);

/* Like arap_factor_solve, but nearly as accurate even with a factor in single precision. `matrix`
 * is the factorized matrix. arap_factor_solve is less accurate only for factors created by
 * arap_factor_analyze. arap_factor_solve_all requires a factor in double precision. */
arap_status arap_factor_solve_refined(arap_context *context, arap_factor *factor,
                                      const arap_matrix *matrix, double *x);

/* Number of right-hand sides that are solved together. The last bits of the results depend on this
 * number. Columns must therefore be split at its multiples, or results would depend on the number
 * of threads. */
#define ARAP_RIGHT_SIDES 16

/* Solve for `columns` right-hand sides (columns, size) in place on all threads of the context. */
arap_status arap_factor_solve_all(arap_context *context, arap_factor *factor, int columns,
                                  double *x);

/* Number of non-zeros in the factor. */
double arap_factor_size(const arap_factor *factor);

/* Memory used by the numbers of the factor. */
double arap_factor_bytes(const arap_factor *factor);

/* Number of multiplications and additions of a factorization: the sum of the squared column
 * sizes. */
double arap_factor_flops(const arap_factor *factor);

void arap_factor_free(arap_factor *factor);

/* Compute a fill-reducing order (approximate minimum degree) of a symmetric graph in row form
 * without diagonal: order[k] is the k-th vertex to be eliminated. */
arap_status arap_fill_reducing_order(arap_context *context, int count, const size_t *row_start,
                                     const int *neighbor, int *order);

/* The same if vertex i stands for unknowns[i] > 0 unknowns, which are adjacent to each other and to
 * the unknowns of the vertex's neighbors, and are eliminated together. */
arap_status arap_order_of_unknowns(arap_context *context, int count, const int *unknowns,
                                   const size_t *row_start, const int *neighbor, int *order);

#endif
