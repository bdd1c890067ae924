/* Computes reference shapes, which no skinning weights produce, as the equilibrium of an elastic
 * body on its posed bones. */
#ifndef ARAP_ELASTIC_H
#define ARAP_ELASTIC_H

#include "arap.h"
#include "base/settings.h"
#include "elastic/hold.h"

typedef enum arap_elastic_method {
    ARAP_ELASTIC_FREE, /* each element has its own rotation: descent.c */
    ARAP_ELASTIC_MIXED /* rotations at a few samples, with mixed finite elements: extras/mixed.c */
} arap_elastic_method;

typedef struct arap_elastic_settings {
#define ARAP_SETTINGS_ELASTIC
#include "settings.def"
} arap_elastic_settings;

extern const arap_setting_table arap_elastic_settings_table;

/* Finds an equilibrium of the body in each pose. x (poses, count, 3): the start on entry, the
 * result on return. transforms: (poses, bones, 3, 4), units of the mesh. energies: NULL, or
 * (iterations + 1, poses). */
typedef arap_status (*arap_elastic_fn)(arap_context *context, const arap_body *body,
                                       const arap_bone_hold *hold, int bones, int poses,
                                       const double *transforms,
                                       const arap_elastic_settings *settings, double *x,
                                       double *energies);

/* Minimizes the energy by local and global steps, each element with its own rotation. */
arap_status arap_descend(arap_context *context, const arap_body *body, const arap_bone_hold *hold,
                         int bones, int poses, const double *transforms,
                         const arap_elastic_settings *settings, double *x, double *energies);

/* posed (poses, vertices, 3), units of the caller. energies: NULL, or (iterations + 1, poses):
 * relative to the size of the body, beginning with that of the start; the last energy of a finished
 * pose is repeated. bones: heads, tails and, unless NULL, deform; all are rigid. rows: initial
 * weights of the caller's vertices; NULL start: all vertices follow their nearest bones. Errors
 * name the problem with the geometry, bones, poses, weights or settings. */
arap_status arap_elastic_poses(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const arap_given_poses *poses,
                               const arap_sparse_weights *rows, arap_elastic_fn minimize,
                               const arap_elastic_settings *settings, double *posed,
                               double *energies);

#endif
