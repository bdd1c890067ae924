/* Measures how far the skin of each bone follows when the bone turns, and the bone's share of the
 * weights. */
#ifndef ARAP_RESPONSES_H
#define ARAP_RESPONSES_H

#include "solver/solver.h"

/* own: own_skin.h. response (deforming bones): how far own skin follows, relative to the initial
 * weights. share (deforming bones): the weight of the bone on all skin, as a share of its initial
 * one. ARAP_NO_SKIN for bones without own skin. ignored (vertices): vertices that do not count as
 * skin; NULL: all count. */
arap_status arap_responses(arap_context *context, const arap_solver *solver,
                           const arap_influences *own, const arap_influences *weights,
                           const char *ignored, double *response, double *share);

#endif
