/* Automatic skinning by mixed finite elements, in several poses. */
#ifndef ARAP_MIXED_H
#define ARAP_MIXED_H

#include "elastic/elastic.h"
#include "extras/mixed_state.h"

/* An arap_elastic_fn that optimizes the rotations of samples. Ignores the start. Returns
 * ARAP_BAD_VALUE for meshes that are too large. */
arap_status arap_mixed_poses(arap_context *context, const arap_body *body,
                             const arap_bone_hold *hold, int bones, int poses,
                             const double *transforms, const arap_elastic_settings *settings,
                             double *x, double *energies);

/* A single evaluation of the mixed method in the first pose (mixed_state.c). */
typedef struct arap_mixed_view {
    int vertices, samples; /* vertices of the caller */
    size_t elements;       /* measured triangles, then tets */
    int *sample;           /* (samples) vertices of the caller */
    double *weight;        /* (elements, samples) */
    double *turns;         /* (samples, 3) */
    double *rotation;      /* (elements, 3, 3) */
    double *stretch;       /* (elements, 3, 3) S; triangles use only the first two rows and
                              columns */
    double *points;        /* (vertices, 3) units of the caller */
    double *pull;          /* (vertices) h_i */
    double *gradient;      /* (samples, 3) derivative of the energy by the turns */
    double energy;         /* lengths are relative to the diagonal of the bounding box */
    arap_arena arena;      /* of these arrays */
} arap_mixed_view;

/* turns (count, 3); NULL: those of the bones. In addition to the errors of arap_elastic_poses,
 * returns ARAP_BAD_VALUE if their number differs from that of the samples. */
arap_status arap_mixed_elasticity(arap_context *context, const arap_geometry *geometry,
                                  const arap_bones *bones, const arap_given_poses *poses,
                                  const arap_elastic_settings *settings, int turn_count,
                                  const double *turns, arap_mixed_view *view);
void arap_mixed_view_clear(arap_mixed_view *view);

#endif
