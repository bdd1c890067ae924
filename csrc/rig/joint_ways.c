/* Finds the segments of a skeleton built from joints: see joint_ways.h, and joint_skeleton.c for
 * the rules.
 *
 * A tree of all segments gives the nearest segment of each vertex. Each vertex votes on its nearest
 * segment, weighted by its area and by the cosine between its normal and the direction from the
 * segment. The inside is the side on which most of the skin has its segments. Takes O(vertices log
 * segments), O(triangles) for each root, and O(bones^2) for segments that end at the same position.
 * Fails on out-of-memory, or when cancelled. */
#include "rig/joint_ways.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/winding.h"

#define CHUNK 256
#define SHORTER 0.9 /* maximum length of a shorter segment, as a share of the segment */
#define FACING 1.5  /* ratio of votes needed to decide that a segment is outside */
/* share of a segment at its end; skin nearest to this part lies beyond the joint */
#define END 0.999

static double to_way2(const void *data, int index, const double *p) {
    const arap_joint_way *w = (const arap_joint_way *)data + index;
    double nearest[3];
    return arap_nearest_on_segment(p, w->a, w->b, nearest);
}

static void find_near(void *data, int chunk, int worker) {
    (void)worker;
    const arap_joint_study *t = data;
    int end = arap_chunk_end(chunk, CHUNK, t->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *p = t->mesh->v + 3 * (size_t)i;
        double d2 = INFINITY;
        t->near[i] = arap_bvh_nearest(t->tree, p, -1, to_way2, t->way, &d2);
        const arap_joint_way *w = &t->way[t->near[i]];
        double along[3], from[3];
        arap_sub(w->b, w->a, along);
        arap_sub(p, w->a, from);
        t->at_end[i] = arap_dot(from, along) > END * arap_dot(along, along);
    }
}

void arap_sort_joints(const arap_joint_study *t) {
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

void arap_find_joint_owners(const arap_joint_study *t) {
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

static int is_inside(const arap_joint_study *t, const double *point) {
    return fabs(arap_winding_number(t->mesh, point, NULL)) > ARAP_INSIDE;
}

/* Whether a bone has only leaves as children, and more than one. In this case, only the bone itself
 * can be their body. */
static int is_hub(const arap_joint_study *t, int bone) {
    int leaves = 0;
    for (int b = 0; b < t->count; b++) {
        if (t->parents[b] != bone || !t->below[b]) continue;
        if (t->below[b] > 1) return 0;
        leaves++;
    }
    return leaves > 1;
}

arap_status arap_drop_joint_roots(arap_context *context, const arap_joint_study *t) {
    for (int k = 0; k < t->count && t->mesh->triangle_count; k++) {
        int b = t->order[k], up = t->parents[b];
        if (!t->deform[b] || t->below[b] < 2 || (up >= 0 && t->owner[up] >= 0)) continue;
        if (is_hub(t, b)) continue;
        arap_status status = arap_progress(context, "joints", 0);
        if (status) return status;
        if (is_inside(t, t->head + 3 * b)) continue;
        t->deform[b] = 0;
        arap_find_joint_owners(t);
    }
    return ARAP_OK;
}

static void add_way(arap_joint_study *t, int from, int to, const double *a, const double *b) {
    arap_joint_way *w = &t->way[t->way_count++];
    *w = (arap_joint_way){.from = from, .to = to};
    memcpy(w->a, a, sizeof w->a);
    memcpy(w->b, b, sizeof w->b);
}

/* Whether a shorter segment ends where the segment to bone b does. */
static int is_detour(const arap_joint_study *t, int b) {
    const double *end = t->head + 3 * b;
    double no_way2 = ARAP_NO_WAY * ARAP_NO_WAY * t->mesh->size * t->mesh->size,
           own2 = arap_distance2(t->head + 3 * t->parents[b], end);
    for (int o = 0; o < t->count; o++) {
        int up = t->parents[o];
        if (o == b || !t->ways[o] || arap_distance2(t->head + 3 * o, end) > no_way2) continue;
        if (arap_distance2(t->head + 3 * up, end) < SHORTER * SHORTER * own2) return 1;
    }
    return 0;
}

void arap_mark_joint_ways(const arap_joint_study *t, int *detour) {
    double no_way2 = ARAP_NO_WAY * ARAP_NO_WAY * t->mesh->size * t->mesh->size;
    for (int b = 0; b < t->count; b++) {
        int up = t->parents[b];
        t->ways[b] = up >= 0 && t->owner[up] >= 0 && t->below[b] > 0 &&
                     arap_distance2(t->head + 3 * up, t->head + 3 * b) > no_way2;
    }
    for (int b = 0; b < t->count; b++) detour[b] = t->ways[b] && is_detour(t, b);
    for (int b = 0; b < t->count; b++)
        if (detour[b]) t->ways[b] = 0;
}

arap_status arap_drop_leaving_ways(arap_context *context, const arap_joint_study *t) {
    for (int b = 0; b < t->count && t->mesh->triangle_count; b++) {
        int up = t->parents[b], above = up < 0 ? -1 : t->parents[up];
        double middle[3];
        if (!t->ways[b] || (above >= 0 && t->owner[above] >= 0)) continue;
        arap_status status = arap_progress(context, "joints", 0);
        if (status) return status;
        const double *from = t->head + 3 * up, *to = t->head + 3 * b;
        for (int c = 0; c < 3; c++) middle[c] = 0.5 * (from[c] + to[c]);
        t->ways[b] = is_inside(t, middle) || is_inside(t, to) || !is_inside(t, from);
    }
    return ARAP_OK;
}

arap_status arap_rank_joint_ways(arap_context *context, arap_joint_study *t) {
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
    if (!status) status = arap_parallel(context, arap_chunks(t->mesh->count, CHUNK), find_near, t);
    arap_free(boxes);
    return status;
}

void arap_vote_joint_ways(arap_joint_study *t) {
    double in = 0, outside = 0;
    for (int i = 0; i < t->mesh->count; i++) {
        const double *p = t->mesh->v + 3 * (size_t)i, *normal = t->normal + 3 * (size_t)i;
        arap_joint_way *w = &t->way[t->near[i]];
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

int arap_joint_way_outside(const arap_joint_way *way) { return way->outside > FACING * way->in; }

int arap_drop_joint_ways(const arap_joint_study *t, int *inside) {
    int dropped = 0;
    memset(inside, 0, (size_t)t->count * sizeof *inside);
    for (int k = 0; k < t->way_count; k++)
        inside[t->way[k].from] += !arap_joint_way_outside(&t->way[k]);
    for (int k = 0; k < t->way_count; k++) {
        const arap_joint_way *w = &t->way[k];
        int up = t->parents[w->from], is_root = up < 0 || t->owner[up] < 0;
        if (w->to < 0) continue;
        int stands_off = is_root && !(w->in > 0) && t->below[w->to] == 1; /* a pole */
        if (!stands_off && !(arap_joint_way_outside(w) && (is_root || inside[w->from]))) continue;
        t->ways[w->to] = 0;
        dropped++;
    }
    return dropped;
}

double arap_weigh_skin(const arap_mesh *mesh, double *area) {
    double sum = 0;
    for (int i = 0; i < mesh->count; i++) area[i] = mesh->triangle_count ? 0 : 1;
    for (size_t k = 0; k < mesh->triangle_count; k++) {
        const int *tri = mesh->triangles + 3 * k;
        double own = arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                                        mesh->v + 3 * (size_t)tri[2]);
        for (int j = 0; j < 3; j++) area[tri[j]] += own / 3;
        sum += own;
    }
    return sum;
}
