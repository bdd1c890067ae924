/* Finds cards that touch another part with one end, and determines how these cards are attached. */
#ifndef ARAP_HANGING_H
#define ARAP_HANGING_H

#include "mesh/mesh.h"

/* For cards (`may`, part_count) that touch parts other than cards with one or both ends, but do not
 * lie along them, set end (count) to 1 or 2 for the vertices that touch, 0 for all others. beneath
 * (count) is the face that these vertices touch. */
arap_status arap_find_hanging(arap_context *context, const arap_mesh *mesh, const char *may,
                              char *end, int *beneath);

#endif
