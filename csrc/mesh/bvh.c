/* Bounding volume hierarchy: see bvh.h.
 *
 * Top-down build, splitting at the median of the box centers along the longest side of their
 * bounds, which is insensitive to slivers and coincident primitives: depth <= log2(count) + 1.
 * The centers are sorted in place, so that each level reads them one after another; boxes are
 * looked at in the leaves alone and joined on the way up. The nodes are stored depth-first, so the
 * left child of node i is i + 1. A leaf has half of what it may have at least, or all there are, so
 * it is known how many nodes a tree has at most, and the right child can have its place before the
 * left one is built: large trees are split level by level, then subtrees are built, both on all
 * threads. O(n
 * log n) to build, O(log n) for a query near the primitives. Fails without memory only. */
#include "mesh/bvh.h"

#include <math.h>

#include "base/memory.h"
#include "mesh/nearest.h"

#define LEAF_SIZE 4
#define LARGE_LEAF 64 /* where a tree is asked little */
#define STACK_SIZE 128
#define MIXED_TAGS (-2)
#define MOST_SUBTREES 64
#define LEAST_SUBTREE 2048 /* primitives of a subtree that is worth a task */
#define CHUNK 4096         /* primitives of a task before there are subtrees */

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
    int empty;
};

/* The primitives order[first..first + count) and the place of the first of their nodes. */
typedef struct subtree {
    int node, first, count;
} subtree;

/* A primitive and twice the center of its box. */
typedef struct item {
    double center[3];
    int primitive;
} item;

typedef struct builder {
    arap_bvh *bvh;
    const double *boxes;
    item *items;
    int leaf;  /* primitives of a leaf at most, even */
    int count; /* subtrees that are yet to be built */
    subtree subtree[MOST_SUBTREES], half[MOST_SUBTREES][2];
    int split_count; /* nodes above them, parents first */
    int split[MOST_SUBTREES];
} builder;

static int before(const item *a, const item *b, int axis) {
    double x = a->center[axis], y = b->center[axis];
    return (x < y) | ((x == y) & (a->primitive < b->primitive)); /* without a branch */
}

static void swap(item *a, item *b) {
    item t = *a;
    *a = *b;
    *b = t;
}

/* The middle one of three goes to items[hi]. */
static void choose_pivot(item *items, int lo, int hi, int axis) {
    item *low = items + lo, *middle = items + lo + (hi - lo) / 2, *high = items + hi;
    if (before(middle, low, axis)) swap(low, middle);
    if (before(middle, high, axis)) swap(high, middle);
    if (before(high, low, axis)) swap(low, high);
}

/* Quickselect: the first `half` items have the smaller centers; ties are ordered by index, so the
 * tree does not depend on the sort. Every item is moved, as nobody can foretell which have to be.
 */
static void select_half(item *items, int count, int half, int axis) {
    int lo = 0, hi = count - 1;
    while (lo < hi) {
        choose_pivot(items, lo, hi, axis);
        const item pivot = items[hi];
        int smaller = lo;
        for (int i = lo; i < hi; i++) {
            item t = items[i];
            items[i] = items[smaller];
            items[smaller] = t;
            smaller += before(&t, &pivot, axis);
        }
        items[hi] = items[smaller];
        items[smaller] = pivot;
        if (smaller == half || smaller + 1 == half) break;
        if (smaller < half)
            lo = smaller + 1;
        else
            hi = smaller - 1;
    }
}

/* The boxes of a leaf. */
static void make_leaf(const builder *b, subtree t) {
    arap_bvh *bvh = b->bvh;
    node *self = &bvh->nodes[t.node];
    self->first = t.first;
    self->count = t.count;
    for (int c = 0; c < 3; c++) self->lo[c] = INFINITY, self->hi[c] = -INFINITY;
    for (int i = t.first; i < t.first + t.count; i++) {
        int primitive = bvh->order[i] = b->items[i].primitive;
        const double *box = b->boxes + 6 * (size_t)primitive;
        for (int c = 0; c < 3; c++) {
            self->lo[c] = box[c] < self->lo[c] ? box[c] : self->lo[c];
            self->hi[c] = box[c + 3] > self->hi[c] ? box[c + 3] : self->hi[c];
        }
        int tag = bvh->tags ? bvh->tags[primitive] : MIXED_TAGS;
        self->tag = i == t.first || tag == self->tag ? tag : MIXED_TAGS;
    }
}

