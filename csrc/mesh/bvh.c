/* Bounding volume hierarchy: see bvh.h.
 *
 * Top-down build, splitting at the median of the box centers along the longest side of their
 * bounds, which is insensitive to slivers and coincident primitives: depth <= log2(count) + 1.
 * The nodes are stored depth-first, so the left child of node i is i + 1. O(n log n) to build,
 * O(log n) for a query near the primitives. Fails without memory only. */
#include "mesh/bvh.h"

#include <math.h>

#include "base/memory.h"
#include "mesh/nearest.h"

#define LEAF_SIZE 4
#define STACK_SIZE 128
#define MIXED_TAGS (-2)

/* Squared distances that differ by less than this share are equal but for rounding. */
#define TIE 1e-10

typedef struct node {
    double lo[3], hi[3];
    int first; /* leaf: first of its primitives in `order`; inner: index of right child */
    int count; /* primitives of a leaf, 0 for an inner node */
    int tag;   /* common tag of all primitives below, or MIXED_TAGS */
} node;

struct arap_bvh {
    node *nodes;
    int *order;
    int *tags;
    int node_count;
};

typedef struct builder {
    arap_bvh *bvh;
    const double *boxes;
} builder;

static double center(const double *box, int axis) { return box[axis] + box[axis + 3]; }

/* Quickselect: order[first..first+count) is split so that the first `half` have the smaller
 * centers; ties are ordered by index, so the tree does not depend on the sort. */
static int before(const builder *b, int axis, int i, int j) {
    double x = center(b->boxes + 6 * (size_t)i, axis), y = center(b->boxes + 6 * (size_t)j, axis);
    return x < y || (x == y && i < j);
}

static void select_half(const builder *b, int *order, int count, int half, int axis) {
    int lo = 0, hi = count - 1;
    while (lo < hi) {
        int pivot = order[lo + (hi - lo) / 2], i = lo, j = hi;
        while (i <= j) {
            while (before(b, axis, order[i], pivot)) i++;
            while (before(b, axis, pivot, order[j])) j--;
            if (i <= j) {
                int t = order[i];
                order[i++] = order[j];
                order[j--] = t;
            }
        }
        if (half <= j)
            hi = j;
        else if (half >= i)
            lo = i;
        else
            break;
    }
}

static void build(builder *b, int first, int count) {
    arap_bvh *bvh = b->bvh;
    int index = bvh->node_count++;
    node *self = &bvh->nodes[index];
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int c = 0; c < 3; c++) self->lo[c] = INFINITY, self->hi[c] = -INFINITY;
    self->tag = bvh->tags ? bvh->tags[bvh->order[first]] : MIXED_TAGS;
    for (int i = first; i < first + count; i++) {
        const double *box = b->boxes + 6 * (size_t)bvh->order[i];
        for (int c = 0; c < 3; c++) {
            double middle = center(box, c); /* finite: half the time of fmin, fmax */
            self->lo[c] = box[c] < self->lo[c] ? box[c] : self->lo[c];
            self->hi[c] = box[c + 3] > self->hi[c] ? box[c + 3] : self->hi[c];
            lo[c] = middle < lo[c] ? middle : lo[c];
            hi[c] = middle > hi[c] ? middle : hi[c];
        }
        if (bvh->tags && bvh->tags[bvh->order[i]] != self->tag) self->tag = MIXED_TAGS;
    }
    if (count <= LEAF_SIZE) {
        self->first = first;
        self->count = count;
        return;
    }
    int axis = 0;
    for (int c = 1; c < 3; c++)
        if (hi[c] - lo[c] > hi[axis] - lo[axis]) axis = c;
    int half = count / 2;
    select_half(b, bvh->order + first, count, half, axis);
    self->count = 0;
    build(b, first, half);
    bvh->nodes[index].first = bvh->node_count;
    build(b, first + half, count - half);
}

arap_status arap_bvh_build(arap_bvh **out, size_t count, const double *boxes, const int *tags,
                           arap_error *error) {
    arap_status status = ARAP_OK;
    arap_bvh *bvh = ARAP_NEW_ZERO(arap_bvh, 1);
    *out = bvh;
    if (!bvh) goto no_memory;
    bvh->nodes = ARAP_NEW(node, 2 * count + 1);
    bvh->order = ARAP_NEW(int, count);
    if (!bvh->nodes || !bvh->order) goto no_memory;
    if (tags) {
        bvh->tags = ARAP_NEW(int, count);
        if (!bvh->tags) goto no_memory;
        for (size_t i = 0; i < count; i++) bvh->tags[i] = tags[i];
    }
    for (size_t i = 0; i < count; i++) bvh->order[i] = (int)i;
    if (count) build(&(builder){.bvh = bvh, .boxes = boxes}, 0, (int)count);
    return status;

no_memory:
    status = arap_fail_memory(error, "the bounding volume hierarchy");
    arap_bvh_free(bvh);
    *out = NULL;
    return status;
}

