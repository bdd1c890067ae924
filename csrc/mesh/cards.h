/* Loose parts that are strips of surface: cards of hair, feathers, lashes. */
#ifndef ARAP_CARDS_H
#define ARAP_CARDS_H

#include "mesh/mesh.h"

typedef struct arap_card {
    double boundary, area;
    int is_card;
} arap_card;

/* Which parts are cards, (part_count). Of a mesh with one-rings. */
arap_status arap_find_cards(arap_context *context, const arap_mesh *mesh, arap_card *cards);

#endif
