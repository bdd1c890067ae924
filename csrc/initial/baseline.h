/* Baseline weights, for comparison. One function returns the final weights of any method in this
 * folder. */
#ifndef ARAP_BASELINE_H
#define ARAP_BASELINE_H

#include "base/settings.h"
#include "initial/handles.h"
#include "initial/heat.h"
#include "rig/skeleton.h"

/* Compute the weights of all deforming bones by a method: rows >= 0 with sum 1; entries of at most
 * `floor` may be omitted. given: handles of biharmonic weights (handles.h), or NULL. order: a
 * fill-reducing order of the mesh. The report stays empty if a method does not use visibility. */
arap_status arap_fresh_weights(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const arap_visibility *visibility,
                               const int *order, const arap_handles *given, arap_initial method,
                               double floor, arap_influences *out, arap_islands_report *report);

typedef struct arap_baseline_settings {
#define ARAP_SETTINGS_BASELINE
#include "settings.def"
} arap_baseline_settings;

extern const arap_setting_table arap_baseline_settings_table; /* of arap_baseline_settings */

/* Compute final weights for the caller's vertices and bones: at most max_influences per row, none
 * below min_weight, bones in ascending order. handles: the bone of which each vertex is a handle,
 * -1 for none, or NULL. Release with arap_influences_clear. */
arap_status arap_baseline_weights(arap_context *context, const arap_geometry *geometry,
                                  const arap_bones *bones, const int *handles,
                                  const arap_baseline_settings *settings, arap_influences *out);

#endif
