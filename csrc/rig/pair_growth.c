/* Grows pairs of partners along edges: see pair_growth.h.
 *
 * Of all pairs of unpaired neighbors k, l of partners i, j, those whose images fit best become
 * partners first, and add their own neighbors. The result therefore depends on geometry and not on
 * the order of the vertices. With the shorter of both edges as the unit, the cost of a pair is the
 * same from both sides. Among equal costs, the lower position comes first, by x, then y, then z.
 * Links are not edges of the caller's mesh and are ignored.
 *
 * The heap of c candidates takes O(c log c), where c is at most edges x ring. Fails on
 * out-of-memory. */
#include "rig/pair_growth.h"

#include "base/memory.h"
#include "base/vec3.h"

/* maximum deviation of partners whose edges are images, as a share of the mesh size */
#define MAXIMUM 0.02

typedef struct candidate {
    double cost;
    int k, l;
} candidate;

typedef struct growth {
    const arap_mesh *mesh;
    arap_symmetry *symmetry;
    enum arap_growth by;
    double share;
    candidate *heap;
    size_t count, room;
} growth;

static int compare_places(const arap_mesh *mesh, int a, int b) {
    const double *p = mesh->v + 3 * (size_t)a, *q = mesh->v + 3 * (size_t)b;
    for (int c = 0; c < 3; c++)
        if (p[c] != q[c]) return p[c] < q[c] ? -1 : 1;
    return 0;
}

static int comes_first(const growth *g, const candidate *a, const candidate *b) {
    if (a->cost != b->cost) return a->cost < b->cost;
    int order = compare_places(g->mesh, a->k, b->k);
    return (order ? order : compare_places(g->mesh, a->l, b->l)) < 0;
}

static arap_status push(arap_context *context, growth *g, candidate c) {
    if (g->count == g->room) {
        size_t room = g->room ? 2 * g->room : 256;
        candidate *grown = arap_realloc(g->heap, room, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the symmetry map");
        g->heap = grown;
        g->room = room;
    }
    size_t at = g->count++;
    for (; at && comes_first(g, &c, &g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        g->heap[at] = g->heap[(at - 1) / 2];
    g->heap[at] = c;
    return ARAP_OK;
}

static candidate pop(growth *g) {
    candidate top = g->heap[0], last = g->heap[--g->count];
    size_t at = 0;
    for (size_t child = 1; child < g->count; child = 2 * at + 1) {
        if (child + 1 < g->count && comes_first(g, &g->heap[child + 1], &g->heap[child])) child++;
        if (!comes_first(g, &g->heap[child], &last)) break;
        g->heap[at] = g->heap[child];
        at = child;
    }
    if (g->count) g->heap[at] = last;
    return top;
}

/* The squared distance by which the ends of edge e of vertex i and edge f of its partner j fail to
 * be images, as a share of the squared length of the shorter edge. */
static double cost_of(const growth *g, int i, size_t e, int j, size_t f) {
    const arap_mesh *mesh = g->mesh;
    const double *there = mesh->v + 3 * (size_t)mesh->neighbor[f];
    double edge[3], other[3], image[3], off2;
    arap_mesh_edge(mesh, i, e, edge);
    arap_mesh_edge(mesh, j, f, other);
    arap_reflect(g->symmetry, mesh->v + 3 * (size_t)mesh->neighbor[e], g->symmetry->offset, image);
    off2 = arap_distance2(image, there);
    if (g->by == ARAP_GROWTH_EDGES) {
        if (off2 > MAXIMUM * MAXIMUM * mesh->size * mesh->size) return INFINITY;
        arap_reflect(g->symmetry, edge, 0, image);
        off2 = arap_distance2(image, other);
    }
    return off2 / fmin(arap_dot(edge, edge), arap_dot(other, other));
}

/* The candidates next to vertex i and its partner. */
static arap_status push_around(arap_context *context, growth *g, int i) {
    const arap_mesh *mesh = g->mesh;
    int j = g->symmetry->vertex[i];
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        int k = mesh->neighbor[e];
        if (g->symmetry->vertex[k] >= 0 || arap_mesh_is_link(mesh, e)) continue;
        for (size_t f = mesh->ring[j]; f < mesh->ring[j + 1]; f++) {
            int l = mesh->neighbor[f];
            if (g->symmetry->vertex[l] >= 0 || arap_mesh_is_link(mesh, f)) continue;
            candidate c = {cost_of(g, i, e, j, f), k, l};
            if (!(c.cost < g->share * g->share)) continue;
            arap_status status = push(context, g, c);
            if (status) return status;
        }
    }
    return ARAP_OK;
}

arap_status arap_grow_pairs(arap_context *context, const arap_mesh *mesh, enum arap_growth by,
                            double share, arap_symmetry *symmetry) {
    growth g = {.mesh = mesh, .symmetry = symmetry, .by = by, .share = share};
    arap_status status = ARAP_OK;
    for (int i = 0; i < mesh->count && !status; i++)
        if (symmetry->vertex[i] >= 0) status = push_around(context, &g, i);
    while (g.count && !status) {
        candidate c = pop(&g);
        if (symmetry->vertex[c.k] >= 0 || symmetry->vertex[c.l] >= 0) continue;
        symmetry->vertex[c.k] = c.l;
        symmetry->vertex[c.l] = c.k;
        status = push_around(context, &g, c.k);
        if (!status) status = push_around(context, &g, c.l);
    }
    arap_free(g.heap);
    return status;
}
