/* Posed points that no weights make: an elastic body whose bones move as told. */
#ifndef ARAP_ELASTIC_H
#define ARAP_ELASTIC_H

#include "arap.h"
#include "base/settings.h"

typedef enum arap_elastic_method {
    ARAP_ELASTIC_FREE, /* every element finds its rotation: descent.c */
    ARAP_ELASTIC_MIXED /* rotations of few samples, mixed finite elements: mixed.c */
} arap_elastic_method;

typedef struct arap_elastic_settings {
#define ARAP_SETTINGS_ELASTIC
#include "settings.def"
} arap_elastic_settings;

extern const arap_setting_table arap_elastic_settings_table;

void arap_elastic_settings_default(arap_elastic_settings *settings);

/* posed (poses, vertices, 3), units of the caller. energies: NULL, or (iterations + 1, poses):
 * relative to the size of the body, that of the start first; those of a pose that has ended repeat.
 * bones: heads, tails and, unless NULL, deform; all rigid. rows: weights of the start by the
 * vertices of the caller, NULL start: all follow their nearest bones. Errors name what is wrong
 * with the geometry, bones, poses, weights and settings. */
arap_status arap_elastic_poses(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const arap_given_poses *poses,
                               const arap_sparse_weights *rows,
                               const arap_elastic_settings *settings, double *posed,
                               double *energies);

#endif
