/* Rods: see loose_parts.h.
 *
 * A rod is a loose part whose surface is closed and slim about a straight line, its axis. The axis
 * is the direction in which the vertices, weighted by area, are spread most. Sleeves, straps around
 * a body and hair cards are not rods. The shape alone does not prove that a part is hard, because a
 * tie, a braid or a row of studs has the same shape. However, such soft parts hang from the skin or
 * lie along it. Both ends of a rod must therefore be free, that is, farther from everything else
 * than the thickness of the rod. A part with free ends crosses the surface on which it lies and
 * does not run along it.
 *
 * Swords are made of several parts. A part that touches a rod directly or through another part,
 * such as a guard or a grip, belongs to the rod if the part is smaller, touches nothing else, and
 * is not itself a rod. The largest part of such a set decides whether the whole set is a rod.
 *
 * Takes O(vertices x log triangles) for the vertices of the parts that may be rods. Without such
 * parts, only the spread is computed. Fails only on out-of-memory or when cancelled. */
#include "mesh/loose_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "linalg/jacobi.h"
#include "mesh/bvh.h"
#include "mesh/nearest.h"
#include "mesh/touching.h"

/* maximum distance of the vertices from the axis, as a share of the length */
#define SLIM 0.2
/* maximum distance of the middle of a slice from the axis, as a share of the length */
#define STRAIGHT 0.06
#define OPEN 0.1      /* open share of its surface (the normals of a closed surface sum to 0) */
#define FREE 2        /* widths: minimum distance of other parts from its ends */
#define TOUCHING 0.25 /* widths */
#define LYING 0.25    /* distance in radii below which a vertex lies on a surface */
#define END 0.06      /* length of the ends of a rod, as a share of its length */
#define NOWHERE 10    /* mesh sizes, larger than any distance */
#define SLICES 8
#define STAGE "rigid parts"

typedef struct shape {
    double area, center[3], axis[3];
    double low, high;     /* along the axis, from the center */
    double radius, width; /* root mean square distance from the center, from the axis */
    double farthest;      /* distance of the farthest vertex from the axis */
    double normal[3], surface;
    double middle[SLICES][4]; /* sums of x, y, z and area */
    int rod, piece;           /* parts of rods are either */
    double end_distance;      /* distance of everything else from the ends */
} shape;

typedef struct finder {
    const arap_mesh *mesh;
    shape *shapes; /* (parts) */
    int *parent;   /* (parts) sets of parts that touch */
    int *tags;     /* (parts) */
    double *apart; /* (count) distance of a vertex from the rest */
} finder;

static const double *place(const finder *f, int i) { return f->mesh->v + 3 * (size_t)i; }

static int part_of(const finder *f, size_t face) {
    return f->mesh->part[f->mesh->triangles[3 * face]];
}

/* Position of vertex i relative to the middle of its part, along the axis. The rest is stored in
 * `across`. */
static double split(const finder *f, int i, double *across) {
    const shape *s = &f->shapes[f->mesh->part[i]];
    double along;
    arap_sub(place(f, i), s->center, across);
    along = arap_dot(across, s->axis);
    for (int c = 0; c < 3; c++) across[c] -= along * s->axis[c];
    return along;
}

static int slice_of(const shape *s, double along) {
    if (!(s->high > s->low)) return 0;
    int slice = (int)(SLICES * (along - s->low) / (s->high - s->low));
    return slice < 0 ? 0 : slice < SLICES ? slice : SLICES - 1;
}

