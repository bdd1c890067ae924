/* Control bones: see control_bones.h.
 *
 * The deforming bones are a forest. The contribution of each tree (and, at the end, of each bone)
 * is measured by two shares of the skin, by area. With d the distance from a vertex to a bone or
 * tree, these shares are
 *
 *   own  = share of the skin that is nearer to the tree than to any other
 *   gain = share times (1 - d_tree / d_next), over its own skin
 *
 * gain / own is about 1/2 for a foot bone that is a child of the root for IK, and nearly 0 for a
 * copy of a foot bone. A bone in the middle of a chain also has little gain, so low gain alone is
 * not sufficient evidence.
 *
 * Further evidence about a bone, such as its name and its constraints, is a number. A value of 1 or
 * more is a sign of a control bone, 2 or more is a sure sign, and -1 or less is a sign of a bone
 * that moves skin.
 *
 * - a tree with low gain / own consists of control bones if the evidence about most of its bones
 *   indicates control bones, or if its position does. The position is a sign if the tree lies
 *   outside the mesh and away from it, lies on bones of another chain, or starts at the joint of
 *   such bones. With two of these
 *   signs, more gain is allowed. If the evidence indicates bones that move skin, the tree counts
 *   only if it is away from the mesh.
 * - the root of a tree is a control bone, and its children become roots of their own trees, if the
 *   root lies outside the mesh, has hardly any gain, and is not continued by a bone at its tail.
 *   With a sign of a control bone, the root may also be partly inside, or in a part of the body
 *   that is far from its children. With a sure sign, the root may be anywhere. If most of its
 *   children are inside, the root may continue into them and have more gain. The reason is that the
 *   skin that faces the root, such as that of legs on both sides, does not follow the root. In a
 *   skeleton of joints
 *   alone, bones reach to all their children, and the segments to the children are not evidence.
 *   The root is therefore dropped if its joint is outside the skin, regardless of its gain. A root
 *   without segments and with hardly any gain is also dropped if the body continues from its joint.
 *   A root that represents the body itself is kept. With a sign of a control bone, a root does not
 *   count as the body if a child passes the root's joint, or if limbs are attached to the root and
 *   it leads from outside the skin to a child that starts at its tail.
 * - a bone without children that does not continue its parent is a control bone if it has little
 *   gain and a sign of a control bone, or if it is outside the mesh and away from it. With a sure
 *   sign, such a bone may continue its parent, as end joints do, or have children that do not
 *   continue it. If such children have almost no gain, any sign is sufficient.
 * - a bone that coincides with another is a control bone if it has a sign and more evidence than
 *   the other bone, or if the chains of both also coincide and fewer bones depend on it.
 * - In a skeleton of joints alone, a bone without children is a control bone as well if it starts
 *   at a joint in the middle of a chain but has another parent, such as finger helpers that are
 *   children of the hand. In this case, the chain reaches the joint at which the helper starts, but
 *   the helper's parent does not.
 * - a bone with loose parts of its own is not a control bone unless there is a sure sign.
 *
 * Trees are removed one at a time: first the tree with the surest evidence, then the smallest, then
 * the tree below the most control bones. The remaining trees are measured again, so that one of two
 * copies stays. Both stay if nothing distinguishes them. If several single bones lie in the same
 * skin, those with the surest evidence are also removed first. Thresholds are shares of areas and
 * of bone lengths, so the result does not depend on position, rotation and scale. Takes one ranking
 * (control_study.c) for every root and every removed tree. Fails only on out-of-memory or when
 * cancelled. */
#include "control/control_bones.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "control/control_study.h"

#define COINCIDENT 0.05 /* ends closer than this share of the shorter bone's length coincide */

/* Maximum gain / own of a tree with one or two signs of a control bone, and of a single bone. */
#define LOW_GAIN 0.2
#define SOME_GAIN 0.35
/* Maximum gain of a root, of a root inside the mesh, of a single bone, and of a bone with children,
 * as shares of the skin. */
#define ROOT_GAIN 0.02
#define CONTROL_GAIN 0.02
#define OUTSIDE_GAIN 0.1 /* maximum gain of a root outside the mesh */
#define SURE_ROOT_GAIN 0.05
/* Shares of the skin of the branches below a root. With the first share, a single branch is the
 * body. With the second share, several branches are parts of the body. */
