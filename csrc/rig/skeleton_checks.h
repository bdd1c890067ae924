/* Checks bones. Errors name the bone and the invalid value. */
#ifndef ARAP_SKELETON_CHECKS_H
#define ARAP_SKELETON_CHECKS_H

#include "rig/skeleton.h"

/* Check the caller's bones, with or without tails: numbers, parents, limits, ranges and segments;
 * at least one bone must deform. */
arap_status arap_check_bones(arap_error *error, const arap_bones *bones);

/* Check in the units of the mesh that no bone is so far away that rounding leaves too little
 * precision. A mesh of size 0 only defines the unit, so only squares must not overflow. */
arap_status arap_check_distances(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_bones *bones, const arap_mesh *mesh);

/* Check that no bone is its own ancestor. */
arap_status arap_check_parents(arap_error *error, int count, const int *parents);

#endif
