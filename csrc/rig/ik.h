/* Inverse kinematics of one chain. Finds turns of the joints that bring the effector to a
 * target. */
#ifndef ARAP_IK_H
#define ARAP_IK_H

#include "base/settings.h"
#include "rig/joint_range.h"

/* A chain of bones with rotated joints, the common input of all inverse kinematics methods. The
 * parent of its root stays at rest. */
typedef struct arap_ik_chain {
    int count;                      /* number of bones, beginning with the root */
    const double *points;           /* (count + 1, 3) at rest: the heads of the bones, and the
                                       effector */
    const double *axes;             /* (count, 3, 3) columns X, Y, Z */
    const arap_joint_range *ranges; /* (count) */
    double length;                  /* length of the path along `points` */
} arap_ik_chain;

/* Work space of a solve, for a chain of at most `max` bones. All arrays are (max, ..). Its arrays
 * are one allocation, `joint_rotations`. */
typedef struct arap_ik_work {
    double *joint_rotations; /* (max, 3) of the joints, joint_range.h: in and out */
    double *best;            /* (max, 3) */
    double *points;          /* (max + 1, 3) the points of the chain moved by `joint_rotations` */
    double *rotations;       /* (max, 3, 3) rotations of the bones in space */
    double *goals;           /* (max + 1, 3) of FABRIK */
    double damping;          /* of the Jacobian */
} arap_ik_work;

arap_status arap_ik_work_create(arap_context *context, int max, arap_ik_work *work);
void arap_ik_work_clear(arap_ik_work *work);

/* The first function computes the rotation and end point of bone i from its turn and the position
 * of the bone above. The second one does so for all bones from `first` on. */
void arap_ik_place_bone(const arap_ik_chain *chain, int i, arap_ik_work *work);
void arap_ik_place(const arap_ik_chain *chain, int first, arap_ik_work *work);

/* Turn bone `i` by `rotation` in space, as far as its range allows. The bones after it must then be
 * placed again. */
void arap_ik_rotate(const arap_ik_chain *chain, int i, const double *rotation, arap_ik_work *work);

typedef enum arap_ik_method {
    ARAP_IK_FABRIK,  /* forward and backward reaching: fabrik.c */
    ARAP_IK_CCD,     /* cyclic coordinate descent: extras/ik_methods.c */
    ARAP_IK_JACOBIAN /* damped least squares: extras/ik_methods.c */
} arap_ik_method;

typedef struct arap_ik_settings {
#define ARAP_SETTINGS_IK
#include "settings.def"
} arap_ik_settings;

extern const arap_setting_table arap_ik_settings_table;

/* One iteration of a method. Rotations and points are consistent before and after it. */
typedef void (*arap_ik_step)(const arap_ik_chain *chain, const double *target, arap_ik_work *work);

void arap_fabrik_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work);

/* Repeat the step, and improve work->joint_rotations until the effector is within the tolerance (a
 * share of the chain's length) of the target, no further improvement is found, or the maximum
 * number of iterations is reached. Returns the remaining distance; *iterations: number of
 * iterations. */
double arap_ik_solve(const arap_ik_chain *chain, arap_ik_step step,
                     const arap_ik_settings *settings, const double *target, arap_ik_work *work,
                     int *iterations);

#endif
