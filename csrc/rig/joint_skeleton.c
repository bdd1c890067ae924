/* A skeleton from joints: see joint_skeleton.h.
 *
 * A joint is where a bone turns (its head). What a bone moves lies around the ways from its joint
 * to the joints of its children, all of them: a pelvis reaches to both thighs and the spine. So a
 * bone is a list of segments, its ways, and its tail is only the axis that it turns about.
 *
 *   1. A root whose joint is outside of the skin (|winding number| <= INSIDE) moves none, wherever
 *      its ways go; then its children are roots.
 *   2. The ways that count. A way to a child without deforming bones below it does not. Rigs also
 *      hang bones where they are not (feet for inverse kinematics on the root): such a way runs
 *      through the air. Each vertex votes on the way nearest to it, by its area and by the cosine
 *      between its normal and the direction from the way: a way that is seen from in front of the
 *      skin is outside. It is left out if it comes from a root, or if others of its bone are inside.
 *      One that continues a chain stays, since chains of cloth lie beside their sheets.
 *   3. The axis of a bone with ways is the one nearest to the mean direction of all, or, where
 *      these point apart (a pelvis, |mean| <= APART), that to the child with most bones below it.
 *   4. A leaf goes to the middle of the skin beyond its joint, and as far again (feet, jaws and
 *      hands do not go on in the direction of their parents). This is the skin that is nearer to
 *      the joint than to all ways, the end of the way to it included. If another joint lies in
 *      this direction that no way goes to, the leaf ends there: a shin whose foot hangs on the root.
 *
 * Where the directions of the tails are right and the lengths alone mean nothing (bone_tails.h), a
 * bone goes in its own direction: as far as the child it points at, else as far as its nearest
 * child, and as a leaf as far as its skin.
 *
 * Cost: O(vertices log bones) for the nearest ways, again if some are left out or added,
 * O(triangles) for each root, O(vertices) for each leaf. A leaf without skin of its own goes on as its parent does, half as far; so does one
 * that stands off outside of the skin, as the pole of a limb does. Meshes without
 * triangles have no inside: no root and no way is outside of them. Turned, moved, scaled and
 * mirrored scenes give the same. Fails without memory, for a bad mesh or bones, or when cancelled. */
#include "rig/joint_skeleton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"
#include "mesh/winding.h"
#include "rig/skeleton_checks.h"

#define CHUNK 256
#define INSIDE 0.3   /* least winding number inside: low enough for open meshes */
#define NO_WAY 1e-4  /* of the size of the mesh: joints that are nearer are at one place */
#define FACING 1.5   /* so much more of the votes says that a way is outside than inside */
#define APART 0.5    /* length of a mean direction */
#define END 0.999    /* of a way: what is nearest to its end lies beyond the joint there */
#define SOME 3       /* vertices: fewer have no middle */
#define FARTHEST 0.95 /* of the vertices of a leaf end before it does */
#define LEAF 0.9     /* of the way through the middle and as far again */
#define IN_LINE 0.9   /* cosine of the direction to a joint that a leaf ends at, */
#define MOST_ON 6     /* no farther off than so many times its skin */
#define POINTS_AT 0.9 /* cosine of the direction of a tail to the child that it points at */
#define OFF_SKIN 0.5  /* of the way to the middle: a joint outside that is this far has no skin */
#define SHORTEST 1e-3 /* of the size of the mesh: leaves are no shorter */

/* A way from a joint to that of a child, or the joint of a leaf. */
typedef struct way {
    double a[3], b[3];
    int from, to;       /* bones of the caller; to: -1 for a leaf */
    double in, outside; /* votes */
} way;

typedef struct study {
    const arap_mesh *mesh;
    const int *parents;
    int count;
    double *head;   /* (count, 3) units of mesh.v */
    int *order;     /* (count) parents before children */
    int *below;     /* (count) deforming bones from here down */
    char *deform;   /* (count) */
    int *owner;     /* (count) the bone itself or the nearest one above that deforms, or -1 */
    char *ways;     /* (count) the way to it counts */
    int *next;      /* (count) a joint elsewhere that a leaf leads to, or -1 */
    int *children;  /* (count) how many such ways go on from here */
    int way_count;
    way *way;       /* those that count, by the bone they go to, then leaves */
    arap_bvh *tree; /* of these */
    double *area;   /* (vertices) */
    double *normal; /* (vertices, 3) */
    int *near;      /* (vertices) nearest way */
    char *at_end;   /* (vertices) beyond its end */
} study;

