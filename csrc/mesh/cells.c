/* Points in cells: see cells.h.
 *
 * Cells are numbered by position, and points are found by a hash of these numbers. Points of other
 * cells with the same hash are farther away and do not change the result. The cell of p is searched
 * first. If this cell contains a point, the search continues only in cells that may contain a
 * nearer point, and often no cell does. Creation takes O(points), and a query takes O(1). Fails on
 * out-of-memory only. */
#include "mesh/cells.h"

#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

#define CROWD 500 /* maximum number of points examined per query */
/* distance from the origin, in cells, within which each cell has its own number */
#define FARTHEST 1000000000000000

static int64_t cell_of(const arap_cells *c, double x) {
    double at = x * c->per_unit;
    if (!(fabs(at) < FARTHEST)) return at < 0 ? -FARTHEST : FARTHEST;
    int64_t whole = (int64_t)at;
    return whole - (at < (double)whole); /* rounded down, without a call */
}

static size_t hash_of(const arap_cells *c, int64_t x, int64_t y, int64_t z) {
    uint64_t mixed = (uint64_t)x * 0x9E3779B97F4A7C15u;
    mixed = ((mixed ^ mixed >> 32) + (uint64_t)y) * 0xBF58476D1CE4E5B9u;
    mixed = ((mixed ^ mixed >> 32) + (uint64_t)z) * 0x94D049BB133111EBu;
    return (size_t)(mixed >> (64 - c->bits));
}

arap_status arap_cells_create(arap_context *context, int count, const double *points, double size,
                              arap_cells *out) {
    *out = (arap_cells){
        .points = points, .size = size, .per_unit = 1 / size, .count = count, .bits = 1};
    while (out->bits < 31 && (int64_t)1 << out->bits < count) out->bits++;
    size_t places = (size_t)1 << out->bits;
    out->first = ARAP_NEW(int, places);
    out->next = ARAP_NEW(int, count);
    if (!out->first || !out->next) {
        arap_cells_clear(out);
        return arap_fail_memory(&context->error, "the cells of points");
    }
    for (size_t k = 0; k < places; k++) out->first[k] = -1;
    for (int i = 0; i < count; i++) {
        const double *p = points + 3 * (size_t)i;
        size_t hash = hash_of(out, cell_of(out, p[0]), cell_of(out, p[1]), cell_of(out, p[2]));
        out->next[i] = out->first[hash];
        out->first[hash] = i;
    }
    return ARAP_OK;
}

void arap_cells_clear(arap_cells *cells) {
    arap_free(cells->first);
    arap_free(cells->next);
    *cells = (arap_cells){0};
}

/* The nearest point so far, and the number of points examined. */
typedef struct nearest {
    const double *p;
    double best2;
    int best, count;
} nearest;

static void look_into(const arap_cells *c, int64_t x, int64_t y, int64_t z, nearest *n) {
    for (int i = c->first[hash_of(c, x, y, z)]; i >= 0 && n->count <= CROWD; i = c->next[i]) {
        arap_take_nearer(i, arap_distance2(n->p, c->points + 3 * (size_t)i), &n->best, &n->best2);
        n->count++;
    }
}

int arap_cells_nearest(const arap_cells *cells, const double *p, double radius) {
    nearest n = {p, radius * radius, ARAP_CELLS_NONE, 0};
    int64_t own[3], from[3], to[3];
    for (int k = 0; k < 3; k++) own[k] = cell_of(cells, p[k]);
    look_into(cells, own[0], own[1], own[2], &n);
    double reach = sqrt(n.best2 + arap_tie(n.best, n.best2));
    for (int k = 0; k < 3; k++) {
        from[k] = cell_of(cells, p[k] - reach);
        to[k] = cell_of(cells, p[k] + reach);
    }
    for (int64_t x = from[0]; x <= to[0]; x++)
        for (int64_t y = from[1]; y <= to[1]; y++)
            for (int64_t z = from[2]; z <= to[2]; z++)
                if (x != own[0] || y != own[1] || z != own[2]) look_into(cells, x, y, z, &n);
    return n.count > CROWD ? ARAP_CELLS_CROWDED : n.best;
}
