/* The energies that a solver has recorded. */
#ifndef ARAP_HISTORY_H
#define ARAP_HISTORY_H

#include "base/context.h"

typedef struct arap_history {
    int count, capacity;
    double *energies; /* relative */
    /* Entry right after the change of the patterns that began stage 1.., -1: none. After the
     * last of the solver's come that with rigid parts just found and that of another deformer. */
    int stage_start[ARAP_MAX_STAGES + 1];
} arap_history;

/* An empty one. */
void arap_history_begin(arap_history *history);

/* Errors: an energy that is not finite. */
arap_status arap_history_add(arap_context *context, arap_history *history, double energy);

/* Drop the latest energy, to be replaced by another. */
static inline void arap_history_drop(arap_history *history) { history->count--; }

/* Back to that stage: those after it have not begun. */
void arap_history_return(arap_history *history, int stage);

void arap_history_clear(arap_history *history);

#endif
