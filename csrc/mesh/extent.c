/* The extent of a mesh: see extent.h.
 *
 * For almost every mesh, the extent is the bounding box of all vertices. However, a stray vertex or
 * a leftover object many sizes away would make lengths that are shares of the diagonal, such as the
 * welding distance, larger than limbs. The extent is therefore the box of what is connected and
 * dense:
 *   - A vertex is far away if it is more than FENCE diagonals outside the box that leaves out, at
 *     both ends of each axis, the outermost vertex and the outermost SHARE of the corners of faces,
 *     edges and tets. Corners are counted because stray vertices have few: a share of the vertices
 *     would leave out one stray vertex of a small mesh, but not three.
 *   - Vertices of no face, edge or tet do not count, unless all vertices are like this.
 *   - Among the others, vertices more than SPARSE diagonals outside such a box, which makes room
 *     for the joints of deforming bones, do not count. If a face or an edge leads from the inside
 *     of this box to such a vertex, the vertex is a stray one, and treated as if it were far away.
 *   - The parts connected by faces, edges and tets grow together, beginning with the part to which
 *     most joints of deforming bones are nearest: an object that is as large as the character must
 *     not decide about the character's units. The box takes in each part whose distance from it is
 *     at most NEAR times its diagonal, or times the diagonal of all parts to which joints are
 *     nearest, which is the size of a body of many small plates.
 *   - Without bones, the part that has the largest box is the first, and the size of a body of many
 *     small plates is the square root of twice the surface area. If most vertices are left, the
 *     largest part of these grows in the same way, and the larger box is the extent.
 * If none of these cases applies, the numbers are bit-identical to those of the plain box.
 *
 * Takes O(vertices + faces) and, for each bone and each pass in which the box grows, O(parts).
 * Fails on out-of-memory, if the square of the box's size overflows, and if parts are so far apart
 * that the coordinates of one are within the rounding errors of another. */
#include "mesh/extent.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"

#define FENCE 50
#define SPARSE 2
#define SHARE 200 /* one in so many corners, and at least one vertex */
#define NEAR 0.5
/* sizes of the extent, beyond which rounding dominates the energy */
#define FARTHEST_APART 1e6
#define MINIMUM 4 /* minimum number of vertices of a mesh that may have outliers */

typedef struct box {
    double lo[3], hi[3];
} box;

static const box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
static const box everything = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};

static void include(box *b, const double *p) {
    for (int c = 0; c < 3; c++) {
        b->lo[c] = p[c] < b->lo[c] ? p[c] : b->lo[c]; /* finite: faster than fmin */
        b->hi[c] = p[c] > b->hi[c] ? p[c] : b->hi[c];
    }
}

static double diagonal_of(const box *b) { return sqrt(arap_distance2(b->lo, b->hi)); }

static const double *vertex_of(const arap_geometry *g, int i) {
    return g->vertices + 3 * (size_t)i;
}

typedef struct weighted {
    double x;
    int64_t weight;
} weighted;

/* The smallest number that has more than this weight up to and including itself. The numbers are
 * reordered. */
static double select(weighted *all, int count, int64_t weight) {
    int lo = 0, hi = count - 1;
    while (lo < hi) {
        double pivot = all[lo + (hi - lo) / 2].x;
        int64_t below = 0, middle = 0;
        int i = lo, j = hi;
        while (i <= j) {
            while (all[i].x < pivot) i++;
            while (pivot < all[j].x) j--;
            if (i > j) break;
            weighted swapped = all[i];
            all[i++] = all[j];
            all[j--] = swapped;
        }
        for (int k = lo; k <= j; k++) below += all[k].weight;
        for (int k = j + 1; k < i; k++) middle += all[k].weight;
        if (weight < below) {
            hi = j;
        } else if (weight >= below + middle) {
            weight -= below + middle;
            lo = i;
        } else {
            return pivot;
        }
    }
    return all[lo].x;
}

static box box_of(const arap_geometry *g, const char *counts) {
    box out = nothing;
    for (int i = 0; i < g->vertex_count; i++)
        if (counts[i]) include(&out, vertex_of(g, i));
    return out;
}

