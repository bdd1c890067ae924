/* Kinds of loose parts. */
#ifndef ARAP_LOOSE_PARTS_H
#define ARAP_LOOSE_PARTS_H

#include "mesh/mesh.h"

/* Finds loose parts that are strips of surface, such as hair cards, feathers and lashes. */
typedef struct arap_card {
    double boundary, area;
    int is_card;
} arap_card;

/* Determine which parts are cards, (part_count). The mesh must have one-rings. */
arap_status arap_find_cards(arap_context *context, const arap_mesh *mesh, arap_card *cards);

/* Finds cards that touch another part with one end, and determines how these cards are attached:
 * for cards (`may`, part_count) that touch parts other than cards with one or both ends, but do not
 * lie along them, set end (count) to 1 or 2 for the vertices that touch, 0 for all others. beneath
 * (count) is the face that these vertices touch. */
arap_status arap_find_hanging(arap_context *context, const arap_mesh *mesh, const char *may,
                              char *end, int *beneath);

/* Finds parts of a mesh that lie in a plane, such as a 2D cutout. thick (part_count): the
 * thickness of every part, 0 if it lies in a plane, 1 if it is not a sheet. */
arap_status arap_part_thickness(arap_context *context, const arap_mesh *mesh, double *thick);

/* Finds straight, slim loose parts that lie across a surface, such as swords, staffs and rifles.
 * may: (part_count) parts that can belong to a rod. set: (part_count) the
 * lowest part of the rod to which each part belongs, or -1. contact: (count) whether the vertex
 * belongs to a rod and is about as near to parts other than rods as any vertex of its rod. */
arap_status arap_find_rods(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                           char *contact);

/* Finds props: closed loose parts that touch each other and little else, such as pistols, tools and
 * bags. may: (part_count) parts that can belong to a prop. set: (part_count) the lowest part of the
 * prop to which each part belongs, or -1. touched: (count) the set that a vertex of another part
 * touches, or -1. */
arap_status arap_find_props(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                            int *touched);

#endif
