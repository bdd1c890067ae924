/* Joints: the ends of bones that move together when a skeleton is optimized (paper section 4.4). */
#ifndef ARAP_JOINTS_H
#define ARAP_JOINTS_H

#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "rig/symmetry.h"

/* TOGETHER: one step of each at a time, the weights' without refactorization. */
typedef enum arap_joint_method { ARAP_JOINTS_ALTERNATE, ARAP_JOINTS_TOGETHER } arap_joint_method;

typedef struct arap_joint_settings {
#define ARAP_SETTINGS_JOINTS
#include "settings.def"
    /* The caller's values for single ends of bones, (bones, 2) head and tail; NULL: the same for
     * all. The largest of a joint counts. */
    const char *pinned;
    const double *end_joint_stiffness, *end_tangential;
} arap_joint_settings;

typedef struct arap_joints {
    int bones; /* of the caller */
    int count;
    int *head, *tail;        /* (bones) joints */
    double *rest;            /* (count, 3) where they were, units of arap_mesh.v */
    double *place;           /* (count, 3) where they are */
    double *max_shift;       /* (count) farthest from `rest` */
    char *pinned;            /* (count) */
    double *joint_stiffness; /* (count) the largest of the ends */
    double *tangential;      /* (count) */
    int *partner;            /* (count) mirror image, itself on the plane, -1: none */

    /* The deforming bones d, whose transforms meet: T_d J = T_up J at the head J of d. */
    int deforming;
    int *up;        /* (deforming) bone that d hangs on: its parent, or an earlier root with the
                       same head; -1 */
    int *pivot;     /* (deforming) joint of the head; -1 where up is */
    int *component; /* (deforming) connected component */
    int component_count;
    int *segments; /* (deforming) bones and virtual segments that move with d */
} arap_joints;

/* Ends are one joint if they coincide (within 1e-6 of the mesh's diagonal) and belong to
 * a bone and its parent or to heads of siblings, roots included. symmetry, partners: NULL or as
 * given; joints are partners if their bones are and their positions are images, within 1 % of the
 * diagonal. Errors name the bone and the value: joint_stiffness, tangential negative or not finite.
 */
arap_status arap_joints_create(arap_context *context, const arap_skeleton *skeleton,
                               const arap_symmetry *symmetry, const int *partners,
                               const arap_joint_settings *settings, arap_joints *joints);
void arap_joints_clear(arap_joints *joints);

/* Mean of the lengths of the bones at a joint, 0 without any. */
double arap_joint_bone_length(const arap_joints *joints, int joint);

/* How far a joint is from where it was. */
double arap_joint_distance(const arap_joints *joints, int joint);

/* Make the moves (count, 3) symmetric, bit for bit: of two partners the first one's move counts,
 * and joints on the plane stay on it. */
void arap_joints_symmetrize(const arap_joints *joints, const arap_symmetry *symmetry,
                            double *moves);

#endif