static double gap_between(const box *a, const box *b) {
    double gap2 = 0;
    for (int c = 0; c < 3; c++) {
        double gap = fmax(fmax(a->lo[c] - b->hi[c], b->lo[c] - a->hi[c]), 0);
        gap2 += gap * gap;
    }
    return sqrt(gap2);
}

static void widen(box *b, double margin) {
    for (int c = 0; c < 3; c++) b->lo[c] -= margin, b->hi[c] += margin;
}

static int is_outside(const box *b, const double *p) { return arap_is_beyond(b->lo, b->hi, p); }

/* Make room in a box for the joints of deforming bones. */
static void include_bones(box *b, const arap_bones *bones) {
    for (int k = 0; bones && bones->heads && k < bones->count; k++) {
        if (bones->deform && !bones->deform[k]) continue;
        include(b, bones->heads + 3 * (size_t)k);
        if (bones->tails) include(b, bones->tails + 3 * (size_t)k);
    }
}

/* Whether both outer thirds of the box, along its longest side, have so many corners that no vertex
 * can be beyond a fence. This is true for most meshes, for which no quantiles are needed. */
static int is_spread(const arap_geometry *g, const char *counts, const int *corners,
                     const box *whole, int64_t outermost) {
    int axis = 0;
    int64_t low = 0, high = 0;
    for (int c = 1; c < 3; c++)
        if (whole->hi[c] - whole->lo[c] > whole->hi[axis] - whole->lo[axis]) axis = c;
    double third = (whole->hi[axis] - whole->lo[axis]) / 3;
    double below = whole->lo[axis] + third, above = whole->hi[axis] - third;
    for (int i = 0; i < g->vertex_count && (low <= outermost || high <= outermost); i++) {
        if (!counts[i]) continue;
        if (vertex_of(g, i)[axis] < below) low += corners[i];
        if (vertex_of(g, i)[axis] > above) high += corners[i];
    }
    return low > outermost && high > outermost;
}

/* The box within this many diagonals of the inner box of the vertices that count and of the joints
 * of deforming bones (NULL: none), or an infinite box. */
static arap_status find_fence(arap_context *context, const arap_geometry *g, const char *counts,
                              const int *corners, double fence, const arap_bones *bones, box *out) {
    box whole = box_of(g, counts), inner;
    int n = 0;
    int64_t sum = 0, most = 0;
    *out = everything;
    for (int i = 0; i < g->vertex_count; i++) {
        if (!counts[i]) continue;
        n++;
        sum += corners[i];
        if (corners[i] > most) most = corners[i];
    }
    int64_t share = sum / SHARE;
    if (n < MINIMUM || is_spread(g, counts, corners, &whole, share > most ? share : most))
        return ARAP_OK;
    weighted *all = ARAP_NEW(weighted, n);
    if (!all) return arap_fail_memory(&context->error, "the extent of the mesh");
    for (int c = 0; c < 3; c++) {
        int first = 0, last = 0, used = 0;
        for (int i = 0; i < g->vertex_count; i++) {
            if (!counts[i] || !corners[i]) continue;
            all[used] = (weighted){vertex_of(g, i)[c], corners[i]};
            if (all[used].x < all[first].x) first = used;
            if (all[used].x > all[last].x) last = used;
            used++;
        }
        int64_t below = all[first].weight, above = all[last].weight;
        inner.lo[c] = select(all, used, below > share ? below : share);
        inner.hi[c] = select(all, used, sum - 1 - (above > share ? above : share));
    }
    arap_free(all);
    double margin = fence * diagonal_of(&inner);
    if (!(margin > 0)) return ARAP_OK; /* most vertices coincide */
    *out = inner;
    include_bones(out, bones);
    widen(out, margin);
    return ARAP_OK;
}

/* The number of corners of faces, edges and tets at each vertex; 1 for all vertices without any. */
static void count_corners(const arap_geometry *g, int *corners) {
    memset(corners, 0, (size_t)g->vertex_count * sizeof *corners);
    for (size_t k = 0; k < 3 * g->triangle_count; k++) corners[g->triangles[k]]++;
    for (size_t k = 0; k < 2 * g->edge_count; k++) corners[g->edges[k]]++;
    for (size_t k = 0; k < 4 * g->tet_count; k++) corners[g->tets[k]]++;
    for (int i = 0; i < g->vertex_count; i++)
        corners[i] += !g->triangle_count && !g->edge_count && !g->tet_count;
}

