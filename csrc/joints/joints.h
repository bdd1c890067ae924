/* Joints: bone ends that move together when a skeleton is optimized (paper section 4.4). */
#ifndef ARAP_JOINTS_H
#define ARAP_JOINTS_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "rig/symmetry.h"

/* TOGETHER: alternates single steps of both, and the weight steps need no refactorization. */
typedef enum arap_joint_method { ARAP_JOINTS_ALTERNATE, ARAP_JOINTS_TOGETHER } arap_joint_method;

typedef struct arap_joint_settings {
#define ARAP_SETTINGS_JOINTS
#include "settings.def"
    /* The caller's values for individual bone ends, (bones, 2) head and tail; NULL: the same for
     * all. A joint uses the largest value of its ends. */
    const char *pinned;
    const double *end_joint_stiffness, *end_tangential;
} arap_joint_settings;

typedef struct arap_joints {
    int bones; /* of the caller */
    int count;
    int *head, *tail;        /* (bones) joints */
    double *rest;            /* (count, 3) original positions, in units of arap_mesh.v */
    double *place;           /* (count, 3) current positions */
    double *max_shift;       /* (count) maximum distance from `rest` */
    char *pinned;            /* (count) */
    double *joint_stiffness; /* (count) the largest of the ends */
    double *tangential;      /* (count) */
    int *partner;            /* (count) mirror image; the joint itself on the plane; -1: none */

    /* The deforming bones d, whose transforms agree at joints: T_d J = T_up J at the head J of
     * d. */
    int deforming;
    int *up;        /* (deforming) bone to which d is attached: its parent, or an earlier root with
                       the same head; -1 */
    int *pivot;     /* (deforming) joint of the head; -1 where `up` is -1 */
    int *component; /* (deforming) connected component */
    int component_count;
    int *segments;    /* (deforming) bones and virtual segments that move with d */
    arap_arena arena; /* of the arrays */
} arap_joints;

/* Bone ends form one joint if they coincide (within 1e-6 of the mesh's diagonal) and are those of a
 * bone and its parent, or the heads of siblings, including roots. symmetry, partners: NULL or as
 * given; joints are partners if their bones are partners and their positions are mirror images,
 * within 1 % of the diagonal. Errors name the bone and the value: joint_stiffness, tangential
 * negative or not finite. */
arap_status arap_joints_create(arap_context *context, const arap_skeleton *skeleton,
                               const arap_symmetry *symmetry, const int *partners,
                               const arap_joint_settings *settings, arap_joints *joints);
void arap_joints_clear(arap_joints *joints);

/* Mean length of the bones at a joint, or 0 without bones. */
double arap_joint_bone_length(const arap_joints *joints, int joint);

/* Distance of a joint from its original position. */
double arap_joint_distance(const arap_joints *joints, int joint);

/* Make the displacements (count, 3) bitwise symmetric. The first of two partners determines the
 * displacement of both, and joints on the plane stay on it. */
void arap_joints_symmetrize(const arap_joints *joints, const arap_symmetry *symmetry,
                            double *moves);

#endif
