/* Laplacian filter of the weights (paper section 5, "Local maxima"). */
#ifndef ARAP_FILTER_H
#define ARAP_FILTER_H

#include "arap.h"
#include "mesh/mesh.h"
#include "weights/influences.h"

/* Apply one step: each weight becomes the mean of its neighbors' weights, weighted by the edge
 * weights of the energy. Then the free weights of a row are scaled to share what the locked ones
 * leave. */
arap_status arap_filter_weights(arap_context *context, const arap_mesh *mesh, arap_filter filter,
                                int bones, arap_influences *weights);

#endif
