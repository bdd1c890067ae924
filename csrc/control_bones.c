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
 * - of bones with a parent, one without children that does not continue its parent is a control
 *   if its name says so and it has little gain, or if it is outside and away; and one that
 *   coincides with a bone of another chain, if its name or that of the other tells which it is, or
 *   if its chain does so too and fewer bones hang on it.
 *
 * Trees go one at a time, the surest first, and what remains is measured again, so that of two
 * copies one stays; ties stay both. Thresholds are shares of areas and of bone lengths: place, turn
 * and scale change nothing. Inside is told by winding numbers, either sign: |w| > 0.3, for open
 * meshes, at points off the ends of the bone, since these often lie in the skin.
 *
 * O(vertices bones) for every root that falls, and for a tree where it is nearest; winding numbers
 * O(triangles) for each bone that is in doubt. */
#include "control_bones.h"

#include <string.h>

#include "bvh.h"
#include "memory.h"
#include "nearest.h"
#include "vec3.h"
#include "winding.h"

#define CHUNK 256
#define SAMPLES 5

#define INSIDE 0.3    /* least winding number inside */
#define ATTACHED 0.15 /* of its length: a bone this near to a tail continues it */
#define ON_BONE 0.1   /* of its length: a sample this near to another bone lies on it */
#define COINCIDENT 0.05
#define SHORTEST 0.005 /* of the size of the mesh: shorter bones count as this long */
#define TIED 1.01      /* distances of this ratio are equal */

/* Most gain / own of a tree with one and with two signs of a control; of a single bone. */
#define LOW_GAIN 0.2
#define SOME_GAIN 0.35
/* Most gain of a root, of one inside the mesh, and of a single bone: shares of the skin. */
#define ROOT_GAIN 0.02
#define CONTROL_GAIN 0.02
/* Clearance of bones away from the mesh, of a bone with a parent and no name: of their length. */
#define AWAY 0.5
#define FAR_AWAY 1.5
/* Names that most bones have say nothing. */
#define MOST_NAMED 0.75

typedef struct study {
    arap_job *job;
    const arap_mesh *mesh;
    const arap_skeleton *s;
    const char *named; /* (deform_count) */
    arap_bvh *surface;
    double *area;       /* (mesh.count) share of the skin */
    double *length;     /* (deform_count) */
    double *clearance;  /* (deform_count, SAMPLES) distance to the surface, negative: unknown */
    double *winding;    /* (deform_count, SAMPLES) */
    int *control;       /* (deform_count) arap_control */
    int *group;         /* (deform_count) the tree of a bone, by its root; -1: a control bone */
    double *own, *gain; /* (deform_count) by group */
    int *nearest;       /* (mesh.count, 2) the two nearest groups, -1: none */
    double *distance2;  /* (mesh.count, 2) squared */
    int stale;          /* group whose vertices are to be looked at again, -1: all */
    double *reach;      /* (threads, deform_count) scratch: squared distances of groups */
} study;

static const double *head_of(const study *t, int d) {
    return t->s->heads + 3 * t->s->deform_bone[d];
}
static const double *tail_of(const study *t, int d) {
    return t->s->tails + 3 * t->s->deform_bone[d];
}

static void sample(const study *t, int d, int k, double *point) {
    double share = (k + 0.5) / SAMPLES;
    for (int c = 0; c < 3; c++)
        point[c] = head_of(t, d)[c] + share * (tail_of(t, d)[c] - head_of(t, d)[c]);
}

/* The parent that still deforms, or -1. */
static int parent_of(const study *t, int d) {
    int up = t->s->deform_parent[d];
    return up >= 0 && !t->control[up] ? up : -1;
}

static int is_below(const study *t, int d, int ancestor) {
    while (d >= 0 && d != ancestor) d = t->s->deform_parent[d];
    return d >= 0;
}

static double to_bone2(const study *t, int d, const double *point) {
    double nearest[3];
    return arap_nearest_on_segment(point, head_of(t, d), tail_of(t, d), nearest);
}

/* --- the skin ------------------------------------------------------------------------------- */

