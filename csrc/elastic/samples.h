/* Points all over a mesh, far from each other, and smooth functions between them. */
#ifndef ARAP_SAMPLES_H
#define ARAP_SAMPLES_H

#include "mesh/mesh.h"

typedef struct arap_samples {
    int count;
    int *vertex;    /* (count) of the mesh, in the order in which they were found */
    double *weight; /* (mesh.count, count) biharmonic, rows with sum 1; 0 for vertices that no
                       Laplacian knows */
} arap_samples;

/* At least `wanted` samples where there are as many vertices, one for each island at least.
 * ARAP_NOT_FACTORED where the Laplacian is too bad. */
arap_status arap_samples_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                arap_samples *samples);
void arap_samples_clear(arap_samples *samples);

#endif
