/* Control bones: see control_bones.h.
 *
 * The deforming bones are a forest. Of each tree (and, at the end, of each bone) two shares of the
 * skin, by area, tell what it is good for; d are distances from a vertex to bones:
 *
 *   own  = share of the skin that is nearer to the tree than to any other
 *   gain = share times (1 - d_tree / d_next), over its own skin
 *
 * gain / own is about 1/2 for a foot that hangs on the root for IK, and next to 0 for the copy of
 * a foot. A bone that lies between others of its chain has little gain too, so that is never
 * enough:
 *
 * - a tree of low gain / own is one of controls if its name says so or its place does: outside the
 *   mesh and away from it, on bones of another chain, or from their joint. Both allow more gain.
 * - the root of a tree is a control, and what hangs on it becomes trees of its own, if it lies
 *   outside the mesh, nothing continues it at its tail and it has hardly any gain. If its name says
 *   so, it may be partly inside, or within a part of the body that is far from what hangs on it.
 * - a bone without children that does not continue its parent is a control if it has little gain
 *   and its name says so or it is outside and away.
 * - a bone that coincides with another is a control if only its own name says so, or if its chain
 *   coincides too and fewer bones hang on it.
 *
 * Trees go one at a time, the surest first, of those the smallest, of those the one that hung on
 * most controls, and what remains is measured again: of two copies one stays. Where nothing tells
 * which, both do. Thresholds are shares of areas and of bone lengths: place, turn and scale
 * change nothing. Cost: a ranking (control_study.c) for every root and every tree that goes.
 * Fails without memory only, or cancelled. */
#include "rig/control_bones.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "rig/control_study.h"

#define COINCIDENT 0.05 /* of the shorter one's length: ends so near are at the same place */

/* Most gain / own of a tree with one and with two signs of a control; of a single bone. */
#define LOW_GAIN 0.2
#define SOME_GAIN 0.35
/* Most gain of a root, of one inside the mesh, and of a single bone: shares of the skin. */
#define ROOT_GAIN 0.02
#define CONTROL_GAIN 0.02
/* Clearance of bones away from the mesh, of one with a parent and no name: of their length. */
#define AWAY 0.5
#define FAR_AWAY 1.5
/* Names that most bones have say nothing. */
#define MOST_NAMED 0.9

static int root_of(const arap_study *t, int d) {
    for (int up; (up = arap_study_parent(t, d)) >= 0;) d = up;
    return d;
}

/* Every tree a group; their number. */
static int find_groups(arap_study *t) {
    int count = 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        t->group[d] = t->control[d] ? -1 : root_of(t, d);
        count += t->group[d] == d;
    }
    return count;
}

/* How many signs of a control the tree has: the names of most of it, its place, which says it all
 * if that is away from the mesh. */
static int count_signs(arap_study *t, int root) {
    int away = 1, others = 0, named = 0;
    for (int d = 0; d < t->s.deform_count; d++)
        if (t->group[d] == root) {
            away = away && arap_study_is_away(t, d, AWAY);
            others = others || arap_study_in_place_of_others(t, d);
            named += t->named[d] ? 1 : -1;
        }
    return (named > 0) + (away ? 2 : others);
}

static int coincide(const arap_study *t, int a, int b) {
    double near = COINCIDENT * fmin(t->length[a], t->length[b]);
    return arap_distance2(arap_study_head(t, a), arap_study_head(t, b)) <= near * near &&
           arap_distance2(arap_study_tail(t, a), arap_study_tail(t, b)) <= near * near;
}

/* A tree that may be one of controls, and what tells which of two goes first. */
typedef struct candidate {
    int root, signs, bones, above; /* above: control bones that it hung on */
    double ratio;
} candidate;

static candidate judge_tree(arap_study *t, int root) {
    candidate c = {.root = -1, .signs = 0, .ratio = arap_study_gain_ratio(t, root)};
    if (t->keep[root] || !(c.ratio < SOME_GAIN) || !(t->gain[root] < CONTROL_GAIN)) return c;
    c.signs = count_signs(t, root);
    if (!c.signs || (c.signs == 1 && !(c.ratio < LOW_GAIN))) return c;
    c.root = root;
    for (int d = 0; d < t->s.deform_count; d++) c.bones += t->group[d] == root;
    for (int up = t->s.deform_parent[root]; up >= 0; up = t->s.deform_parent[up]) c.above++;
    return c;
}