#define LEADING_BRANCH 0.4
#define MIN_BRANCH 0.02
/* minimum distance of a passed joint from both ends of a child, as a share of the child's length */
#define PASSED 0.1
#define SAME_JOINT 0.01 /* joints closer than this share of the mesh size coincide */
#define NO_GAIN 0.005
/* Clearance of bones away from the mesh, and of a bone with a parent and no name, relative to their
 * length. */
#define AWAY 0.5
#define FAR_AWAY 1.5
/* A sign shared by most bones is meaningless. */
#define MAX_BONES 0.9
/* Evidence of a control bone, of a nearly certain one, and of skin. */
#define SIGN 1
#define SURE 2
#define SKIN (-1)

static int root_of(const arap_study *t, int d) {
    for (int up; (up = arap_study_parent(t, d)) >= 0;) d = up;
    return d;
}

/* Make every tree a group, and list its bones. Returns the number of groups. */
static int find_groups(arap_study *t) {
    int count = 0;
    arap_study_regroup(t, -1);
    for (int d = 0; d < t->s.deform_count; d++) t->first[d] = -1;
    for (int d = t->s.deform_count - 1; d >= 0; d--) {
        int root = t->group[d] = t->control[d] ? -1 : root_of(t, d);
        count += root == d;
        if (root < 0) continue;
        t->next[d] = t->first[root];
        t->first[root] = d;
    }
    return count;
}

static int has_sign(const arap_study *t, int d) { return t->evidence[d] >= SIGN; }

static int is_sure(const arap_study *t, int d) { return t->evidence[d] >= SURE; }

static int is_skin(const arap_study *t, int d) { return t->evidence[d] <= SKIN; }

/* Whether this applies to more than half of the tree. */
static int is_mostly(const arap_study *t, int root, int (*is)(const arap_study *, int)) {
    int more = 0;
    for (int d = t->first[root]; d >= 0; d = t->next[d]) more += is(t, d) ? 1 : -1;
    return more > 0;
}

/* Count the signs that the tree consists of control bones: the evidence of most of its bones, and
 * its position. Being away from the mesh is sufficient, and is required if there is evidence of
 * skin. */
static int count_signs(arap_study *t, int root) {
    int away = 1, others = 0, sure = is_mostly(t, root, is_sure);
    for (int d = t->first[root]; d >= 0; d = t->next[d]) {
        away = away && arap_study_is_away(t, d, AWAY);
        others = others || arap_study_in_place_of_others(t, d);
    }
    if (!away && (is_mostly(t, root, is_skin) || (!sure && arap_study_has_parts(t, root))))
        return 0;
    return is_mostly(t, root, has_sign) + sure + (away ? 2 : others);
}

static int coincide(const arap_study *t, int a, int b) {
    double near = COINCIDENT * t->length[a];
    const double *one = arap_study_head(t, a), *other = arap_study_head(t, b);
    for (int c = 0; c < 3; c++) /* most bones are too far away along one axis */
        if (one[c] - other[c] > near || other[c] - one[c] > near) return 0;
    near = fmin(near, COINCIDENT * t->length[b]);
    return arap_distance2(arap_study_head(t, a), arap_study_head(t, b)) <= near * near &&
           arap_distance2(arap_study_tail(t, a), arap_study_tail(t, b)) <= near * near;
}

/* A tree that may consist of control bones, and the criteria for the order of removal. */
typedef struct candidate {
    int root, signs, bones, above; /* above: number of control bones above it */
    double ratio;
} candidate;

/* In a skeleton of joints alone, whether the tree is a single bone at the joint of another bone.
 * Such a bone could extend only to the skin beyond that joint, which the other bone also
 * reaches. */
static int is_lone_copy(const arap_study *t, int root) {
    double near = SAME_JOINT * t->mesh.size;
    int copies = 0;
    if (!t->s.ways || is_skin(t, root) || arap_study_has_parts(t, root)) return 0;
    if (t->next[t->first[root]] >= 0) return 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        copies += t->group[d] >= 0 && d != root && arap_study_parent(t, d) >= 0 &&
                  arap_distance2(arap_study_head(t, d), arap_study_head(t, root)) <= near * near;
    }
    return copies > 0;
}

static candidate judge_tree(arap_study *t, int root) {
    candidate c = {.root = -1, .signs = 0, .ratio = arap_study_gain_ratio(t, root)};
    if (!t->keep[root] && is_lone_copy(t, root)) return (candidate){root, 2, 1, 0, c.ratio};
    if (t->keep[root] || !(c.ratio < SOME_GAIN) || !(t->gain[root] < CONTROL_GAIN)) return c;
    c.signs = count_signs(t, root);
    if (!c.signs || (c.signs == 1 && !(c.ratio < LOW_GAIN))) return c;
    c.root = root;
    for (int d = t->first[root]; d >= 0; d = t->next[d]) c.bones++;
    for (int up = t->s.deform_parent[root]; up >= 0; up = t->s.deform_parent[up]) c.above++;
    return c;
}

