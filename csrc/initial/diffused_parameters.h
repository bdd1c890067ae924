/* Parameters of points along bones that follow the surface: diffused as heat weights are. */
#ifndef ARAP_DIFFUSED_PARAMETERS_H
#define ARAP_DIFFUSED_PARAMETERS_H

#include "arap.h"

/* u of every vertex of the caller for each of the caller's bones, out (vertices, bones), from 0 to
 * 1; NaN for bones that are rigid or do not deform. bones.kinds NULL: for all that deform. */
arap_status arap_diffuse_parameters(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, int link_parts, double *out);

#endif