static double to_way2(const void *data, int index, const double *p) {
    const way *w = (const way *)data + index;
    double nearest[3];
    return arap_nearest_on_segment(p, w->a, w->b, nearest);
}

static void find_near(void *data, int chunk, int worker) {
    (void)worker;
    const study *t = data;
    int end = (chunk + 1) * CHUNK < t->mesh->count ? (chunk + 1) * CHUNK : t->mesh->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *p = t->mesh->v + 3 * (size_t)i;
        double d2 = INFINITY;
        t->near[i] = arap_bvh_nearest(t->tree, p, -1, to_way2, t->way, &d2);
        const way *w = &t->way[t->near[i]];
        double along[3], from[3];
        arap_sub(w->b, w->a, along);
        arap_sub(p, w->a, from);
        t->at_end[i] = arap_dot(from, along) > END * arap_dot(along, along);
    }
}

/* The bones, parents first: roots, then the children of each in turn. */
static void sort_bones(const study *t) {
    int placed = 0, *first = t->below, *next = t->owner; /* of the children; for now */
    for (int b = 0; b < t->count; b++) first[b] = -1;
    for (int b = t->count - 1; b >= 0; b--) {
        int up = t->parents[b];
        if (up < 0) continue;
        next[b] = first[up];
        first[up] = b;
    }
    for (int b = 0; b < t->count; b++)
        if (t->parents[b] < 0) t->order[placed++] = b;
    for (int k = 0; k < placed; k++)
        for (int b = first[t->order[k]]; b >= 0; b = next[b]) t->order[placed++] = b;
}

/* `below` and `owner` of the bones that deform. */
static void find_owners(const study *t) {
    for (int b = 0; b < t->count; b++) t->below[b] = t->deform[b];
    for (int k = t->count - 1; k >= 0; k--) {
        int b = t->order[k];
        if (t->parents[b] >= 0) t->below[t->parents[b]] += t->below[b];
    }
    for (int k = 0; k < t->count; k++) {
        int b = t->order[k], up = t->parents[b];
        t->owner[b] = t->deform[b] ? b : up >= 0 ? t->owner[up] : -1;
    }
}

static arap_status drop_roots(arap_context *context, const study *t) {
    for (int k = 0; k < t->count && t->mesh->triangle_count; k++) {
        int b = t->order[k], up = t->parents[b];
        if (!t->deform[b] || t->below[b] < 2 || (up >= 0 && t->owner[up] >= 0)) continue;
        arap_status status = arap_progress(context, "joints", 0);
        if (status) return status;
        if (fabs(arap_winding_number(t->mesh, t->head + 3 * b)) > INSIDE) continue;
        t->deform[b] = 0;
        find_owners(t);
    }
    return ARAP_OK;
}

static void add_way(study *t, int from, int to, const double *a, const double *b) {
    way *w = &t->way[t->way_count++];
    *w = (way){.from = from, .to = to};
    memcpy(w->a, a, sizeof w->a);
    memcpy(w->b, b, sizeof w->b);
}

/* Those that count at first. */
static void mark_ways(const study *t) {
    double no_way2 = NO_WAY * NO_WAY * t->mesh->size * t->mesh->size;
    for (int b = 0; b < t->count; b++) {
        int up = t->parents[b];
        t->ways[b] = up >= 0 && t->owner[up] >= 0 && t->below[b] > 0 &&
                     arap_distance2(t->head + 3 * up, t->head + 3 * b) > no_way2;
    }
}

/* List those that count, and the leaves; the nearest of each vertex. */
static arap_status rank_ways(arap_context *context, study *t) {
    double *boxes = ARAP_NEW(double, 12 * t->count);
    if (!boxes) return arap_fail_memory(&context->error, "the joints");
    t->way_count = 0;
    memset(t->children, 0, (size_t)t->count * sizeof *t->children);
    for (int b = 0; b < t->count; b++) {
        int up = t->parents[b];
        if (!t->ways[b]) continue;
        t->children[up]++;
        add_way(t, up, b, t->head + 3 * up, t->head + 3 * b);
    }
    for (int b = 0; b < t->count; b++) {
        if (!t->deform[b] || t->children[b]) continue;
        int to = t->next[b];
        t->children[b] += to >= 0;
        add_way(t, b, to, t->head + 3 * b, t->head + 3 * (to < 0 ? b : to));
    }
    for (int k = 0; k < t->way_count; k++)
        for (int c = 0; c < 3; c++) {
            boxes[6 * k + c] = fmin(t->way[k].a[c], t->way[k].b[c]);
            boxes[6 * k + 3 + c] = fmax(t->way[k].a[c], t->way[k].b[c]);
        }
    arap_bvh_free(t->tree);
    t->tree = NULL;
    arap_status status = arap_bvh_build(context, &t->tree, (size_t)t->way_count, boxes, NULL);
    if (!status)
        status = arap_parallel(context, (t->mesh->count + CHUNK - 1) / CHUNK, find_near, t);
    arap_free(boxes);
    return status;
}

