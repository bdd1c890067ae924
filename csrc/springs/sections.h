/* Springs between a whole cross section of a limb and its bone. */
#ifndef ARAP_SECTIONS_H
#define ARAP_SECTIONS_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/poses.h"
#include "weights/influences.h"

/* All zero: no such springs. */
typedef struct arap_sections {
    arap_arena arena, patterns; /* of all members, and of those for the influence patterns */
    int count;
    int *bone;        /* (count) deforming */
    double *strength; /* (count) */
    double *slack;    /* (count) allowed distance of the mean from the position to which its bone
                         moves it */
    double *mean;     /* (count, 4) mean of the members at rest, homogeneous */
    size_t *start;    /* (count + 1) first member of each */
    int *vertex;      /* (members) */
    double *base;     /* (members) strength of the member's spring, which determines its share */
    size_t *spring;   /* (members) index of that spring */
    double *share;    /* (members) share of the mean; sums to 1 for each section */
    double *tie;      /* (vertices) curvature of the springs, see sections.c */

    /* For the current influence patterns: */
    size_t *first;  /* (count + 1) first bone of each */
    int *bones;     /* (first[count]) bones that move members, beginning with the section's own */
    size_t *own;    /* (members) first index of its influences */
    int *place;     /* for each influence of a member: index among the bones of its section */
    double *slope;  /* (first[count], 4) work */
    double *energy; /* (count) work */
} arap_sections;

/* Create the sections of the limbs of a mesh with springs; strength: of the section springs,
 * relative to the bone springs. */
arap_status arap_sections_create(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_poses *poses,
                                 double strength, arap_sections *sections);
void arap_sections_clear(arap_sections *sections);

/* Update to these influence patterns and to changes of the springs. */
arap_status arap_sections_begin(arap_context *context, const arap_mesh *mesh,
                                const arap_influences *in, arap_sections *sections);

/* Add half of the slope of the sections' energy at the weights to `product` (entries). */
arap_status arap_sections_add(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                              const arap_influences *in, arap_sections *sections, double *product,
                              double *energy);

#endif
