/* Loose parts that are straight and slim and lie across a surface: swords, staffs, rifles. */
#ifndef ARAP_RODS_H
#define ARAP_RODS_H

#include "mesh/mesh.h"

/* Find the parts of rods. may: (part_count) the parts that can belong to one. set: (part_count) the
 * lowest part of the rod that this one is of, or -1. contact: (count) is the vertex one of a rod
 * and about as near to other parts than rods as any of it? */
arap_status arap_find_rods(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                           char *contact);

#endif