/* Which side of the skin each way is on, as its vertices see it; the side that most of the skin has
 * its ways on is its inside. */
static void vote(study *t) {
    double in = 0, outside = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        const double *p = t->mesh->v + 3 * (size_t)i, *normal = t->normal + 3 * (size_t)i;
        way *w = &t->way[t->near[i]];
        double point[3], out[3];
        arap_nearest_on_segment(p, w->a, w->b, point);
        arap_sub(p, point, out);
        double long2 = arap_dot(out, out) * arap_dot(normal, normal);
        double cosine = long2 > 0 ? arap_dot(out, normal) / sqrt(long2) : 0;
        w->in += t->area[i] * fmax(cosine, 0);
        w->outside += t->area[i] * fmax(-cosine, 0);
    }
    for (int k = 0; k < t->way_count; k++) in += t->way[k].in, outside += t->way[k].outside;
    for (int k = 0; k < t->way_count && outside > in; k++) {
        double flipped = t->way[k].in;
        t->way[k].in = t->way[k].outside;
        t->way[k].outside = flipped;
    }
}

static int is_outside(const way *w) { return w->outside > FACING * w->in; }

/* Leave out ways that run outside of the skin; returns how many. */
static int drop_ways(const study *t, int *inside) {
    int dropped = 0;
    memset(inside, 0, (size_t)t->count * sizeof *inside);
    for (int k = 0; k < t->way_count; k++) inside[t->way[k].from] += !is_outside(&t->way[k]);
    for (int k = 0; k < t->way_count; k++) {
        const way *w = &t->way[k];
        int up = t->parents[w->from], is_root = up < 0 || t->owner[up] < 0;
        if (w->to < 0 || !is_outside(w) || !(is_root || inside[w->from])) continue;
        t->ways[w->to] = 0;
        dropped++;
    }
    return dropped;
}

/* The bone that each bone with ways turns about the way to, -1 without. means: (count, 4) scratch */
static void choose_children(const study *t, double *means, int *child) {
    for (int b = 0; b < t->count; b++) child[b] = -1;
    for (int b = 0; b < 4 * t->count; b++) means[b] = 0;
    for (int k = 0; k < t->way_count; k++) { /* the child with most bones below it */
        const way *w = &t->way[k];
        double along[3], *mean = means + 4 * w->from;
        if (w->to < 0) continue;
        arap_sub(w->b, w->a, along);
        double length = sqrt(arap_dot(along, along));
        for (int c = 0; c < 3; c++) mean[c] += along[c] / length / t->children[w->from];
        int *largest = &child[w->from];
        if (*largest < 0 || t->below[w->to] > t->below[*largest]) *largest = w->to;
    }
    for (int k = 0; k < t->way_count; k++) { /* or the one nearest to the mean */
        const way *w = &t->way[k];
        double along[3], *mean = means + 4 * w->from;
        if (w->to < 0 || !(arap_dot(mean, mean) > APART * APART)) continue;
        arap_sub(w->b, w->a, along);
        double cosine = 2 + arap_dot(along, mean) / sqrt(arap_dot(along, along));
        if (!(cosine > mean[3] * (1 + 1e-9))) continue;
        mean[3] = cosine;
        child[w->from] = w->to;
    }
}

static int by_value(const void *a_, const void *b_) {
    double a = *(const double *)a_, b = *(const double *)b_;
    return (a > b) - (a < b);
}

/* The first leaf with the joint of leaf k: of several in one place it has all their skin. */
static int first_leaf(const study *t, int k) {
    double no_way2 = NO_WAY * NO_WAY * t->mesh->size * t->mesh->size;
    for (int j = 0; j < k; j++)
        if (t->way[j].to < 0 && arap_distance2(t->way[j].a, t->way[k].a) <= no_way2) return j;
    return k;
}