/* Positive if a is removed before b, 0 if nothing distinguishes them. */
static int compare(const candidate *a, const candidate *b) {
    if (a->signs != b->signs) return a->signs - b->signs;
    if (a->bones != b->bones) return b->bones - a->bones;
    return a->above - b->above;
}

static int trees_coincide(const arap_study *t, int a, int b) {
    for (int d = t->first[a]; d >= 0; d = t->next[d])
        for (int e = t->first[b]; e >= 0; e = t->next[e])
            if (coincide(t, d, e)) return 1;
    return 0;
}

/* The most certain tree of control bones, or -1. Two indistinguishable copies both stay. */
static int find_control_tree(arap_study *t) {
    candidate best = {.root = -1};
    for (int g = 0; g < t->s.deform_count && !t->failed; g++) {
        if (t->group[g] != g) continue;
        t->failed = arap_poll_cancel(t->context);
        candidate c = judge_tree(t, g);
        if (c.root < 0) continue;
        int order = best.root < 0 ? 1 : compare(&c, &best);
        if (order > 0 || (!order && c.ratio < best.ratio)) best = c;
    }
    for (int g = 0; g < t->s.deform_count && best.root >= 0 && !t->failed; g++) {
        if (t->group[g] != g || g == best.root || !trees_coincide(t, g, best.root)) continue;
        candidate c = judge_tree(t, g);
        if (c.root < 0 || compare(&c, &best)) continue;
        t->keep[g] = t->keep[best.root] = 1;
        return find_control_tree(t);
    }
    return best.root;
}

static void drop_tree(arap_study *t, int root) {
    for (int d = t->first[root]; d >= 0; d = t->next[d])
        t->control[d] = arap_study_is_away(t, d, AWAY)        ? ARAP_CONTROL_OUTSIDE
                        : arap_study_in_place_of_others(t, d) ? ARAP_CONTROL_TWIN
                                                              : ARAP_CONTROL_SERVED;
    for (int d = t->first[root]; d >= 0; d = t->next[d]) t->group[d] = -1;
    arap_study_regroup(t, root);
}

static int count_children(const arap_study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s.deform_count; o++)
        count += !t->control[o] && arap_study_parent(t, o) == d;
    return count;
}

/* Whether d is a root next to the body that descends from it. */
static int is_mere_root(arap_study *t, int root) {
    double nearest = INFINITY, deepest = 0;
    int children = 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        if (arap_study_continues(t, d, root) && !is_sure(t, root)) return 0;
        nearest = fmin(nearest, sqrt(arap_study_distance2(t, root, arap_study_head(t, d))));
        children++;
    }
    if (!children || is_skin(t, root)) return 0;
    int outside = arap_study_outside(t, root);
    if (outside == ARAP_STUDY_SAMPLES || is_sure(t, root)) return 1;
    if (!has_sign(t, root)) return 0;
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
        deepest = fmax(deepest, arap_study_clearance(t, root)[k]);
    return outside > 1 || (nearest > 1.5 * t->length[root] && nearest > 2 * deepest);
}

/* The share of the skin nearest to d and its descendants. Requires a ranking of single bones. */
static double sum_branch(const arap_study *t, int d) {
    double sum = 0;
    for (int o = 0; o < t->s.deform_count; o++)
        if (!t->control[o] && arap_is_below(&t->s, o, d)) sum += t->own[o];
    return sum;
}

/* Whether the root itself is the body: it lies within the skin and has limbs, none of which has a
 * large share. */
static int is_trunk(arap_study *t, int root) {
    double max = LEADING_BRANCH * sum_branch(t, root);
    int branches = 0;
    for (int d = 0; d < t->s.deform_count; d++) {
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        if (!(sum_branch(t, d) < max)) return 0;
        branches++;
    }
    return branches > 1 && arap_study_is_amid(t, root);
}

/* Whether the root joins parts of the body from inside, as a pelvis joins legs and spine. */
static int is_joint_of_body(arap_study *t, int root) {
    int branches = 0;
    for (int d = 0; d < t->s.deform_count; d++)
        branches += !t->control[d] && arap_study_parent(t, d) == root &&
                    sum_branch(t, d) > MIN_BRANCH &&
                    2 * arap_study_outside(t, d) < ARAP_STUDY_SAMPLES;
    return branches >= 3 && !arap_study_outside(t, root);
}

