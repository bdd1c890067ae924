/* Determines the leaves of a skeleton built from joints: see joint_ways.h, and joint_skeleton.c
 * for the rules.
 *
 * The skin of a leaf is nearer to the leaf's joint than to any segment, including the end of the
 * segment that leads to this joint. A foot can lie in front of a sloped leg, nearer to the leg than
 * to the ankle. Therefore, if no direction is given, skin that projects from the last part of the
 * segment to the leaf also belongs to the leaf. The length of the leaf is LEAF times twice the
 * distance to the middle of this skin, or, in a given direction, LEAF times the extent of all of
 * this skin. If several leaves share a joint, the first one gets the skin. If directions are given,
 * each gets the skin on its side. Each leaf takes O(vertices log vertices). It cannot fail. */
#include "rig/joint_ways.h"

#include <math.h>

#include "base/sort.h"
#include "base/vec3.h"

#define ON_WAY 0.02   /* joints closer than this share of a segment lie on it */
#define SOME 3        /* minimum number of vertices that have a middle */
#define FARTHEST 0.95 /* share of a leaf's vertices that are nearer than its end */
#define LEAF 0.9      /* share of twice the distance to the middle of the skin */
/* cosine for skin in front of a leaf whose nearest segment leads to the leaf */
#define SIDE 0.5
/* share of a segment beyond which projecting skin belongs to the leaf at its end */
#define END 0.7
/* minimum distance of projecting skin, relative to the median of the skin of the segment */
#define STANDS_OFF 2
#define IN_LINE 0.9 /* minimum cosine of the direction to a joint at which a leaf ends */
#define ROUGHLY 0.7 /* the same if the skin determines the direction */
#define MAX_ON 6    /* maximum distance of this joint, relative to that of the leaf's skin */
/* a joint outside the skin has no skin beyond this share of the segment to the middle */
#define OFF_SKIN 0.5

/* The first leaf with the joint of leaf k. If several leaves coincide, the first one has all their
 * skin. */
static int first_leaf(const arap_joint_study *t, int k) {
    double no_way2 = ARAP_NO_WAY * ARAP_NO_WAY * t->mesh->size * t->mesh->size;
    for (int j = 0; j < k; j++)
        if (t->way[j].to < 0 && arap_distance2(t->way[j].a, t->way[k].a) <= no_way2) return j;
    return k;
}

/* The skin in which a leaf ends. */
typedef struct leaf_skin {
    int first;               /* the leaf that owns the skin of its joint */
    int joint;               /* the segment to the joint, or -1 */
    double off2;             /* squared distance beyond which skin projects */
    const double *direction; /* or NULL */
} leaf_skin;

/* Whether vertex i, near the end of a segment, projects from the segment like a foot from a leg.
 * Skin whose outside faces the segment belongs to another limb. */
static int stands_off(const arap_joint_study *t, int i, const leaf_skin *skin) {
    const arap_joint_way *w = &t->way[skin->joint];
    double point[3], from[3], along2 = arap_distance2(w->a, w->b);
    double d2 = arap_nearest_on_segment(t->mesh->v + 3 * (size_t)i, w->a, w->b, point);
    if (!(d2 > skin->off2 && arap_distance2(w->a, point) > END * END * along2)) return 0;
    arap_sub(t->mesh->v + 3 * (size_t)i, point, from);
    return t->side * arap_dot(from, t->normal + 3 * (size_t)i) > 0;
}

/* The squared distance from a segment beyond which skin projects from the segment. scratch:
 * (vertices) */
static double find_off2(const arap_joint_study *t, int way, double *scratch) {
    int count = 0;
    double point[3];
    for (int i = 0; i < t->mesh->count && way >= 0; i++)
        if (t->near[i] == way && !t->at_end[i])
            scratch[count++] = arap_nearest_on_segment(t->mesh->v + 3 * (size_t)i, t->way[way].a,
                                                       t->way[way].b, point);
    if (count < SOME) return INFINITY;
    arap_sort_doubles(scratch, count);
    return STANDS_OFF * STANDS_OFF * scratch[count / 2];
}

/* Whether vertex i is beyond the joint of a leaf. If the leaf has a direction, skin on that side
 * counts, even next to the segment to the joint. Toes, for example, lie in front of the end of a
 * shin. */
static int is_beyond(const arap_joint_study *t, int i, const leaf_skin *skin) {
    double to[3];
    int on_way = t->near[i] == skin->joint;
    if ((t->near[i] != skin->first && !on_way) || t->strange[i]) return 0;
    if (!skin->direction) return !on_way || t->at_end[i] || stands_off(t, i, skin);
    arap_sub(t->mesh->v + 3 * (size_t)i, t->way[skin->first].a, to);
    double along = arap_dot(to, skin->direction);
    int in_front = along > 0 && along * along > SIDE * SIDE * arap_dot(to, to);
    return on_way && !t->at_end[i] ? in_front : along > 0;
}

/* The segment that ends at the joint of leaf k, or -1. */
static int way_to(const arap_joint_study *t, int k) {
    int leaf = t->way[k].from, up = t->parents[leaf];
    double no_way2 = ARAP_NO_WAY * ARAP_NO_WAY * t->mesh->size * t->mesh->size;
    for (int j = 0; j < t->way_count; j++)
        if (t->way[j].to == leaf || (t->way[j].to >= 0 && t->way[j].from == up &&
                                     arap_distance2(t->way[j].b, t->way[k].a) <= no_way2))
            return j;
    return -1;
}

