/* Automatic skinning by mixed finite elements, in several poses. */
#ifndef ARAP_MIXED_H
#define ARAP_MIXED_H

#include "elastic/elastic.h"
#include "elastic/mixed_state.h"

/* Like arap_descend (descent.h), but optimizes the rotations of samples. The start is ignored and x
 * is only an output. Returns ARAP_BAD_VALUE for meshes that are too large. */
arap_status arap_mixed_poses(arap_context *context, const arap_body *body, const arap_hold *hold,
                             int bones, int poses, const double *transforms,
                             const arap_elastic_settings *settings, double *x, double *energies);

#endif