void arap_bvh_free(arap_bvh *bvh) {
    if (!bvh) return;
    arap_free(bvh->nodes);
    arap_free(bvh->order);
    arap_free(bvh->tags);
    arap_free(bvh);
}

static double box_distance2(const node *n, const double *p) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double d = p[c] < n->lo[c] ? n->lo[c] - p[c] : p[c] > n->hi[c] ? p[c] - n->hi[c] : 0;
        sum += d * d;
    }
    return sum;
}

/* By how much squared distances may be off and still be equal to the best one so far. */
static double tie_of(int best, double best2) { return best < 0 ? 0 : TIE * best2 + TIE * TIE; }

int arap_bvh_nearest(const arap_bvh *bvh, const double *p, int skip, arap_distance_fn distance,
                     const void *data, double *distance2) {
    int stack[STACK_SIZE], depth = 0, best = -1;
    double best2 = *distance2;
    if (bvh->node_count) stack[depth++] = 0;
    while (depth) {
        const node *n = &bvh->nodes[stack[--depth]];
        if (box_distance2(n, p) > best2 + tie_of(best, best2) || (skip >= 0 && n->tag == skip))
            continue;
        if (n->count) {
            for (int i = n->first; i < n->first + n->count; i++) {
                int primitive = bvh->order[i];
                if (skip >= 0 && bvh->tags[primitive] == skip) continue;
                double d2 = distance(data, primitive, p), tie = tie_of(best, best2);
                if (d2 + tie < best2 || (best >= 0 && d2 <= best2 + tie && primitive < best))
                    best = primitive;
                best2 = fmin(best2, d2);
            }
        } else {
            int left = (int)(n - bvh->nodes) + 1, right = n->first;
            int left_first =
                box_distance2(&bvh->nodes[left], p) <= box_distance2(&bvh->nodes[right], p);
            stack[depth++] = left_first ? right : left;
            stack[depth++] = left_first ? left : right;
        }
    }
    *distance2 = best2;
    return best;
}

/* Slab test of the segment a + t d, t in [0, 1]; inverse[c] = 1 / d[c], may be infinite. */
static int box_crossed(const node *n, const double *a, const double *inverse) {
    double t0 = 0, t1 = 1;
    for (int c = 0; c < 3; c++) {
        if (isinf(inverse[c])) { /* parallel to this slab: 0 * infinity would be NaN */
            if (a[c] < n->lo[c] || a[c] > n->hi[c]) return 0;
            continue;
        }
        double near = (n->lo[c] - a[c]) * inverse[c], far = (n->hi[c] - a[c]) * inverse[c];
        t0 = fmax(t0, fmin(near, far));
        t1 = fmin(t1, fmax(near, far));
    }
    return t0 <= t1 * (1 + 1e-12);
}

int arap_bvh_crossed(const arap_bvh *bvh, const double *a, const double *b, arap_hit_fn hit,
                     const void *data) {
    int stack[STACK_SIZE], depth = 0;
    double inverse[3];
    for (int c = 0; c < 3; c++) inverse[c] = 1 / (b[c] - a[c]);
    if (bvh->node_count) stack[depth++] = 0;
    while (depth) {
        const node *n = &bvh->nodes[stack[--depth]];
        if (!box_crossed(n, a, inverse)) continue;
        if (n->count) {
            for (int i = n->first; i < n->first + n->count; i++)
                if (hit(data, bvh->order[i], a, b)) return 1;
        } else {
            stack[depth++] = n->first;
            stack[depth++] = (int)(n - bvh->nodes) + 1;
        }
    }
    return 0;
}

double arap_nearest_on_face(const arap_mesh *mesh, int t, const double *p, double *bary) {
    const int *tri = mesh->triangles + 3 * (size_t)t;
    return arap_nearest_on_triangle(p, mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                                    mesh->v + 3 * (size_t)tri[2], bary);
}

double arap_face_distance(const void *mesh, int t, const double *p) {
    double bary[3];
    return arap_nearest_on_face(mesh, t, p, bary);
}

arap_status arap_face_bvh(arap_context *context, const arap_mesh *mesh, const int *tags,
                          arap_bvh **out) {
    double *boxes = ARAP_NEW(double, 6 * mesh->triangle_count);
    int *face_tags = tags ? ARAP_NEW(int, mesh->triangle_count) : NULL;
    arap_status status;
    if (!boxes || (tags && !face_tags)) {
        status = arap_fail_memory(&context->error, "the face hierarchy");
        goto done;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        if (tags) face_tags[t] = tags[mesh->part[tri[0]]];
        for (int c = 0; c < 3; c++) {
            double x = mesh->v[3 * (size_t)tri[0] + c], y = mesh->v[3 * (size_t)tri[1] + c],
                   z = mesh->v[3 * (size_t)tri[2] + c];
            boxes[6 * t + c] = fmin(x, fmin(y, z));
            boxes[6 * t + 3 + c] = fmax(x, fmax(y, z));
        }
    }
    status = arap_bvh_build(out, mesh->triangle_count, boxes, face_tags, &context->error);

done:
    arap_free(boxes);
    arap_free(face_tags);
    return status;
}
