/* Heat weights (paper Eq. 6, Baran & Popovic 2007): the initial guess and the widest supports. */
#ifndef ARAP_HEAT_H
#define ARAP_HEAT_H

#include "initial/islands.h"
#include "weights/influences.h"

/* Compute the weights of all deforming bones, clamped at 0 and normalized; entries below `floor`
 * are omitted (0 keeps all). `order` is a fill-reducing order of the mesh. */
arap_status arap_heat_weights(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const int *order, double floor, arap_influences *out,
                              arap_islands_report *report);

/* Like arap_heat, with heat from several bones at each vertex, given as rows of shares with sum 1.
 * `visibility` holds the bones visible from each vertex, and their distances. */
arap_status arap_diffuse_shares(arap_context *context, const arap_mesh *mesh, int bones,
                                const arap_visibility *visibility, const int *order,
                                const arap_influences *shares, double floor, arap_influences *out,
                                arap_islands_report *report);

#endif
