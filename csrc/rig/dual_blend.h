/* Dual quaternion blending (Kavan et al. 2007), as in Blender's "Preserve Volume". */
#ifndef ARAP_DUAL_BLEND_H
#define ARAP_DUAL_BLEND_H

/* The transforms of all bones in one pose. */
typedef struct arap_dual_pose {
    const double *transforms;  /* (bones, 3, 4) */
    const double *quaternions; /* (bones, 4) their rotations, from arap_transform_quaternion */
} arap_dual_pose;

/* A weighted sum of dual quaternions. */
typedef struct arap_dual_sum {
    double real[4], dual[4];
} arap_dual_sum;

/* Compute the sum for `count` bones with these weights at a vertex v. Returns the sum of the
 * weights. */
double arap_dual_blend(const arap_dual_pose *pose, const double *v, int count, const int *bone,
                       const double *weight, arap_dual_sum *sum);

/* Compute the position to which the sum moves v. Returns 0 if the sum has length zero. */
void arap_dual_point(const arap_dual_sum *sum, const double *v, double *out);

/* Add pull . dp / dw_k to out[k] for these bones. `sum` and `point` are the results of the two
 * functions above. */
void arap_dual_force(const arap_dual_pose *pose, const double *v, int count, const int *bone,
                     const double *weight, const arap_dual_sum *sum, const double *point,
                     const double *pull, double *out);

#endif
