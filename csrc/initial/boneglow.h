/* BoneGlow weights (Wareham & Lasenby 2008). Bones light the skin, and the light is diffused. */
#ifndef ARAP_BONEGLOW_H
#define ARAP_BONEGLOW_H

#include "initial/heat.h"

/* Takes the same arguments as arap_heat_weights. */
arap_status arap_boneglow_weights(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  const int *order, double floor, arap_influences *out,
                                  arap_islands_report *report);

#endif
