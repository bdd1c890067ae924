/* Gives weights to bones that are surrounded by skin but get none from the energy. */
#ifndef ARAP_IDLE_BONES_H
#define ARAP_IDLE_BONES_H

#include "solver/solver.h"

/* Give every bone without weights some weight where its initial weights are strong. Rows are
 * non-negative and sum to 1 on entry and on return. Symmetric rows stay symmetric, and no row
 * exceeds the limit on influences. Rigid parts and locked or excluded weights stay unchanged.
 * Without a limit of at least two influences nothing changes. `weights` is replaced. */
arap_status arap_wake_bones(arap_context *context, const arap_solver *solver,
                            arap_influences *weights);

#endif
