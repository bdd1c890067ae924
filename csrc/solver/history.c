/* The energies of a solver, in an array that grows by doubling: see history.h. Constant cost on
 * average. Fails on out-of-memory and for an energy that is not finite. */
#include "solver/history.h"

#include <math.h>

#include "base/memory.h"

void arap_history_begin(arap_history *h) {
    *h = (arap_history){0};
    arap_history_return(h, -1);
}

arap_status arap_history_add(arap_context *context, arap_history *h, double energy, double beside) {
    if (!isfinite(energy))
        return arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", energy);
    if (h->count == h->capacity) {
        int capacity = h->capacity ? 2 * h->capacity : 64;
        double *grown = arap_realloc(h->energies, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        h->energies = grown;
        grown = arap_realloc(h->beside, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        h->beside = grown;
        h->capacity = capacity;
    }
    h->beside[h->count] = beside;
    h->energies[h->count++] = energy > 0 ? energy : 0; /* never below, but rounded */
    return ARAP_OK;
}

void arap_history_return(arap_history *h, int stage) {
    for (int k = stage + 1; k <= ARAP_MAX_STAGES; k++) h->stage_start[k] = -1;
}

void arap_history_clear(arap_history *h) {
    arap_free(h->energies);
    arap_free(h->beside);
    arap_history_begin(h);
}
