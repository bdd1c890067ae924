/* Statistics of bones and skin: see control_study.h.
 *
 * A point is inside if the absolute winding number exceeds 0.3, or if faces whose layers cancel
 * each other surround the point. The limit of 0.3 is low enough for open meshes, and the absolute
 * value does not depend on the orientation of the faces. Both conditions are tested only on
 * request, in O(triangles) for each doubtful bone. Ranking takes O(vertices log bones). When a
 * group of bones is removed, only the skin near it is ranked again, and only bones near it are
 * compared with others again. All lengths are relative, so
 * the result does not depend on position, rotation and scale of the scene. Fails only on
 * out-of-memory or when cancelled. */
#include "control/control_study.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/nearest.h"
#include "mesh/winding.h"
#include "rig/joint_ways.h"

#define CHUNK 256

/* a point is also inside if faces lie in more than this share of the directions */
#define ENCLOSED 0.9
#define ON_SKIN 0.003 /* a joint closer to the skin, as a share of the mesh size, is not inside */
#define AMID 0.33     /* the same for a point that is merely surrounded by skin */
/* a bone closer to a tail than this share of the shorter length continues it */
#define ATTACHED 0.15
#define ON_BONE 0.1    /* a sample closer to another bone, as a share of its length, lies on it */
#define SHORTEST 0.005 /* minimum length of bones for these tests, as a share of the mesh size */
#define TIED 1.01      /* distances of this ratio are equal */
/* minimum share of a loose part that votes; otherwise, the part belongs to no group */
#define TURNOUT 0.2

const double *arap_study_head(const arap_study *t, int d) {
    return t->s.heads + 3 * t->s.deform_bone[d];
}
const double *arap_study_tail(const arap_study *t, int d) {
    return t->s.tails + 3 * t->s.deform_bone[d];
}

static void sample(const arap_study *t, int d, int k, double *point) {
    double share = (k + 0.5) / ARAP_STUDY_SAMPLES;
    for (int c = 0; c < 3; c++)
        point[c] = arap_study_head(t, d)[c] +
                   share * (arap_study_tail(t, d)[c] - arap_study_head(t, d)[c]);
}

int arap_study_parent(const arap_study *t, int d) {
    int up = t->s.deform_parent[d];
    return up >= 0 && !t->control[up] ? up : -1;
}

double arap_study_distance2(const arap_study *t, int d, const double *point) {
    double nearest[3];
    return arap_distance2_to_bone(&t->s, d, point, nearest);
}

/* The box of all its ways. */
static void box_of(const arap_study *t, int d, double *box) {
    for (int c = 0; c < 3; c++) box[c] = INFINITY, box[3 + c] = -INFINITY;
    for (int k = t->s.line_start[d]; k < t->s.line_start[d + 1]; k++)
        for (int c = 0; c < 3; c++) {
            const arap_segment *line = &t->s.lines[k];
            box[c] = fmin(box[c], fmin(line->a[c], line->b[c]));
            box[3 + c] = fmax(box[3 + c], fmax(line->a[c], line->b[c]));
        }
}

typedef struct rank_task {
    arap_study *t;
    arap_bvh *tree;  /* bones by their groups */
    const int *bone; /* of each primitive of the tree */
    int again;       /* only vertices of removed groups */
} rank_task;

static double to_bone2(const void *data, int index, const double *p) {
    const rank_task *task = data;
    return arap_study_distance2(task->t, task->bone[index], p);
}

static int is_gone(const arap_study *t, int group) { return group >= 0 && t->group[group] < 0; }

static void rank_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const rank_task *task = data;
    arap_study *t = task->t;
    int end = arap_chunk_end(chunk, CHUNK, t->mesh.count);
    for (int i = chunk * CHUNK; i < end; i++) {
        int *nearest = t->nearest + 2 * (size_t)i;
        if (task->again && !is_gone(t, nearest[0]) && !is_gone(t, nearest[1])) continue;
        for (int k = 0; k < 2; k++) {
            double *d2 = t->distance2 + 2 * (size_t)i + k;
            *d2 = INFINITY;
            int at = arap_bvh_nearest(task->tree, t->mesh.v + 3 * (size_t)i, k ? nearest[0] : -1,
                                      to_bone2, task, d2);
            nearest[k] = at < 0 ? -1 : t->group[task->bone[at]];
        }
    }
}

