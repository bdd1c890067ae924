/* Sparse Cholesky factors in supernodes: columns of nearly the same rows, which dense products
 * factorize together. */
#ifndef ARAP_SUPERNODES_H
#define ARAP_SUPERNODES_H

#include "linalg/factor.h"

/* The pattern of a factor, as CHOLMOD's analysis makes it; columns in postorder. Borrowed. */
typedef struct arap_supernodes {
    int size, count;
    const int *first;     /* (count + 1) first column of a supernode */
    const int *row_start; /* (count + 1) where its rows are in `row`: first its columns */
    const int *start;     /* (count + 1) where its values are, a column after the other */
    const int *row;       /* ascending */
    const int *order;     /* (size) which column of the matrix a column is */
    size_t max_block;     /* numbers that one supernode adds to another, at most */
} arap_supernodes;

typedef struct arap_supernode_plan arap_supernode_plan;

/* Which supernode updates which, in which order, and which can run in parallel. */
arap_status arap_supernodes_plan(arap_context *context, const arap_supernodes *supernodes,
                                 arap_supernode_plan **out);
void arap_supernodes_plan_free(arap_supernode_plan *plan);

/* The factor of a matrix with this pattern into `value`, on all threads of the context, with the
 * same bits on any number. With a `scale` of its rows and columns `value` is in single precision,
 * else in double. minor: the first column
 * that shows that the matrix is not positive definite, or `size`. Polls for cancellation. */
arap_status arap_supernodes_factorize(arap_context *context, const arap_supernodes *supernodes,
                                      const arap_supernode_plan *plan, const arap_matrix *matrix,
                                      const double *scale, void *value, int *minor);

/* Solve with a factor in single precision, in place. work: (2 size). Polls for cancellation. */
arap_status arap_supernodes_solve(arap_context *context, const arap_supernodes *supernodes,
                                  const double *scale, const float *value, float *work, double *x);

#endif