static void rank_chunk(void *data, int chunk, int worker) {
    study *t = data;
    int n = t->s->deform_count, begin = chunk * CHUNK;
    int end = begin + CHUNK < t->mesh->count ? begin + CHUNK : t->mesh->count;
    double *reach = t->reach + (size_t)worker * (size_t)n;
    for (int i = begin; i < end; i++) {
        int *nearest = t->nearest + 2 * (size_t)i;
        double *d2 = t->distance2 + 2 * (size_t)i;
        if (t->stale >= 0 && nearest[0] != t->stale && nearest[1] != t->stale) continue;
        for (int d = 0; d < n; d++) reach[d] = INFINITY;
        for (int d = 0; d < n; d++)
            if (t->group[d] >= 0)
                reach[t->group[d]] =
                    fmin(reach[t->group[d]], to_bone2(t, d, t->mesh->v + 3 * (size_t)i));
        nearest[0] = nearest[1] = -1;
        d2[0] = d2[1] = INFINITY;
        for (int g = 0; g < n; g++) {
            if (!(reach[g] < d2[1])) continue;
            int place = reach[g] < d2[0] ? 0 : 1;
            if (!place) nearest[1] = nearest[0], d2[1] = d2[0];
            nearest[place] = g, d2[place] = reach[g];
        }
    }
}

/* own and gain of all groups; only the vertices near group `stale`, which is no more, are looked
 * at again. */
static void rank_groups(study *t, int stale) {
    t->stale = stale;
    arap_parallel(t->job, (t->mesh->count + CHUNK - 1) / CHUNK, rank_chunk, t);
    for (int g = 0; g < t->s->deform_count; g++) t->own[g] = t->gain[g] = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        const int *nearest = t->nearest + 2 * (size_t)i;
        const double *d2 = t->distance2 + 2 * (size_t)i;
        double ratio = sqrt(d2[0] / d2[1]);
        if (!(d2[1] > 0)) ratio = 1;
        t->own[nearest[0]] += t->area[i];
        t->gain[nearest[0]] += t->area[i] * (1 - ratio);
        if (ratio * TIED > 1) t->own[nearest[1]] += t->area[i];
    }
}

static double gain_ratio(const study *t, int group) {
    return t->own[group] > 0 ? t->gain[group] / t->own[group] : 0;
}

/* --- the place ------------------------------------------------------------------------------ */

static double to_face2(const void *data, int index, const double *p) {
    const arap_mesh *mesh = data;
    size_t k = (size_t)index;
    double at[3];
    if (k >= mesh->triangle_count) {
        const int *wire = mesh->wires + 2 * (k - mesh->triangle_count);
        return arap_nearest_on_segment(p, mesh->v + 3 * (size_t)wire[0],
                                       mesh->v + 3 * (size_t)wire[1], at);
    }
    const int *tri = mesh->triangles + 3 * k;
    return arap_nearest_on_triangle(p, mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                                    mesh->v + 3 * (size_t)tri[2], at);
}

static arap_status build_surface(study *t) {
    const arap_mesh *mesh = t->mesh;
    size_t count = mesh->triangle_count + mesh->wire_count;
    double *boxes = ARAP_NEW(double, 6 * count);
    if (!boxes) return arap_fail_memory(&t->job->error, "the control bones");
    for (size_t k = 0; k < count; k++) {
        int corners = k < mesh->triangle_count ? 3 : 2;
        const int *at =
            corners == 3 ? mesh->triangles + 3 * k : mesh->wires + 2 * (k - mesh->triangle_count);
        for (int c = 0; c < 3; c++) {
            boxes[6 * k + (size_t)c] = INFINITY, boxes[6 * k + 3 + (size_t)c] = -INFINITY;
            for (int j = 0; j < corners; j++) {
                double x = mesh->v[3 * (size_t)at[j] + (size_t)c];
                boxes[6 * k + (size_t)c] = fmin(boxes[6 * k + (size_t)c], x);
                boxes[6 * k + 3 + (size_t)c] = fmax(boxes[6 * k + 3 + (size_t)c], x);
            }
        }
    }
    arap_status status = arap_bvh_build(&t->surface, count, boxes, NULL, &t->job->error);
    arap_free(boxes);
    return status;
}

typedef struct locate_task {
    study *t;
    int bone;
} locate_task;