/* Distance of the nearest group relative to that of the next. */
static double distance_ratio(const arap_study *t, int i) {
    const double *d2 = t->distance2 + 2 * (size_t)i;
    return d2[1] > d2[0] ? sqrt(d2[0] / d2[1]) : 1;
}

static int is_tied(const arap_study *t, int i) { return distance_ratio(t, i) * TIED > 1; }

/* A loose part belongs to the group that is nearest to more than half of it, which is found by a
 * majority vote, and then counted. If two groups are equally near, neither gets a vote. */
static void sum_parts(arap_study *t) {
    size_t parts = (size_t)t->mesh.part_count;
    double *voted = t->part_votes + parts;
    for (int g = 0; g < t->s.deform_count; g++) t->own_parts[g] = t->decided[g] = 0;
    for (size_t p = 0; p < parts; p++) t->part_votes[p] = 0, t->part_leader[p] = -1;
    for (int i = 0; i < t->mesh.count; i++) {
        int p = t->mesh.part[i], g = t->nearest[2 * (size_t)i];
        if (is_tied(t, i)) continue;
        t->part_votes[p] += g == t->part_leader[p] ? t->area[i] : -t->area[i];
        if (t->part_votes[p] >= 0) continue;
        t->part_leader[p] = g;
        t->part_votes[p] = -t->part_votes[p];
    }
    for (size_t p = 0; p < parts; p++) t->part_votes[p] = voted[p] = 0;
    for (int i = 0; i < t->mesh.count; i++) {
        int p = t->mesh.part[i];
        if (is_tied(t, i)) continue;
        voted[p] += t->area[i];
        t->decided[t->nearest[2 * (size_t)i]] += t->area[i];
        if (t->nearest[2 * (size_t)i] == t->part_leader[p]) t->part_votes[p] += t->area[i];
    }
    for (size_t p = 0; p < parts; p++)
        if (2 * t->part_votes[p] > voted[p] && voted[p] > TURNOUT * t->part_area[p])
            t->own_parts[t->part_leader[p]] += t->part_votes[p];
}

static void sum_shares(arap_study *t) {
    for (int g = 0; g < t->s.deform_count; g++)
        t->own[g] = t->gain[g] = 0, t->nearest2[g] = INFINITY;
    for (int i = 0; i < t->mesh.count; i++) {
        const int *nearest = t->nearest + 2 * (size_t)i;
        const double *d2 = t->distance2 + 2 * (size_t)i;
        t->own[nearest[0]] += t->area[i];
        t->gain[nearest[0]] += t->area[i] * (1 - distance_ratio(t, i));
        if (is_tied(t, i)) t->own[nearest[1]] += t->area[i];
        for (int k = 0; k < 2 && nearest[k] >= 0; k++)
            t->nearest2[nearest[k]] = fmin(t->nearest2[nearest[k]], d2[k]);
    }
}

arap_status arap_study_rank(arap_study *t, int again) {
    arap_arena arena = {0};
    int n = t->s.deform_count, count = 0;
    rank_task task = {.t = t, .again = again};
    double *boxes = ARAP_TAKE(&arena, 6 * n, double);
    int *bone = ARAP_TAKE(&arena, n, int), *tags = ARAP_TAKE(&arena, n, int);
    arap_status status = arap_arena_status(&arena, &t->context->error, "the control bones");
    if (status) goto done;
    for (int d = 0; d < n; d++) t->alone[d] = 1;
    for (int d = 0; d < n; d++) {
        if (t->group[d] < 0) continue;
        if (t->group[d] != d) t->alone[t->group[d]] = 0;
        memcpy(boxes + 6 * count, t->box + 6 * (size_t)d, 6 * sizeof(double));
        tags[count] = t->group[d];
        bone[count++] = d;
    }
    task.bone = bone;
    status = arap_bvh_build(t->context, &task.tree, (size_t)count, boxes, tags);
    if (status) goto done;
    status = arap_parallel(t->context, arap_chunks(t->mesh.count, CHUNK), rank_chunk, &task);
    if (status) goto done;
    sum_shares(t);
    sum_parts(t);

done:
    arap_bvh_free(task.tree);
    arap_arena_clear(&arena);
    return status;
}

