/* Parts between several branches of bones: see rigid_candidates.h.
 *
 * The wheels of a tank lie inside the ring of bones that move the plates of its track, and the
 * shell of a robot's hand lies around the first bones of its fingers. These bones are about equally
 * near, so the energy assigns such a part to one of them, and the part moves with a single plate or
 * finger. However, the part should follow the bone from which all of these bones descend, which is
 * the hull or the hand.
 *
 * Let d_b be the mean distance of a part from bone b. A part is between the branches of bone a
 * under two conditions. The nearest bone is a or descends from a, and at least BRANCHES children of
 * a are, or lead to, bones b with d_b <= ALIKE min d, with the minimum over all bones except a. The
 * part then follows a, or the lowest of several such bones. If two branches were sufficient, an
 * armor plate on the outside of a shoulder would count as a part between branches. The rule does
 * not apply to a part that is farther than REACH times its radius from these bones, because from
 * far away all distances are similar.
 *
 * The rule does not apply to a part that surrounds one bone, or to a part whose bone another rule
 * has chosen. The rule applies to a part that bends only if the bones of the branches move rigid
 * parts and no skin, as those of a machine do. In addition, the part must already follow the common
 * bone most. Skirts and coats therefore still bend.
 *
 * A bone that would lose all of its parts keeps the nearest one, unless the common bone is less
 * than NEARLY times as far away. Plates of a track therefore stay on their bones, although these
 * bones are equally near to the plate above or below.
 *
 * For a leaf that is one of MANY or more children of its parent, such as the bone of a plate of a
 * track, only the joint counts. The rest of the line of such a bone is a guess (joint_skeleton.h)
 * and may pass through anything nearby.
 *
 * Takes O(vertices x bones + parts x bones x depth). Fails only on out-of-memory or when cancelled.
 * */
#include "solver/rigid_candidates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define ALIKE 1.25
#define BRANCHES 3
#define REACH 2.5
#define MANY 10
#define NEARLY 1.3
#define TIED 1e-6 /* relative difference; more similar parts are images of each other */

typedef struct between {
    const arap_rigid_search *search;
    arap_bone_lines lines;
    double *distance; /* (lines) scratch */
    double *mean;     /* (deforming bones) mean distances of the current part, times its area */
    int *branch;      /* (deforming bones) scratch, -1: marks children of a bone */
    int *parts;       /* (deforming bones) rigid parts of each bone */
    int *soft;        /* (deforming bones) soft vertices with much of its weight */
    int *common;      /* (parts) the bone that the part should follow, or -1 */
    double *own;      /* (parts) mean distance from the current bone, INFINITY if the part may leave
                       * this bone */
} between;

/* Keep only the joints of leaves that are among many children of one bone. */
static void shorten_guesses(const arap_skeleton *skeleton, arap_bone_lines *lines, int *children) {
    const int *parent = skeleton->deform_parent;
    memset(children, 0, (size_t)skeleton->deform_count * sizeof *children);
    for (int b = 0; b < skeleton->deform_count; b++)
        if (parent[b] >= 0) children[parent[b]]++;
    for (int b = 0; b < skeleton->deform_count; b++) {
        if (children[b] || parent[b] < 0 || children[parent[b]] < MANY) continue;
        for (int l = lines->start[b]; l < lines->start[b + 1]; l++)
            lines->line[l].length = lines->lanes[6 * lines->count + l] = 0;
    }
}

/* Whether at least BRANCHES children of bone `above` lead to bones no farther than max; `hard`:
 * only to those with rigid parts and without skin. */
static int gathers(const between *w, int above, double max, int hard) {
    const arap_skeleton *skeleton = &w->search->solver->skeleton;
    int count = 0;
    for (int b = 0; b < skeleton->deform_count; b++) {
        int child = b;
        if (w->mean[b] > max || (hard && (!w->parts[b] || w->soft[b]))) continue;
        while (child >= 0 && skeleton->deform_parent[child] != above)
            child = skeleton->deform_parent[child];
        if (child < 0 || w->branch[child] == above) continue;
        w->branch[child] = above;
        count++;
    }
    return count >= BRANCHES;
}

/* The bone nearest to the current part except bone `other`, or -1. */
static int find_nearest(const between *w, int other) {
    int nearest = -1;
    for (int b = 0; b < w->search->solver->skeleton.deform_count; b++)
        if (b != other && (nearest < 0 || w->mean[b] < w->mean[nearest])) nearest = b;
    return nearest;
}

