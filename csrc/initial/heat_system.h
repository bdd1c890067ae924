/* The factorized system that spreads heat over the mesh, and the amount of heat that enters at each
 * vertex. */
#ifndef ARAP_HEAT_SYSTEM_H
#define ARAP_HEAT_SYSTEM_H

#include "base/memory.h"
#include "initial/heat.h"
#include "linalg/factor.h"

typedef struct arap_heat_system {
    int *place;      /* (count) row of each vertex in the factor */
    double *source;  /* (count) M H */
    int *rigid_bone; /* (count) bone that the whole island follows because no bone is near, or -1 */
    arap_factor *factor; /* of L + M H */
    arap_arena arena;    /* of the arrays */
} arap_heat_system;

/* `order`: a fill-reducing order of the mesh. Islands that see no bone are reported. */
arap_status arap_heat_system_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_visibility *visibility, const int *order,
                                    arap_heat_system *system, arap_islands_report *report);
void arap_heat_system_clear(arap_heat_system *system);

#endif
