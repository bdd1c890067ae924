/* Limbs, which are the vertices around the middle of each bone that the mesh encloses. */
#ifndef ARAP_LIMBS_H
#define ARAP_LIMBS_H

#include "base/context.h"
#include "base/memory.h"

#include <stddef.h>

typedef struct arap_limbs {
    int count;
    int *bone;        /* (count) of the caller, in ascending order */
    double *radius;   /* (count) mean distance of the vertices from the bone */
    double *center;   /* (count, 3) mean of the vertices at rest */
    size_t *start;    /* (count + 1) */
    int *vertex;      /* (start[count]) */
    arap_arena arena; /* of the arrays */
} arap_limbs;

/* vertices (n, 3) and bones, heads and tails (bones, 3), must be in the same space; deform (bones)
 * or NULL: bones that do not deform have no limb. */
arap_status arap_limbs_create(arap_context *context, int n, const double *vertices, int bones,
                              const double *heads, const double *tails, const char *deform,
                              arap_limbs *limbs);
void arap_limbs_clear(arap_limbs *limbs);

/* Squared distance, in squared radii, between the center of a limb in one pose and `carried`, the
 * position to which its bone moves the center at rest. `points` is a lane of a group of poses. */
double arap_limb_drift2(const arap_limbs *limbs, int limb, const double *points,
                        const double *carried);

#endif