/* More than 0 if a goes before b, 0 if nothing tells. */
static int compare(const candidate *a, const candidate *b) {
    if (a->signs != b->signs) return a->signs - b->signs;
    if (a->bones != b->bones) return b->bones - a->bones;
    return a->above - b->above;
}

static int trees_coincide(const arap_study *t, int a, int b) {
    for (int d = 0; d < t->s.deform_count; d++)
        for (int e = 0; e < t->s.deform_count && t->group[d] == a; e++)
            if (t->group[e] == b && coincide(t, d, e)) return 1;
    return 0;
}

/* The surest tree of controls, or -1. Two copies of which nothing tells the control stay. */
static int find_control_tree(arap_study *t) {
    candidate best = {.root = -1};
    for (int g = 0; g < t->s.deform_count; g++) {
        if (t->group[g] != g) continue;
        candidate c = judge_tree(t, g);
        if (c.root < 0) continue;
        int order = best.root < 0 ? 1 : compare(&c, &best);
        if (order > 0 || (!order && c.ratio < best.ratio)) best = c;
    }
    for (int g = 0; g < t->s.deform_count && best.root >= 0; g++) {
        if (t->group[g] != g || g == best.root || !trees_coincide(t, g, best.root)) continue;
        candidate c = judge_tree(t, g);
        if (c.root < 0 || compare(&c, &best)) continue;
        t->keep[g] = t->keep[best.root] = 1;
        return find_control_tree(t);
    }
    return best.root;
}

static void drop_tree(arap_study *t, int root) {
    for (int d = 0; d < t->s.deform_count; d++)
        if (t->group[d] == root)
            t->control[d] = arap_study_is_away(t, d, AWAY)        ? ARAP_CONTROL_OUTSIDE
                            : arap_study_in_place_of_others(t, d) ? ARAP_CONTROL_TWIN
                                                                  : ARAP_CONTROL_SERVED;
    for (int d = 0; d < t->s.deform_count; d++)
        if (t->group[d] == root) t->group[d] = -1;
}

/* A root beside the body that hangs on it. */
static int is_mere_root(arap_study *t, int root) {
    double nearest = INFINITY, deepest = 0;
    int children = 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        if (arap_study_continues(t, d, root)) return 0;
        nearest = fmin(nearest, sqrt(arap_study_distance2(t, root, arap_study_head(t, d))));
        children++;
    }
    if (!children) return 0;
    int outside = arap_study_outside(t, root);
    if (outside == ARAP_STUDY_SAMPLES) return 1;
    if (!t->named[root]) return 0;
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
        deepest = fmax(deepest, arap_study_clearance(t, root)[k]);
    return outside > 1 || (nearest > 1.5 * t->length[root] && nearest > 2 * deepest);
}

/* What single bones own and gain. */
static arap_status rank_bones(arap_study *t) {
    for (int d = 0; d < t->s.deform_count; d++) t->group[d] = t->control[d] ? -1 : d;
    return arap_study_rank(t, -1);
}

/* Roots that are none, among bones that are ranked; their number. */
static int drop_roots(arap_study *t) {
    int dropped = 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        if (t->control[d] || arap_study_parent(t, d) >= 0 || !(t->gain[d] < ROOT_GAIN)) continue;
        if (!is_mere_root(t, d)) continue;
        t->control[d] = ARAP_CONTROL_ROOT;
        t->group[d] = -1;
        dropped++;
    }
    return dropped;
}

static int count_children(const arap_study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s.deform_count; o++)
        count += !t->control[o] && arap_study_parent(t, o) == d;
    return count;
}

static int count_below(const arap_study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s.deform_count; o++)
        count += !t->control[o] && arap_study_is_below(t, o, d);
    return count;
}

