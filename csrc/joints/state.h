/* The data of the joint solver, shared by joints/solver.c (stages) and joints/step.c. */
#ifndef ARAP_JOINT_STATE_H
#define ARAP_JOINT_STATE_H

#include "base/memory.h"
#include "joints/joints.h"
#include "joints/solver.h"
#include "joints/system.h"
#include "solver/solver.h"
#include "weights/influences.h"

struct arap_joint_solver {
    arap_joint_settings settings;
    arap_solver *weights;
    arap_joints joints;
    arap_joint_spines spines;
    arap_joint_anchors anchors;
    arap_joint_energy energy;
    arap_joint_system system;
    double *base;                  /* (joints, 3) original positions from the caller */
    double *heads, *tails;         /* (bones, 3) of the caller */
    double *center;                /* (joints, 3) m */
    double *anchor;                /* (joints) a_J */
    double *centering;             /* (joints, 9) C */
    double *transforms, *trial;    /* (poses, deforming, 3, 4) */
    double *force, *trial_force;   /* (poses, columns of joints/spines.h, 3) */
    double *moves, *tried, *right; /* (joints, 3) */
    double *there;                 /* (joints, 3) positions with the tentative displacements */
    double *extra;                 /* (joints, 9) anchor and centering */
    char *fixed;                   /* (joints) */
    double *kept;                  /* (influences) weights before a step */
    int given;                     /* weights to start from exist */
    int has_system, begun, over, broken;
    double arap, total; /* current energy, without and with the terms for positions */
    double *energies;
    int capacity;
    arap_joint_report report;
    arap_arena arena; /* of the arrays */
};

/* Compute the energy and forces of the current state. */
arap_status arap_joint_measure(arap_context *context, arap_joint_solver *solver);

/* Append the current energy to the history. */
arap_status arap_joint_record(arap_context *context, arap_joint_solver *solver);

/* Create the system for the current weights, unless it already exists. */
arap_status arap_joint_make_system(arap_context *context, arap_joint_solver *solver);

/* Move spines and anchors back from the last tentative step to the current joints. */
arap_status arap_joint_place(arap_context *context, arap_joint_solver *solver);

/* The unit of the system: E over relative energy. */
static inline double arap_joint_unit(const arap_joint_solver *solver) {
    return solver->energy.unit;
}

/* Compute B_J of the current state, without the terms for positions. */
arap_status arap_joint_slope(arap_context *context, arap_joint_solver *solver, double *right);

/* Take one step of the joints, or none if no step lowers the energy. */
arap_status arap_joint_step(arap_context *context, arap_joint_solver *solver);

/* Add the time since *since to a stage of the report and restart *since. */
void arap_joint_lap(arap_joint_solver *solver, enum arap_joint_timing stage, double *since);

/* Determines the position of a joint in directions that stretch leaves undetermined (the paper's
 * failure case, Figure 15C). For every joint about which a deforming bone turns, computes the
 * middle of the limb there, center (joints, 3), and the block (joints, 9), relative to `unit`, that
 * raises the stiffness of the energy across the bones, given by `matrix` (3 joints, 3 joints), to
 * `strength`. The block is zero if the energy itself is stiffer, for pinned joints, and if no part
 * of the mesh is near. */
void arap_find_centers(const arap_mesh *mesh, const arap_skeleton *skeleton,
                       const arap_influences *influences, const arap_joints *joints,
                       const double *matrix, double unit, double strength, double *center,
                       double *block);

#endif
