/* What an artist changes while the weights converge (paper section 5): wanted weights, bones added
 * to or removed from influence maps, constraint rows and spokes that are let go. */
#ifndef ARAP_EDITS_H
#define ARAP_EDITS_H

#include "arap.h"
#include "rig/rigid_parts.h"
#include "rig/skeleton.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

/* Errors name the vertex or bone that is out of range, the target that is not finite and the
 * strength that is not from 0 to 1. */
arap_status arap_check_edits(arap_error *error, const arap_edits *edits, int vertices, int bones);

enum { ARAP_ALLOWED = 1, ARAP_FORBIDDEN = 2, ARAP_RELEASED = 4 }; /* forbidden beats allowed */

/* What the edits say of pairs (vertex of the mesh, deforming bone). */
typedef struct arap_mark {
    int vertex, bone, what; /* of the enumeration, joined */
} arap_mark;

typedef struct arap_marks {
    int count;
    arap_mark *marks; /* ascending by vertex, then bone; each pair once */
} arap_marks;

/* The marks of edits, and those of their images where vertices and bones have partners; those of
 * the vertices of a rigid part are of its lead. */
arap_status arap_marks_create(arap_context *context, const arap_edits *edits, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const arap_rigid_parts *parts, arap_marks *marks);
void arap_marks_clear(arap_marks *marks);

/* The marks of the vertices of new parts become those of their leads. */
void arap_marks_lead(arap_marks *marks, const arap_rigid_parts *parts);

/* What is said of a pair, 0: nothing; the vertex is a lead. */
int arap_find_mark(const arap_marks *marks, int vertex, int bone);

/* Add the allowed influences and those that `offered` has, if it is not NULL, with weight 0 but
 * where `barred` (to which the forbidden belong), and leave out the forbidden ones that are not
 * locked. A vertex that would be left without any gets the nearest bone that is not forbidden, or
 * keeps what it has where all are. `in` is replaced. */
arap_status arap_edit_influences(arap_context *context, const arap_marks *marks,
                                 const arap_mesh *mesh, const arap_skeleton *skeleton,
                                 arap_barred_fn barred, const void *data,
                                 const arap_influences *offered, arap_influences *in);

#endif
