/* The stage that converts weights for linear blending to weights for dual quaternion blending. */
#ifndef ARAP_DUAL_STAGE_H
#define ARAP_DUAL_STAGE_H

#include "solver/solver.h"

/* Returns ARAP_BAD_VALUE for the first bone that is not rigid, because dual quaternions blend rigid
 * motions. */
arap_status arap_check_dual_bones(arap_error *error, const arap_skeleton *skeleton);

/* Whether the last stage is over and this one is requested but has not yet run. */
int arap_must_enter_dual(const arap_solver *solver);

/* Begin or end the stage. It uses the current patterns and their system. Energies and slopes are
 * those of dual quaternions (dual_energy.h) until it ends. Neither function changes the weights. */
arap_status arap_enter_dual(arap_context *context, arap_solver *solver);
void arap_leave_dual(arap_solver *solver);

#endif