static void locate_sample(void *data, int k, int worker) {
    (void)worker;
    const locate_task *task = data;
    study *t = task->t;
    double p[3], d2 = INFINITY;
    sample(t, task->bone, k, p);
    arap_bvh_nearest(t->surface, p, -1, to_face2, t->mesh, &d2);
    t->clearance[task->bone * SAMPLES + k] = sqrt(d2);
    t->winding[task->bone * SAMPLES + k] = fabs(arap_winding_number(t->mesh, p));
}

static void locate(study *t, int d) {
    if (t->clearance[d * SAMPLES] < 0)
        arap_parallel(t->job, SAMPLES, locate_sample, &(locate_task){t, d});
}

static int samples_outside(study *t, int d) {
    int count = 0;
    locate(t, d);
    for (int k = 0; k < SAMPLES; k++) count += t->winding[d * SAMPLES + k] < INSIDE;
    return count;
}

/* Outside the mesh, and nowhere nearer to it than `clearance` lengths. */
static int is_away(study *t, int d, double clearance) {
    if (samples_outside(t, d) < SAMPLES) return 0;
    for (int k = 0; k < SAMPLES; k++)
        if (t->clearance[d * SAMPLES + k] < clearance * t->length[d]) return 0;
    return 1;
}

/* Half of the bone lies on bones of other trees, or it starts from the head of one that has a
 * parent or is a control bone. */
static int is_in_place_of_others(const study *t, int d) {
    double near2 = ON_BONE * ON_BONE * t->length[d] * t->length[d];
    int on = 0;
    for (int k = 0; k < SAMPLES; k++) {
        double point[3];
        int found = 0;
        sample(t, d, k, point);
        for (int o = 0; o < t->s->deform_count && !found; o++)
            found =
                t->group[o] >= 0 && t->group[o] != t->group[d] && to_bone2(t, o, point) <= near2;
        on += found;
    }
    if (2 * on > SAMPLES) return 1;
    for (int o = 0; o < t->s->deform_count; o++)
        if (t->group[o] != t->group[d] && (t->control[o] || parent_of(t, o) >= 0) &&
            arap_distance2(head_of(t, o), head_of(t, d)) <= near2)
            return 1;
    return 0;
}

static int continues(const study *t, int d, int parent) {
    double reach = ATTACHED * fmin(t->length[parent], t->length[d]);
    return arap_distance2(head_of(t, d), tail_of(t, parent)) <= reach * reach;
}

/* --- trees ---------------------------------------------------------------------------------- */

static int root_of(const study *t, int d) {
    for (int up; (up = parent_of(t, d)) >= 0;) d = up;
    return d;
}

static void find_groups(study *t) {
    for (int d = 0; d < t->s->deform_count; d++) t->group[d] = t->control[d] ? -1 : root_of(t, d);
}

/* How many signs of a control the tree has: its name, its place, which says it all if that is away
 * from the mesh. */
static int count_signs(study *t, int root) {
    int away = 1, others = 0;
    for (int d = 0; d < t->s->deform_count; d++)
        if (t->group[d] == root) {
            away = away && is_away(t, d, AWAY);
            others = others || is_in_place_of_others(t, d);
        }
    return t->named[root] + (away ? 2 : others);
}

/* The surest tree of controls, or -1. */
static int find_control_tree(study *t) {
    int best = -1, best_signs = 0;
    for (int g = 0; g < t->s->deform_count; g++) {
        if (t->group[g] != g || !(gain_ratio(t, g) < SOME_GAIN) || !(t->gain[g] < CONTROL_GAIN))
            continue;
        int signs = count_signs(t, g);
        if (!signs || (signs == 1 && !(gain_ratio(t, g) < LOW_GAIN))) continue;
        if (best < 0 || signs > best_signs ||
            (signs == best_signs && gain_ratio(t, g) < gain_ratio(t, best)))
            best = g, best_signs = signs;
    }
    return best;
}

static void drop_tree(study *t, int root) {
    for (int d = 0; d < t->s->deform_count; d++)
        if (t->group[d] == root)
            t->control[d] = is_away(t, d, AWAY)           ? ARAP_CONTROL_OUTSIDE
                            : is_in_place_of_others(t, d) ? ARAP_CONTROL_TWIN
                                                          : ARAP_CONTROL_SERVED;
    for (int d = 0; d < t->s->deform_count; d++)
        if (t->group[d] == root) t->group[d] = -1;
}

