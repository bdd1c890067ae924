/* Grows pairs of partners along edges. */
#ifndef ARAP_PAIR_GROWTH_H
#define ARAP_PAIR_GROWTH_H

#include "rig/symmetry.h"

/* What has to be an image for two neighbors of partners to become partners. */
enum arap_growth {
    ARAP_GROWTH_PLACES, /* the place of one of that of the other */
    ARAP_GROWTH_EDGES   /* the edge to one of that to the other, and the places nearly */
};

/* Vertices without partners get them, next to those that have, where images are off by at most this
 * share of the edges that lead there. */
arap_status arap_grow_pairs(arap_context *context, const arap_mesh *mesh, enum arap_growth by,
                            double share, arap_symmetry *symmetry);

#endif