/* What a leaf ends in. */
typedef struct leaf_skin {
    int first;               /* the leaf that has the skin of its joint */
    int joint;               /* the way to the joint, or -1 */
    const double *direction; /* or NULL */
} leaf_skin;

/* Is vertex i beyond the joint of a leaf, and, if that has a direction, on that side? */
static int is_beyond(const study *t, int i, const leaf_skin *skin) {
    double to[3];
    if (t->near[i] != skin->first && !(t->near[i] == skin->joint && t->at_end[i])) return 0;
    if (!skin->direction) return 1;
    arap_sub(t->mesh->v + 3 * (size_t)i, t->way[skin->first].a, to);
    return arap_dot(to, skin->direction) > 0;
}

/* The way that ends at the joint of leaf k, or -1. */
static int way_to(const study *t, int k) {
    int leaf = t->way[k].from, up = t->parents[leaf];
    double no_way2 = NO_WAY * NO_WAY * t->mesh->size * t->mesh->size;
    for (int j = 0; j < t->way_count; j++)
        if (t->way[j].to == leaf || (t->way[j].to >= 0 && t->way[j].from == up &&
                                     arap_distance2(t->way[j].b, t->way[k].a) <= no_way2))
            return j;
    return -1;
}

/* Where the skin of the leaf that is way k lies: a unit vector to its middle, unless `given` is the
 * direction, how far that is, and how far along this it reaches; 0 where none is its own. scratch:
 * (vertices) */
static int find_skin(const study *t, int k, const double *given, double *scratch, double *direction,
                     double *far, double *most) {
    const way *leaf = &t->way[k];
    const double *v = t->mesh->v;
    leaf_skin skin = {first_leaf(t, k), way_to(t, k), given};
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
    if (is_outside(leaf) && nearest2 > OFF_SKIN * OFF_SKIN * *far * *far) return 0;
    if (!given && !(*far > SHORTEST * t->mesh->size)) return 0;
    for (int c = 0; c < 3; c++) direction[c] = given ? given[c] : direction[c] / *far;
    count = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        double from[3];
        if (!is_beyond(t, i, &skin)) continue;
        arap_sub(v + 3 * (size_t)i, leaf->a, from);
        scratch[count++] = arap_dot(from, direction);
    }
    qsort(scratch, (size_t)count, sizeof *scratch, by_value);
    *most = scratch[(int)(FARTHEST * (count - 1))];
    return 1;
}

/* The nearest joint in this direction from that of a leaf at the end of a chain, of those that no
 * way goes to and that move skin: a leg ends there whose foot hangs elsewhere. Or -1. */
static int next_joint(const study *t, int bone, const double *direction, double farthest) {
    double nearest = farthest;
    int best = -1;
    for (int b = 0; b < t->count && t->ways[bone]; b++) {
        double step[3];
        if (b == bone || !t->deform[b] || t->ways[b]) continue;
        arap_sub(t->head + 3 * b, t->head + 3 * bone, step);
        double length = sqrt(arap_dot(step, step));
        if (!(arap_dot(step, direction) > IN_LINE * length) || !(length < nearest) ||
            !(length > NO_WAY * t->mesh->size))
            continue;
        nearest = length;
        best = b;
    }
    return best;
}

/* Let leaves lead to joints elsewhere; returns how many do. directions: of their tails or NULL */
static int lead_on(const study *t, const double *directions, double *scratch) {
    int count = 0;
    for (int k = 0; k < t->way_count; k++) {
        int b = t->way[k].from;
        double direction[3], far, most;
        if (t->way[k].to >= 0) continue;
        if (!find_skin(t, k, directions ? directions + 3 * b : NULL, scratch, direction, &far, &most))
            continue;
        t->next[b] = next_joint(t, b, direction, MOST_ON * fmax(most, far));
        count += t->next[b] >= 0;
    }
    return count;
}

/* The tail of the leaf that is way k, in the skin beyond its joint; 0 where none is its own. */
static int end_leaf(const study *t, int k, const double *given, double *scratch, double *tail) {
    double direction[3], far, most;
    if (!find_skin(t, k, given, scratch, direction, &far, &most)) return 0;
    double length = LEAF * (given ? most : fmin(2 * far, most));
    length = fmax(length, SHORTEST * t->mesh->size);
    for (int c = 0; c < 3; c++) tail[c] = t->way[k].a[c] + direction[c] * length;
    return 1;
}