/* Let only vertices of faces, edges and tets count, and unite their parts. Returns whether there
 * are any. */
static int connect(const arap_geometry *g, const char *near, char *counts, int *part) {
    const int *corners[] = {g->triangles, g->edges, g->tets};
    size_t sizes[] = {3 * g->triangle_count, 2 * g->edge_count, 4 * g->tet_count};
    int any = 0;
    memset(counts, 0, (size_t)g->vertex_count);
    for (int i = 0; i < g->vertex_count; i++) part[i] = i;
    for (size_t kind = 0; kind < 3; kind++) {
        size_t each = sizes[kind] ? (size_t[]){3, 2, 4}[kind] : 1;
        for (size_t k = 0; k < sizes[kind]; k++) {
            int i = corners[kind][k], first = corners[kind][k - k % each];
            if (near[i]) any = counts[i] = 1;
            if (near[i] && near[first]) arap_unite(part, i, first);
        }
    }
    return any;
}

static double surface_size(const arap_geometry *g, const char *counts) {
    double area = 0;
    for (size_t t = 0; t < g->triangle_count; t++) {
        const int *tri = g->triangles + 3 * t;
        if (counts[tri[0]] && counts[tri[1]] && counts[tri[2]])
            area += arap_triangle_area(vertex_of(g, tri[0]), vertex_of(g, tri[1]),
                                       vertex_of(g, tri[2]));
    }
    return sqrt(2 * area);
}

typedef struct part_box {
    box box;
    int vertices, joints, taken;
} part_box;

/* The part that is left with the largest value. */
static int find_most(const part_box *parts, int count, double (*value)(const part_box *)) {
    int most = -1;
    for (int p = 0; p < count; p++)
        if (!parts[p].taken && (most < 0 || value(&parts[p]) > value(&parts[most]))) most = p;
    return most;
}

static double part_diagonal(const part_box *part) { return diagonal_of(&part->box); }

static double part_joints(const part_box *part) { return part->joints; }

/* Grow a box from one part, and mark its parts as taken. Returns the number of its vertices. */
static int grow(part_box *parts, int count, int start, double size, box *out) {
    int vertices = 0;
    *out = parts[start].box;
    for (int taken = 1; taken;) {
        taken = 0;
        for (int p = 0; p < count; p++) {
            if (parts[p].taken) continue;
            double reach = NEAR * fmax(diagonal_of(out), size);
            if (p != start && gap_between(out, &parts[p].box) > reach) continue;
            taken = parts[p].taken = 1;
            vertices += parts[p].vertices;
            include(out, parts[p].box.lo);
            include(out, parts[p].box.hi);
        }
    }
    return vertices;
}

/* Count the joints of deforming bones that are nearest to each part. Returns the diagonal of the
 * box of all parts that have such joints, 0 if none has. */
static double count_joints(const arap_bones *bones, part_box *parts, int count) {
    box skeleton = nothing;
    for (int b = 0; b < bones->count; b++) {
        double least = INFINITY;
        int nearest = -1;
        box joint = nothing;
        if (bones->deform && !bones->deform[b]) continue;
        include(&joint, bones->heads + 3 * (size_t)b);
        for (int p = 0; p < count; p++) {
            double gap = gap_between(&joint, &parts[p].box);
            if (gap < least) least = gap, nearest = p;
        }
        if (nearest < 0) continue;
        parts[nearest].joints++;
        include(&skeleton, parts[nearest].box.lo);
        include(&skeleton, parts[nearest].box.hi);
    }
    return skeleton.lo[0] > skeleton.hi[0] ? 0 : diagonal_of(&skeleton);
}