double arap_study_gain_ratio(const arap_study *t, int group) {
    return t->own[group] > 0 ? t->gain[group] / t->own[group] : 0;
}

int arap_study_has_parts(const arap_study *t, int group) {
    return t->mesh.face_part_count > 1 && 2 * t->own_parts[group] > t->decided[group];
}

static double to_face2(const void *data, int index, const double *p) {
    const arap_mesh *mesh = data;
    size_t k = (size_t)index;
    double at[3];
    if (k >= mesh->triangle_count) {
        const int *wire = mesh->wires + 2 * (k - mesh->triangle_count);
        return arap_nearest_on_segment(p, mesh->v + 3 * (size_t)wire[0],
                                       mesh->v + 3 * (size_t)wire[1], at);
    }
    return arap_nearest_on_face(mesh, index, p, at);
}

static arap_status build_surface(arap_study *t) {
    const arap_mesh *mesh = &t->mesh;
    size_t count = mesh->triangle_count + mesh->wire_count;
    double *boxes = ARAP_NEW(double, 6 * count);
    if (!boxes) return arap_fail_memory(&t->context->error, "the control bones");
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
    arap_status status = arap_bvh_build(t->context, &t->surface, count, boxes, NULL);
    arap_free(boxes);
    return status;
}

typedef struct sample_task {
    arap_study *t;
    int bone;
} sample_task;

static void wind_sample(void *data, int k, int worker) {
    (void)worker;
    const sample_task *task = data;
    double p[3], angle, *winding = task->t->winding + task->bone * ARAP_STUDY_SAMPLES + k;
    sample(task->t, task->bone, k, p);
    *winding = fabs(arap_winding_number(&task->t->mesh, p, &angle));
    if (*winding < ARAP_INSIDE &&
        arap_is_surrounded(&task->t->mesh, task->t->surface, p, angle, ENCLOSED))
        *winding = 1;
}

int arap_study_outside(arap_study *t, int d) {
    int count = 0;
    if (t->winding[d * ARAP_STUDY_SAMPLES] < 0 && !t->failed)
        t->failed =
            arap_parallel(t->context, ARAP_STUDY_SAMPLES, wind_sample, &(sample_task){t, d});
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
        count += t->winding[d * ARAP_STUDY_SAMPLES + k] < ARAP_INSIDE;
    return count;
}

int arap_study_is_amid(arap_study *t, int d) {
    double p[3], angle;
    if (t->failed) return 0;
    sample(t, d, ARAP_STUDY_SAMPLES / 2, p);
    arap_winding_number(&t->mesh, p, &angle);
    return arap_is_surrounded(&t->mesh, t->surface, p, angle, AMID);
}

const double *arap_study_clearance(arap_study *t, int d) {
    double *clearance = t->clearance + d * ARAP_STUDY_SAMPLES;
    for (int k = 0; k < ARAP_STUDY_SAMPLES && !t->failed && clearance[k] < 0; k++) {
        double p[3], d2 = INFINITY;
        sample(t, d, k, p);
        arap_bvh_nearest(t->surface, p, -1, to_face2, &t->mesh, &d2);
        clearance[k] = sqrt(d2);
    }
    return clearance;
}

