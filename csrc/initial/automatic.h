/* Automatic weights. One function returns the final weights of any method in this folder. */
#ifndef ARAP_AUTOMATIC_H
#define ARAP_AUTOMATIC_H

#include "base/settings.h"
#include "initial/heat.h"
#include "rig/skeleton.h"

/* Compute the weights of all deforming bones by a method: rows >= 0 with sum 1; entries of at most
 * `floor` may be omitted. order: a fill-reducing order of the mesh. The report stays empty if a
 * method does not use visibility. */
arap_status arap_fresh_weights(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const arap_visibility *visibility,
                               const int *order, arap_initial method, double floor,
                               arap_influences *out, arap_islands_report *report);

typedef struct arap_automatic_settings {
#define ARAP_SETTINGS_AUTOMATIC
#include "settings.def"
} arap_automatic_settings;

extern const arap_setting_table arap_automatic_settings_table; /* of arap_automatic_settings */

void arap_automatic_settings_default(arap_automatic_settings *settings);

/* Compute final weights for the caller's vertices and bones: at most max_influences per row, none
 * below min_weight, bones in ascending order. Release with arap_influences_clear. */
arap_status arap_automatic_weights(arap_context *context, const arap_geometry *geometry,
                                   const arap_bones *bones, const arap_automatic_settings *settings,
                                   arap_influences *out);

#endif
