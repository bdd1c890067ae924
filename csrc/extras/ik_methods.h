/* The methods of inverse kinematics among which callers of the module choose. Poses that reach for
 * targets use FABRIK alone. */
#ifndef ARAP_IK_METHODS_H
#define ARAP_IK_METHODS_H

#include "rig/ik.h"

extern const arap_ik_step arap_ik_steps[]; /* by arap_ik_method */

#endif
