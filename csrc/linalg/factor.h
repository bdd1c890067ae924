/* Sparse Cholesky factorization. factor.c is the only file that uses CHOLMOD. */
#ifndef ARAP_FACTOR_H
#define ARAP_FACTOR_H

#include <stddef.h>

#include "base/context.h"

/* Lower triangle of a symmetric matrix, compressed columns, rows ascending; each column
 * starts with its diagonal. Rows are already in the order of elimination. */
typedef struct arap_matrix {
    int size;
    int *start;    /* (size + 1) */
    int *row;      /* (start[size]) */
    double *value; /* (start[size]) */
} arap_matrix;

void arap_matrix_clear(arap_matrix *matrix);

typedef struct arap_factor arap_factor;

/* Symbolic and numeric factorization of a positive definite matrix; ARAP_NOT_FACTORED when it
 * is not. The factor keeps no reference to the matrix. */
arap_status arap_factor_create(arap_context *context, const arap_matrix *matrix, arap_factor **out);

/* The symbolic half of that: looks at the pattern alone. The factor is of no use before
 * arap_factor_update. `single`: its numbers may be in single precision, for solves that are
 * refined. */
arap_status arap_factor_analyze(arap_context *context, const arap_matrix *pattern, int single,
                                arap_factor **out);

/* Numeric factorization of a matrix with the same pattern. */
arap_status arap_factor_update(arap_context *context, arap_factor *factor,
                               const arap_matrix *matrix);

/* Solve for one right-hand side in place; allocates nothing after the first time. */
arap_status arap_factor_solve(arap_context *context, arap_factor *factor, double *x);

/* arap_factor_solve, nearly as exact even with a factor in single precision; `matrix` is what it is
 * of. For one made by arap_factor_analyze alone is arap_factor_solve less so, and
 * arap_factor_solve_all is for factors in double. */
arap_status arap_factor_solve_refined(arap_context *context, arap_factor *factor,
                                      const arap_matrix *matrix, double *x);

/* Right-hand sides that go through the factor together. The last bits depend on their number:
 * columns must be split at multiples of it, or results would depend on the number of threads. */
#define ARAP_RIGHT_SIDES 16

/* Solve for `columns` right-hand sides in place, (columns, size), on all threads of the context. */
arap_status arap_factor_solve_all(arap_context *context, arap_factor *factor, int columns,
                                  double *x);

/* Non-zeros of the factor. */
double arap_factor_size(const arap_factor *factor);

/* The memory of its numbers. */
double arap_factor_bytes(const arap_factor *factor);

/* Multiplications and additions of a factorization: the sum of the squares of its columns' sizes.
 */
double arap_factor_flops(const arap_factor *factor);

void arap_factor_free(arap_factor *factor);

/* Fill-reducing order (approximate minimum degree) of a symmetric graph in row form without
 * diagonal: order[k] is the vertex eliminated k-th. */
arap_status arap_fill_reducing_order(arap_context *context, int count, const size_t *row_start,
                                     const int *neighbor, int *order);

/* The same where vertex i is unknowns[i] > 0 of them, neighbors of each other and of those of its
 * neighbors, which are eliminated together. */
arap_status arap_order_of_unknowns(arap_context *context, int count, const int *unknowns,
                                   const size_t *row_start, const int *neighbor, int *order);

#endif