static int is_body(arap_study *t, int root) {
    return is_trunk(t, root) || is_joint_of_body(t, root);
}

/* Whether d is a root entirely outside the mesh while its descendants are mostly inside. The skin
 * nearest to the root then only happens to face it, as legs on both sides do. */
static int is_root_outside(arap_study *t, int root) {
    int inside = 0, children = 0;
    if (is_skin(t, root) || !(t->gain[root] < OUTSIDE_GAIN) || arap_study_has_parts(t, root) ||
        arap_study_outside(t, root) < ARAP_STUDY_SAMPLES)
        return 0;
    for (int d = 0; d < t->s.deform_count && !t->failed; d++) {
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        children++;
        inside += 2 * arap_study_outside(t, d) < ARAP_STUDY_SAMPLES;
    }
    return 2 * inside > children;
}

/* Whether the body is a child of a bone at the joint of this root. The root also has segments to
 * its other children, such as targets, so segments are not evidence about the root. */
static int is_joint_of_child(const arap_study *t, int root) {
    double near = SAME_JOINT * t->mesh.size, max = LEADING_BRANCH * sum_branch(t, root);
    for (int d = 0; d < t->s.deform_count; d++)
        if (!t->control[d] && arap_study_parent(t, d) == root && sum_branch(t, d) > max &&
            arap_distance2(arap_study_head(t, d), arap_study_head(t, root)) <= near * near)
            return 1;
    return 0;
}

/* In a skeleton of joints alone, whether a segment of the root leads away from its joint. */
static int goes_on(const arap_study *t, int root) {
    double near = SAME_JOINT * t->mesh.size;
    for (int d = 0; d < t->s.deform_count; d++)
        if (!t->control[d] && arap_study_parent(t, d) == root && arap_study_continues(t, d, root) &&
            arap_distance2(arap_study_head(t, d), arap_study_head(t, root)) > near * near)
            return 1;
    return 0;
}

/* Whether the body passes the joint of this root, in a child that begins before it and ends after
 * it inside the same skin. A root with a sign is then next to the body, like the topmost bone of a
 * character next to its hips. */
static int is_passed(arap_study *t, int root) {
    const double *joint = arap_study_head(t, root);
    double max = LEADING_BRANCH * sum_branch(t, root);
    int passed = 0;
    if (!has_sign(t, root) || !(t->gain[root] < ROOT_GAIN)) return 0;
    for (int d = 0; d < t->s.deform_count && !t->failed; d++) {
        const double *head = arap_study_head(t, d), *tail = arap_study_tail(t, d);
        double along[3], from[3], point[3], deepest = 0;
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        if (arap_study_continues(t, d, root)) return 0;
        if (!(sum_branch(t, d) > max)) continue;
        arap_sub(tail, head, along);
        arap_sub(joint, head, from);
        double way = arap_dot(from, along), min = PASSED * arap_dot(along, along);
        double away2 = arap_nearest_on_segment(joint, head, tail, point);
        for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
            deepest = fmax(deepest, arap_study_clearance(t, d)[k]);
        passed += way > min && arap_dot(along, along) - way > min && away2 < deepest * deepest;
    }
    return passed;
}

/* Whether a root with a sign and limbs leads mostly from outside the skin to a bone inside that
 * continues from its tail. That bone is then the body. */
static int comes_from_outside(arap_study *t, int root) {
    int inside = 0, limbs = 0;
    if (!has_sign(t, root) || !(t->gain[root] < SURE_ROOT_GAIN) || arap_study_has_parts(t, root) ||
        !arap_study_joint_outside(t, root) || 2 * arap_study_outside(t, root) < ARAP_STUDY_SAMPLES)
        return 0;
    for (int d = 0; d < t->s.deform_count && !t->failed; d++) {
        if (t->control[d] || arap_study_parent(t, d) != root) continue;
        if (arap_study_continues(t, d, root))
            inside += 2 * arap_study_outside(t, d) < ARAP_STUDY_SAMPLES;
        else
            limbs++;
    }
    return inside && limbs > 1;
}

/* In a skeleton of joints alone (joint_skeleton.h), whether d is a root whose joint is outside the
 * skin (regardless of its segments), a certain control bone, or a root from which the body
 * continues. */
