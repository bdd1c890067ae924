/* Forward and backward reaching inverse kinematics: see ik.h. (Aristidou & Lasenby 2011.)
 *
 * In the backward pass from the target, every joint moves along the line to the next joint until
 * their distance is the length of the bone. In the forward pass from the root, every bone swings
 * toward the new position of its end, within its range, and moves the next bone along. A bone keeps
 * its twist, unless the range of the next bone, such as a hinge, prevents the next bone from
 * reaching its goal. In this case, the bone twists to bring the goal into the plane of the hinge.
 *
 * Ranges apply only in the forward pass, so an iteration may move away from the target. If the
 * target is farther away than the length of the chain, the chain points at the target. */
#include <string.h>

#include "base/vec3.h"
#include "rig/ik.h"

/* a bone that misses its goal by more than this share of its length was stopped by its range */
#define OFF 1e-6

/* Turn `rotation`, and with it the direction of bone i, such that bone i + 1, which points along
 * `next`, is within the range of the joint between them. */
static void make_room(const arap_ik_chain *chain, int i, const double *next, double *rotation,
                      const arap_ik_work *work) {
    double own[3], offset[3], turn[3], local[9], legal[3], back[9], turned[9];
    for (int c = 0; c < 3; c++)
        own[c] = rotation[c] * next[0] + rotation[3 + c] * next[1] + rotation[6 + c] * next[2];
    arap_sub(chain->points + 3 * (i + 2), chain->points + 3 * (i + 1), offset);
    memcpy(turn, work->joint_rotations + 3 * (i + 1), sizeof turn);
    arap_turn_to_aim(chain->axes + 9 * (i + 1), offset, own, turn);
    arap_joint_clamp(chain->ranges + i + 1, turn);
    arap_turn_to_rotation(chain->axes + 9 * (i + 1), turn, local);
    for (int r = 0; r < 3; r++) own[r] = arap_dot(local + 3 * r, offset);
    for (int r = 0; r < 3; r++) legal[r] = arap_dot(rotation + 3 * r, own);
    arap_shortest_rotation(legal, next, back);
    arap_multiply33(back, rotation, turned);
    memcpy(rotation, turned, sizeof turned);
}

static void draw_back(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    memcpy(work->goals + 3 * chain->count, target, 3 * sizeof(double));
    for (int i = chain->count - 1; i > 0; i--) {
        double *goal = work->goals + 3 * i, way[3], next[3], from[3], swing[9], rotation[9];
        double offset[3];
        arap_sub(goal + 3, work->points + 3 * i, way);
        arap_sub(work->points + 3 * (i + 1), work->points + 3 * i, from);
        arap_shortest_rotation(from, way, swing);
        arap_multiply33(swing, work->rotations + 9 * i, rotation);
        if (i + 1 < chain->count) {
            arap_sub(goal + 6, goal + 3, next);
            if (arap_dot(next, next) > 0) make_room(chain, i, next, rotation, work);
        }
        arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, offset);
        for (int r = 0; r < 3; r++) goal[r] = goal[3 + r] - arap_dot(rotation + 3 * r, offset);
    }
}

/* Swing bone i to a point. */
static void swing_to(const arap_ik_chain *chain, int i, const double *goal, arap_ik_work *work) {
    const double *above = work->rotations + 9 * (i - 1);
    double offset[3], aim[3], own[3];
    arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, offset);
    arap_sub(goal, work->points + 3 * i, aim);
    memcpy(own, aim, sizeof own);
    for (int c = 0; c < 3 && i; c++)
        own[c] = above[c] * aim[0] + above[3 + c] * aim[1] + above[6 + c] * aim[2];
    arap_turn_to_aim(chain->axes + 9 * i, offset, own, work->joint_rotations + 3 * i);
    arap_joint_clamp(chain->ranges + i, work->joint_rotations + 3 * i);
    arap_ik_place_bone(chain, i, work);
}

/* Twist bone i - 1 such that the end of bone i comes as near to its goal as a twist allows. */
static void twist_for(const arap_ik_chain *chain, int i, const double *goal, arap_ik_work *work) {
    const double *pivot = work->points + 3 * i;
    double axis[3], from[3], to[3], side[3], rotation[9];
    arap_sub(pivot, pivot - 3, axis);
    double length = sqrt(arap_dot(axis, axis));
    if (!(length > 0)) return;
    for (int c = 0; c < 3; c++) axis[c] /= length;
    arap_sub(pivot + 3, pivot, from);
    arap_sub(goal, pivot, to);
    arap_cross(from, to, side);
    double sine = arap_dot(axis, side);
    double cosine = arap_dot(from, to) - arap_dot(from, axis) * arap_dot(to, axis);
    double angle = sine != 0 || cosine != 0 ? atan2(sine, cosine) : 0;
    for (int c = 0; c < 3; c++) axis[c] *= angle;
    arap_rotation_from_vector(axis, rotation);
    arap_ik_rotate(chain, i - 1, rotation, work);
    arap_ik_place_bone(chain, i - 1, work);
    swing_to(chain, i, goal, work);
}

void arap_fabrik_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    double way[3];
    arap_sub(target, chain->points, way);
    int is_beyond = arap_dot(way, way) >= chain->length * chain->length;
    if (!is_beyond) draw_back(chain, target, work);
    for (int i = 0; i < chain->count; i++) {
        const double *goal = is_beyond ? target : work->goals + 3 * (i + 1);
        double offset[3], aim[3], end[3];
        swing_to(chain, i, goal, work);
        if (!i) continue;
        /* The desired position of the end along the way to the goal. */
        arap_sub(chain->points + 3 * (i + 1), chain->points + 3 * i, offset);
        arap_sub(goal, work->points + 3 * i, aim);
        double size = sqrt(arap_dot(offset, offset)), far = sqrt(arap_dot(aim, aim));
        for (int c = 0; c < 3; c++)
            end[c] = work->points[3 * i + c] + (far > 0 ? size / far * aim[c] : 0);
        if (arap_distance2(end, work->points + 3 * (i + 1)) > OFF * OFF * size * size)
            twist_for(chain, i, goal, work);
    }
}
