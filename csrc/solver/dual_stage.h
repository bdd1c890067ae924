/* The stage that turns weights for linear blending into weights for dual quaternion blending. */
#ifndef ARAP_DUAL_STAGE_H
#define ARAP_DUAL_STAGE_H

#include "solver/solver.h"

/* ARAP_BAD_VALUE for the first bone that is not rigid: dual quaternions blend rigid motions. */
arap_status arap_check_dual_bones(arap_error *error, const arap_skeleton *skeleton);

/* Is the last stage over, and is this one requested and still to come? */
int arap_must_enter_dual(const arap_solver *solver);

/* Begin it, on the present patterns and with their system: energies and slopes are those of dual
 * quaternions (dual_energy.h) until it is left. Neither changes the weights. */
arap_status arap_enter_dual(arap_context *context, arap_solver *solver);
void arap_leave_dual(arap_solver *solver);

#endif