static int is_joint_root(arap_study *t, int root) {
    if (is_skin(t, root) || !count_children(t, root)) return 0;
    if (arap_study_joint_outside(t, root)) return 1;
    int little = t->gain[root] < ROOT_GAIN;
    return (is_sure(t, root) && little) ||
           ((has_sign(t, root) || (little && !goes_on(t, root))) && is_joint_of_child(t, root));
}

/* Rank single bones by their own skin and their gain. */
static arap_status rank_bones(arap_study *t) {
    int again = t->single;
    for (int d = 0; d < t->s.deform_count; d++) t->group[d] = t->control[d] ? -1 : d;
    t->single = 1;
    return arap_study_rank(t, again);
}

/* Mark roots that only steer the rig as control bones. Returns their number. Requires a ranking. */
static int drop_roots(arap_study *t) {
    int dropped = 0;
    for (int d = 0; d < t->s.deform_count && !t->failed; d++) {
        if (t->control[d] || arap_study_parent(t, d) >= 0) continue;
        t->failed = arap_poll_cancel(t->context);
        double max = is_sure(t, d) ? SURE_ROOT_GAIN : ROOT_GAIN;
        int joints = t->s.ways != NULL, mere = joints && is_joint_root(t, d);
        if (!joints) mere = (t->gain[d] < max && is_mere_root(t, d)) || is_root_outside(t, d);
        int beside = !joints && (is_passed(t, d) || comes_from_outside(t, d));
        if (!beside && (!mere || is_body(t, d))) continue;
        int outside = joints ? arap_study_joint_outside(t, d) : arap_study_outside(t, d);
        t->control[d] = outside ? ARAP_CONTROL_ROOT : ARAP_CONTROL_SERVED;
        t->group[d] = -1;
        dropped++;
    }
    return dropped;
}

static int count_below(const arap_study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s.deform_count; o++)
        count += !t->control[o] && arap_is_below(&t->s, o, d);
    return count;
}

/* Whether the parents or a pair of children of two coincident bones also coincide. */
static int chains_coincide(const arap_study *t, int a, int b) {
    int up = arap_study_parent(t, a), other = arap_study_parent(t, b);
    if (up >= 0 && other >= 0 && up != other && coincide(t, up, other)) return 1;
    for (int c = 0; c < t->s.deform_count; c++)
        for (int e = 0; e < t->s.deform_count && t->s.deform_parent[c] == a; e++)
            if (t->s.deform_parent[e] == b && coincide(t, c, e)) return 1;
    return 0;
}

/* Whether d is the copy of another bone, and not the other way round. */
static int is_copy(const arap_study *t, int d) {
    for (int o = 0; o < t->s.deform_count; o++) {
        if (o == d || t->control[o] || !coincide(t, d, o) || arap_is_below(&t->s, d, o)) continue;
        if (has_sign(t, d) && t->evidence[d] > t->evidence[o]) return 1;
        if (arap_is_below(&t->s, o, d) || is_skin(t, d)) continue;
        if (has_sign(t, d) == has_sign(t, o) && chains_coincide(t, d, o) &&
            count_below(t, d) < count_below(t, o))
            return 1;
    }
    return 0;
}

static int is_continued(const arap_study *t, int d) {
    for (int o = 0; o < t->s.deform_count; o++)
        if (!t->control[o] && arap_study_parent(t, o) == d && arap_study_continues(t, o, d))
            return 1;
    return 0;
}

/* In a skeleton of joints alone, whether d has another parent at a joint in the middle of a chain.
 * The chain is then equally near to all the skin at this joint. */
static int is_helper(const arap_study *t, int d) {
    double near = SAME_JOINT * t->mesh.size;
    int up = arap_study_parent(t, d);
    if (!t->s.ways || up < 0 || arap_study_continues(t, d, up) || is_skin(t, d) ||
        count_children(t, d))
        return 0;
    for (int o = 0; o < t->s.deform_count; o++) {
        int above = arap_study_parent(t, o);
        if (!t->control[o] && above >= 0 && above != up && !arap_is_below(&t->s, d, o) &&
            arap_study_continues(t, o, above) && is_continued(t, o) &&
            arap_distance2(arap_study_head(t, o), arap_study_head(t, d)) <= near * near)
            return 1;
    }
    return 0;
}

