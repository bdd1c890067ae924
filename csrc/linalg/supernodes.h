/* Sparse Cholesky factors in supernodes, which are groups of columns with nearly the same rows. The
 * columns of a supernode are factorized together with dense products. */
#ifndef ARAP_SUPERNODES_H
#define ARAP_SUPERNODES_H

#include "linalg/factor.h"

/* The pattern of a factor from CHOLMOD's analysis, with columns in postorder. Borrowed. */
typedef struct arap_supernodes {
    int size, count;
    const int *first;     /* (count + 1) first column of a supernode */
    const int *row_start; /* (count + 1) position of its rows in `row`, beginning with its own
                             columns */
    const int *start;     /* (count + 1) position of its values, stored column after column */
    const int *row;       /* ascending */
    const int *order;     /* (size) column of the matrix for each column of the factor */
    size_t max_block;     /* maximum number of values that one supernode adds to another */
} arap_supernodes;

typedef struct arap_supernode_plan arap_supernode_plan;

/* The schedule: which supernodes update which others, in which order, and which can run in
 * parallel. */
arap_status arap_supernodes_plan(arap_context *context, const arap_supernodes *supernodes,
                                 arap_supernode_plan **out);
void arap_supernodes_plan_free(arap_supernode_plan *plan);

/* Factorize a matrix with this pattern into `value` on all threads of the context. The bits do not
 * depend on the number of threads. With a `scale` of its rows and columns, `value` is in single
 * precision, otherwise in double. minor: the first column that shows that the matrix is not
 * positive definite, or `size`. Polls for cancellation. */
arap_status arap_supernodes_factorize(arap_context *context, const arap_supernodes *supernodes,
                                      const arap_supernode_plan *plan, const arap_matrix *matrix,
                                      const double *scale, void *value, int *minor);

/* Solve in place with a factor in single precision. work: (2 size). Polls for cancellation. */
arap_status arap_supernodes_solve(arap_context *context, const arap_supernodes *supernodes,
                                  const double *scale, const float *value, float *work, double *x);

#endif
