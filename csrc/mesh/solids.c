/* Keeps coincident vertices apart if they belong to closed solids that only touch: see mesh.h.
 *
 * The upper and the lower jaw of a figure made of boxes share the corners of a face but still move
 * apart. The two sides of a split edge in glTF also share their corners but must stay together.
 *
 * Solids. If exactly two triangles meet in an edge of the welded mesh, these triangles belong to
 * one solid. If more than two triangles meet in an edge, triangles that share both vertices of the
 * caller's mesh are paired. The others are sorted by their angle about the edge. A triangle then
 * bounds a solid together with the first triangle on its inner side that runs along the edge in the
 * opposite direction. If these choices are not one to one, all triangles at the edge belong to one
 * solid, which counts as open. A solid with an edge of a single triangle also counts as open.
 * Triangles that share a vertex of the caller's mesh belong to one solid.
 *
 * Rule. Coincident vertices are merged, except those of closed solids of which neither covers the
 * other. If all vertices of the smaller solid lie at vertices of the larger one, the solids are
 * layers of one surface. A vertex of an open surface is merged with all vertices at its position.
 *
 * Takes O(triangles x edges of a vertex), or O(1) if no vertices coincide. Fails on out-of-memory.
 * */
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"

#define TURN 6.283185307179586
#define NO_ANGLE 1e-4 /* radians: triangles at a smaller angle enclose no inside */
#define MAXIMUM 16    /* triangles at an edge, and solids at a vertex, that are kept apart */

typedef struct side { /* an edge of a triangle, stored at its lower vertex */
    int to, triangle;
    int a, b;    /* the caller's vertices at its lower and its higher end */
    int forward; /* the triangle runs from the lower to the higher vertex */
} side;

typedef struct solids {
    const arap_geometry *geometry;
    const double *points;
    const arap_mesh *mesh;
    int *solid; /* (triangles) disjoint sets */
    char *open; /* (triangles) of a triangle here, in the end of the root of its solid */
    int *start; /* (count + 1) */
    side *sides;
} solids;

typedef struct pair {
    int a, b;
} pair;

static int corner(const solids *s, int t, int c) {
    return s->geometry->triangles[3 * (size_t)t + (size_t)c];
}

static int has_three_corners(const solids *s, int t) {
    const int *weld = s->mesh->weld;
    int a = weld[corner(s, t, 0)], b = weld[corner(s, t, 1)], c = weld[corner(s, t, 2)];
    return a != b && b != c && c != a;
}

/* Collect the sides of all triangles by their lower vertices, in the order of the triangles. */
static void collect_sides(solids *s) {
    const int *weld = s->mesh->weld;
    int triangles = (int)s->geometry->triangle_count, count = s->mesh->count;
    memset(s->start, 0, ((size_t)count + 1) * sizeof *s->start);
    for (int fill = 0; fill < 2; fill++) {
        for (int t = 0; t < triangles; t++) {
            if (!has_three_corners(s, t)) continue;
            for (int c = 0; c < 3; c++) {
                int a = corner(s, t, c), b = corner(s, t, (c + 1) % 3);
                int forward = weld[a] < weld[b];
                int low = forward ? a : b, high = forward ? b : a;
                int at = s->start[weld[low]]++;
                if (fill) s->sides[at] = (side){weld[high], t, low, high, forward};
            }
        }
        /* Counts become positions; filling advances each position to that of the next vertex. */
        if (fill) {
            memmove(s->start + 1, s->start, (size_t)count * sizeof *s->start);
            s->start[0] = 0;
            continue;
        }
        for (int v = 0, sum = 0; v <= count; v++) {
            int size = s->start[v];
            s->start[v] = sum;
            sum += size;
        }
    }
}

static void sort_sides(side *sides, int count) {
    for (int k = 1; k < count; k++) {
        side moved = sides[k];
        int at = k;
        for (; at > 0 && sides[at - 1].to > moved.to; at--) sides[at] = sides[at - 1];
        sides[at] = moved;
    }
}

/* Pair the sides of the caller's edges with two triangles. Returns the number of remaining
 * sides. */
