/* Bounding volume hierarchy: see bvh.h.
 *
 * The tree is built top-down by splitting at the median of the box centers along the longest side
 * of their bounds. This rule is insensitive to slivers and coincident primitives, and limits the
 * depth to log2(count) + 1. The centers take 16 bytes each and are sorted in place, so each level
 * reads them one after another. Boxes are read only in the leaves and joined on the way up. Faces
 * with tags are split by part first, so a query that skips its own part does so near the root of
 * the tree. The nodes are stored depth-first, so the left child of node i is i + 1. Every leaf is
 * at least half full, unless it is the only one. This bounds the number of nodes of a subtree, so
 * the position of the right child is known before the left child is built. Large trees are first
 * split level by level, and then their subtrees are built, both on all threads. Building takes O(n
 * log n), and a query near the primitives takes O(log n). Fails on out-of-memory only. */
#include "mesh/bvh.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/vec2.h"
#include "mesh/nearest.h"

#define LEAF_SIZE 4
#define LARGE_LEAF 64 /* for a tree with few queries */
#define STACK_SIZE 128
#define MIXED_TAGS (-2)
#define APART 1000 /* distance by which parts with tags are moved apart, see move_parts */
#define MAX_SUBTREES 64
#define MIN_SUBTREE 2048 /* primitives of a subtree that justifies a task */
#define CHUNK 4096       /* primitives of a task before there are subtrees */
/* number of steps for centers, along the longest side of their common box */
#define STEPS 2e9
#define SMALL 100      /* number of items up to which 3 items are the sample for the pivot */
#define SAMPLES 9      /* size of the sample for more items */
#define LARGE 2000     /* number of items up to which SAMPLES items are the sample */
#define MAX_SAMPLES 63 /* size of the sample for more than LARGE items */

typedef struct node {
    double lo[3], hi[3];
    int first; /* leaf: index of its first primitive in `order`; inner node: index of its right
                  child */
    int count; /* primitives of a leaf, 0 for an inner node */
    int tag;   /* common tag of all primitives below, or MIXED_TAGS */
} node;

struct arap_bvh {
    node *nodes;
    int *order;
    int *tags;
    int empty;
    arap_arena arena; /* of these arrays */
};

/* The primitives order[first..first + count) and the position of their first node. */
typedef struct subtree {
    int node, first, count;
} subtree;

/* A primitive and the center of its box, shifted with its part. The center is quantized relative to
 * the whole range to keep the item small, because items are moved often. */
typedef struct item {
    int32_t center[3];
    int primitive;
} item;

typedef struct bounds {
    double lo[3], hi[3];
} bounds;

typedef struct builder {
    arap_bvh *bvh;
    const double *boxes;
    const arap_mesh *mesh; /* for faces whose parts are moved apart, or NULL */
    const double *shift;   /* (parts, 3) */
    item *items;
    bounds *bounds; /* (tasks) bounds of the centers, twice; the first entry finally contains all */
    double scale;   /* number of steps in a unit of the bounds */
    int leaf;       /* maximum number of primitives in a leaf, even */
    int count;      /* number of subtrees that must still be built */
    subtree subtree[MAX_SUBTREES], half[MAX_SUBTREES][2];
    int split_count;         /* number of nodes above the subtrees */
    int split[MAX_SUBTREES]; /* these nodes, parents first */
} builder;

static int before(const item *a, const item *b, int axis) {
    int32_t x = a->center[axis], y = b->center[axis];
    return (x < y) | ((x == y) & (a->primitive < b->primitive)); /* without a branch */
}

static void swap(item *a, item *b) {
    item t = *a;
    *a = *b;
    *b = t;
}

/* Move to items[hi] an item with about the same rank among the items lo..hi as items[half],
 * estimated from a sample. */
static void choose_pivot(item *items, int lo, int hi, int half, int axis) {
    int count = hi - lo + 1, max = count > LARGE ? MAX_SAMPLES : count > SMALL ? SAMPLES : 3;
    int sample[MAX_SAMPLES], size = 0;
    for (int k = 0; k < max; k++) {
        int one = lo + (int)((int64_t)(count - 1) * k / (max - 1)), at = size++;
        for (; at > 0 && before(&items[one], &items[sample[at - 1]], axis); at--)
            sample[at] = sample[at - 1];
        sample[at] = one;
    }
    swap(&items[sample[(int64_t)(half - lo) * max / count]], &items[hi]);
}

/* Quickselect: the first `half` items have the smaller centers. Ties are ordered by index, so the
 * tree does not depend on the sort. All items are moved, because which of them must be moved is not
 * known in advance.
 * */