/* A root beside the body that hangs on it. */
static int is_mere_root(study *t, int root) {
    double nearest = INFINITY, deepest = 0;
    int children = 0;
    for (int d = 0; d < t->s->deform_count; d++) {
        if (t->control[d] || parent_of(t, d) != root) continue;
        if (continues(t, d, root)) return 0;
        nearest = fmin(nearest, sqrt(to_bone2(t, root, head_of(t, d))));
        children++;
    }
    if (!children) return 0;
    int outside = samples_outside(t, root);
    if (outside == SAMPLES) return 1;
    if (!t->named[root]) return 0;
    for (int k = 0; k < SAMPLES; k++) deepest = fmax(deepest, t->clearance[root * SAMPLES + k]);
    return outside > 1 || (nearest > 1.5 * t->length[root] && nearest > 2 * deepest);
}

/* Roots that are none, each a tree of its own meanwhile to measure what it gains. */
static int drop_roots(study *t) {
    int dropped = 0;
    for (int d = 0; d < t->s->deform_count; d++)
        if (!t->control[d]) t->group[d] = d;
    rank_groups(t, -1);
    for (int d = 0; d < t->s->deform_count; d++) {
        if (t->control[d] || parent_of(t, d) >= 0 || !(t->gain[d] < ROOT_GAIN)) continue;
        if (!is_mere_root(t, d)) continue;
        t->control[d] = ARAP_CONTROL_ROOT;
        t->group[d] = -1;
        dropped++;
    }
    return dropped;
}

/* --- bones with a parent --------------------------------------------------------------------- */

static int count_children(const study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s->deform_count; o++) count += !t->control[o] && parent_of(t, o) == d;
    return count;
}

static int count_below(const study *t, int d) {
    int count = 0;
    for (int o = 0; o < t->s->deform_count; o++) count += !t->control[o] && is_below(t, o, d);
    return count;
}

static int coincide(const study *t, int a, int b) {
    double near = COINCIDENT * fmin(t->length[a], t->length[b]);
    return arap_distance2(head_of(t, a), head_of(t, b)) <= near * near &&
           arap_distance2(tail_of(t, a), tail_of(t, b)) <= near * near;
}

/* The parents or a pair of children of two coincident bones coincide as well. */
static int chains_coincide(const study *t, int a, int b) {
    int up = parent_of(t, a), other = parent_of(t, b);
    if (up >= 0 && other >= 0 && up != other && coincide(t, up, other)) return 1;
    for (int c = 0; c < t->s->deform_count; c++)
        for (int e = 0; e < t->s->deform_count && t->s->deform_parent[c] == a; e++)
            if (t->s->deform_parent[e] == b && coincide(t, c, e)) return 1;
    return 0;
}

/* Whether d, which has a parent, is the copy of a bone of another chain and not the other way. */
static int is_copy(const study *t, int d) {
    for (int o = 0; o < t->s->deform_count; o++) {
        if (o == d || t->control[o] || is_below(t, o, d) || is_below(t, d, o)) continue;
        if (!coincide(t, d, o)) continue;
        if (t->named[d] > t->named[o]) return 1;
        if (t->named[d] == t->named[o] && chains_coincide(t, d, o) &&
            count_below(t, d) < count_below(t, o))
            return 1;
    }
    return 0;
}

/* Single bones with a parent; what they gain was ranked with each bone a group. */
static void drop_bones(study *t, char *drop) {
    int n = t->s->deform_count;
    for (int d = 0; d < n; d++) drop[d] = ARAP_CONTROL_NONE;
    for (int d = 0; d < n; d++) {
        int parent = parent_of(t, d);
        if (t->control[d] || parent < 0) continue;
        if (is_copy(t, d)) {
            drop[d] = ARAP_CONTROL_TWIN;
            continue;
        }
        if (count_children(t, d) || continues(t, d, parent)) continue;
        if (!(gain_ratio(t, d) < SOME_GAIN) || !(t->gain[d] < CONTROL_GAIN)) continue;
        if (is_away(t, d, t->named[d] ? AWAY : FAR_AWAY))
            drop[d] = ARAP_CONTROL_OUTSIDE;
        else if (t->named[d])
            drop[d] = ARAP_CONTROL_SERVED;
    }
    for (int d = 0; d < n; d++)
        if (drop[d]) t->control[d] = drop[d];
}

