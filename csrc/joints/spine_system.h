/* The quadratic of a joint step with spines. The case without spines is in joints/system.c. */
#ifndef ARAP_JOINT_SPINE_SYSTEM_H
#define ARAP_JOINT_SPINE_SYSTEM_H

#include "joints/system.h"

/* A joint that moves a column of joints/spines.h by m (3, 3) times its own displacement. */
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

#endif