static void select_half(item *items, int count, int half, int axis) {
    int lo = 0, hi = count - 1;
    while (lo < hi) {
        choose_pivot(items, lo, hi, half, axis);
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

/* Compute the box of an inner node from those of its children. */
static void join(const builder *b, int at) {
    node *self = &b->bvh->nodes[at];
    const node *left = self + 1, *right = &b->bvh->nodes[self->first];
    for (int c = 0; c < 3; c++) {
        self->lo[c] = left->lo[c] < right->lo[c] ? left->lo[c] : right->lo[c];
        self->hi[c] = left->hi[c] > right->hi[c] ? left->hi[c] : right->hi[c];
    }
    self->tag = left->tag == right->tag ? left->tag : MIXED_TAGS;
}

/* Number of nodes in a tree: leaves that are at least half full, and one inner node fewer. */
static int max_nodes(int leaf, int count) {
    int leaves = count / (leaf / 2);
    return leaves > 1 ? 2 * leaves - 1 : 1;
}

/* Create the topmost node of a subtree. Returns 1 and its halves, whose boxes must still be joined,
 * or 0 for a leaf. */
static int split(const builder *b, subtree t, subtree *half) {
    item *items = b->items + t.first;
    int32_t lo[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, hi[3] = {0, 0, 0};
    if (t.count <= b->leaf) {
        make_leaf(b, t);
        return 0;
    }
    for (int i = 0; i < t.count; i++)
        for (int c = 0; c < 3; c++) {
            int32_t middle = items[i].center[c];
            lo[c] = middle < lo[c] ? middle : lo[c];
            hi[c] = middle > hi[c] ? middle : hi[c];
        }
    int axis = 0, left = t.count / 2;
    for (int c = 1; c < 3; c++)
        if (hi[c] - lo[c] > hi[axis] - lo[axis]) axis = c;
    select_half(items, t.count, left, axis);
    half[0] = (subtree){t.node + 1, t.first, left};
    half[1] = (subtree){t.node + max_nodes(b->leaf, left) + 1, t.first + left, t.count - left};
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

/* On one thread, cancellation is polled between subtrees. */
static arap_status build_all(arap_context *context, builder *b) {
    arap_status status = ARAP_OK;
    int wanted = context->threads > 1 ? 4 * context->threads : MAX_SUBTREES;
    while (!status && b->count < wanted && 2 * b->count <= MAX_SUBTREES &&
           b->subtree[0].count >= 2 * MIN_SUBTREE) {
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

/* Twice the center of the box of a primitive, shifted with its part. */
static void find_center(const builder *b, int i, double *center) {
    const double *box = b->boxes + 6 * (size_t)i;
    for (int c = 0; c < 3; c++) center[c] = box[c] + box[c + 3];
    if (!b->shift) return;
    const double *shift = b->shift + 3 * (size_t)b->mesh->part[b->mesh->triangles[3 * (size_t)i]];
    for (int c = 0; c < 3; c++) center[c] += shift[c];
}

static void bounds_task(void *data, int chunk, int worker) {
    (void)worker;
    const builder *b = data;
    bounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, b->subtree->count); i++) {
        double center[3];
        find_center(b, i, center);
        for (int c = 0; c < 3; c++) { /* valid for finite numbers, and twice as fast as fmin,
                                         fmax */
            all.lo[c] = center[c] < all.lo[c] ? center[c] : all.lo[c];
            all.hi[c] = center[c] > all.hi[c] ? center[c] : all.hi[c];
        }
    }
    b->bounds[chunk] = all;
}

static void item_task(void *data, int chunk, int worker) {
    (void)worker;
    const builder *b = data;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, b->subtree->count); i++) {
        double center[3];
        find_center(b, i, center);
        b->items[i].primitive = i;
        for (int c = 0; c < 3; c++)
            b->items[i].center[c] = (int32_t)((center[c] - b->bounds->lo[c]) * b->scale);
    }
}

static arap_status make_items(arap_context *context, builder *b) {
    int chunks = arap_chunks(b->subtree->count, CHUNK);
    double longest = 0;
    b->bounds = ARAP_NEW(bounds, chunks);
    if (!b->bounds) return arap_fail_memory(&context->error, "the bounding volume hierarchy");
    arap_status status = arap_parallel(context, chunks, bounds_task, b);
    for (int k = 0; k < chunks && !status; k++)
        for (int c = 0; c < 3; c++) {
            b->bounds->lo[c] = fmin(b->bounds->lo[c], b->bounds[k].lo[c]);
            b->bounds->hi[c] = fmax(b->bounds->hi[c], b->bounds[k].hi[c]);
        }
    for (int c = 0; c < 3; c++) longest = fmax(longest, b->bounds->hi[c] - b->bounds->lo[c]);
    b->scale = longest > 0 && isfinite(longest) ? STEPS / longest : 0;
    if (!status) status = arap_parallel(context, chunks, item_task, b);
    arap_free(b->bounds);
    return status;
}

static arap_status build_bvh(arap_context *context, arap_bvh **out, int leaf, size_t count,
                             const double *boxes, const int *tags, const arap_mesh *mesh,
                             const double *shift) {
    arap_bvh *bvh = *out = ARAP_NEW_ZERO(arap_bvh, 1);
    if (!bvh) return arap_fail_memory(&context->error, "the bounding volume hierarchy");
    item *items = ARAP_NEW(item, count);
    bvh->nodes = ARAP_TAKE(&bvh->arena, max_nodes(leaf, (int)count), node);
    bvh->order = ARAP_TAKE(&bvh->arena, count, int);
    if (tags) bvh->tags = ARAP_TAKE(&bvh->arena, count, int);
    arap_status status =
        items ? arap_arena_status(&bvh->arena, &context->error, "the bounding volume hierarchy")
              : arap_fail_memory(&context->error, "the bounding volume hierarchy");
    if (status) goto done;
    for (size_t i = 0; i < count && tags; i++) bvh->tags[i] = tags[i];
    bvh->empty = !count;
    if (count) {
        builder b = {.bvh = bvh,
                     .boxes = boxes,
                     .mesh = mesh,
                     .shift = shift,
                     .items = items,
                     .leaf = leaf,
                     .count = 1,
                     .subtree = {{.count = (int)count}}};
        status = make_items(context, &b);
        if (!status) status = build_all(context, &b);
    }

done:
    arap_free(items);
    if (!status) return status;
    arap_bvh_free(bvh);
    *out = NULL;
    return status;
}

arap_status arap_bvh_build(arap_context *context, arap_bvh **out, size_t count, const double *boxes,
                           const int *tags) {
    return build_bvh(context, out, LEAF_SIZE, count, boxes, tags, NULL, NULL);
}

void arap_bvh_free(arap_bvh *bvh) {
    if (!bvh) return;
    arap_arena_clear(&bvh->arena);
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

/* Squared distances to the boxes of both children of a node. */
static arap_v2 box_distances2(const node *left, const node *right, const double *p) {
    arap_v2 sum = {0, 0}, none = {0, 0};
    for (int c = 0; c < 3; c++) {
        arap_v2 lo = {left->lo[c], right->lo[c]}, hi = {left->hi[c], right->hi[c]};
        arap_v2 x = {p[c], p[c]}, d = arap_larger2(arap_larger2(lo - x, x - hi), none);
        sum += d * d;
    }
    return sum;
}

/* A node that must still be visited. */
typedef struct pending {
    int node;
    double distance2;
} pending;

int arap_bvh_nearest(const arap_bvh *bvh, const double *p, int skip, arap_distance_fn distance,
                     const void *data, double *distance2) {
    pending stack[STACK_SIZE];
    int depth = 0, best = -1;
    double best2 = *distance2;
    if (!bvh->empty && (skip < 0 || bvh->nodes->tag != skip))
        stack[depth++] = (pending){0, box_distance2(bvh->nodes, p)};
    while (depth) {
        pending next = stack[--depth];
        const node *n = &bvh->nodes[next.node];
        if (next.distance2 > best2 + arap_tie(best, best2)) continue;
        if (n->count) {
            for (int i = n->first; i < n->first + n->count; i++) {
                int primitive = bvh->order[i];
                if (skip >= 0 && bvh->tags[primitive] == skip) continue;
                arap_take_nearer(primitive, distance(data, primitive, p), &best, &best2);
            }
        } else {
            arap_v2 to = box_distances2(n + 1, &bvh->nodes[n->first], p);
            pending near = {next.node + 1, to[0]}, far = {n->first, to[1]};
            double max = best2 + arap_tie(best, best2);
            if (skip >= 0 && bvh->nodes[near.node].tag == skip) near.distance2 = INFINITY;
            if (skip >= 0 && bvh->nodes[far.node].tag == skip) far.distance2 = INFINITY;
            if (near.distance2 > far.distance2) {
                pending swapped = near;
                near = far;
                far = swapped;
            }
            if (far.distance2 <= max && far.distance2 < INFINITY) stack[depth++] = far;
            if (near.distance2 <= max && near.distance2 < INFINITY) stack[depth++] = near;
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

/* Whether a segment crosses all slabs of the box of each child of a node. */
static void boxes_crossed(const node *left, const node *right, const double *a,
                          const double *inverse, int *crossed) {
    arap_v2 t0 = {0, 0}, t1 = {1, 1};
    for (int c = 0; c < 3; c++) {
        arap_v2 lo = {left->lo[c], right->lo[c]}, hi = {left->hi[c], right->hi[c]};
        arap_v2 from = {a[c], a[c]}, times = {inverse[c], inverse[c]};
        arap_v2 near = (lo - from) * times, far = (hi - from) * times;
        t0 = arap_larger2(arap_smaller2(near, far), t0);
        t1 = arap_smaller2(arap_larger2(near, far), t1);
    }
    for (int k = 0; k < 2; k++) crossed[k] = t0[k] <= t1[k] * (1 + 1e-12);
}

int arap_bvh_crossed(const arap_bvh *bvh, const double *a, const double *b, arap_hit_fn hit,
                     const void *data) {
    int stack[STACK_SIZE], depth = 0, is_along = 0;
    double inverse[3];
    for (int c = 0; c < 3; c++) {
        inverse[c] = 1 / (b[c] - a[c]);
        is_along |= isinf(inverse[c]) != 0;
    }
    if (!bvh->empty && box_crossed(bvh->nodes, a, inverse)) stack[depth++] = 0;
    while (depth) {
        const node *n = &bvh->nodes[stack[--depth]];
        if (n->count) {
            for (int i = n->first; i < n->first + n->count; i++)
                if (hit(data, bvh->order[i], a, b)) return 1;
        } else {
            const node *left = n + 1, *right = &bvh->nodes[n->first];
            int crossed[2];
            if (is_along) {
                crossed[0] = box_crossed(left, a, inverse);
                crossed[1] = box_crossed(right, a, inverse);
            } else {
                boxes_crossed(left, right, a, inverse, crossed);
            }
            if (crossed[1]) stack[depth++] = n->first;
            if (crossed[0]) stack[depth++] = (int)(left - bvh->nodes);
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

/* Set the tags of a node and all nodes below it from those of its primitives. */
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

/* The shift of each part, proportional to its position in the mesh. This distance is so large that
 * a node mixes faces of several parts only if all of them do not fit into one node. */
static void move_parts(const face_boxes *f, double *shift) {
    const arap_mesh *mesh = f->mesh;
    size_t parts = (size_t)mesh->part_count;
    double *lo = shift, *hi = shift + 3 * parts;
    for (size_t k = 0; k < 3 * parts; k++) lo[k] = INFINITY, hi[k] = -INFINITY;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        size_t p = 3 * (size_t)mesh->part[mesh->triangles[3 * t]];
        for (size_t c = 0; c < 3; c++) {
            double low = f->boxes[6 * t + c], high = f->boxes[6 * t + 3 + c];
            lo[p + c] = low < lo[p + c] ? low : lo[p + c];
            hi[p + c] = high > hi[p + c] ? high : hi[p + c];
        }
    }
    for (size_t k = 0; k < 3 * parts; k++) shift[k] = APART * (lo[k] + hi[k]);
}

static arap_status build_faces(arap_context *context, const arap_mesh *mesh, const int *tags,
                               int leaf, arap_bvh **out) {
    arap_arena arena = {0};
    face_boxes f = {.mesh = mesh,
                    .tags = tags,
                    .boxes = ARAP_TAKE(&arena, 6 * mesh->triangle_count, double),
                    .face_tags = tags ? ARAP_TAKE(&arena, mesh->triangle_count, int) : NULL};
    double *shift = tags ? ARAP_TAKE(&arena, 6 * (size_t)mesh->part_count, double) : NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the face hierarchy");
    if (status) goto done;
    status =
        arap_parallel(context, (int)((mesh->triangle_count + CHUNK - 1) / CHUNK), box_task, &f);
    if (!status && tags) move_parts(&f, shift);
    if (!status)
        status =
            build_bvh(context, out, leaf, mesh->triangle_count, f.boxes, f.face_tags, mesh, shift);

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_face_bvh(arap_context *context, const arap_mesh *mesh, const int *tags,
                          arap_bvh **out) {
    return build_faces(context, mesh, tags, LEAF_SIZE, out);
}

arap_status arap_face_bvh_for_few(arap_context *context, const arap_mesh *mesh, arap_bvh **out) {
    return build_faces(context, mesh, NULL, LARGE_LEAF, out);
}
