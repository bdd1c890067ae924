/* The ties of an elastic body to its bones. */
#ifndef ARAP_HOLD_H
#define ARAP_HOLD_H

#include "elastic/body.h"

typedef struct arap_hold {
    int count;             /* vertices of the mesh */
    int *bone;             /* (count) bone of the caller that holds the vertex: deforming */
    double *strength;      /* (count) > 0, of the pull to where that bone takes the vertex */
    double *anchor;        /* (count, 3) its nearest point at rest, units of the mesh */
    double *anchor_weight; /* (count) of the anchors of body.h */
    int limbs;
    int *limb_bone;        /* (limbs) */
    size_t *start;         /* (limbs + 1) first vertex of each limb */
    int *vertex;           /* (start[limbs]) of the mesh; welded ones as often as the caller's */
    double *center;        /* (limbs, 3) at rest, units of the mesh */
    double *limb_strength; /* (limbs) > 0, of the pull of the center to where its bone takes it */
} arap_hold;

/* bones: heads, tails and deform, of which at least one does, in the units of the caller, like
 * vertices (input_count, 3). weights: rows of these, or NULL. pull, center and
 * inside: see hold.c. */
arap_status arap_hold_create(arap_context *context, const arap_body *body, const double *vertices,
                             const arap_bones *bones, const arap_influences *weights, double pull,
                             double center, double inside, arap_hold *hold);
void arap_hold_clear(arap_hold *hold);

/* Transforms (poses, bones, 3, 4) of the caller, in the units of the mesh. ARAP_BAD_VALUE for bones
 * and poses too far from it. */
arap_status arap_hold_transforms(arap_context *context, const arap_mesh *mesh,
                                 const arap_bones *bones, size_t poses, const double *from,
                                 double *to);

/* Where the bones take the vertices, the anchors (both count, 3) and the centers (limbs, 3) in a
 * pose. transforms: (bones, 3, 4) in the units of the mesh. */
void arap_hold_targets(const arap_hold *hold, const arap_mesh *mesh, const double *transforms,
                       double *target, double *anchor, double *place);

/* The mean of the vertices of a limb, x (count, 3). */
void arap_limb_mean(const arap_hold *hold, int limb, const double *x, double *mean);

/* A pose, as the pulls see it. */
typedef struct arap_held {
    const double *target; /* (count, 3) */
    const double *place;  /* (limbs, 3) */
    const double *slack;  /* (limbs) how far from there a center may be */
    double *aim;          /* (limbs, 3) where the centers are drawn to: see hold.c */
} arap_held;

/* The energy of the pulls at x (count, 3); those of the vertices are added to b (count, 3), and the
 * aims of the limbs are found. */
double arap_hold_energy(const arap_hold *hold, const arap_held *pose, const double *x, double *b);

#endif
