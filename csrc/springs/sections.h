/* Springs between the cross section of a limb, as a whole, and its bone. */
#ifndef ARAP_SECTIONS_H
#define ARAP_SECTIONS_H

#include "mesh/mesh.h"
#include "rig/poses.h"
#include "weights/influences.h"

/* All zero: without such springs. */
typedef struct arap_sections {
    int count;
    int *bone;        /* (count) deforming */
    double *strength; /* (count) */
    double *slack;    /* (count) the mean may be so far from where its bone takes it */
    double *mean;     /* (count, 4) of the members at rest, homogeneous */
    size_t *start;    /* (count + 1) first member of each */
    int *vertex;      /* (members) */
    double *base;     /* (members) what decides on its share: the strength of its spring there */
    size_t *spring;   /* (members) number of that spring */
    double *share;    /* (members) of the mean, sums to 1 for each section */
    double *tie;      /* (vertices) curvature of the springs, see sections.c */

    /* Of the present influence patterns: */
    size_t *first;  /* (count + 1) first bone of each */
    int *bones;     /* (first[count]) those that move members, the section's own first */
    size_t *own;    /* (members) first place of its influences */
    int *place;     /* for each influence of a member: which of the bones of its section */
    double *slope;  /* (first[count], 4) work */
    double *energy; /* (count) work */
} arap_sections;

/* The sections of the limbs of a mesh with springs; strength: of their springs, as a share of the
 * springs'. */
arap_status arap_sections_create(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_poses *poses,
                                 double strength, arap_sections *sections);
void arap_sections_clear(arap_sections *sections);

/* For these influence patterns, and for what has happened to the springs. */
arap_status arap_sections_begin(arap_context *context, const arap_mesh *mesh,
                                const arap_influences *in, arap_sections *sections);

/* Half of the slope of their energy at the weights is added to `product` (entries). */
arap_status arap_sections_add(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                              const arap_influences *in, arap_sections *sections, double *product,
                              double *energy);

#endif
