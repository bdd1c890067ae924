/* Finds props: closed loose parts that touch each other and little else, such as pistols, tools and
 * bags. */
#ifndef ARAP_PROPS_H
#define ARAP_PROPS_H

#include "mesh/mesh.h"

/* Determine which parts belong to props. may: (part_count) parts that can belong to a prop; leads:
 * (part_count) parts that can be the largest part of a prop. set: (part_count) the lowest part of
 * the prop to which each part belongs, or -1. touched: (count) the set that a vertex of another
 * part touches, or -1. */
arap_status arap_find_props(arap_context *context, const arap_mesh *mesh, const char *may,
                            const char *leads, int *set, int *touched);

#endif
