/* Joint optimization (paper section 4.4): joint positions that make the posed mesh most rigid,
 * together with the weights. */
#ifndef ARAP_JOINT_SOLVER_H
#define ARAP_JOINT_SOLVER_H

#include "arap.h"
#include "base/settings.h"
#include "joints/joints.h"

extern const arap_setting_table arap_joint_settings_table; /* of arap_joint_settings */

enum arap_joint_timing {
    ARAP_JOINT_TIME_WEIGHTS, /* to start with: creation, and all stages if no weights were given */
    ARAP_JOINT_TIME_SYSTEM,  /* sums over the mesh and the linear system of the joints */
    ARAP_JOINT_TIME_STEP,    /* joint steps, including their local steps */
    ARAP_JOINT_TIME_WEIGHT_STEP,
    ARAP_JOINT_TIMES
};
extern const char *const arap_joint_timing_names[ARAP_JOINT_TIMES];

typedef struct arap_joint_report {
#define ARAP_REPORT_JOINTS
#include "report.def"
    int energy_count;
    const double *energies; /* all terms, relative: at the start and after each step; never
                               increases */
    double energy;          /* current ARAP part */
    double seconds[ARAP_JOINT_TIMES];
} arap_joint_report;

typedef struct arap_joint_solver arap_joint_solver;

/* Takes the same problem as arap_solver_create, with rigid bones, STBs and spines. Other kinds
 * cause an error that names the bone. With start_from_weights, weights that will be optimized are
 * immediately reduced to the number of influences in the settings. */
arap_status arap_joint_solver_create(arap_context *context, const arap_problem *problem,
                                     const arap_settings *settings,
                                     const arap_joint_settings *joint_settings,
                                     arap_joint_solver **out);
void arap_joint_solver_free(arap_joint_solver *solver);

/* Run up to `count` iterations. Until there are weights, each is an iteration of the weight solver.
 * After cancellation or a failure, joints and weights are those of the last completed step. */
arap_status arap_joint_solver_iterate(arap_context *context, arap_joint_solver *solver, int count);
int arap_joint_solver_done(const arap_joint_solver *solver);

void arap_joint_solver_report(const arap_joint_solver *solver, arap_joint_report *report);

/* Get the ends of the bones (bones, 3) in the caller's units, and the poses (poses, bones, 3,
 * 4). */
void arap_joint_solver_bones(const arap_joint_solver *solver, double *heads, double *tails);
void arap_joint_solver_poses(const arap_joint_solver *solver, double *transforms);
/* Get the bends (poses, bones, ARAP_BEND). STBs turn about their current direction. */
void arap_joint_solver_bends(const arap_joint_solver *solver, double *bends);

const arap_joints *arap_joint_solver_joints(const arap_joint_solver *solver);
/* The solver for its weights. */
arap_solver *arap_joint_solver_inner(const arap_joint_solver *solver);

/* Get A_J (3 joints, 3 joints) and B_J (3 joints) of the current state, and the unit to which they
 * are relative. For tests. */
arap_status arap_joint_solver_inside(arap_context *context, arap_joint_solver *solver,
                                     double *matrix, double *right, double *unit);

#endif
