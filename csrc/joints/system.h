/* One step of the joints. It consists of a quadratic in their displacements with fixed rotations
 * (paper section 4.4.2), and the transforms that result from the moved joints. */
#ifndef ARAP_JOINT_SYSTEM_H
#define ARAP_JOINT_SYSTEM_H

#include "base/memory.h"
#include "joints/energy.h"
#include "joints/joints.h"

typedef struct arap_joint_system {
    const arap_joints *joints;
    const arap_symmetry *symmetry; /* or NULL */
    int poses, size;               /* size: 3 joints */
    const double *pose_weight;     /* (poses) weight of each pose; NULL: 1 */
    double *turns;   /* (poses, 3, deforming, 3) D_d = A_up - A_d, 0 without up; rows of a stack */
    double *chain;   /* (deforming, deforming) C of dt = C D dJ + component displacements */
    double *joined;  /* (components, deforming) P^T S */
    double *inverse; /* (components, components) X */
    double *matrix;  /* (size, size) A_J, data part */
    double *penalty; /* (joints, 9) E_J^T E_J of the paper, times the stiffness of the joint */
    double *work;    /* work space, larger than ever needed */
    /* With spines: */
    const arap_joint_spines *spines; /* NULL: no spines */
    const double *transform;         /* (poses, deforming, 3, 4), for the linear parts */
    struct arap_joint_block *joint_blocks;
    double *columns_joined; /* (poses, components, columns) used instead of `joined` */
    double *columns_work;
    arap_arena arena; /* of the arrays */
} arap_joint_system;

/* Create the system for the linear parts of the poses, the weights of the energy and, if there are
 * spines, the current positions of the spines. stiffness: stiffness of component displacements (as
 * in the paper), per pose and in the unit of S. */
arap_status arap_joint_system_create(arap_context *context, const arap_joints *joints,
                                     const arap_symmetry *symmetry, const arap_skeleton *skeleton,
                                     const arap_joint_energy *energy, double stiffness,
                                     arap_joint_system *system);
void arap_joint_system_clear(arap_joint_system *system);

/* The weight of a pose. */
static inline double arap_joint_pose_weight(const arap_joint_system *system, size_t pose) {
    return system->pose_weight ? system->pose_weight[pose] : 1;
}

/* Compute B_J (size) from forces (poses, columns of joints/spines.h, 3). */
void arap_joint_right_side(const arap_joint_system *system, const double *force, double *right);

/* The stiffness with which the energy holds a joint: the mean diagonal entry of its block in
 * A_J. */
double arap_joint_own(const arap_joint_system *system, int joint);

/* Find the displacements (joints, 3) that minimize the quadratic of A_J, `right`, the step penalty
 * and, times `unit`, the blocks `extra` (joints, 9); joints with fixed[j] keep their given
 * displacements. Returns ARAP_NOT_FACTORED if nothing holds the joints. */
arap_status arap_joint_solve(arap_context *context, const arap_joint_system *system, double unit,
                             const double *extra, const double *right, const char *fixed,
                             double *moves);

/* Compute the transforms (poses, deforming, 3, 4) for these displacements of the joints and the
 * best component displacements; `force` holds the forces before the step. */
void arap_joint_transforms(const arap_joint_system *system, const double *moves,
                           const double *force, const double *before, double *transforms);

/* Compute one coordinate of X (P^T f), the response of the components to a force on each of
 * them. */
static inline double arap_joint_answer(const arap_joint_system *s, int component,
                                       const double *pull, int r) {
    int count = s->joints->component_count;
    double sum = 0;
    for (int l = 0; l < count; l++) sum += s->inverse[component * count + l] * pull[3 * l + r];
    return sum;
}

/* With spines (spine_system.c): a joint that moves a column of joints/spines.h by m (3, 3) times
 * its own displacement. */
struct arap_joint_block {
    int joint; /* -1: none */
    double m[9];
};

/* Allocate memory in the system for the functions below. */
arap_status arap_joint_spine_system_create(arap_context *context, arap_joint_system *system);

/* Convert `curvature` (poses, columns, columns) of all vertices to `matrix` and `joined`. This
 * overwrites `curvature` and requires `inverse`. */
arap_status arap_joint_spine_data(arap_context *context, arap_joint_system *system,
                                  double *curvature);

/* See joints/system.h. */
void arap_joint_spine_right_side(const arap_joint_system *system, const double *force,
                                 double *right);
void arap_joint_spine_transforms(const arap_joint_system *system, const double *moves,
                                 const double *force, const double *before, double *transforms);

/* Accumulates joint displacements along chains: the matrix C in joints/system.c. Initialize `chain`
 * from the joints. */
void arap_joint_chains(arap_joint_system *system);

/* Compute out (deforming, 3) = C^T in, or C in, for one pose; not in place. */
void arap_joint_push_down(const arap_joint_system *system, const double *in, double *out);
void arap_joint_carry_down(const arap_joint_system *system, const double *in, double *out);

#endif