/* The box of an inner node, of those of its children. */
static void join(const builder *b, int at) {
    node *self = &b->bvh->nodes[at];
    const node *left = self + 1, *right = &b->bvh->nodes[self->first];
    for (int c = 0; c < 3; c++) {
        self->lo[c] = left->lo[c] < right->lo[c] ? left->lo[c] : right->lo[c];
        self->hi[c] = left->hi[c] > right->hi[c] ? left->hi[c] : right->hi[c];
    }
    self->tag = left->tag == right->tag ? left->tag : MIXED_TAGS;
}

/* Of a tree: leaves of half a leaf at least, and one node less above them. */
static int most_nodes(int leaf, int count) {
    int leaves = count / (leaf / 2);
    return leaves > 1 ? 2 * leaves - 1 : 1;
}

/* Make the topmost node of a subtree; returns 1 with its halves, whose boxes are yet to be joined,
 * or 0 for a leaf. */
static int split(const builder *b, subtree t, subtree *half) {
    item *items = b->items + t.first;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (t.count <= b->leaf) {
        make_leaf(b, t);
        return 0;
    }
    for (int i = 0; i < t.count; i++)
        for (int c = 0; c < 3; c++) {
            double middle = items[i].center[c]; /* finite: half the time of fmin, fmax */
            lo[c] = middle < lo[c] ? middle : lo[c];
            hi[c] = middle > hi[c] ? middle : hi[c];
        }
    int axis = 0, left = t.count / 2;
    for (int c = 1; c < 3; c++)
        if (hi[c] - lo[c] > hi[axis] - lo[axis]) axis = c;
    select_half(items, t.count, left, axis);
    half[0] = (subtree){t.node + 1, t.first, left};
    half[1] = (subtree){t.node + most_nodes(b->leaf, left) + 1, t.first + left, t.count - left};
    b->bvh->nodes[t.node].first = half[1].node;
    b->bvh->nodes[t.node].count = 0;
    return 1;
}

static void build(const builder *b, subtree t) {
    subtree half[2];
    if (!split(b, t, half)) return;
    build(b, half[0]);
    build(b, half[1]);
    join(b, t.node);
}

static void split_task(void *data, int chunk, int worker) {
    (void)worker;
    builder *b = data;
    split(b, b->subtree[chunk], b->half[chunk]);
}

static void build_task(void *data, int chunk, int worker) {
    (void)worker;
    const builder *b = data;
    build(b, b->subtree[chunk]);
}

static arap_status build_all(arap_context *context, builder *b) {
    arap_status status = ARAP_OK;
    while (!status && b->count < context->threads * 4 && 2 * b->count <= MOST_SUBTREES &&
           b->subtree[0].count >= 2 * LEAST_SUBTREE && context->threads > 1) {
        status = arap_parallel(context, b->count, split_task, b);
        for (int k = 0; k < b->count; k++) b->split[b->split_count++] = b->subtree[k].node;
        for (int k = b->count - 1; k >= 0; k--) {
            b->subtree[2 * k] = b->half[k][0];
            b->subtree[2 * k + 1] = b->half[k][1];
        }
        b->count *= 2;
    }
    if (!status) status = arap_parallel(context, b->count, build_task, b);
    for (int k = b->split_count - 1; k >= 0 && !status; k--) join(b, b->split[k]);
    return status;
}

