/* Computes reference shapes, which no skinning weights produce, as the equilibrium of an elastic
 * body on its posed bones. */
#ifndef ARAP_ELASTIC_H
#define ARAP_ELASTIC_H

#include "arap.h"
#include "base/settings.h"

typedef enum arap_elastic_method {
    ARAP_ELASTIC_FREE, /* each element has its own rotation: descent.c */
    ARAP_ELASTIC_MIXED /* rotations at a few samples, with mixed finite elements: mixed.c */
} arap_elastic_method;

typedef struct arap_elastic_settings {
#define ARAP_SETTINGS_ELASTIC
#include "settings.def"
} arap_elastic_settings;

extern const arap_setting_table arap_elastic_settings_table;

void arap_elastic_settings_default(arap_elastic_settings *settings);

/* posed (poses, vertices, 3), units of the caller. energies: NULL, or (iterations + 1, poses):
 * relative to the size of the body, beginning with that of the start; the last energy of a finished
 * pose is repeated. bones: heads, tails and, unless NULL, deform; all are rigid. rows: initial
 * weights of the caller's vertices; NULL start: all vertices follow their nearest bones. Errors
 * name the problem with the geometry, bones, poses, weights or settings. */
arap_status arap_elastic_poses(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const arap_given_poses *poses,
                               const arap_sparse_weights *rows,
                               const arap_elastic_settings *settings, double *posed,
                               double *energies);

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
} arap_mixed_view;

/* turns (count, 3); NULL: those of the bones. In addition to the errors above, returns
 * ARAP_BAD_VALUE if their number differs from that of the samples. */
arap_status arap_mixed_elasticity(arap_context *context, const arap_geometry *geometry,
                                  const arap_bones *bones, const arap_given_poses *poses,
                                  const arap_elastic_settings *settings, int turn_count,
                                  const double *turns, arap_mixed_view *view);
void arap_mixed_view_clear(arap_mixed_view *view);

#endif