/* On from the parent, half as far; from one that moves nothing hardly at all. */
static void continue_parent(const study *t, int b, double *tail) {
    int up = t->parents[b];
    double step[3] = {0, 0, 1}, share = 0.5;
    if (up >= 0) arap_sub(t->head + 3 * b, t->head + 3 * up, step);
    double length = sqrt(arap_dot(step, step));
    if (up < 0 || t->owner[up] < 0)
        share = length > 0 ? SHORTEST * t->mesh->size / length : 0;
    for (int c = 0; c < 3; c++) tail[c] = t->head[3 * b + c] + share * step[c];
}

/* The direction of a tail, as a unit vector, or 0. */
static void point(const arap_bones *bones, int b, double *direction) {
    arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, direction);
    double length = sqrt(arap_dot(direction, direction));
    for (int c = 0; c < 3; c++) direction[c] = length > 0 ? direction[c] / length : 0;
}

/* The lengths of bones in these directions (count, 3): to the child that each points at, else as
 * far as the nearest child; 0 without children, and of roots that point at none. */
static void measure_lengths(const study *t, const double *directions, double *length) {
    for (int b = 0; b < t->count; b++) length[b] = 0;
    for (int b = 0; b < t->count; b++) {
        double step[3];
        if (t->next[b] < 0) continue;
        arap_sub(t->head + 3 * t->next[b], t->head + 3 * b, step);
        length[b] = arap_dot(step, directions + 3 * b);
    }
    for (int round = 0; round < 2; round++) /* the nearest child, then the one it points at */
        for (int b = 0; b < t->count; b++) {
            int up = t->parents[b];
            double step[3];
            if (up < 0) continue;
            arap_sub(t->head + 3 * b, t->head + 3 * up, step);
            double way = sqrt(arap_dot(step, step));
            double along = arap_dot(step, directions + 3 * up);
            if (!(way > NO_WAY * t->mesh->size)) continue;
            int is_root = t->parents[up] < 0 || t->owner[t->parents[up]] < 0;
            if (!round && !is_root)
                length[up] = length[up] > 0 ? fmin(length[up], way) : way;
            else if (round && along > POINTS_AT * way)
                length[up] = along;
        }
}

/* The tails, in the caller's units; child: see choose_children, NULL: in the directions of the given
 * tails. */
static void end_bones(const study *t, const arap_bones *bones, const int *child,
                      const double *directions, double *lengths, double *scratch, double *tails) {
    const arap_mesh *mesh = t->mesh;
    if (directions) measure_lengths(t, directions, lengths);
    for (int b = 0; b < t->count; b++) {
        double tail[3];
        if (directions) {
            double length = lengths[b], step[3];
            arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, step);
            double given = sqrt(arap_dot(step, step)) / mesh->diagonal;
            if (!(length > 0)) {
                continue_parent(t, b, tail);
                length = fmin(given, sqrt(arap_distance2(tail, t->head + 3 * b)));
            }
            for (int c = 0; c < 3; c++)
                tail[c] = t->head[3 * b + c] + length * directions[3 * b + c];
        } else if (child[b] >= 0) {
            memcpy(tail, t->head + 3 * child[b], sizeof tail);
        } else if (!t->deform[b] && bones->tails) {
            memcpy(tails + 3 * b, bones->tails + 3 * b, sizeof tail);
            continue;
        } else
            continue_parent(t, b, tail);
        for (int c = 0; c < 3; c++) tails[3 * b + c] = mesh->center[c] + mesh->diagonal * tail[c];
    }
    for (int k = 0; k < t->way_count; k++) {
        double tail[3];
        int b = t->way[k].from;
        if (t->way[k].to >= 0) continue;
        if (!end_leaf(t, k, directions ? directions + 3 * b : NULL, scratch, tail)) continue;
        for (int c = 0; c < 3; c++) tails[3 * b + c] = mesh->center[c] + mesh->diagonal * tail[c];
    }
}

/* Areas of the vertices by their triangles; all count as much where there are none. */
static void weigh_vertices(const study *t) {
    const arap_mesh *mesh = t->mesh;
    for (int i = 0; i < mesh->count; i++) t->area[i] = mesh->triangle_count ? 0 : 1;
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        const int *tri = mesh->triangles + 3 * k;
        double area =
            arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                               mesh->v + 3 * (size_t)tri[2]);
        for (int j = 0; j < 3; j++) t->area[tri[j]] += area / 3;
    }
}