static void item_task(void *data, int chunk, int worker) {
    (void)worker;
    const builder *b = data;
    int end = (chunk + 1) * CHUNK < b->subtree->count ? (chunk + 1) * CHUNK : b->subtree->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *box = b->boxes + 6 * (size_t)i;
        b->items[i].primitive = i;
        for (int c = 0; c < 3; c++) b->items[i].center[c] = box[c] + box[c + 3];
    }
}

static arap_status build_bvh(arap_context *context, arap_bvh **out, int leaf, size_t count,
                             const double *boxes, const int *tags) {
    arap_status status = ARAP_OK;
    arap_bvh *bvh = ARAP_NEW_ZERO(arap_bvh, 1);
    item *items = ARAP_NEW(item, count);
    *out = bvh;
    if (!bvh || !items) goto no_memory;
    bvh->nodes = ARAP_NEW(node, most_nodes(leaf, (int)count));
    bvh->order = ARAP_NEW(int, count);
    if (!bvh->nodes || !bvh->order) goto no_memory;
    if (tags) {
        bvh->tags = ARAP_NEW(int, count);
        if (!bvh->tags) goto no_memory;
        for (size_t i = 0; i < count; i++) bvh->tags[i] = tags[i];
    }
    bvh->empty = !count;
    if (count) {
        builder b = {.bvh = bvh,
                     .boxes = boxes,
                     .items = items,
                     .leaf = leaf,
                     .count = 1,
                     .subtree = {{.count = (int)count}}};
        status = arap_parallel(context, (b.subtree->count + CHUNK - 1) / CHUNK, item_task, &b);
        if (!status) status = build_all(context, &b);
    }
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the bounding volume hierarchy");
done:
    arap_free(items);
    if (!status) return status;
    arap_bvh_free(bvh);
    *out = NULL;
    return status;
}

arap_status arap_bvh_build(arap_context *context, arap_bvh **out, size_t count, const double *boxes,
                           const int *tags) {
    return build_bvh(context, out, LEAF_SIZE, count, boxes, tags);
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
        double below = n->lo[c] - p[c], above = p[c] - n->hi[c];
        double d = below > above ? below : above;
        d = d > 0 ? d : 0;
        sum += d * d;
    }
    return sum;
}

/* By how much squared distances may differ from the best so far and still count as equal. */
static double tie_of(int best, double best2) { return best < 0 ? 0 : TIE * best2 + TIE * TIE; }

