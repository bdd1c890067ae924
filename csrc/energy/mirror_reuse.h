/* The half of a symmetric character that repeats the other one. The results of the local step and
 * of the product with F at a vertex are images of those at its partner, and are copied from it. */
#ifndef ARAP_MIRROR_REUSE_H
#define ARAP_MIRROR_REUSE_H

#include "base/context.h"
#include "mesh/mesh.h"
#include "rig/poses.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

/* All zero: nothing is copied. */
typedef struct arap_mirror_reuse {
    const arap_symmetry *symmetry;
    char *bones;     /* (deforming bones) their poses are images of their partners' */
    char *alike;     /* (vertices) the one-ring is the image of the partner's */
    int *of;         /* (vertices) whose numbers are copied, or -1: they are computed */
    char *unvisited; /* (vertices) copied, as all around them: their rotations move nothing */
    size_t *from;    /* (influences) of copied vertices, the influence to copy from */
} arap_mirror_reuse;

/* The bones and one-rings of this mesh; where some are images, `of`, `unvisited` and `from` follow
 * with the patterns. None with poses that are not all rigid, or of which one has no image. */
arap_status arap_mirror_reuse_create(arap_context *context, const arap_mesh *mesh,
                                     const arap_symmetry *symmetry, const arap_poses *poses,
                                     arap_mirror_reuse *mirror_reuse);
/* Finds the copies with these influence patterns and the present springs. Until the next call,
 * weights are to be the same on both sides (arap_symmetry_weights). */
arap_status arap_mirror_reuse_take(arap_context *context, const arap_mesh *mesh,
                                   const arap_influences *in, arap_mirror_reuse *mirror_reuse);
void arap_mirror_reuse_clear(arap_mirror_reuse *mirror_reuse);

/* Copy numbers per influence. mirror_reuse NULL: nothing is copied. */
void arap_mirror_reuse_copy(const arap_mirror_reuse *mirror_reuse, const arap_influences *in,
                            double *numbers);

/* Is the vertex one whose numbers are copied? */
static inline int arap_is_copied(const arap_mirror_reuse *mirror_reuse, int i) {
    return mirror_reuse && mirror_reuse->of && mirror_reuse->of[i] >= 0;
}

#endif
