/* Finds straight, slim loose parts that lie across a surface, such as swords, staffs and rifles. */
#ifndef ARAP_RODS_H
#define ARAP_RODS_H

#include "mesh/mesh.h"

/* Find the parts of rods. may: (part_count) parts that can belong to a rod. set: (part_count) the
 * lowest part of the rod to which each part belongs, or -1. contact: (count) whether the vertex
 * belongs to a rod and is about as near to parts other than rods as any vertex of its rod. */
arap_status arap_find_rods(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                           char *contact);

#endif
