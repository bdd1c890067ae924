/* The caller's locked weights, stored so that they can be returned unchanged. */
#ifndef ARAP_LOCKS_H
#define ARAP_LOCKS_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* All NULL: nothing is locked. */
typedef struct arap_locks {
    long long *start; /* (input vertices + 1) */
    int *bone;        /* of the caller */
    double *weight;
    char *vertex; /* (input vertices) the whole row is locked */
    int *set;     /* (input vertices) row of `column` */
    int bones;    /* number of deforming bones */
    char *column; /* (sets, bones) */
    arap_arena arena;
} arap_locks;

/* Copy the locks; does nothing if the problem has none. Fails if there are no weights, if a set
 * does not exist, or if no weight is free. */
arap_status arap_locks_create(arap_context *context, const arap_problem *problem,
                              const arap_skeleton *skeleton, arap_locks *locks);
void arap_locks_clear(arap_locks *locks);

/* Whether the weight of deforming bone d at input vertex i is locked. */
static inline int arap_is_locked(const arap_locks *locks, int i, int d) {
    return locks->vertex && (locks->vertex[i] || locks->column[locks->set[i] * locks->bones + d]);
}

/* Whether the same weights of input vertices i and j, but not all of them, are locked to the same
 * numbers. */
int arap_same_locks(const arap_locks *locks, const arap_skeleton *skeleton, int i, int j);

/* Rebuild influences with the locked weights as locked entries. */
arap_status arap_locks_apply(arap_context *context, const arap_locks *locks, const arap_mesh *mesh,
                             const arap_skeleton *skeleton, arap_influences *influences);

/* Write the row of an input vertex as a dense row of deforming bones; NAN: no entry. */
void arap_dense_row(const arap_skeleton *skeleton, const arap_sparse_weights *rows, int input,
                    double *row);

#endif
