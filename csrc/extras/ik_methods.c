/* Two further methods of inverse kinematics: see ik_methods.h. FABRIK is in rig/fabrik.c.
 *
 * Cyclic coordinate descent (Wang & Chen 1991). From the last bone to the root, each bone turns by
 * the shortest rotation that points the effector at the target, within its range, and twists if
 * this helps. No step moves the effector away from the target unless a range limits the rotation.
 *
 * Damped least squares on the Jacobian (Wampler 1986, Nakamura & Hanafusa 1986). A rotation w_i of
 * bone i moves the effector by w_i x v_i, where v_i is the position of the effector relative to the
 * head of the bone. For the gap g to the target, the rotations that minimize
 * |sum_i w_i x v_i - g|^2 + damping sum_i |w_i|^2 are w_i = v_i x f with
 * (sum_i (|v_i|^2 I - v_i v_i^T) + damping I) f = g, a system of size 3 x 3 for a chain of any
 * length. The rotations are then clamped to their ranges, which the linear system ignores. A step
 * that increases the gap is undone, and the damping is raised. After any other step, the damping is
 * lowered (Levenberg, Marquardt).
 *
 * An iteration takes O(bones^2) with the first method and O(bones) with the second. The functions
 * cannot fail. */
#include "extras/ik_methods.h"

#include <string.h>

#include "base/vec3.h"

#define FIRST 1e-2 /* damping, of the squared length of the chain */
#define MINIMUM 1e-9
#define MAXIMUM 1e3
#define EASE 0.25
#define RAISE 8

static void ccd_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    const double *effector = work->points + 3 * chain->count;
    for (int i = chain->count - 1; i >= 0; i--) {
        double from[3], to[3], rotation[9];
        arap_sub(effector, work->points + 3 * i, from);
        arap_sub(target, work->points + 3 * i, to);
        if (!(arap_dot(from, from) > 0) || !(arap_dot(to, to) > 0)) continue;
        arap_shortest_rotation(from, to, rotation);
        arap_ik_rotate(chain, i, rotation, work);
        arap_ik_place(chain, i, work);
    }
}

/* f of m f = g, m symmetric and positive. */
static void solve33(const double *m, const double *g, double *f) {
    double rows[3][3];
    arap_cross(m + 3, m + 6, rows[0]);
    arap_cross(m + 6, m, rows[1]);
    arap_cross(m, m + 3, rows[2]);
    double determinant = arap_dot(m, rows[0]);
    for (int c = 0; c < 3; c++)
        f[c] = (rows[0][c] * g[0] + rows[1][c] * g[1] + rows[2][c] * g[2]) / determinant;
}

static void jacobian_step(const arap_ik_chain *chain, const double *target, arap_ik_work *work) {
    const double *effector = work->points + 3 * chain->count;
    double gap[3], f[3], system[9] = {0}, length2 = chain->length * chain->length;
    size_t bytes = 3 * (size_t)chain->count * sizeof(double);
    double *before = work->goals; /* the turns to go back to */
    if (!(work->damping > 0)) work->damping = FIRST;
    arap_sub(target, effector, gap);
    double error2 = arap_dot(gap, gap);
    for (int i = 0; i < chain->count; i++) {
        double v[3];
        arap_sub(effector, work->points + 3 * i, v);
        double v2 = arap_dot(v, v);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) system[3 * r + c] += (r == c ? v2 : 0) - v[r] * v[c];
    }
    for (int c = 0; c < 3; c++) system[4 * c] += work->damping * length2;
    solve33(system, gap, f);
    memcpy(before, work->joint_rotations, bytes);
    /* Proceed from the last bone up, so that the rotations of the bones above are still those of
     * the system. */
    double end[3];
    memcpy(end, effector, sizeof end);
    for (int i = chain->count - 1; i >= 0; i--) {
        double v[3], w[3], rotation[9];
        arap_sub(end, work->points + 3 * i, v);
        arap_cross(v, f, w);
        arap_rotation_from_vector(w, rotation);
        arap_ik_rotate(chain, i, rotation, work);
    }
    arap_ik_place(chain, 0, work);
    if (arap_distance2(effector, target) < error2) {
        work->damping = fmax(EASE * work->damping, MINIMUM);
        return;
    }
    work->damping = fmin(RAISE * work->damping, MAXIMUM);
    memcpy(work->joint_rotations, before, bytes);
    arap_ik_place(chain, 0, work);
}

const arap_ik_step arap_ik_steps[] = {[ARAP_IK_FABRIK] = arap_fabrik_step,
                                      [ARAP_IK_CCD] = ccd_step,
                                      [ARAP_IK_JACOBIAN] = jacobian_step};
