/* Finds bones in the middle of a loose part that a larger part surrounds, such as an eye in a head
 * or a wheel in its arch. Such a bone moves only that part. */
#ifndef ARAP_INNER_BONES_H
#define ARAP_INNER_BONES_H

#include "base/memory.h"
#include "mesh/bvh.h"
#include "rig/symmetry.h"

/* All zero: none are found. */
typedef struct arap_inner_bones {
    int count;
    char *is_inner;   /* (deforming bones) */
    int *keeper;      /* (parts of the mesh) the inner bone that moves each part; -1: other bones
                         do */
    arap_arena arena; /* of the arrays */
} arap_inner_bones;

/* faces: those of the mesh, or NULL, in which case they are created when needed. */
arap_status arap_inner_bones_find(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                                  arap_bvh **faces, arap_inner_bones *out);
void arap_inner_bones_clear(arap_inner_bones *inner);

/* Whether bone b must not move this part. Bones below an inner bone share its part and move no
 * other part. */
int arap_inner_excludes(const arap_inner_bones *inner, const arap_skeleton *skeleton, int part,
                        int b);

#endif
