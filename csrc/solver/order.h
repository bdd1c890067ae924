/* The elimination order of the global step. */
#ifndef ARAP_ORDER_H
#define ARAP_ORDER_H

#include "base/context.h"

/* Compute arap_fill_reducing_order for a mesh in which vertices and their partners (vertices; -1:
 * none; NULL: no vertex has one) share their unknowns; partners are consecutive. With `unknowns`
 * (vertices), use arap_order_of_unknowns, which takes several times as long. */
arap_status arap_elimination_order(arap_context *context, int count, const size_t *ring,
                                   const int *neighbor, const int *partner, const int *unknowns,
                                   int *out);

#endif
