/* Rigid parts: sets of vertices with bitwise identical weights. */
#ifndef ARAP_RIGID_PARTS_H
#define ARAP_RIGID_PARTS_H

#include "base/memory.h"
#include "rig/symmetry.h"

/* All zero: no rigid parts. Each vertex outside of rigid parts forms a part of its own. */
typedef struct arap_rigid_parts {
    int count;   /* number of parts with at least two vertices */
    int *number; /* (vertices) part of each vertex; -1: none */
    int *lead;   /* (vertices) the vertex that represents its part */
    int *next;   /* (vertices) the next vertex of the same part, beginning with the lead; -1: the
                    last */
    arap_arena arena; /* of the arrays */
} arap_rigid_parts;

/* label (input vertices): vertices with equal labels form a part; -1: none. kept_out (vertices):
 * vertices that never belong to a part, or NULL. */
arap_status arap_rigid_parts_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_symmetry *symmetry, const int *label,
                                    const char *kept_out, arap_rigid_parts *parts);
void arap_rigid_parts_clear(arap_rigid_parts *parts);

/* The vertex that represents the part of vertex i. */
static inline int arap_lead(const arap_rigid_parts *parts, int i) {
    return parts->count ? parts->lead[i] : i;
}

/* Iterates over all vertices of a part, beginning with the lead; then -1. */
static inline int arap_next_of_part(const arap_rigid_parts *parts, int i) {
    return parts->count ? parts->next[i] : -1;
}

/* Merge the rows of each part, with area-weighted means of their weights. A bone that is excluded
 * from a vertex of the part (NULL: none is) is omitted, unless all bones are excluded. Locked
 * entries are the same in all rows of a part, or are replaced by those of the part's lead. `in` is
 * replaced. */
arap_status arap_rigid_patterns(arap_context *context, const arap_rigid_parts *parts,
                                const arap_mesh *mesh, int bones, arap_excluded_fn excluded,
                                const void *data, arap_influences *in);

/* With the patterns of arap_rigid_patterns, set the weights of each part to those of its lead. */
void arap_rigid_weights(const arap_rigid_parts *parts, arap_influences *in);

/* Mark vertices of parts that are their own images as not symmetric, because one bone cannot be the
 * mirror image of two. */
void arap_rigid_unmirror(const arap_rigid_parts *parts, arap_symmetry *symmetry);

#endif