/* The bone between whose branches a part is, or -1. */
static int find_common(const between *w, const arap_candidate *c) {
    const arap_rigid_search *s = w->search;
    const arap_skeleton *skeleton = &s->solver->skeleton;
    double radius = sqrt(c->radius2 * c->area); /* times the area, as w->mean is */
    arap_part_distances(s, &w->lines, c, w->distance, w->mean);
    for (int b = 0; b < skeleton->deform_count; b++) w->branch[b] = -1;
    for (int a = find_nearest(w, -1); a >= 0; a = skeleton->deform_parent[a]) {
        int nearest = find_nearest(w, a);
        double min = nearest < 0 ? INFINITY : w->mean[nearest];
        if (min > REACH * radius) return -1;
        if (!gathers(w, a, ALIKE * min, !c->is_rigid)) continue;
        if (c->is_rigid) return a;
        arap_candidate_mean(s, c);
        return arap_candidate_bone(s, 0) == a ? a : -1;
    }
    return -1;
}

/* Whether the rule applies to a part. */
static int is_open_to(const arap_rigid_search *s, int p) {
    const arap_candidate *c = &s->parts[p];
    return s->is_candidate[p] && !c->is_decided && !c->hanging_end && c->bone_count != 1;
}

/* Find w->common and w->own. */
static arap_status choose(arap_context *context, const between *w) {
    const arap_rigid_search *s = w->search;
    const arap_solver *solver = s->solver;
    arap_status status = ARAP_OK;
    for (int p = 0; p < solver->mesh.part_count && !status; p++) {
        const arap_candidate *c = &s->parts[p];
        w->common[p] = -1;
        if (!is_open_to(s, p)) continue;
        status = arap_poll_cancel(context);
        int bone = find_common(w, c), from = c->is_rigid ? arap_owner_of_part(s, p) : -1;
        if (bone < 0 || bone == from ||
            (arap_candidate_is_own_image(s, c) && solver->symmetry.bone[bone] != bone))
            continue;
        int may_leave = from < 0 || w->mean[bone] < NEARLY * w->mean[from];
        w->common[p] = bone;
        w->own[p] = may_leave ? INFINITY : w->mean[from] / c->area;
    }
    return status;
}

/* Keep the nearest part of bones that would lose all. w->mean: scratch. */
static void keep_last(const between *w) {
    const arap_rigid_search *s = w->search;
    int bones = s->solver->skeleton.deform_count, parts = s->solver->mesh.part_count;
    for (int b = 0; b < bones; b++) w->mean[b] = INFINITY;
    for (int p = 0; p < parts; p++) {
        int from = w->common[p] >= 0 && s->parts[p].is_rigid ? arap_owner_of_part(s, p) : -1;
        if (from < 0) continue;
        w->parts[from]--;
        w->mean[from] = fmin(w->mean[from], w->own[p]);
    }
    for (int p = 0; p < parts; p++) {
        int from = w->common[p] >= 0 && s->parts[p].is_rigid ? arap_owner_of_part(s, p) : -1;
        if (from < 0 || w->parts[from] || isinf(w->own[p])) continue;
        if (w->own[p] <= (1 + TIED) * w->mean[from]) w->common[p] = -1;
    }
}

arap_status arap_hold_between(arap_context *context, arap_rigid_search *search, int *changes) {
    const arap_solver *solver = search->solver;
    size_t bones = (size_t)solver->skeleton.deform_count, parts = (size_t)solver->mesh.part_count;
    arap_arena arena = {0};
    between w = {.search = search,
                 .mean = ARAP_TAKE(&arena, bones, double),
                 .branch = ARAP_TAKE(&arena, bones, int),
                 .parts = ARAP_TAKE_ZERO(&arena, bones, int),
                 .soft = ARAP_TAKE_ZERO(&arena, bones, int),
                 .common = ARAP_TAKE(&arena, parts, int),
                 .own = ARAP_TAKE(&arena, parts, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the parts between bones");
    if (!status) status = arap_bone_lines_create(context, &solver->skeleton, &w.lines);
    if (status) goto done;
    w.distance = ARAP_TAKE(&arena, w.lines.count, double);
    status = arap_arena_status(&arena, &context->error, "the parts between bones");
    if (status) goto done;
    shorten_guesses(&solver->skeleton, &w.lines, w.branch);
    arap_count_owned(search, w.parts, w.soft);
    status = choose(context, &w);
    if (status) goto done;
    keep_last(&w);
    for (int p = 0; p < solver->mesh.part_count; p++)
        if (w.common[p] >= 0) *changes |= arap_candidate_follow(search, p, w.common[p]);

done:
    arap_arena_clear(&arena);
    arap_bone_lines_clear(&w.lines);
    return status;
}
