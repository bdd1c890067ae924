/* The extent of a mesh: see extent.h.
 *
 * For almost every mesh, the extent is the bounding box of all vertices. However, a single stray
 * vertex 1e5 sizes away would make lengths that are shares of the diagonal, such as the welding
 * distance, larger than limbs. Therefore:
 *   - a vertex is far away if it is more than FENCE diagonals outside the box that leaves out the
 *     outermost SHARE of the coordinates at both ends of each axis; the extent is the box of the
 *     others;
 *   - if two objects are far apart (such as a second mesh 1e5 sizes away), neither counts as far
 *     away. Instead, if the box is more than FENCE times larger than the largest part connected by
 *     faces and edges, and than the square root of twice the surface area, the larger of these two
 *     lengths is used as the diagonal.
 * Both limits are generous, since no real model has 99 % of its vertices in 2 % of its size. If
 * neither case applies, the numbers are bit-identical to those of the plain box.
 *
 * Computing the quantiles, which most meshes do not need, takes O(n). The second case also needs a
 * union-find structure for the parts. Fails on out-of-memory, if the square of the box's size
 * overflows, and if parts are so far apart that the coordinates of one are within the rounding
 * errors of another. */
#include "mesh/extent.h"

#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"

#define FENCE 50
#define SHARE 200 /* one in so many, and at least one vertex */
/* sizes of the largest part, beyond which rounding dominates the energy */
#define FARTHEST_APART 1e6
#define MINIMUM 4 /* minimum number of vertices of a mesh that may have outliers */

typedef struct box {
    double lo[3], hi[3];
} box;

static const box nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

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

/* The k-th smallest number. The numbers are reordered. */
static double select(double *x, int count, int k) {
    int lo = 0, hi = count - 1;
    while (lo < hi) {
        double pivot = x[lo + (hi - lo) / 2];
        int i = lo, j = hi;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (pivot < x[j]) j--;
            if (i > j) break;
            double swapped = x[i];
            x[i++] = x[j];
            x[j--] = swapped;
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            break;
    }
    return x[k];
}

/* Whether both outer thirds of the box, along its longest side, contain so many vertices that no
 * vertex can be beyond a fence. This is true for most meshes, for which no quantiles are needed. */
static int is_spread(const arap_geometry *g, const box *whole, int outermost) {
    int axis = 0, low = 0, high = 0;
    for (int c = 1; c < 3; c++)
        if (whole->hi[c] - whole->lo[c] > whole->hi[axis] - whole->lo[axis]) axis = c;
    double third = (whole->hi[axis] - whole->lo[axis]) / 3;
    double below = whole->lo[axis] + third, above = whole->hi[axis] - third;
    for (int i = 0; i < g->vertex_count && (low <= outermost || high <= outermost); i++) {
        low += vertex_of(g, i)[axis] < below;
        high += vertex_of(g, i)[axis] > above;
    }
    return low > outermost && high > outermost;
}

/* Set the fence if a vertex of the box is beyond it. */
static arap_status find_fence(arap_context *context, const arap_geometry *g, const box *whole,
                              arap_extent *out) {
    int n = g->vertex_count, outermost = n / SHARE > 1 ? n / SHARE : 1, beyond = 0;
    box inner;
    if (is_spread(g, whole, outermost)) return ARAP_OK;
    double *x = ARAP_NEW(double, n);
    if (!x) return arap_fail_memory(&context->error, "the extent of the mesh");
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < n; i++) x[i] = vertex_of(g, i)[c];
        inner.lo[c] = select(x, n, outermost);
        inner.hi[c] = select(x, n, n - 1 - outermost);
    }
    arap_free(x);
    double margin = FENCE * diagonal_of(&inner);
    if (!(margin > 0)) return ARAP_OK; /* most vertices coincide */
    for (int c = 0; c < 3; c++)
        beyond |= whole->lo[c] < inner.lo[c] - margin || whole->hi[c] > inner.hi[c] + margin;
    for (int c = 0; c < 3 && beyond; c++) {
        out->lo[c] = inner.lo[c] - margin;
        out->hi[c] = inner.hi[c] + margin;
    }
    return ARAP_OK;
}

