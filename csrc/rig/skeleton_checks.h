/* Checks of bones; errors name the bone and its value. */
#ifndef ARAP_SKELETON_CHECKS_H
#define ARAP_SKELETON_CHECKS_H

#include "rig/skeleton.h"

/* As the caller gives them, with or without tails: numbers, parents, limits, ranges, segments; one
 * at least deforms. */
arap_status arap_check_bones(arap_error *error, const arap_bones *bones);

/* In the units of the mesh: none is so far from it that rounding leaves too little. */
arap_status arap_check_distances(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_bones *bones, const arap_mesh *mesh);

/* A bone that is its own ancestor is an error. */
arap_status arap_check_parents(arap_error *error, int count, const int *parents);

#endif
