/* Optimized centers of rotation (Le & Hodgins 2016), and skinning with them. */
#ifndef ARAP_ROTATION_CENTERS_H
#define ARAP_ROTATION_CENTERS_H

#include "arap.h"
#include "base/context.h"
#include "base/settings.h"

typedef struct arap_center_settings {
#define ARAP_SETTINGS_CENTERS
#include "settings.def"
} arap_center_settings;
extern const arap_setting_table arap_center_settings_table;

/* Compute the center of each vertex of a surface, out (vertices, 3); NaN if no triangle has similar
 * weights, for example at a vertex with one bone. Weights are relative to the sum of their row.
 * Errors name the problem with the geometry, the rows or the settings. */
arap_status arap_rotation_centers(arap_context *context, const arap_geometry *geometry,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_center_settings *settings, double *out);

/* Skin with these centers (Algorithm 1): compute the positions out (poses, count, 3) of vertices
 * (count, 3) with these centers (count, 3). If a center is not finite, linear blending is used. All
 * other arguments are as for arap_dual_quaternion_skinning. */
arap_status arap_center_skinning(arap_context *context, int count, const double *vertices,
                                 const arap_sparse_weights *rows, const double *centers, int bones,
                                 int poses, const double *transforms, const double *axes,
                                 double *out);

#endif