/* Extent of everything that is not far away, or less if that is already `enough`. */
static double surface_size(const arap_geometry *g, const arap_extent *extent, double enough) {
    double area = 0,
           enough_area = enough * enough; /* twice the required value, to allow for rounding */
    for (size_t t = 0; t < g->triangle_count && area < enough_area; t++) {
        const double *p[3];
        int far = 0;
        for (int c = 0; c < 3; c++) {
            p[c] = vertex_of(g, g->triangles[3 * t + (size_t)c]);
            far |= arap_is_far_off(extent, p[c]);
        }
        if (!far) area += arap_triangle_area(p[0], p[1], p[2]);
    }
    return sqrt(2 * area);
}

/* The box of the largest part, without distant vertices. */
static arap_status largest_part(arap_context *context, const arap_geometry *g,
                                const arap_extent *extent, box *out) {
    int n = g->vertex_count, largest = 0;
    int *parent = ARAP_NEW(int, n);
    box *boxes = ARAP_NEW(box, n);
    arap_status status = ARAP_OK;
    if (!parent || !boxes) {
        status = arap_fail_memory(&context->error, "the extent of the mesh");
        goto done;
    }
    for (int i = 0; i < n; i++) {
        parent[i] = i;
        boxes[i] = nothing;
    }
    for (size_t k = 0; k < 3 * g->triangle_count; k++)
        arap_unite(parent, g->triangles[k], g->triangles[k - k % 3]);
    for (size_t k = 0; k < 4 * g->tet_count; k++)
        arap_unite(parent, g->tets[k], g->tets[k - k % 4]);
    for (size_t e = 0; e < g->edge_count; e++)
        arap_unite(parent, g->edges[2 * e], g->edges[2 * e + 1]);
    for (int i = 0; i < n; i++)
        if (!arap_is_far_off(extent, vertex_of(g, i)))
            include(&boxes[arap_find_root(parent, i)], vertex_of(g, i));
    double max = -1;
    for (int i = 0; i < n; i++) {
        double diagonal = boxes[i].lo[0] <= boxes[i].hi[0] ? diagonal_of(&boxes[i]) : -1;
        if (diagonal > max) max = diagonal, largest = i;
    }
    *out = boxes[largest];

done:
    arap_free(parent);
    arap_free(boxes);
    return status;
}

arap_status arap_extent_find(arap_context *context, const arap_geometry *g, arap_extent *out) {
    box whole = nothing, near = nothing, part;
    arap_status status = ARAP_OK;
    *out = (arap_extent){.lo = {-INFINITY, -INFINITY, -INFINITY},
                         .hi = {INFINITY, INFINITY, INFINITY}};
    for (int i = 0; i < g->vertex_count; i++) include(&whole, vertex_of(g, i));
    if (!isfinite(arap_distance2(whole.lo, whole.hi)))
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the bounding box of the mesh is too large");
    if (g->vertex_count >= MINIMUM) status = find_fence(context, g, &whole, out);
    if (status) return status;
    for (int i = 0; i < g->vertex_count; i++)
        if (!arap_is_far_off(out, vertex_of(g, i))) include(&near, vertex_of(g, i));
    out->diagonal = diagonal_of(&near);
    double size = surface_size(g, out, out->diagonal / FENCE);
    if (out->diagonal > FENCE * size) {
        status = largest_part(context, g, out, &part);
        if (status) return status;
        size = fmax(size, diagonal_of(&part));
        if (size > 0 && out->diagonal > FENCE * size) {
            if (out->diagonal > FARTHEST_APART * size)
                return arap_fail(&context->error, ARAP_BAD_VALUE,
                                 "the parts of the mesh are too far apart: the whole mesh measures "
                                 "%g, its largest part %g",
                                 out->diagonal, size);
            near = part;
            out->diagonal = size;
        }
    }
    for (int c = 0; c < 3; c++) out->center[c] = 0.5 * (near.lo[c] + near.hi[c]);
    if (!(out->diagonal > 0)) out->diagonal = 1;
    return ARAP_OK;
}
