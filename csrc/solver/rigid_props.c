/* Detects props that a hand holds: see rigid_candidates.h and props.c.
 *
 * A pistol has several parts, such as the slide, the barrel and the grip. Without this rule, each
 * of them would follow the nearest finger. A prop is held if the skin that it touches follows bones
 * of several branches (fingers), each with at least GRIP of the mean row of that skin. No branch
 * may be longer than a finger. All parts of the prop then follow the bone from which these branches
 * descend (the hand), regardless of how far this bone moves them. A piston between thigh and shin
 * touches two bones of one chain, so it is unchanged. A ribbon that touches a braid and a leg is
 * also unchanged.
 *
 * A grip surrounds bones of the fingers that pass through it. However, the grip is not the skin of
 * these fingers, which is the part around most bones.
 *
 * Pieces that are not closed, such as sights, screws and plates, belong to the prop if most of
 * their area is nearer to the prop, or to another such piece, than to other parts. The distance
 * must also be less than the piece's own radius.
 *
 * If the prop is its own mirror image but the hand bone is on one side, its parts are unchanged.
 *
 * Takes O(vertices x influences + parts x bones^2). Fails only on out-of-memory or when cancelled.
 */
#include "solver/rigid_candidates.h"

#include <string.h>

#include "base/memory.h"
#include "mesh/loose_parts.h"
#include "mesh/touching.h"

#define GRIP 0.1
#define JOINTS 4 /* maximum number of joints of a finger */

/* Store the area-weighted mean row of the skin that a prop touches in s->mean. */
static void take_mean_of_touched(const arap_rigid_search *s, const int *touched, int set) {
    const arap_solver *solver = s->solver;
    const arap_influences *in = &solver->influences;
    double area = 0;
    memset(s->mean, 0, (size_t)solver->skeleton.deform_count * sizeof *s->mean);
    for (int i = 0; i < solver->mesh.count; i++) {
        if (touched[i] != set) continue;
        area += solver->mesh.area[i];
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            s->mean[in->bone[e]] += solver->mesh.area[i] * in->weight[e];
    }
    for (int b = 0; b < solver->skeleton.deform_count && area > 0; b++) s->mean[b] /= area;
}

/* The child of bone `above` from which bone b descends by at most JOINTS joints, or -1. */
static int branch_of(const arap_skeleton *skeleton, int b, int above) {
    for (int k = 0; k < JOINTS && b >= 0; k++) {
        int up = skeleton->deform_parent[b];
        if (up == above) return b;
        b = up;
    }
    return -1;
}

/* Whether all holding bones are this bone or descend from it on several branches. */
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

/* The bone that holds the prop, or -1. No two bones gather the same bones. */
static int find_hand(const arap_rigid_search *s) {
    int bones = s->solver->skeleton.deform_count;
    for (int b = 0; b < bones; b++)
        if (gathers(s, b)) return b;
    return -1;
}

/* Whether a part of the prop is the image of another part of it. */
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

/* The set[part] that is nearest to more than half of the area of a part; -1: none is. nearest:
 * (vertices) the nearest other part, or -1. */
static int nearest_set(const arap_rigid_search *s, const arap_candidate *c, const int *nearest,
                       const int *set) {
    const double *area = s->solver->mesh.area;
    double lead = 0, own = 0, all = 0;
    int most = -1;
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < c->size; k++) {
            int i = s->vertices[c->first + k], on = nearest[i] >= 0 ? set[nearest[i]] : -1;
            if (round) {
                all += area[i];
                own += on == most ? area[i] : 0;
                continue;
            }
            /* the one with more than half of the area, if any */
            if (lead <= 0) most = on;
            lead += on == most ? area[i] : -area[i];
            if (lead < 0) most = on, lead = -lead;
        }
    return own > all / 2 ? most : -1;
}

/* Parts attached to a prop follow its hand, as do parts attached to them. hand: (parts) of
 * props. */
static arap_status hold_riders(arap_context *context, arap_rigid_search *s, const int *hand,
                               int *set, int *nearest) {
    const arap_mesh *mesh = &s->solver->mesh;
    arap_touching touching = {0};
    char *all = ARAP_NEW(char, mesh->part_count);
    arap_status status = ARAP_OK;
    if (!all) return arap_fail_memory(&context->error, "the parts that sit on props");
    memset(all, 1, (size_t)mesh->part_count);
    status = arap_touching_create(context, mesh, all, &touching);
    for (int p = 0; p < mesh->part_count && !status; p++) {
        const arap_candidate *c = &s->parts[p];
        if (!s->is_candidate[p] || c->bone_count || set[p] >= 0) continue;
        for (int k = 0; k < c->size; k++) {
            int i = s->vertices[c->first + k];
            double near = c->radius2 / c->area;
            nearest[i] = arap_touching_nearest(&touching, i, p, &near);
        }
        status = arap_progress(context, "rigid parts", 0);
    }
    for (int changed = !status; changed;) {
        changed = 0;
        for (int p = 0; p < mesh->part_count; p++) {
            const arap_candidate *c = &s->parts[p];
            if (!s->is_candidate[p] || c->bone_count || set[p] >= 0) continue;
            int prop = nearest_set(s, c, nearest, set);
            if (prop < 0) continue;
            set[p] = prop;
            arap_candidate_follow(s, p, hand[prop]);
            changed = 1;
        }
    }
    arap_touching_clear(&touching);
    arap_free(all);
    return status;
}

arap_status arap_hold_props(arap_context *context, arap_rigid_search *search, int *changes) {
    const arap_solver *solver = search->solver;
    int *set = search->set, *touched = search->touched;
    int any = 0, *hand = ARAP_NEW(int, solver->mesh.part_count);
    if (!hand) return arap_fail_memory(&context->error, "the props among the parts");
    arap_status status =
        arap_find_props(context, &solver->mesh, search->is_accessory, set, touched);
    for (int prop = 0; prop < solver->mesh.part_count && !status; prop++) {
        if (set[prop] != prop) continue;
        take_mean_of_touched(search, touched, prop);
        hand[prop] = find_hand(search);
        int held = hand[prop] >= 0 && !(is_own_image(search, set, prop) &&
                                        solver->symmetry.bone[hand[prop]] != hand[prop]);
        for (int p = prop; p < solver->mesh.part_count; p++) {
            if (set[p] != prop) continue;
            if (held && search->is_candidate[p]) arap_candidate_follow(search, p, hand[prop]);
            if (!held && p > prop) set[p] = -1;
        }
        if (!held) set[prop] = -1;
        any |= held;
    }
    *changes |= any;
    if (any && !status) status = hold_riders(context, search, hand, set, touched);
    arap_free(hand);
    return status;
}
