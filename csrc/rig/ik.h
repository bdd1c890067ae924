/* Inverse kinematics of one chain: turns of its joints that bring its effector to a target. */
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

/* Improve work->turns until the effector is within tolerance, a share of the chain's length, of the
 * target, nothing gets better any more, or there were enough iterations. The distance that is left;
 * *iterations: how many there were. */
double arap_ik_solve(const arap_ik_chain *chain, const arap_ik_settings *settings,
                     const double *target, arap_ik_work *work, int *iterations);

/* One iteration each; turns, points and rotations are in step before and after. */
void arap_fabrik_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);
void arap_ccd_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);
void arap_jacobian_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);

#endif
