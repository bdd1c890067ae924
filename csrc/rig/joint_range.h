/* The ranges within which a joint can swing and twist, in the axes of its bone. */
#ifndef ARAP_JOINT_RANGE_H
#define ARAP_JOINT_RANGE_H

#include "linalg/rotation_vector.h"
#include "rig/skeleton.h"

/* The turn of a joint is a vector (x, y, z): swing(x, 0, z) after twist(0, y, 0), rotation vectors
 * in the bone's own axes X, Y (the bone) and Z. */
typedef struct arap_joint_range {
    int is_cone;     /* the swing has the range `x` about any axis; otherwise, the range is a box */
    double x[2];     /* radians, from lower to upper */
    double twist[2]; /* range of the twist about y */
    double z[2];
} arap_joint_range;

/* The range of a bone: its limits if it has any, otherwise its own ranges, otherwise those of the
 * settings. */
void arap_joint_range_of(const arap_skeleton *skeleton, const arap_sampling *sampling, int bone,
                         arap_joint_range *out);

/* The bone's own range of that kind, if it has one. */
void arap_own_range(const arap_skeleton *skeleton, int bone, int which, double *lo, double *hi);

/* Convert three numbers in [0, 1) to a turn in the range. The first and the last determine the
 * angle and direction of the swing in a cone, or the angles about X and Z in a box. */
void arap_joint_sample(const arap_joint_range *range, const double *u, double *turn);

/* Find the nearest turn in the range. A cone clamps the angle of the swing, and a box clamps its
 * components. */
void arap_joint_clamp(const arap_joint_range *range, double *turn);

/* Convert a turn to a rotation in rest orientation, and back; axes (3, 3): columns X, Y, Z. */
void arap_turn_to_rotation(const double *axes, const double *turn, double *out);
void arap_turn_from_rotation(const double *axes, const double *rotation, double *turn);

/* Keep the twist of a turn, and choose its swing such that `offset`, in rest orientation, points
 * along `direction`. */
void arap_turn_to_aim(const double *axes, const double *offset, const double *direction,
                      double *turn);

#endif
