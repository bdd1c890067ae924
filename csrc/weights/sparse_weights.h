/* Checks the caller's weights (arap_sparse_weights). */
#ifndef ARAP_SPARSE_WEIGHTS_H
#define ARAP_SPARSE_WEIGHTS_H

#include "base/status.h"

/* Check that bones are in range and unique per vertex, and that weights are finite and >= 0. */
arap_status arap_check_sparse_weights(arap_error *error, const arap_sparse_weights *rows,
                                      int vertices, int bones);

#endif
