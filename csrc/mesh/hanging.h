/* Cards that touch another part with an end, and how they are attached. */
#ifndef ARAP_HANGING_H
#define ARAP_HANGING_H

#include "mesh/mesh.h"

/* For cards (`may`, part_count) that touch other parts than cards by one end or by both, but do not
 * lie along them: end (count) is 1 or 2 for the vertices by which such a card touches, 0 for all
 * others, and beneath (count) the face that these touch. */
arap_status arap_find_hanging(arap_context *context, const arap_mesh *mesh, const char *may,
                              char *end, int *beneath);

#endif
