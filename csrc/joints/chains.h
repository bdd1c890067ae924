/* Accumulates joint displacements along chains: the matrix C in joints/system.c. */
#ifndef ARAP_JOINT_CHAINS_H
#define ARAP_JOINT_CHAINS_H

#include "joints/system.h"

/* Initialize `chain` from the joints. */
void arap_joint_chains(arap_joint_system *system);

/* Compute out (deforming, 3) = C^T in, or C in, for one pose; not in place. */
void arap_joint_push_down(const arap_joint_system *system, const double *in, double *out);
void arap_joint_carry_down(const arap_joint_system *system, const double *in, double *out);

#endif
