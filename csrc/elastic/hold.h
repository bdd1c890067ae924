/* What holds an elastic body on its bones. */
#ifndef ARAP_HOLD_H
#define ARAP_HOLD_H

#include "elastic/body.h"

typedef struct arap_hold {
    int count;        /* vertices of the mesh */
    int *bone;        /* (count) nearest deforming bone, of the caller */
    double *strength; /* (count) > 0, of the pull to where that bone takes the vertex */
    int limbs;
    int *limb_bone;        /* (limbs) */
    size_t *start;         /* (limbs + 1) first vertex of each limb */
    int *vertex;           /* (start[limbs]) of the mesh; welded ones as often as the caller's */
    double *center;        /* (limbs, 3) at rest, units of the mesh */
    double *limb_strength; /* (limbs) > 0, of the pull of the center to where its bone takes it */
} arap_hold;

/* bones: heads, tails and deform, of which at least one does, in the units of the caller, like
 * vertices (input_count, 3). pull, center: see hold.c. */
arap_status arap_hold_create(arap_context *context, const arap_body *body, const double *vertices,
                             const arap_bones *bones, double pull, double center, arap_hold *hold);
void arap_hold_clear(arap_hold *hold);

/* Where the bones take the vertices and the centers in a pose: target (count, 3), place (limbs, 3).
 * transforms: (bones, 3, 4) in the units of the mesh. */
void arap_hold_targets(const arap_hold *hold, const arap_mesh *mesh, const double *transforms,
                       double *target, double *place);

/* The mean of the vertices of a limb, x (count, 3). */
void arap_limb_mean(const arap_hold *hold, int limb, const double *x, double *mean);

/* The energy of the pulls at x (count, 3); those of the vertices are added to b (count, 3). */
double arap_hold_energy(const arap_hold *hold, const double *target, const double *place,
                        const double *x, double *b);

#endif