static int pair_own_edges(solids *s, side *sides, int count) {
    char paired[MAXIMUM] = {0};
    int left = 0;
    for (int k = 0; k < count; k++) {
        int same = 0, other = -1;
        for (int j = 0; j < count; j++) {
            if (sides[j].a != sides[k].a || sides[j].b != sides[k].b) continue;
            same++;
            if (j != k) other = j;
        }
        paired[k] = same == 2;
        if (paired[k]) arap_unite(s->solid, sides[k].triangle, sides[other].triangle);
    }
    for (int k = 0; k < count; k++)
        if (!paired[k]) sides[left++] = sides[k];
    return left;
}

/* Compute the angles of the triangles about the edge, which is directed from its lower vertex. */
static void measure_angles(const solids *s, const side *sides, int count, double *angle) {
    double axis[3], x[3] = {0}, y[3];
    arap_sub(s->points + 3 * (size_t)sides[0].b, s->points + 3 * (size_t)sides[0].a, axis);
    double length2 = arap_dot(axis, axis);
    for (int k = 0; k < count; k++) {
        int t = sides[k].triangle, c = 0;
        while (corner(s, t, c) == sides[k].a || corner(s, t, c) == sides[k].b) c++;
        double arm[3], z[3];
        arap_sub(s->points + 3 * (size_t)corner(s, t, c), s->points + 3 * (size_t)sides[0].a, arm);
        double along = length2 > 0 ? arap_dot(arm, axis) / length2 : 0;
        for (int d = 0; d < 3; d++) arm[d] -= along * axis[d];
        if (k == 0) memcpy(x, arm, sizeof x);
        arap_cross(x, arm, z);
        arap_cross(axis, x, y);
        angle[k] = atan2(arap_dot(y, arm) / sqrt(length2 > 0 ? length2 : 1), arap_dot(x, arm));
    }
}

/* Pair triangles that bound a solid. Returns whether the pairing is one-to-one. */
static int pair_by_angles(solids *s, const side *sides, int count) {
    double angle[MAXIMUM];
    int chosen[MAXIMUM], forward = 0;
    char taken[MAXIMUM] = {0};
    for (int k = 0; k < count; k++) forward += sides[k].forward;
    if (2 * forward != count) return 0;
    measure_angles(s, sides, count, angle);
    for (int k = 0; k < count; k++) {
        double min = INFINITY;
        if (!sides[k].forward) continue;
        for (int j = 0; j < count; j++) {
            if (sides[j].forward) continue;
            double turn = fmod(angle[k] - angle[j] + 2 * TURN, TURN);
            if (turn < NO_ANGLE) turn += TURN;
            if (turn < min) min = turn, chosen[k] = j;
        }
        if (taken[chosen[k]]) return 0;
        taken[chosen[k]] = 1;
    }
    for (int k = 0; k < count; k++)
        if (sides[k].forward) arap_unite(s->solid, sides[k].triangle, sides[chosen[k]].triangle);
    return 1;
}

/* Join the triangles of one edge of the welded mesh. */
static void join_edge(solids *s, side *sides, int count) {
    int left = count > 2 && count <= MAXIMUM ? pair_own_edges(s, sides, count) : count;
    if (left == 0) return;
    if (left > 2 && left <= MAXIMUM && pair_by_angles(s, sides, left)) return;
    for (int k = 1; k < left; k++) arap_unite(s->solid, sides[0].triangle, sides[k].triangle);
    if (left != 2) s->open[sides[0].triangle] = 1;
}

/* Fill s->solid and s->open; of: (input_count) scratch. */
static void find_solids(solids *s, int *of) {
    int triangles = (int)s->geometry->triangle_count;
    collect_sides(s);
    for (int v = 0; v < s->mesh->count; v++) {
        side *sides = s->sides + s->start[v];
        int count = s->start[v + 1] - s->start[v];
        sort_sides(sides, count);
        for (int first = 0, last; first < count; first = last) {
            for (last = first + 1; last < count && sides[last].to == sides[first].to;) last++;
            join_edge(s, sides + first, last - first);
        }
    }
    for (int i = 0; i < s->mesh->input_count; i++) of[i] = -1;
    for (int t = 0; t < triangles; t++)
        for (int c = 0; c < 3 && has_three_corners(s, t); c++) {
            int *first = &of[corner(s, t, c)];
            if (*first < 0) *first = t;
            arap_unite(s->solid, *first, t);
        }
    for (int t = 0; t < triangles; t++)
        if (s->open[t]) s->open[arap_find_root(s->solid, t)] = 1;
    for (int i = 0; i < s->mesh->input_count; i++) {
        if (of[i] < 0) continue;
        of[i] = arap_find_root(s->solid, of[i]);
        if (s->open[of[i]]) of[i] = -1;
    }
}

