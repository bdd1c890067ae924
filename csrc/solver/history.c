/* The energies of a solver, in an array that grows by doubling: see history.h. Constant cost on
 * average. Fails on out-of-memory and for an energy that is not finite. */
#include "solver/history.h"

#include <math.h>

#include "base/memory.h"

void arap_history_begin(arap_history *history) {
    *history = (arap_history){0};
    arap_history_return(history, -1);
}

arap_status arap_history_add(arap_context *context, arap_history *history, double energy,
                             double beside) {
    if (!isfinite(energy))
        return arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", energy);
    if (history->count == history->capacity) {
        int capacity = history->capacity ? 2 * history->capacity : 64;
        double *grown = arap_realloc(history->energies, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        history->energies = grown;
        grown = arap_realloc(history->beside, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the energy history");
        history->beside = grown;
        history->capacity = capacity;
    }
    history->beside[history->count] = beside;
    history->energies[history->count++] = energy > 0 ? energy : 0; /* never below, but rounded */
    return ARAP_OK;
}

void arap_history_return(arap_history *history, int stage) {
    for (int k = stage + 1; k <= ARAP_MAX_STAGES; k++) history->stage_start[k] = -1;
}

void arap_history_clear(arap_history *history) {
    arap_free(history->energies);
    arap_free(history->beside);
    arap_history_begin(history);
}
