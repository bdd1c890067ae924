/* The half of a symmetric character that repeats the other one: the results of the local step and
 * of the product with F at a vertex are the images of those at its partner, and are copied from
 * there. */
#ifndef ARAP_HALVES_H
#define ARAP_HALVES_H

#include "base/context.h"
#include "mesh/mesh.h"
#include "rig/poses.h"
#include "rig/symmetry.h"
#include "weights/influences.h"

/* All zero: nothing is copied. */
typedef struct arap_halves {
    const arap_symmetry *symmetry;
    char *bones;     /* (deforming bones) their poses are images of their partners' */
    char *alike;     /* (vertices) the one-ring is the image of the partner's */
    int *of;         /* (vertices) whose numbers are copied, or -1: they are computed */
    char *unvisited; /* (vertices) copied, as all around them: their rotations move nothing */
    size_t *from;    /* (influences) of copied vertices, the influence to copy from */
} arap_halves;

/* The bones and one-rings of this mesh; where some are images, `of`, `unvisited` and `from` follow
 * with the maps. None with poses that are not all rigid, or of which one has no image. */
arap_status arap_halves_create(arap_context *context, const arap_mesh *mesh,
                               const arap_symmetry *symmetry, const arap_poses *poses,
                               arap_halves *halves);
/* Finds the copies with these influence maps and the present spokes. Until the next call, weights
 * are to be the same on both sides (arap_symmetry_weights). */
arap_status arap_halves_take(arap_context *context, const arap_mesh *mesh,
                             const arap_influences *in, arap_halves *halves);
void arap_halves_clear(arap_halves *halves);

/* Copy numbers per influence. halves NULL: nothing is copied. */
void arap_halves_copy(const arap_halves *halves, const arap_influences *in, double *numbers);

/* Is the vertex one whose numbers are copied? */
static inline int arap_is_copied(const arap_halves *halves, int i) {
    return halves && halves->of && halves->of[i] >= 0;
}

#endif