static void weigh_skin(study *t) {
    double sum = 0;
    for (size_t k = 0; k < t->mesh->triangle_count; k++) {
        const int *tri = t->mesh->triangles + 3 * k;
        double area =
            arap_triangle_area(t->mesh->v + 3 * (size_t)tri[0], t->mesh->v + 3 * (size_t)tri[1],
                               t->mesh->v + 3 * (size_t)tri[2]);
        for (int j = 0; j < 3; j++) t->area[tri[j]] += area / 3;
        sum += area;
    }
    for (int i = 0; i < t->mesh->count && sum > 0; i++) t->area[i] /= sum;
}

static arap_status find_controls(study *t, char *drop) {
    arap_status status = ARAP_OK;
    do {
        find_groups(t);
        rank_groups(t, -1);
        for (int g; (g = find_control_tree(t)) >= 0 && !status;) {
            drop_tree(t, g);
            rank_groups(t, g);
            status = arap_progress(t->job, "control bones", 0.5);
        }
        if (!status) status = arap_progress(t->job, "control bones", 0.5);
    } while (!status && drop_roots(t));
    if (!status) drop_bones(t, drop);
    return status;
}

arap_status arap_control_bones(arap_job *job, const arap_geometry *geometry,
                               const arap_bones *bones, const char *named, int *control) {
    arap_mesh mesh = {0};
    arap_skeleton s = {0};
    study t = {.job = job, .mesh = &mesh, .s = &s};
    char *names = NULL, *drop = NULL;
    arap_status status = arap_mesh_create(job, geometry, ARAP_WELD_TOLERANCE, &mesh);
    if (!status) status = arap_skeleton_create(job, bones, &mesh, &s);
    if (status) goto done;
    int n = s.deform_count, named_count = 0;
    for (int b = 0; b < s.count; b++) control[b] = ARAP_CONTROL_NONE;
    names = ARAP_NEW_ZERO(char, n);
    drop = ARAP_NEW(char, n);
    t.area = ARAP_NEW_ZERO(double, mesh.count);
    t.length = ARAP_NEW(double, n);
    t.clearance = ARAP_NEW(double, n *SAMPLES);
    t.winding = ARAP_NEW(double, n *SAMPLES);
    t.control = ARAP_NEW_ZERO(int, n);
    t.group = ARAP_NEW(int, n);
    t.own = ARAP_NEW(double, n);
    t.gain = ARAP_NEW(double, n);
    t.nearest = ARAP_NEW(int, 2 * (size_t)mesh.count);
    t.distance2 = ARAP_NEW(double, 2 * (size_t)mesh.count);
    t.reach = ARAP_NEW(double, (size_t)job->threads *(size_t)n);
    if (!names || !drop || !t.area || !t.length || !t.clearance || !t.winding || !t.control ||
        !t.group || !t.own || !t.gain || !t.nearest || !t.distance2 || !t.reach) {
        status = arap_fail_memory(&job->error, "the control bones");
        goto done;
    }
    weigh_skin(&t);
    for (int d = 0; d < n; d++) named_count += named && named[s.deform_bone[d]];
    for (int d = 0; d < n; d++) {
        names[d] = named && named[s.deform_bone[d]] && named_count < MOST_NAMED * n;
        t.length[d] =
            fmax(sqrt(arap_distance2(head_of(&t, d), tail_of(&t, d))), SHORTEST * mesh.size);
    }
    for (int k = 0; k < n * SAMPLES; k++) t.clearance[k] = -1;
    t.named = names;
    status = build_surface(&t);
    if (!status && mesh.face_part_count && n > 1) status = find_controls(&t, drop);
    for (int d = 0; d < n && !status; d++) control[s.deform_bone[d]] = t.control[d];

done:
    arap_free(names);
    arap_free(drop);
    arap_free(t.area);
    arap_free(t.length);
    arap_free(t.clearance);
    arap_free(t.winding);
    arap_free(t.control);
    arap_free(t.group);
    arap_free(t.own);
    arap_free(t.gain);
    arap_free(t.nearest);
    arap_free(t.distance2);
    arap_free(t.reach);
    arap_bvh_free(t.surface);
    arap_skeleton_clear(&s);
    arap_mesh_clear(&mesh);
    return status;
}