int arap_study_joint_outside(arap_study *t, int d) {
    const double *head = arap_study_head(t, d);
    if (!t->mesh.triangle_count || t->failed) return 0;
    t->failed = arap_poll_cancel(t->context);
    double d2 = INFINITY, angle;
    arap_bvh_nearest(t->surface, head, -1, to_face2, &t->mesh, &d2);
    if (d2 < ON_SKIN * ON_SKIN * t->mesh.size * t->mesh.size)
        return 2 * arap_study_outside(t, d) > ARAP_STUDY_SAMPLES;
    return fabs(arap_winding_number(&t->mesh, head, &angle)) < ARAP_INSIDE &&
           !arap_is_surrounded(&t->mesh, t->surface, head, angle, ENCLOSED);
}

int arap_study_is_away(arap_study *t, int d, double lengths) {
    double min = lengths * t->length[d];
    if (t->group[d] == d && t->alone[d] && t->nearest2[d] < min * min) return 0;
    const double *clearance = arap_study_clearance(t, d);
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
        if (clearance[k] < min) return 0;
    return arap_study_outside(t, d) == ARAP_STUDY_SAMPLES;
}

/* Whether the box from low to high is farther than this from the box of the bone, beyond
 * rounding. */
static int is_beside(const arap_study *t, int d, const double *low, const double *high,
                     double near) {
    const double *box = t->box + 6 * (size_t)d;
    near *= 1 + 1e-6;
    for (int c = 0; c < 3; c++)
        if (high[c] < box[c] - near || low[c] > box[3 + c] + near) return 1;
    return 0;
}

static int is_in_place(const arap_study *t, int d) {
    double near = ON_BONE * t->length[d], near2 = ON_BONE * ON_BONE * t->length[d] * t->length[d];
    double points[ARAP_STUDY_SAMPLES][3], low[3], high[3];
    int on = 0, found[ARAP_STUDY_SAMPLES] = {0};
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++) {
        sample(t, d, k, points[k]);
        for (int c = 0; c < 3; c++) {
            low[c] = k ? fmin(low[c], points[k][c]) : points[k][c];
            high[c] = k ? fmax(high[c], points[k][c]) : points[k][c];
        }
    }
    for (int o = 0; o < t->s.deform_count; o++) {
        if (t->group[o] < 0 || t->group[o] == t->group[d] || is_beside(t, o, low, high, near))
            continue;
        for (int k = 0; k < ARAP_STUDY_SAMPLES; k++)
            if (!found[k] && !is_beside(t, o, points[k], points[k], near))
                found[k] = arap_study_distance2(t, o, points[k]) <= near2;
    }
    for (int k = 0; k < ARAP_STUDY_SAMPLES; k++) on += found[k];
    if (2 * on > ARAP_STUDY_SAMPLES) return 1;
    for (int o = 0; o < t->s.deform_count; o++)
        if (t->group[o] != t->group[d] && (t->control[o] || arap_study_parent(t, o) >= 0) &&
            arap_distance2(arap_study_head(t, o), arap_study_head(t, d)) <= near2)
            return 1;
    return 0;
}

int arap_study_in_place_of_others(arap_study *t, int d) {
    if (!t->in_place[d]) t->in_place[d] = is_in_place(t, d) ? 2 : 1;
    return t->in_place[d] > 1;
}

void arap_study_regroup(arap_study *t, int root) {
    for (int d = 0; d < t->s.deform_count; d++) {
        const double *head = arap_study_head(t, d), *tail = arap_study_tail(t, d);
        double near = ON_BONE * t->length[d], low[3], high[3];
        int stays = root >= 0;
        for (int c = 0; c < 3; c++)
            low[c] = fmin(head[c], tail[c]), high[c] = fmax(head[c], tail[c]);
        for (int o = stays ? t->first[root] : -1; o >= 0 && stays; o = t->next[o])
            stays = is_beside(t, o, low, high, near) &&
                    arap_distance2(arap_study_head(t, o), head) > near * near;
        if (!stays) t->in_place[d] = 0;
    }
}

