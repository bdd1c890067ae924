/* Bones in the middle of a loose part that something larger surrounds: an eye in a head, a wheel in
 * its arch. Such a bone moves that part and nothing else. */
#ifndef ARAP_INNER_BONES_H
#define ARAP_INNER_BONES_H

#include "mesh/bvh.h"
#include "rig/symmetry.h"

/* All zero: none are found. */
typedef struct arap_inner_bones {
    int count;
    char *is_inner; /* (deforming bones) */
    int *keeper;    /* (parts of the mesh) the inner bone that moves each, -1: others do */
} arap_inner_bones;

/* faces: those of the mesh, or NULL, and then made where they are needed. */
arap_status arap_inner_bones_find(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                                  arap_bvh **faces, arap_inner_bones *out);
void arap_inner_bones_clear(arap_inner_bones *inner);

/* Must bone b not move this part? Bones below an inner one, none of which moves anything else,
 * share its part. */
int arap_inner_excludes(const arap_inner_bones *inner, const arap_skeleton *skeleton, int part,
                        int b);

#endif