/* The closed solids at welded vertex v and a vertex of each; -1 if there is also an open surface,
 * or more than MAXIMUM solids. of: (input_count) the closed solid of each of the caller's vertices,
 * or -1. */
static int solids_at(const arap_mesh *mesh, const int *of, int v, int *solid, int *vertex) {
    int count = 0;
    for (int i = mesh->first[v]; i >= 0; i = mesh->next[i]) {
        int k = 0;
        if (of[i] < 0) return -1;
        while (k < count && solid[k] != of[i]) k++;
        if (k < count) continue;
        if (count == MAXIMUM) return -1;
        solid[count] = of[i];
        vertex[count++] = i;
    }
    return count;
}

static int by_pair(const void *x, const void *y) {
    const pair *a = x, *b = y;
    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

/* Merge solids if one covers the other. size: (triangles) scratch, initially zero */
static arap_status unite_layers(arap_context *context, solids *s, int *of, int *size) {
    arap_status status = ARAP_OK;
    size_t count = 0, capacity = 0;
    pair *pairs = NULL;
    int at[MAXIMUM], vertex[MAXIMUM];
    for (int v = 0; v < s->mesh->count; v++) {
        int here = solids_at(s->mesh, of, v, at, vertex);
        for (int k = 0; k < here; k++) size[at[k]]++;
        if (here < 2) continue;
        if (count + MAXIMUM * MAXIMUM > capacity) {
            capacity = 2 * capacity + MAXIMUM * MAXIMUM;
            pair *grown = arap_realloc(pairs, capacity, sizeof *pairs);
            if (!grown) {
                status = arap_fail_memory(&context->error, "solids that touch");
                goto done;
            }
            pairs = grown;
        }
        for (int k = 0; k < here; k++)
            for (int j = 0; j < here; j++)
                if (at[j] < at[k]) pairs[count++] = (pair){at[j], at[k]};
    }
    if (count) qsort(pairs, count, sizeof *pairs, by_pair);
    for (size_t first = 0, last; first < count; first = last) {
        pair p = pairs[first];
        for (last = first + 1; last < count && !by_pair(&pairs[last], &p);) last++;
        int min = size[p.a] < size[p.b] ? size[p.a] : size[p.b];
        if (last - first >= (size_t)min) arap_unite(s->solid, p.a, p.b);
    }
    for (int i = 0; i < s->mesh->input_count; i++)
        if (of[i] >= 0) of[i] = arap_find_root(s->solid, of[i]);

done:
    arap_free(pairs);
    return status;
}

arap_status arap_solids_part(arap_context *context, const arap_geometry *geometry,
                             const double *points, const arap_mesh *mesh, int *set, int *apart) {
    arap_arena arena = {0};
    size_t triangles = geometry->triangle_count, n = (size_t)mesh->input_count;
    solids s = {.geometry = geometry, .points = points, .mesh = mesh};
    *apart = 0;
    if (mesh->count == mesh->input_count || !triangles) return ARAP_OK;
    s.solid = ARAP_TAKE(&arena, triangles, int);
    s.open = ARAP_TAKE_ZERO(&arena, triangles, char);
    s.start = ARAP_TAKE(&arena, (size_t)mesh->count + 2, int);
    s.sides = ARAP_TAKE(&arena, 3 * triangles, side);
    int *of = ARAP_TAKE(&arena, n, int);
    int *size = ARAP_TAKE_ZERO(&arena, triangles, int);
    arap_status status = arap_arena_status(&arena, &context->error, "solids that touch");
    if (status) goto done;
    for (size_t t = 0; t < triangles; t++) s.solid[t] = (int)t;
    find_solids(&s, of);
    status = unite_layers(context, &s, of, size);
    if (status) goto done;
    for (int i = 0; i < mesh->input_count; i++) set[i] = i;
    for (int v = 0; v < mesh->count; v++) {
        int at[MAXIMUM], vertex[MAXIMUM], here = solids_at(mesh, of, v, at, vertex);
        *apart |= here > 1;
        for (int i = mesh->first[v]; i >= 0; i = mesh->next[i]) {
            int k = 0;
            while (k < here && at[k] != of[i]) k++;
            arap_unite(set, here < 0 ? mesh->first[v] : vertex[k], i);
        }
    }

done:
    arap_arena_clear(&arena);
    return status;
}
