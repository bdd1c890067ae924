/* Loose parts that are straight and slim and lie across a surface: swords, staffs, rifles. */
#ifndef ARAP_BARS_H
#define ARAP_BARS_H

#include "mesh/mesh.h"

/* Find the parts of bars. may: (part_count) the parts that can belong to one. set: (part_count) the
 * lowest part of the bar that this one is of, or -1. contact: (count) is the vertex one of a bar
 * and about as near to other parts than bars as any of it? */
arap_status arap_find_bars(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                           char *contact);

#endif
