/* Reuses results between the two halves of a symmetric character. The results of the local step and
 * of the product with F at a vertex are mirror images of the results at its partner, from which
 * they are copied. */
#ifndef ARAP_MIRROR_REUSE_H
#define ARAP_MIRROR_REUSE_H

#include "base/context.h"
#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/poses.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

/* All zero: nothing is copied. */
typedef struct arap_mirror_reuse {
    const arap_symmetry *symmetry;
    char *bones;      /* (deforming bones) their poses are images of their partners' */
    char *alike;      /* (vertices) the one-ring is the image of the partner's */
    int *of;          /* (vertices) the vertex whose numbers are copied; -1: they are computed */
    char *unvisited;  /* (vertices) copied, like all their neighbors, so their rotations are not
                       * needed */
    size_t *from;     /* (influences) of copied vertices, the influence to copy from */
    arap_arena arena; /* of the other arrays */
} arap_mirror_reuse;

/* Find the matching bones and one-rings of this mesh. If there are any, `of`, `unvisited` and
 * `from` are set later, with the patterns. Nothing matches if some poses are not rigid or have no
 * image. */
arap_status arap_mirror_reuse_create(arap_context *context, const arap_mesh *mesh,
                                     const arap_symmetry *symmetry, const arap_poses *poses,
                                     arap_mirror_reuse *mirror_reuse);
/* Find the copies for these influence patterns and the current springs. Until the next call,
 * weights must be the same on both sides (arap_symmetry_weights). */
arap_status arap_mirror_reuse_take(arap_context *context, const arap_mesh *mesh,
                                   const arap_influences *in, arap_mirror_reuse *mirror_reuse);
void arap_mirror_reuse_clear(arap_mirror_reuse *mirror_reuse);

/* Copy the numbers of each influence. mirror_reuse NULL: nothing is copied. */
void arap_mirror_reuse_copy(const arap_mirror_reuse *mirror_reuse, const arap_influences *in,
                            double *numbers);

/* Whether the numbers of this vertex are copied. */
static inline int arap_is_copied(const arap_mirror_reuse *mirror_reuse, int i) {
    return mirror_reuse && mirror_reuse->of && mirror_reuse->of[i] >= 0;
}

#endif
