/* Pulls that tie an elastic body to its bones. */
#ifndef ARAP_HOLD_H
#define ARAP_HOLD_H

#include "base/memory.h"
#include "elastic/body.h"

typedef struct arap_bone_hold {
    int count;             /* vertices of the mesh */
    int *bone;             /* (count) the caller's deforming bone that holds the vertex */
    double *strength;      /* (count) > 0, strength of the pull to the position to which that bone
                              moves the vertex */
    double *anchor;        /* (count, 3) its nearest point at rest, in units of the mesh */
    double *anchor_weight; /* (count) of the anchors of body.h */
    int limbs;
    int *limb_bone;        /* (limbs) */
    size_t *start;         /* (limbs + 1) first vertex of each limb */
    int *vertex;           /* (start[limbs]) of the mesh; welded ones occur once for each of the
                              caller's */
    double *center;        /* (limbs, 3) at rest, in units of the mesh */
    double *limb_strength; /* (limbs) > 0, strength of the pull of the center to the position to
                              which its bone moves it */
    arap_arena arena;      /* of the arrays */
    arap_arena limb_arena; /* of those from arap_limbs_create */
} arap_bone_hold;

/* bones: heads, tails and deform, in the caller's units; at least one bone must deform. vertices
 * (input_count, 3): in the same units. weights: rows for these vertices, or NULL. pull, center and
 * inside: see hold.c. */
arap_status arap_bone_hold_create(arap_context *context, const arap_body *body,
                                  const double *vertices, const arap_bones *bones,
                                  const arap_influences *weights, double pull, double center,
                                  double inside, arap_bone_hold *hold);
void arap_bone_hold_clear(arap_bone_hold *hold);

/* Convert the caller's transforms (poses, bones, 3, 4) to the units of the mesh. Returns
 * ARAP_BAD_VALUE for bones and poses too far from the mesh. */
arap_status arap_bone_hold_transforms(arap_context *context, const arap_mesh *mesh,
                                      const arap_bones *bones, size_t poses, const double *from,
                                      double *to);

/* The positions to which the bones move the vertices, the anchors (both count, 3) and the centers
 * (limbs, 3) in a pose. transforms: (bones, 3, 4) in units of the mesh. */
void arap_bone_hold_targets(const arap_bone_hold *hold, const arap_mesh *mesh,
                            const double *transforms, double *target, double *anchor,
                            double *place);

/* The mean of the vertices of a limb, x (count, 3). */
void arap_limb_mean(const arap_bone_hold *hold, int limb, const double *x, double *mean);

/* The targets of the pulls in one pose. */
typedef struct arap_held {
    const double *target; /* (count, 3) */
    const double *place;  /* (limbs, 3) */
    const double *slack;  /* (limbs) how far a center may be from that position */
    double *aim;          /* (limbs, 3) the points toward which the centers are pulled: see
                             hold.c */
} arap_held;

/* The energy of the pulls at x (count, 3). Adds the pulls of the vertices to b (count, 3) and
 * computes the aims of the limbs. */
double arap_bone_hold_energy(const arap_bone_hold *hold, const arap_held *pose, const double *x,
                             double *b);

#endif
