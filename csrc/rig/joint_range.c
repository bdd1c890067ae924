/* Joint rotations and their ranges: see joint_range.h.
 *
 * A rotation R, in the bone's axes, consists of a swing and a twist. The swing rotates Y to R Y
 * along the shortest path, and the rest is the twist. The result jumps only at half a turn of Y.
 *
 * To aim a bone after its twist, `a` must be swung to `b`, which has the same length, about an axis
 * u perpendicular to Y. The axis must be perpendicular to b - a, so u = Y x (b - a). The angle is
 * the one between the components of a and b perpendicular to u. If a bone's child sits on the
 * bone's tail, a is along Y, and the swing is the shortest rotation. If b - a is along Y, a and b
 * are images of each other, and the swing is half a turn about the component of a perpendicular to
 * Y, or about X. */
#include "rig/joint_range.h"

#include "base/vec3.h"

#define TINY2 1e-24 /* squared: a shorter vector across has no direction */

void arap_own_range(const arap_skeleton *skeleton, int bone, int which, double *lo, double *hi) {
    const double *range = skeleton->ranges + 2 * (ARAP_RANGES * bone + which);
    if (isnan(range[0])) return;
    *lo = range[0];
    *hi = range[1];
}

void arap_joint_range_of(const arap_skeleton *skeleton, const arap_sampling *sampling, int bone,
                         arap_joint_range *out) {
    const double *limit = skeleton->limits + 6 * bone;
    *out = (arap_joint_range){.is_cone = isnan(limit[0]) && isnan(limit[4]),
                              .x = {-sampling->swing, sampling->swing},
                              .twist = {-sampling->twist, sampling->twist},
                              .z = {-sampling->swing, sampling->swing}};
    if (out->is_cone) {
        out->x[0] = 0;
        arap_own_range(skeleton, bone, ARAP_RANGE_SWING, &out->x[0], &out->x[1]);
    } else {
        if (!isnan(limit[0])) out->x[0] = limit[0], out->x[1] = limit[1];
        if (!isnan(limit[4])) out->z[0] = limit[4], out->z[1] = limit[5];
    }
    arap_own_range(skeleton, bone, ARAP_RANGE_TWIST, &out->twist[0], &out->twist[1]);
    if (!isnan(limit[2])) out->twist[0] = limit[2], out->twist[1] = limit[3];
}

void arap_joint_sample(const arap_joint_range *range, const double *u, double *turn) {
    if (range->is_cone) {
        double direction = 6.283185307179586 * (u[2] - 0.5);
        double angle = range->x[0] + (range->x[1] - range->x[0]) * u[0];
        turn[0] = angle * cos(direction);
        turn[2] = angle * sin(direction);
    } else {
        turn[0] = range->x[0] + (range->x[1] - range->x[0]) * u[0];
        turn[2] = range->z[0] + (range->z[1] - range->z[0]) * u[2];
    }
    turn[1] = range->twist[0] + (range->twist[1] - range->twist[0]) * u[1];
}

static double clamp(double x, const double *range) { return fmin(fmax(x, range[0]), range[1]); }

void arap_joint_clamp(const arap_joint_range *range, double *turn) {
    turn[1] = clamp(turn[1], range->twist);
    if (!range->is_cone) {
        turn[0] = clamp(turn[0], range->x);
        turn[2] = clamp(turn[2], range->z);
        return;
    }
    /* A swing by a negative angle is one about the opposite axis. */
    double angle = sqrt(turn[0] * turn[0] + turn[2] * turn[2]);
    double ends[2] = {fabs(range->x[0]), fabs(range->x[1])};
    double size[2] = {range->x[0] * range->x[1] <= 0 ? 0 : fmin(ends[0], ends[1]),
                      fmax(ends[0], ends[1])};
    double wanted = clamp(angle, size);
    if (wanted == angle) return;
    if (angle > 0) {
        turn[0] *= wanted / angle;
        turn[2] *= wanted / angle;
    } else {
        turn[0] = wanted;
    }
}

void arap_turn_to_rotation(const double *axes, const double *turn, double *out) {
    double swing[3] = {turn[0], 0, turn[2]}, twist[3] = {0, turn[1], 0};
    double swing_matrix[9], twist_matrix[9], both[9], back[9];
    arap_rotation_from_vector(swing, swing_matrix);
    arap_rotation_from_vector(twist, twist_matrix);
    arap_multiply33(swing_matrix, twist_matrix, both);
    arap_multiply33(axes, both, back);
    arap_multiply_transposed(back, axes, out);
}

void arap_turn_from_rotation(const double *axes, const double *rotation, double *turn) {
    double turned[9], own[9], swing[3], matrix[9];
    arap_multiply33(rotation, axes, turned);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            own[3 * r + c] =
                axes[r] * turned[c] + axes[3 + r] * turned[3 + c] + axes[6 + r] * turned[6 + c];
    double x = own[7], z = -own[1], across = sqrt(x * x + z * z);
    double angle = atan2(across, own[4]);
    swing[0] = across * across > TINY2 ? angle * x / across : angle;
    swing[1] = 0;
    swing[2] = across * across > TINY2 ? angle * z / across : 0;
    arap_rotation_from_vector(swing, matrix);
    double cosine = 0, sine = 0; /* of the twist: swing^T own */
    for (int k = 0; k < 3; k++) {
        cosine += matrix[3 * k] * own[3 * k];
        sine += matrix[3 * k] * own[3 * k + 2];
    }
    turn[0] = swing[0];
    turn[1] = atan2(sine, cosine);
    turn[2] = swing[2];
}

void arap_turn_to_aim(const double *axes, const double *offset, const double *direction,
                      double *turn) {
    double size = sqrt(arap_dot(offset, offset)), far = sqrt(arap_dot(direction, direction));
    if (!(size > 0) || !(far > 0)) return;
    double rest[3], a[3], b[3];
    for (int c = 0; c < 3; c++) {
        rest[c] = (axes[c] * offset[0] + axes[3 + c] * offset[1] + axes[6 + c] * offset[2]) / size;
        b[c] = (axes[c] * direction[0] + axes[3 + c] * direction[1] + axes[6 + c] * direction[2]) /
               far;
    }
    double cosine = cos(turn[1]), sine = sin(turn[1]);
    a[0] = cosine * rest[0] + sine * rest[2];
    a[1] = rest[1];
    a[2] = cosine * rest[2] - sine * rest[0];
    double u[3] = {b[2] - a[2], 0, a[0] - b[0]}, norm2 = arap_dot(u, u);
    if (norm2 <= TINY2) {
        if (a[1] * b[1] >= 0 || fabs(a[1] - b[1]) < 1e-9) {
            turn[0] = turn[2] = 0;
            return;
        }
        u[0] = a[0], u[2] = a[2];
        norm2 = arap_dot(u, u);
        if (norm2 <= TINY2) u[0] = norm2 = 1, u[2] = 0;
    }
    for (int c = 0; c < 3; c++) u[c] /= sqrt(norm2);
    double along_a = arap_dot(a, u), along_b = arap_dot(b, u), side[3];
    for (int c = 0; c < 3; c++) {
        a[c] -= along_a * u[c];
        b[c] -= along_b * u[c];
    }
    arap_cross(a, b, side);
    double angle = atan2(arap_dot(side, u), arap_dot(a, b));
    turn[0] = angle * u[0];
    turn[2] = angle * u[2];
}
