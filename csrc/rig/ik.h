/* Inverse kinematics of one chain. Finds turns of the joints that bring the effector to a
 * target. */
#ifndef ARAP_IK_H
#define ARAP_IK_H

#include "base/settings.h"
#include "rig/ik_chain.h"

typedef enum arap_ik_method {
    ARAP_IK_FABRIK,  /* forward and backward reaching: fabrik.c */
    ARAP_IK_CCD,     /* cyclic coordinate descent: ccd.c */
    ARAP_IK_JACOBIAN /* damped least squares: jacobian.c */
} arap_ik_method;

typedef struct arap_ik_settings {
#define ARAP_SETTINGS_IK
#include "settings.def"
} arap_ik_settings;

extern const arap_setting_table arap_ik_settings_table;

/* Improve work->turns until the effector is within the tolerance (a share of the chain's length) of
 * the target, no further improvement is found, or the maximum number of iterations is reached.
 * Returns the remaining distance; *iterations: number of iterations. */
double arap_ik_solve(const arap_ik_chain *chain, const arap_ik_settings *settings,
                     const double *target, arap_ik_work *work, int *iterations);

/* Each function performs one iteration. Turns, points and rotations are consistent before and after
 * it. */
void arap_fabrik_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);
void arap_ccd_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);
void arap_jacobian_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);

#endif