/* Compute the axes of the parts from sums of products (parts, 9). */
static void find_axes(finder *f, double *products) {
    for (int p = 0; p < f->mesh->part_count; p++) {
        double *k = products + 9 * (size_t)p, v[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        shape *s = &f->shapes[p];
        for (int sweep = 0; sweep < 8; sweep++) {
            arap_annihilate(3, k, v, 0, 1);
            arap_annihilate(3, k, v, 0, 2);
            arap_annihilate(3, k, v, 1, 2);
        }
        int largest = k[0] >= k[4] ? (k[0] >= k[8] ? 0 : 2) : (k[4] >= k[8] ? 1 : 2);
        double all = fmax(k[0], 0) + fmax(k[4], 0) + fmax(k[8], 0);
        for (int c = 0; c < 3; c++) s->axis[c] = v[3 * c + largest];
        s->radius = sqrt(all / s->area);
        s->width = sqrt(fmax(all - fmax(k[4 * largest], 0), 0) / s->area);
        s->low = INFINITY;
        s->high = -INFINITY;
    }
}

static arap_status measure(arap_context *context, finder *f) {
    const arap_mesh *mesh = f->mesh;
    double *products = ARAP_NEW_ZERO(double, 9 * (size_t)mesh->part_count), d[3];
    if (!products) return arap_fail_memory(&context->error, "the shapes of the parts");
    for (int i = 0; i < mesh->count; i++) {
        shape *s = &f->shapes[mesh->part[i]];
        s->area += mesh->area[i];
        for (int c = 0; c < 3; c++) s->center[c] += mesh->area[i] * place(f, i)[c];
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) f->shapes[p].center[c] /= f->shapes[p].area;
    for (int i = 0; i < mesh->count; i++) {
        double *k = products + 9 * (size_t)mesh->part[i];
        arap_sub(place(f, i), f->shapes[mesh->part[i]].center, d);
        for (int c = 0; c < 9; c++) k[c] += mesh->area[i] * d[c / 3] * d[c % 3];
    }
    find_axes(f, products);
    arap_free(products);
    for (int i = 0; i < mesh->count; i++) {
        shape *s = &f->shapes[mesh->part[i]];
        double along = split(f, i, d);
        s->low = fmin(s->low, along);
        s->high = fmax(s->high, along);
        s->farthest = fmax(s->farthest, sqrt(arap_dot(d, d)));
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        shape *s = &f->shapes[part_of(f, t)];
        arap_triangle_normal(mesh, t, d);
        s->surface += sqrt(arap_dot(d, d));
        for (int c = 0; c < 3; c++) s->normal[c] += d[c];
    }
    return ARAP_OK;
}

/* Whether the part is a rod, apart from the test of its slices. */
static int is_slim(const shape *s) {
    return s->farthest <= SLIM * (s->high - s->low) && s->surface > 0 &&
           sqrt(arap_dot(s->normal, s->normal)) <= OPEN * s->surface;
}

/* Find the rods. Returns whether there are any. */
static int find_single_rods(finder *f, const char *may) {
    const arap_mesh *mesh = f->mesh;
    double across[3];
    int any = 0;
    for (int p = 0; p < mesh->part_count; p++)
        any |= f->shapes[p].rod = may[p] && is_slim(&f->shapes[p]);
    for (int i = 0; i < mesh->count && any; i++) {
        shape *s = &f->shapes[mesh->part[i]];
        if (!s->rod) continue;
        double *sum = s->middle[slice_of(s, split(f, i, across))];
        for (int c = 0; c < 3; c++) sum[c] += mesh->area[i] * across[c];
        sum[3] += mesh->area[i];
    }
    any = 0;
    for (int p = 0; p < mesh->part_count; p++) {
        shape *s = &f->shapes[p];
        for (int k = 0; k < SLICES; k++) {
            const double *sum = s->middle[k];
            double max = STRAIGHT * (s->high - s->low) * sum[3];
            s->rod = s->rod && arap_dot(sum, sum) <= max * max;
        }
        any |= s->rod;
    }
    return any;
}

/* Distance of vertex i from the nearest face without tag 1, at most `max`. */
static double distance_from(const finder *f, const arap_bvh *faces, int i, double max) {
    double found = max * max;
    arap_bvh_nearest(faces, place(f, i), 1, arap_face_distance, f->mesh, &found);
    return sqrt(found);
}

/* Find pieces: parts that may belong to a rod and touch only parts that may also. */
static arap_status find_pieces(arap_context *context, finder *f, const char *may,
                               const arap_bvh *faces) {
    const arap_mesh *mesh = f->mesh;
    arap_status status = ARAP_OK;
    for (int p = 0; p < mesh->part_count; p++)
        f->shapes[p].piece = may[p] && !f->shapes[p].rod && f->shapes[p].surface > 0;
    for (int i = 0; i < mesh->count && !status; i++) {
        shape *s = &f->shapes[mesh->part[i]];
        if (s->piece && distance_from(f, faces, i, LYING * s->radius) < LYING * s->radius)
            s->piece = 0;
        if (i % 1024 == 0) status = arap_progress(context, STAGE, 0);
    }
    return status;
}

/* Form sets of rods and pieces that touch. */
static arap_status unite_touching(arap_context *context, finder *f) {
    int count = f->mesh->part_count;
    arap_arena arena = {0};
    arap_touching touching = {0};
    char *chosen = ARAP_TAKE(&arena, count, char);
    double *reach = ARAP_TAKE(&arena, count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the rods among the parts");
    for (int p = 0; p < count && !status; p++) {
        chosen[p] = (char)(f->shapes[p].rod || f->shapes[p].piece);
        reach[p] = TOUCHING * f->shapes[p].width;
    }
    if (!status) status = arap_touching_create(context, f->mesh, chosen, &touching);
    if (!status) status = arap_touching_unite(context, &touching, reach, f->parent);
    arap_touching_clear(&touching);
    arap_arena_clear(&arena);
    return status;
}

/* Find the largest member of every set, in `largest` (parts): -1 if it is not a rod. */
static void find_largest(const finder *f, int *largest) {
    int count = f->mesh->part_count;
    for (int p = 0; p < count; p++) largest[p] = -1;
    for (int p = 0; p < count; p++) {
        int *best = &largest[arap_find_root(f->parent, p)];
        if (*best < 0 || f->shapes[p].radius > f->shapes[*best].radius) *best = p;
    }
    for (int p = 0; p < count; p++)
        if (largest[p] >= 0 && !f->shapes[largest[p]].rod) largest[p] = -1;
}

/* Find the sets that are rods, and where they touch other parts. */
static arap_status find_free(arap_context *context, finder *f, arap_bvh *faces, int *largest,
                             int *set, char *contact) {
    const arap_mesh *mesh = f->mesh;
    double across[3];
    arap_status status = ARAP_OK;
    find_largest(f, largest);
    for (int p = 0; p < mesh->part_count; p++) {
        int root = arap_find_root(f->parent, p);
        set[p] = largest[root] < 0 ? -1 : root;
        f->tags[p] = set[p] >= 0;
        f->shapes[p].end_distance = INFINITY;
    }
    arap_face_bvh_tag(mesh, f->tags, faces);
    for (int i = 0; i < mesh->count && !status; i++) {
        shape *s = &f->shapes[mesh->part[i]];
        if (set[mesh->part[i]] < 0) continue;
        f->apart[i] = distance_from(f, faces, i, NOWHERE);
        double along = split(f, i, across), end = END * (s->high - s->low);
        if (along <= s->low + end || along >= s->high - end)
            s->end_distance = fmin(s->end_distance, f->apart[i]);
        if (i % 1024 == 0) status = arap_progress(context, STAGE, 0);
    }
    for (int p = 0; p < mesh->part_count; p++) {
        const shape *lead = set[p] < 0 ? NULL : &f->shapes[largest[set[p]]];
        if (lead && lead->end_distance <= FREE * lead->width) set[p] = -1;
    }
    for (int p = 0; p < mesh->part_count; p++) f->shapes[p].end_distance = INFINITY;
    for (int i = 0; i < mesh->count; i++) { /* now for the whole set, at its root */
        int root = set[mesh->part[i]];
        if (root < 0) continue;
        f->shapes[root].end_distance = fmin(f->shapes[root].end_distance, f->apart[i]);
    }
    for (int p = 0; p < mesh->part_count; p++) /* a single part touches nothing */
        if (set[p] >= 0 && f->shapes[set[p]].end_distance >= NOWHERE) set[p] = -1;
    for (int i = 0; i < mesh->count; i++) {
        int root = set[mesh->part[i]];
        contact[i] = root >= 0 && f->apart[i] <= f->shapes[root].end_distance +
                                                     FREE * f->shapes[largest[root]].width;
    }
    return status;
}

arap_status arap_find_rods(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                           char *contact) {
    size_t parts = (size_t)mesh->part_count;
    arap_arena arena = {0};
    finder f = {.mesh = mesh,
                .shapes = ARAP_TAKE_ZERO(&arena, parts, shape),
                .parent = ARAP_TAKE(&arena, parts, int),
                .tags = ARAP_TAKE(&arena, parts, int)};
    int *largest = ARAP_TAKE(&arena, parts, int);
    arap_bvh *faces = NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the rods among the parts");
    memset(contact, 0, (size_t)mesh->count);
    for (size_t p = 0; p < parts; p++) set[p] = -1;
    if (status || !memchr(may, 1, parts)) goto done;
    status = measure(context, &f);
    if (status || !find_single_rods(&f, may)) goto done;
    f.apart = ARAP_TAKE(&arena, mesh->count, double);
    status = arap_arena_status(&arena, &context->error, "the rods among the parts");
    for (int p = 0; p < mesh->part_count; p++) {
        f.parent[p] = p;
        f.tags[p] = may[p];
    }
    if (!status) status = arap_face_bvh(context, mesh, f.tags, &faces);
    if (!status) status = find_pieces(context, &f, may, faces);
    if (!status) status = unite_touching(context, &f);
    if (!status) status = find_free(context, &f, faces, largest, set, contact);

done:
    arap_bvh_free(faces);
    arap_arena_clear(&arena);
    return status;
}