int arap_bvh_nearest(const arap_bvh *bvh, const double *p, int skip, arap_distance_fn distance,
                     const void *data, double *distance2) {
    struct {
        int node;
        double distance2;
    } stack[STACK_SIZE];
    int depth = 0, best = -1;
    double best2 = *distance2;
    if (!bvh->empty) {
        stack[depth].node = 0;
        stack[depth++].distance2 = box_distance2(bvh->nodes, p);
    }
    while (depth) {
        const node *n = &bvh->nodes[stack[--depth].node];
        if (stack[depth].distance2 > best2 + tie_of(best, best2) || (skip >= 0 && n->tag == skip))
            continue;
        if (n->count) {
            for (int i = n->first; i < n->first + n->count; i++) {
                int primitive = bvh->order[i];
                if (skip >= 0 && bvh->tags[primitive] == skip) continue;
                double d2 = distance(data, primitive, p), tie = tie_of(best, best2);
                if (d2 + tie < best2 || (best >= 0 && d2 <= best2 + tie && primitive < best))
                    best = primitive;
                best2 = d2 < best2 ? d2 : best2;
            }
        } else {
            int left = (int)(n - bvh->nodes) + 1, right = n->first;
            double to_left = box_distance2(&bvh->nodes[left], p);
            double to_right = box_distance2(&bvh->nodes[right], p);
            int left_first = to_left <= to_right;
            stack[depth].node = left_first ? right : left;
            stack[depth++].distance2 = left_first ? to_right : to_left;
            stack[depth].node = left_first ? left : right;
            stack[depth++].distance2 = left_first ? to_left : to_right;
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
        double in = near < far ? near : far, out = near < far ? far : near;
        t0 = in > t0 ? in : t0;
        t1 = out < t1 ? out : t1;
    }
    return t0 <= t1 * (1 + 1e-12);
}

int arap_bvh_crossed(const arap_bvh *bvh, const double *a, const double *b, arap_hit_fn hit,
                     const void *data) {
    int stack[STACK_SIZE], depth = 0;
    double inverse[3];
    for (int c = 0; c < 3; c++) inverse[c] = 1 / (b[c] - a[c]);
    if (!bvh->empty) stack[depth++] = 0;
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

/* The tags of a node and all below it, of those of its primitives. */
static int tag_below(arap_bvh *bvh, int at) {
    node *self = &bvh->nodes[at];
    if (self->count) {
        self->tag = bvh->tags[bvh->order[self->first]];
        for (int i = self->first + 1; i < self->first + self->count; i++)
            if (bvh->tags[bvh->order[i]] != self->tag) self->tag = MIXED_TAGS;
    } else {
        int left = tag_below(bvh, at + 1), right = tag_below(bvh, self->first);
        self->tag = left == right ? left : MIXED_TAGS;
    }
    return self->tag;
}

void arap_face_bvh_tag(const arap_mesh *mesh, const int *tags, arap_bvh *bvh) {
    for (size_t t = 0; t < mesh->triangle_count; t++)
        bvh->tags[t] = tags[mesh->part[mesh->triangles[3 * t]]];
    if (!bvh->empty) tag_below(bvh, 0);
}

typedef struct face_boxes {
    const arap_mesh *mesh;
    const int *tags; /* (parts) or NULL */
    double *boxes;
    int *face_tags;
} face_boxes;

static void box_task(void *data, int chunk, int worker) {
    (void)worker;
    const face_boxes *f = data;
    const arap_mesh *mesh = f->mesh;
    size_t first = (size_t)chunk * CHUNK, end = first + CHUNK;
    if (end > mesh->triangle_count) end = mesh->triangle_count;
    for (size_t t = first; t < end; t++) {
        const int *tri = mesh->triangles + 3 * t;
        if (f->tags) f->face_tags[t] = f->tags[mesh->part[tri[0]]];
        for (int c = 0; c < 3; c++) {
            double x = mesh->v[3 * (size_t)tri[0] + c], y = mesh->v[3 * (size_t)tri[1] + c],
                   z = mesh->v[3 * (size_t)tri[2] + c];
            double lo = y < z ? y : z, hi = y > z ? y : z; /* finite */
            f->boxes[6 * t + c] = x < lo ? x : lo;
            f->boxes[6 * t + 3 + c] = x > hi ? x : hi;
        }
    }
}

static arap_status build_faces(arap_context *context, const arap_mesh *mesh, const int *tags,
                               int leaf, arap_bvh **out) {
    face_boxes f = {.mesh = mesh,
                    .tags = tags,
                    .boxes = ARAP_NEW(double, 6 * mesh->triangle_count),
                    .face_tags = tags ? ARAP_NEW(int, mesh->triangle_count) : NULL};
    arap_status status;
    if (!f.boxes || (tags && !f.face_tags)) {
        status = arap_fail_memory(&context->error, "the face hierarchy");
        goto done;
    }
    status =
        arap_parallel(context, (int)((mesh->triangle_count + CHUNK - 1) / CHUNK), box_task, &f);
    if (!status) status = build_bvh(context, out, leaf, mesh->triangle_count, f.boxes, f.face_tags);

done:
    arap_free(f.boxes);
    arap_free(f.face_tags);
    return status;
}

arap_status arap_face_bvh(arap_context *context, const arap_mesh *mesh, const int *tags,
                          arap_bvh **out) {
    return build_faces(context, mesh, tags, LEAF_SIZE, out);
}

arap_status arap_face_bvh_for_few(arap_context *context, const arap_mesh *mesh, arap_bvh **out) {
    return build_faces(context, mesh, NULL, LARGE_LEAF, out);
}
