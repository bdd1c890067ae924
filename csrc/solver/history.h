/* The energies that a solver has recorded. */
#ifndef ARAP_HISTORY_H
#define ARAP_HISTORY_H

#include "base/context.h"

typedef struct arap_history {
    int count, capacity;
    double *energies; /* relative */
    double *beside;   /* what the vertices outside the main mesh (mesh.h) add to each */
    /* Index of the entry directly after the change of the patterns that began stage 1..; -1: none.
     * After the solver's last stage come the stage with newly found rigid parts and the stage for
     * another deformer. */
    int stage_start[ARAP_MAX_STAGES + 1];
} arap_history;

/* Create an empty history. */
void arap_history_begin(arap_history *history);

/* Append an energy and its share outside the main mesh; fails if the energy is not finite. */
arap_status arap_history_add(arap_context *context, arap_history *history, double energy,
                             double beside);

/* The latest energy of the main mesh, or the one `before` entries before it. */
static inline double arap_history_main(const arap_history *history, int before) {
    int k = history->count - 1 - before;
    return history->energies[k] - history->beside[k];
}

/* Remove the latest energy, which another one will replace. */
static inline void arap_history_drop(arap_history *history) { history->count--; }

/* Return to that stage: later stages count as not started. */
void arap_history_return(arap_history *history, int stage);

void arap_history_clear(arap_history *history);

#endif
