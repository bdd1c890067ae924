/* Limits how far from its limb a bone may take skin. */
#ifndef ARAP_SPREAD_H
#define ARAP_SPREAD_H

#include "base/memory.h"
#include "rig/skeleton.h"

/* All zero: no limits. */
typedef struct arap_spread {
    double *radius; /* (deforming bones) of the limb, in units of mesh.v; 0: unknown */
    double *scale;  /* (vertices) factor of the limit; INFINITY: no limit */
    arap_arena arena;
} arap_spread;

/* The mesh must have its springs (bone_springs.h). Without springs, there are no limits. */
arap_status arap_spread_create(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, arap_spread *out);
void arap_spread_clear(arap_spread *spread);

/* Whether the vertex is out of the reach of the bone. */
int arap_is_beyond_spread(const arap_spread *spread, const arap_mesh *mesh,
                          const arap_skeleton *skeleton, int vertex, int bone);

#endif
