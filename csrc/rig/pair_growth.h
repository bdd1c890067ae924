/* Grows pairs of partners along edges. */
#ifndef ARAP_PAIR_GROWTH_H
#define ARAP_PAIR_GROWTH_H

#include "rig/symmetry.h"

/* The image that decides whether two neighbors of partners become partners. */
enum arap_growth {
    ARAP_GROWTH_PLACES, /* the position of one is the image of that of the other */
    ARAP_GROWTH_EDGES   /* the edge to one is the image of the edge to the other, and the positions
                           nearly are */
};

/* Assign partners to vertices next to those that already have partners if the images deviate by at
 * most this share of the connecting edges. */
arap_status arap_grow_pairs(arap_context *context, const arap_mesh *mesh, enum arap_growth by,
                            double share, arap_symmetry *symmetry);

/* Whether the partners found,
 * and their positions, show that even the part of the mesh with partners is not symmetric. */
int arap_is_nearly_symmetric(const arap_mesh *mesh, const arap_symmetry *symmetry);

/* Replace the partners by those that grow from their largest connected sets, unless more vertices
 * had partners before. */
arap_status arap_grow_partners(arap_context *context, const arap_mesh *mesh,
                               arap_symmetry *symmetry);

#endif