arap_status arap_joint_skeleton_create(arap_context *context, const arap_geometry *geometry,
                                       const arap_bones *bones, arap_tails are,
                                       arap_joint_skeleton *out) {
    arap_mesh mesh = {0};
    study t = {.mesh = &mesh, .parents = bones->parents, .count = bones->count};
    double *scratch = NULL, *means = NULL;
    int *inside = NULL;
    *out = (arap_joint_skeleton){0};
    arap_status status = arap_check_bones(&context->error, bones);
    if (!status) status = arap_check_parents(&context->error, bones->count, bones->parents);
    if (!status) status = arap_mesh_create(context, geometry, ARAP_WELD_TOLERANCE, &mesh);
    if (status) goto done;
    size_t n = (size_t)mesh.count, m = (size_t)t.count;
    t.head = ARAP_NEW(double, 3 * m);
    t.order = ARAP_NEW(int, m);
    t.below = ARAP_NEW(int, m);
    t.owner = ARAP_NEW(int, m);
    t.next = ARAP_NEW(int, m);
    t.children = ARAP_NEW(int, m);
    inside = ARAP_NEW(int, m);
    means = ARAP_NEW(double, 4 * m);
    t.way = ARAP_NEW(way, 2 * m);
    t.area = ARAP_NEW(double, n);
    t.normal = ARAP_NEW(double, 3 * n);
    t.near = ARAP_NEW(int, n);
    t.at_end = ARAP_NEW(char, n);
    scratch = ARAP_NEW(double, n);
    out->deform = t.deform = ARAP_NEW(char, m);
    out->ways = t.ways = ARAP_NEW(char, m);
    out->tails = ARAP_NEW(double, 3 * m);
    if (!t.head || !t.order || !t.below || !t.owner || !t.children || !t.next || !inside || !means || !t.way ||
        !t.area || !t.normal || !t.near || !t.at_end || !scratch || !t.deform || !t.ways ||
        !out->tails) {
        status = arap_fail_memory(&context->error, "the joints");
        goto done;
    }
    for (size_t i = 0; i < 3 * m; i++)
        t.head[i] = (bones->heads[i] - mesh.center[i % 3]) / mesh.diagonal;
    for (size_t b = 0; b < m; b++) {
        t.deform[b] = !bones->deform || bones->deform[b];
        t.next[b] = -1;
    }
    sort_bones(&t);
    find_owners(&t);
    status = drop_roots(context, &t);
    if (status) goto done;
    mark_ways(&t);
    weigh_vertices(&t);
    arap_vertex_normals(&mesh, t.normal);
    status = rank_ways(context, &t);
    if (status) goto done;
    vote(&t);
    if (mesh.triangle_count && drop_ways(&t, inside)) {
        status = rank_ways(context, &t);
        if (status) goto done;
        vote(&t);
    }
    out->along = are == ARAP_TAILS_AXES;
    for (int b = 0; b < t.count && out->along; b++) point(bones, b, means + 3 * b);
    if (lead_on(&t, out->along ? means : NULL, scratch)) {
        status = rank_ways(context, &t);
        if (status) goto done;
        vote(&t);
    }
    if (!out->along) choose_children(&t, means, inside);
    end_bones(&t, bones, inside, out->along ? means : NULL, means + 3 * m, scratch, out->tails);

done:
    arap_bvh_free(t.tree);
    arap_free(t.head);
    arap_free(t.order);
    arap_free(t.below);
    arap_free(t.owner);
    arap_free(t.next);
    arap_free(t.children);
    arap_free(inside);
    arap_free(means);
    arap_free(t.way);
    arap_free(t.area);
    arap_free(t.normal);
    arap_free(t.near);
    arap_free(t.at_end);
    arap_free(scratch);
    arap_mesh_clear(&mesh);
    if (status) arap_joint_skeleton_clear(out);
    return status;
}

void arap_joint_skeleton_clear(arap_joint_skeleton *skeleton) {
    arap_free(skeleton->tails);
    arap_free(skeleton->ways);
    arap_free(skeleton->deform);
    *skeleton = (arap_joint_skeleton){0};
}

arap_status arap_complete_bones(arap_context *context, const arap_geometry *geometry,
                                arap_bones *bones, arap_joint_skeleton *made) {
    *made = (arap_joint_skeleton){0};
    if (bones->tails) return ARAP_OK;
    arap_status status = arap_joint_skeleton_create(context, geometry, bones, ARAP_TAILS_ANY, made);
    if (status) return status;
    bones->tails = made->tails;
    bones->ways = made->ways;
    bones->deform = made->deform;
    return ARAP_OK;
}