/* Locate the skin of the leaf with segment k: a unit vector to its middle, unless `given` is the
 * direction, the distance of the middle, and the extent along this vector. Returns 0 if the leaf
 * has no skin of its own. scratch: (vertices) */
static int find_skin(const arap_joint_study *t, int k, const double *given, double *scratch,
                     double *direction, double *far, double *max) {
    const arap_joint_way *leaf = &t->way[k];
    const double *v = t->mesh->v;
    int joint = way_to(t, k);
    leaf_skin skin = {first_leaf(t, k), joint, given ? INFINITY : find_off2(t, joint, scratch),
                      given};
    int count = 0;
    double area = 0, nearest2 = INFINITY;
    direction[0] = direction[1] = direction[2] = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        if (!is_beyond(t, i, &skin)) continue;
        for (int c = 0; c < 3; c++) direction[c] += t->area[i] * v[3 * (size_t)i + (size_t)c];
        nearest2 = fmin(nearest2, arap_distance2(v + 3 * (size_t)i, leaf->a));
        area += t->area[i];
        count++;
    }
    if (count < SOME || !(area > 0) || (skin.first != k && !given)) return 0;
    for (int c = 0; c < 3; c++) direction[c] = direction[c] / area - leaf->a[c];
    *far = sqrt(arap_dot(direction, direction));
    if (arap_joint_way_outside(leaf) && nearest2 > OFF_SKIN * OFF_SKIN * *far * *far) return 0;
    if (!given && !(*far > ARAP_SHORTEST * t->mesh->size)) return 0;
    for (int c = 0; c < 3; c++) direction[c] = given ? given[c] : direction[c] / *far;
    count = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        double from[3];
        if (!is_beyond(t, i, &skin)) continue;
        arap_sub(v + 3 * (size_t)i, leaf->a, from);
        scratch[count++] = arap_dot(from, direction);
    }
    arap_sort_doubles(scratch, count);
    *max = scratch[(int)(FARTHEST * (count - 1))];
    return 1;
}

/* The joint nearest in this direction from that of a leaf at the end of a chain, or -1. Only joints
 * that move skin and to which no segment leads are considered. A leg ends at such a joint if its
 * foot has another parent. */
static int next_joint(const arap_joint_study *t, int bone, const double *direction, double cosine,
                      double farthest) {
    double nearest = farthest;
    int best = -1;
    for (int b = 0; b < t->count && t->ways[bone]; b++) {
        double step[3];
        if (b == bone || !t->deform[b] || t->ways[b]) continue;
        arap_sub(t->head + 3 * b, t->head + 3 * bone, step);
        double length = sqrt(arap_dot(step, step));
        if (!(arap_dot(step, direction) > cosine * length) || !(length < nearest) ||
            !(length > ARAP_NO_WAY * t->mesh->size))
            continue;
        nearest = length;
        best = b;
    }
    return best;
}

int arap_lead_leaves_on(const arap_joint_study *t, const double *directions, double *scratch) {
    int count = 0;
    for (int k = 0; k < t->way_count; k++) {
        int b = t->way[k].from;
        double direction[3], far, max;
        if (t->way[k].to >= 0) continue;
        if (!find_skin(t, k, directions ? directions + 3 * b : NULL, scratch, direction, &far,
                       &max))
            continue;
        t->next[b] =
            next_joint(t, b, direction, directions ? IN_LINE : ROUGHLY, MAX_ON * fmax(max, far));
        count += t->next[b] >= 0;
    }
    return count;
}

/* The parent's segment to another child on which the joint of leaf k lies, as with twist bones, or
 * -1. */
static int way_along(const arap_joint_study *t, int k) {
    const double *joint = t->way[k].a;
    int up = t->parents[t->way[k].from];
    for (int j = 0; j < t->way_count && up >= 0; j++) {
        const arap_joint_way *w = &t->way[j];
        double near2 = ON_WAY * ON_WAY * arap_distance2(w->a, w->b), point[3];
        if (w->from != up || w->to < 0 || w->to == t->way[k].from) continue;
        if (arap_nearest_on_segment(joint, w->a, w->b, point) <= near2 &&
            arap_distance2(joint, w->a) > near2 && arap_distance2(joint, w->b) > near2)
            return j;
    }
    return -1;
}

int arap_end_leaf(const arap_joint_study *t, int k, const double *given, double *scratch,
                  double *tail) {
    double direction[3], far, max;
    int along = given ? -1 : way_along(t, k);
    for (int c = 0; c < 3 && along >= 0; c++) tail[c] = t->way[along].b[c];
    if (along >= 0) return 1;
    if (!find_skin(t, k, given, scratch, direction, &far, &max)) return 0;
    double length = LEAF * (given ? max : fmin(2 * far, max));
    length = fmax(length, ARAP_SHORTEST * t->mesh->size);
    for (int c = 0; c < 3; c++) tail[c] = t->way[k].a[c] + direction[c] * length;
    return 1;
}

double arap_reach_of_skin(const arap_joint_study *t, int bone, const double *direction,
                          double *scratch) {
    int count = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        double from[3];
        if (t->way[t->near[i]].from != bone) continue;
        arap_sub(t->mesh->v + 3 * (size_t)i, t->head + 3 * bone, from);
        scratch[count++] = arap_dot(from, direction);
    }
    if (count < SOME) return 0;
    arap_sort_doubles(scratch, count);
    return fmax(0, LEAF * scratch[(int)(FARTHEST * (count - 1))]);
}
