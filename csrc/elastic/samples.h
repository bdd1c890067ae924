/* Sample points spread evenly over a mesh, and smooth functions that interpolate between them. */
#ifndef ARAP_SAMPLES_H
#define ARAP_SAMPLES_H

#include "mesh/mesh.h"

typedef struct arap_samples {
    int count;
    int *vertex;    /* (count) of the mesh, in the order in which they were found */
    double *weight; /* (mesh.count, count) biharmonic, rows with sum 1; 0 for vertices outside the
                       Laplacian */
} arap_samples;

/* Find at least `wanted` samples if there are as many vertices, and at least one for each island.
 * Returns ARAP_NOT_FACTORED if the Laplacian is too ill-conditioned. */
arap_status arap_samples_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                arap_samples *samples);
void arap_samples_clear(arap_samples *samples);

#endif