/* The reason why a single bone is a control bone. */
static int judge_bone(arap_study *t, int d) {
    int parent = arap_study_parent(t, d), sure = is_sure(t, d);
    double ratio = arap_study_gain_ratio(t, d);
    if (is_copy(t, d) || is_helper(t, d)) return ARAP_CONTROL_TWIN;
    if (!(ratio < SOME_GAIN) || !(t->gain[d] < CONTROL_GAIN)) return ARAP_CONTROL_NONE;
    if (arap_study_has_parts(t, d) && !sure) return ARAP_CONTROL_NONE;
    int leaf = !count_children(t, d), continues = parent >= 0 && arap_study_continues(t, d, parent);
    if (parent >= 0 && leaf && !continues &&
        arap_study_is_away(t, d, has_sign(t, d) ? AWAY : FAR_AWAY))
        return ARAP_CONTROL_OUTSIDE;
    if (!has_sign(t, d) || is_continued(t, d) || (parent < 0 && is_body(t, d)))
        return ARAP_CONTROL_NONE;
    if (sure || (leaf && parent >= 0 && !continues)) return ARAP_CONTROL_SERVED;
    if (leaf) return ARAP_CONTROL_NONE;
    return ratio < LOW_GAIN && t->gain[d] < NO_GAIN ? ARAP_CONTROL_SERVED : ARAP_CONTROL_NONE;
}

/* Whether d is removed before another bone that moves the same skin. */
static int is_surer(const arap_study *t, int d, int other) {
    if (t->evidence[d] != t->evidence[other]) return t->evidence[d] > t->evidence[other];
    double ratio = arap_study_gain_ratio(t, d), of_other = arap_study_gain_ratio(t, other);
    return ratio != of_other ? ratio < of_other : d < other;
}

/* Remove single control bones and copies, and return their number; requires a ranking. If two of
 * them are nearest to a vertex, one may be needed there and waits for the next ranking. */
static int drop_bones(arap_study *t, char *drop) {
    int n = t->s.deform_count, dropped = 0;
    for (int d = 0; d < n; d++) {
        if (!t->failed) t->failed = arap_poll_cancel(t->context);
        drop[d] = t->control[d] || t->failed ? 0 : (char)judge_bone(t, d);
    }
    for (int i = 0; i < t->mesh.count; i++) {
        int a = t->nearest[2 * (size_t)i], b = t->nearest[2 * (size_t)i + 1];
        if (b >= 0 && drop[a] && drop[b]) drop[is_surer(t, a, b) ? b : a] = 0;
    }
    for (int d = 0; d < n; d++)
        if (drop[d]) t->control[d] = drop[d], dropped++;
    return dropped;
}

/* Remove trees of control bones until none is left; *dropped: their number. The bones are ranked
 * afterwards. */
static arap_status drop_trees(arap_study *t, int *dropped) {
    t->single = 0;
    arap_status status = arap_study_rank(t, 0);
    *dropped = 0;
    for (int g; !status && !t->failed && (g = find_control_tree(t)) >= 0; ++*dropped) {
        drop_tree(t, g);
        status = arap_progress(t->context, "control bones", 0.5);
        if (!status) status = arap_study_rank(t, 1);
    }
    return status ? status : rank_bones(t);
}

static arap_status find_controls(arap_study *t, char *drop) {
    arap_status status = rank_bones(t);
    int dropped = 1;
    while (!status && !t->failed && dropped) {
        while (!status && !t->failed && drop_roots(t)) {
            status = arap_progress(t->context, "control bones", 0.5);
            if (!status) status = rank_bones(t);
        }
        dropped = 0;
        if (!status && find_groups(t) > 1) status = drop_trees(t, &dropped);
    }
    while (!status && !t->failed && drop_bones(t, drop)) {
        status = arap_progress(t->context, "control bones", 0.9);
        if (!status) status = rank_bones(t);
    }
    return status ? status : t->failed;
}

arap_status arap_control_bones(arap_context *context, const arap_geometry *geometry,
                               const arap_bones *bones, const double *evidence, int *control) {
    arap_study t;
    arap_status status = arap_study_create(context, geometry, bones, &t);
    if (status) return status;
    int n = t.s.deform_count, signs = 0;
    char *drop = ARAP_NEW(char, n);
    if (!drop) {
        status = arap_fail_memory(&context->error, "the control bones");
        goto done;
    }
    for (int d = 0; d < n && evidence; d++) {
        t.evidence[d] = evidence[t.s.deform_bone[d]];
        signs += has_sign(&t, d);
    }
    for (int d = 0; d < n && signs >= MAX_BONES * n; d++) t.evidence[d] = 0;
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
