/* Inverse kinematics of one chain: turns of its joints that bring its effector to a target. */
#ifndef ARAP_IK_H
#define ARAP_IK_H

#include "base/settings.h"
#include "rig/joint_range.h"

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

/* A chain; what its root hangs on stays at rest. */
typedef struct arap_ik_chain {
    int count;                      /* bones, the root first */
    const double *points;           /* (count + 1, 3) at rest: their heads, and the effector */
    const double *axes;             /* (count, 3, 3) columns X, Y, Z */
    const arap_joint_range *ranges; /* (count) */
    double length;                  /* of the path along `points` */
} arap_ik_chain;

/* What a solve needs, of a chain of at most `most` bones; all (most, ..). Its arrays are one
 * allocation, `turns`. */
typedef struct arap_ik_work {
    double *turns;     /* (most, 3) of the joints, joint_range.h: in and out */
    double *best;      /* (most, 3) */
    double *points;    /* (most + 1, 3) where `turns` take those of the chain */
    double *rotations; /* (most, 3, 3) of the bones in space */
    double *goals;     /* (most + 1, 3) of FABRIK */
    double damping;    /* of the Jacobian */
} arap_ik_work;

arap_status arap_ik_work_create(arap_context *context, int most, arap_ik_work *work);
void arap_ik_work_clear(arap_ik_work *work);

/* Rotation of bone i and the point it ends at, from its turn and where the bone above is; then
 * those of all bones from `first` on. */
void arap_ik_place_bone(const arap_ik_chain *chain, int i, arap_ik_work *work);
void arap_ik_place(const arap_ik_chain *chain, int first, arap_ik_work *work);

/* Turn bone `i` by `rotation`, in space, as far as its range lets it; those after it have to be
 * placed. */
void arap_ik_rotate(const arap_ik_chain *chain, int i, const double *rotation, arap_ik_work *work);

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
