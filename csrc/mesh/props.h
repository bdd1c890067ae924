/* Closed loose parts that touch each other and little else: pistols, tools, bags. */
#ifndef ARAP_PROPS_H
#define ARAP_PROPS_H

#include "mesh/mesh.h"

/* Which parts belong to a prop. may: (part_count) parts that can; leads: (part_count)
 * those that can be the largest of one. set: (part_count) the lowest part
 * of the prop that this one is of, or -1. touched: (count) the set that a vertex of another
 * part touches, or -1. */
arap_status arap_find_props(arap_context *context, const arap_mesh *mesh, const char *may,
                            const char *leads, int *set, int *touched);

#endif
