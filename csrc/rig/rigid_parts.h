/* Rigid parts: vertices that have the same weights, to the last bit. */
#ifndef ARAP_RIGID_PARTS_H
#define ARAP_RIGID_PARTS_H

#include "rig/symmetry.h"

/* All zero: no rigid parts. A vertex outside them is a part of its own. */
typedef struct arap_rigid_parts {
    int count;   /* parts of at least two vertices */
    int *number; /* (vertices) part of each, -1: none */
    int *lead;   /* (vertices) the one that stands for its part */
    int *next;   /* (vertices) another one of the same part, from the lead on; -1: the last */
} arap_rigid_parts;

/* label (input vertices): those of an equal one are a part, -1: none. kept_out (vertices): those
 * that are of none in any case, or NULL. */
arap_status arap_rigid_parts_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_symmetry *symmetry, const int *label,
                                    const char *kept_out, arap_rigid_parts *parts);
void arap_rigid_parts_clear(arap_rigid_parts *parts);

/* The vertex that stands for the part of vertex i. */
static inline int arap_lead(const arap_rigid_parts *parts, int i) {
    return parts->count ? parts->lead[i] : i;
}

/* From the lead on all vertices of a part, then -1. */
static inline int arap_next_of_part(const arap_rigid_parts *parts, int i) {
    return parts->count ? parts->next[i] : -1;
}

/* Join the rows of each part, with the means of their weights by area. A bone that is excluded
 * (NULL: none is) from one of its vertices is left out, unless all are. Locked entries are the same
 * in all rows of a part, or are made those of its lead. `in` is replaced. */
arap_status arap_rigid_patterns(arap_context *context, const arap_rigid_parts *parts,
                                const arap_mesh *mesh, int bones, arap_excluded_fn excluded,
                                const void *data, arap_influences *in);

/* Where the patterns are those of arap_rigid_patterns: the weights of a part become those of its
 * lead. */
void arap_rigid_weights(const arap_rigid_parts *parts, arap_influences *in);

/* Vertices of parts that are their own images are no longer symmetric: one bone can be no mirror
 * image of two. */
void arap_rigid_unmirror(const arap_rigid_parts *parts, arap_symmetry *symmetry);

#endif
