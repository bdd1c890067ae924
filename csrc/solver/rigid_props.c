/* Props that a hand holds: see rigid_props.h and props.h.
 *
 * A pistol is of several parts: slide, barrel, grip. Each by itself goes with the finger that is
 * nearest. A prop is held if the skin that it touches follows bones of several branches, fingers,
 * each by at least GRIP of the mean row there, and no branch is longer than a finger: all parts of
 * it then follow the bone from which these branches descend, the hand, however far they depart from
 * where they are. A piston between thigh and shin touches two bones, but of one chain, and is left
 * as found. So is a ribbon that touches a braid and a leg.
 *
 * A grip is around bones of the fingers that go through it. It is not their skin: the skin is
 * the part around most bones.
 *
 * What touches a part with a single bone inside may belong to that bone (a trigger), and is left as
 * found, too. So are parts whose bone of the hand is of one side, where the prop is its own image.
 * O(vertices x influences + parts x bones^2). Fails without memory only, or cancelled. */
#include "solver/rigid_props.h"

#include <string.h>

#include "mesh/props.h"

#define GRIP 0.1
#define JOINTS 4 /* of a finger, at most */

/* The mean row of the skin that a prop touches, by area, into s->mean; 0: a part with one bone
 * inside is among that. */
static int take_mean_of_touched(const arap_rigid_search *s, const int *touched, int set) {
    const arap_solver *solver = s->solver;
    const arap_influences *in = &solver->influences;
    double area = 0;
    memset(s->mean, 0, (size_t)solver->skeleton.deform_count * sizeof *s->mean);
    for (int i = 0; i < solver->mesh.count; i++) {
        if (touched[i] != set) continue;
        if (s->parts[solver->mesh.part[i]].around == 1) return 0;
        area += solver->mesh.area[i];
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            s->mean[in->bone[e]] += solver->mesh.area[i] * in->weight[e];
    }
    for (int b = 0; b < solver->skeleton.deform_count && area > 0; b++) s->mean[b] /= area;
    return area > 0;
}

/* The child of bone `above` from which bone b descends by JOINTS at most, or -1. */
static int branch_of(const arap_skeleton *skeleton, int b, int above) {
    for (int k = 0; k < JOINTS && b >= 0; k++) {
        int up = skeleton->deform_parent[b];
        if (up == above) return b;
        b = up;
    }
    return -1;
}

/* Do all bones that hold descend from this one, or are it, on several branches? */
static int gathers(const arap_rigid_search *s, int above) {
    const arap_skeleton *skeleton = &s->solver->skeleton;
    int first = -1, several = 0;
    for (int b = 0; b < skeleton->deform_count; b++) {
        if (s->mean[b] < GRIP || b == above) continue;
        int branch = branch_of(skeleton, b, above);
        if (branch < 0) return 0;
        several |= first >= 0 && branch != first;
        first = branch;
    }
    return several;
}

/* The bone that holds the prop, or -1. No two bones gather the same ones. */
static int find_hand(const arap_rigid_search *s) {
    int bones = s->solver->skeleton.deform_count;
    for (int b = 0; b < bones; b++)
        if (gathers(s, b)) return b;
    return -1;
}

/* Is a part of the prop the image of one of it? */
static int is_own_image(const arap_rigid_search *s, const int *set, int prop) {
    const arap_solver *solver = s->solver;
    for (int i = 0; i < solver->mesh.count; i++) {
        int image = arap_symmetry_image(&solver->symmetry, i);
        if (image >= 0 && set[solver->mesh.part[i]] == prop &&
            set[solver->mesh.part[image]] == prop)
            return 1;
    }
    return 0;
}

arap_status arap_hold_props(arap_context *context, arap_rigid_search *s, int *set, int *touched,
                            int *changes) {
    const arap_solver *solver = s->solver;
    arap_status status = arap_find_props(context, &solver->mesh, s->free, s->beside, set, touched);
    for (int prop = 0; prop < solver->mesh.part_count && !status; prop++) {
        if (set[prop] != prop || !take_mean_of_touched(s, touched, prop)) continue;
        int hand = find_hand(s);
        if (hand < 0) continue;
        if (is_own_image(s, set, prop) && solver->symmetry.bone[hand] != hand) continue;
        for (int p = prop; p < solver->mesh.part_count; p++) {
            arap_candidate *c = &s->parts[p];
            if (set[p] != prop || !s->may[p]) continue;
            c->open = 1;
            c->blends = c->hangs = 0;
            c->bone = hand;
            *changes = 1;
        }
    }
    return status;
}
