/* Minimizes the energy of an elastic body in several poses by local and global steps. */
#ifndef ARAP_DESCENT_H
#define ARAP_DESCENT_H

#include "elastic/elastic.h"
#include "elastic/hold.h"

/* x (poses, count, 3): the start on entry, the minimum found on return. transforms: (poses, bones,
 * 3, 4), units of the mesh. energies: NULL, or (iterations + 1, poses). */
arap_status arap_descend(arap_context *context, const arap_body *body, const arap_hold *hold,
                         int bones, int poses, const double *transforms,
                         const arap_elastic_settings *settings, double *x, double *energies);

#endif
