/* Small least-squares problems over non-negative weights with a given sum. */
#ifndef ARAP_SIMPLEX_H
#define ARAP_SIMPLEX_H

#include "base/memory.h"

#define ARAP_SIMPLEX_MAX 32 /* maximum number of non-zero weights in a solution */

/* min w^T A w / 2 - linear^T w over w >= 0 with sum `total`, at most `max` of them not 0. */
typedef struct arap_simplex_problem {
    int count;            /* weights */
    double total;         /* > 0 */
    int max;              /* 1 to ARAP_SIMPLEX_MAX */
    const double *linear; /* (count) */
    const double *diagonal;
    const char *allowed;                                      /* (count) 0: stays 0 */
    void (*column)(const void *data, int index, double *out); /* a column of A, (count) */
    const void *data;
} arap_simplex_problem;

/* Work space of one thread. */
typedef struct arap_simplex_space {
    int count;
    double *column;  /* (ARAP_SIMPLEX_MAX, count) */
    int *slot;       /* (count) row of `column`, -1: none */
    double *product; /* (count) A w */
} arap_simplex_space;

/* Its arrays belong to the arena, which records a lack of memory. */
arap_simplex_space arap_simplex_space_make(arap_arena *arena, int count);

typedef struct arap_simplex_solution {
    int count;
    int index[ARAP_SIMPLEX_MAX]; /* ascending */
    double weight[ARAP_SIMPLEX_MAX];
    double value; /* value of the objective */
} arap_simplex_solution;

/* Find `solution`. With start > 0, the search begins with that many indices of `solution`, which
 * must be allowed, distinct and at most `max`. The result is then at least as good as the best
 * weights on these indices alone. At least one index is allowed. */
void arap_simplex_solve(const arap_simplex_problem *problem, arap_simplex_space *space, int start,
                        arap_simplex_solution *solution);

/* Replace x by the solution y of the positive definite system k y = x; k (count, count) is
 * overwritten. */
void arap_solve_definite(int count, double (*k)[ARAP_SIMPLEX_MAX], double *x);

#endif
