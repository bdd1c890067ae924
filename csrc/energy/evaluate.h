/* The ARAP energy of weights and poses supplied by a caller. */
#ifndef ARAP_EVALUATE_H
#define ARAP_EVALUATE_H

#include "base/context.h"

/* Compute the relative energy of the caller's weights, normalized to sum to 1, and, unless NULL,
 * that of each of the caller's vertices. weld: merge coincident vertices. given_bones: those of
 * the poses; with NULL heads, all are rigid. */
arap_status arap_evaluate(arap_context *context, const arap_geometry *geometry, int weld,
                          const arap_sparse_weights *rows, const arap_bones *given_bones,
                          const arap_given_poses *given_poses, double *energy,
                          double *vertex_energy);

#endif
