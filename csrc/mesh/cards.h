/* Finds loose parts that are strips of surface, such as hair cards, feathers and lashes. */
#ifndef ARAP_CARDS_H
#define ARAP_CARDS_H

#include "mesh/mesh.h"

typedef struct arap_card {
    double boundary, area;
    int is_card;
} arap_card;

/* Determine which parts are cards, (part_count). The mesh must have one-rings. */
arap_status arap_find_cards(arap_context *context, const arap_mesh *mesh, arap_card *cards);

#endif