/* The parents or a pair of children of two coincident bones coincide as well. */
static int chains_coincide(const arap_study *t, int a, int b) {
    int up = arap_study_parent(t, a), other = arap_study_parent(t, b);
    if (up >= 0 && other >= 0 && up != other && coincide(t, up, other)) return 1;
    for (int c = 0; c < t->s.deform_count; c++)
        for (int e = 0; e < t->s.deform_count && t->s.deform_parent[c] == a; e++)
            if (t->s.deform_parent[e] == b && coincide(t, c, e)) return 1;
    return 0;
}

/* Whether d is the copy of another bone and not the other way. */
static int is_copy(const arap_study *t, int d) {
    for (int o = 0; o < t->s.deform_count; o++) {
        if (o == d || t->control[o] || arap_study_is_below(t, d, o) || !coincide(t, d, o)) continue;
        if (t->named[d] > t->named[o]) return 1;
        if (arap_study_is_below(t, o, d)) continue;
        if (t->named[d] == t->named[o] && chains_coincide(t, d, o) &&
            count_below(t, d) < count_below(t, o))
            return 1;
    }
    return 0;
}

/* Single bones with a parent, and copies, among bones that are ranked. */
static void drop_bones(arap_study *t, char *drop) {
    int n = t->s.deform_count;
    for (int d = 0; d < n; d++) drop[d] = ARAP_CONTROL_NONE;
    for (int d = 0; d < n; d++) {
        int parent = arap_study_parent(t, d);
        if (t->control[d]) continue;
        if (is_copy(t, d)) {
            drop[d] = ARAP_CONTROL_TWIN;
            continue;
        }
        if (parent < 0 || count_children(t, d) || arap_study_continues(t, d, parent)) continue;
        if (!(arap_study_gain_ratio(t, d) < SOME_GAIN) || !(t->gain[d] < CONTROL_GAIN)) continue;
        if (arap_study_is_away(t, d, t->named[d] ? AWAY : FAR_AWAY))
            drop[d] = ARAP_CONTROL_OUTSIDE;
        else if (t->named[d])
            drop[d] = ARAP_CONTROL_SERVED;
    }
    for (int d = 0; d < n; d++)
        if (drop[d]) t->control[d] = drop[d];
}

/* Drop trees until none is one of controls; how many were. Leaves the bones ranked. */
static arap_status drop_trees(arap_study *t, int *dropped) {
    arap_status status = arap_study_rank(t, -1);
    *dropped = 0;
    for (int g; !status && (g = find_control_tree(t)) >= 0; ++*dropped) {
        drop_tree(t, g);
        status = arap_progress(t->context, "control bones", 0.5);
        if (!status) status = arap_study_rank(t, g);
    }
    return status ? status : rank_bones(t);
}

static arap_status find_controls(arap_study *t, char *drop) {
    arap_status status = rank_bones(t);
    int dropped = 1;
    while (!status && dropped) {
        while (!status && drop_roots(t)) {
            status = arap_progress(t->context, "control bones", 0.5);
            if (!status) status = rank_bones(t);
        }
        dropped = 0;
        if (!status && find_groups(t) > 1) status = drop_trees(t, &dropped);
    }
    if (!status) drop_bones(t, drop);
    return status ? status : t->failed;
}

arap_status arap_control_bones(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const char *named, int *control) {
    arap_study t;
    arap_status status = arap_study_create(context, geometry, bones, &t);
    if (status) return status;
    int n = t.s.deform_count, named_count = 0;
    char *drop = ARAP_NEW(char, n);
    if (!drop) {
        status = arap_fail_memory(&context->error, "the control bones");
        goto done;
    }
    for (int d = 0; d < n; d++) named_count += named && named[t.s.deform_bone[d]];
    for (int d = 0; d < n && named; d++)
        t.named[d] = named[t.s.deform_bone[d]] && named_count < MOST_NAMED * n;
    status = arap_progress(context, "control bones", 0);
    if (!status && t.mesh.face_part_count && n > 1) status = find_controls(&t, drop);
    if (status) goto done;
    for (int b = 0; b < t.s.count; b++) control[b] = ARAP_CONTROL_NONE;
    for (int d = 0; d < n; d++) control[t.s.deform_bone[d]] = t.control[d];

done:
    arap_free(drop);
    arap_study_clear(&t);
    return status;
}