int arap_study_continues(const arap_study *t, int d, int parent) {
    if (t->s.ways) return t->s.ways[t->s.deform_bone[d]];
    double near = ATTACHED * fmin(t->length[parent], t->length[d]);
    return arap_distance2(arap_study_head(t, d), arap_study_tail(t, parent)) <= near * near;
}

static void weigh_skin(arap_study *t) {
    double sum = arap_weigh_skin(&t->mesh, t->area);
    for (int i = 0; i < t->mesh.count && sum > 0; i++) {
        t->area[i] /= sum;
        t->part_area[t->mesh.part[i]] += t->area[i];
    }
}

arap_status arap_study_create(arap_context *context, const arap_geometry *geometry,
                              const arap_bones *bones, arap_study *t) {
    *t = (arap_study){.context = context};
    arap_status status = arap_mesh_create(context, geometry, bones, ARAP_WELD_TOLERANCE, &t->mesh);
    if (!status) status = arap_skeleton_create(context, bones, &t->mesh, &t->s);
    if (status) goto done;
    size_t n = (size_t)t->s.deform_count, count = (size_t)t->mesh.count;
    t->area = ARAP_TAKE(&t->arena, count, double);
    t->length = ARAP_TAKE(&t->arena, n, double);
    t->box = ARAP_TAKE(&t->arena, 6 * n, double);
    t->clearance = ARAP_TAKE(&t->arena, n * ARAP_STUDY_SAMPLES, double);
    t->winding = ARAP_TAKE(&t->arena, n * ARAP_STUDY_SAMPLES, double);
    t->evidence = ARAP_TAKE_ZERO(&t->arena, n, double);
    t->own_parts = ARAP_TAKE(&t->arena, n, double);
    t->decided = ARAP_TAKE(&t->arena, n, double);
    t->part_area = ARAP_TAKE_ZERO(&t->arena, (size_t)t->mesh.part_count, double);
    t->part_votes = ARAP_TAKE(&t->arena, 2 * (size_t)t->mesh.part_count, double);
    t->part_leader = ARAP_TAKE(&t->arena, (size_t)t->mesh.part_count, int);
    t->keep = ARAP_TAKE_ZERO(&t->arena, n, char);
    t->alone = ARAP_TAKE_ZERO(&t->arena, n, char);
    t->in_place = ARAP_TAKE_ZERO(&t->arena, n, char);
    t->control = ARAP_TAKE_ZERO(&t->arena, n, int);
    t->group = ARAP_TAKE(&t->arena, n, int);
    t->first = ARAP_TAKE(&t->arena, n, int);
    t->next = ARAP_TAKE(&t->arena, n, int);
    t->own = ARAP_TAKE(&t->arena, n, double);
    t->gain = ARAP_TAKE(&t->arena, n, double);
    t->nearest2 = ARAP_TAKE(&t->arena, n, double);
    t->nearest = ARAP_TAKE(&t->arena, 2 * count, int);
    t->distance2 = ARAP_TAKE(&t->arena, 2 * count, double);
    status = arap_arena_status(&t->arena, &context->error, "the control bones");
    if (status) goto done;
    if (t->mesh.face_part_count) status = build_surface(t);
    if (status) goto done;
    weigh_skin(t);
    for (int d = 0; d < t->s.deform_count; d++) box_of(t, d, t->box + 6 * (size_t)d);
    for (int d = 0; d < t->s.deform_count; d++)
        t->length[d] = fmax(sqrt(arap_distance2(arap_study_head(t, d), arap_study_tail(t, d))),
                            SHORTEST * t->mesh.size);
    for (size_t k = 0; k < n * ARAP_STUDY_SAMPLES; k++) t->clearance[k] = t->winding[k] = -1;

done:
    if (status) arap_study_clear(t);
    return status;
}

void arap_study_clear(arap_study *t) {
    arap_bvh_free(t->surface);
    arap_arena_clear(&t->arena);
    arap_skeleton_clear(&t->s);
    arap_mesh_clear(&t->mesh);
    *t = (arap_study){0};
}
