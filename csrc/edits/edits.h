/* Edits by an artist while the weights converge (paper section 5). They pin weights, add bones to
 * influence patterns or remove them, and release constraint rows and springs. */
#ifndef ARAP_EDITS_H
#define ARAP_EDITS_H

#include "arap.h"
#include "rig/rigid_parts.h"
#include "rig/skeleton.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

/* Errors name the vertex or bone that is out of range, the target that is not finite, or the
 * strength that is not between 0 and 1. */
arap_status arap_check_edits(arap_error *error, const arap_edits *edits, int vertices, int bones);

enum { ARAP_ALLOWED = 1, ARAP_EXCLUDED = 2, ARAP_RELEASED = 4 }; /* excluded takes precedence */

/* Edits of pairs of a mesh vertex and a deforming bone. */
typedef struct arap_mark {
    int vertex, bone, what; /* values of the enumeration, combined */
} arap_mark;

typedef struct arap_marks {
    int count;
    arap_mark *marks; /* in ascending order of vertex, then bone; each pair occurs once */
} arap_marks;

/* The marks of edits and, where vertices and bones have partners, of their images. Marks on
 * vertices of a rigid part are moved to its lead. */
arap_status arap_marks_create(arap_context *context, const arap_edits *edits, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const arap_rigid_parts *parts, arap_marks *marks);
void arap_marks_clear(arap_marks *marks);

/* Move the marks on vertices of new parts to their leads. */
void arap_marks_lead(arap_marks *marks, const arap_rigid_parts *parts);

/* The mark of a pair, or 0 if it is unmarked. The vertex must be a lead. */
int arap_find_mark(const arap_marks *marks, int vertex, int bone);

/* Add the allowed influences and those of `offered`, unless it is NULL, with weight 0, except for
 * bones that are excluded or locked there. Remove excluded influences that are not locked, and give
 * their weight to the nearest allowed bone, if there is one. A vertex that would be left without
 * influences gets the nearest bone that is not excluded. If all bones are excluded, the vertex
 * keeps its influences. `in` is replaced. */
arap_status arap_edit_influences(arap_context *context, const arap_marks *marks,
                                 const arap_mesh *mesh, const arap_skeleton *skeleton,
                                 arap_excluded_fn excluded, const void *data,
                                 const arap_influences *offered, arap_influences *in);

#endif