/* The main box of parts near each other, of the vertices that count. */
static arap_status main_group(arap_context *context, const arap_geometry *g,
                              const arap_bones *bones, const char *counts, int *part, box *out) {
    arap_arena arena = {0};
    int count = 0, left = 0, most = 0, *number = ARAP_TAKE(&arena, g->vertex_count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the extent of the mesh");
    if (status) goto done;
    for (int i = 0; i < g->vertex_count; i++) number[i] = -1;
    for (int i = 0; i < g->vertex_count; i++) {
        int *own = counts[i] ? &number[arap_find_root(part, i)] : NULL;
        if (own && *own < 0) *own = count++;
    }
    part_box *parts = ARAP_TAKE(&arena, count, part_box);
    status = arap_arena_status(&arena, &context->error, "the extent of the mesh");
    if (status) goto done;
    for (int p = 0; p < count; p++) parts[p] = (part_box){.box = nothing};
    for (int i = 0; i < g->vertex_count; i++) {
        if (!counts[i]) continue;
        part_box *own = &parts[number[arap_find_root(part, i)]];
        include(&own->box, vertex_of(g, i));
        own->vertices++;
        left++;
    }
    double size = bones && bones->heads && count > 1 ? count_joints(bones, parts, count) : 0;
    if (size > 0) {
        grow(parts, count, find_most(parts, count, part_joints), size, out);
        goto done;
    }
    size = surface_size(g, counts);
    *out = nothing;
    while (left > most) {
        box group;
        int vertices = grow(parts, count, find_most(parts, count, part_diagonal), size, &group);
        left -= vertices;
        if (out->lo[0] > out->hi[0] || diagonal_of(&group) > diagonal_of(out)) {
            *out = group;
            most = vertices;
        }
    }

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_extent_find(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, arap_extent *out) {
    arap_arena arena = {0};
    box fence, whole, sparse, extent;
    size_t n = (size_t)geometry->vertex_count;
    char *near = ARAP_TAKE(&arena, n, char), *counts = ARAP_TAKE(&arena, n, char);
    int *part = ARAP_TAKE(&arena, n, int), *corners = ARAP_TAKE(&arena, n, int);
    arap_status status = ARAP_OK;
    *out = (arap_extent){.diagonal = 1};
    status = arap_arena_status(&arena, &context->error, "the extent of the mesh");
    if (status) goto done;
    memset(near, 1, n);
    whole = box_of(geometry, near);
    if (!isfinite(arap_distance2(whole.lo, whole.hi))) {
        status =
            arap_fail(&context->error, ARAP_BAD_VALUE, "the bounding box of the mesh is too large");
        goto done;
    }
    count_corners(geometry, corners);
    status = find_fence(context, geometry, near, corners, FENCE, NULL, &fence);
    if (status) goto done;
    for (size_t i = 0; i < n; i++) near[i] = !is_outside(&fence, vertex_of(geometry, (int)i));
    extent = whole = box_of(geometry, near);
    memcpy(out->lo, fence.lo, sizeof out->lo);
    memcpy(out->hi, fence.hi, sizeof out->hi);
    memcpy(out->dense[0], everything.lo, sizeof everything.lo);
    memcpy(out->dense[1], everything.hi, sizeof everything.hi);
    if (connect(geometry, near, counts, part)) {
        status = find_fence(context, geometry, counts, corners, SPARSE, bones, &sparse);
        if (status) goto done;
        for (size_t i = 0; i < n; i++)
            counts[i] &= !is_outside(&sparse, vertex_of(geometry, (int)i));
        status = main_group(context, geometry, bones, counts, part, &extent);
        if (status) goto done;
        memcpy(out->dense[0], sparse.lo, sizeof sparse.lo);
        memcpy(out->dense[1], sparse.hi, sizeof sparse.hi);
    }
    out->diagonal = diagonal_of(&extent);
    if (out->diagonal > 0 && diagonal_of(&whole) > FARTHEST_APART * out->diagonal)
        status = arap_fail(&context->error, ARAP_BAD_VALUE,
                           "the parts of the mesh are too far apart: the whole mesh measures %g, "
                           "its largest part %g",
                           diagonal_of(&whole), out->diagonal);
    memcpy(out->box[0], extent.lo, sizeof extent.lo);
    memcpy(out->box[1], extent.hi, sizeof extent.hi);
    for (int c = 0; c < 3; c++) out->center[c] = 0.5 * (extent.lo[c] + extent.hi[c]);
    if (!(out->diagonal > 0)) out->diagonal = 1;

done:
    arap_arena_clear(&arena);
    return status;
}
