/* Props: see loose_parts.h.
 *
 * Only closed parts can belong to a prop. Two parts belong to one prop if their surfaces cross, or
 * if a vertex of one is nearer to the other than TOUCHING times the radius of the vertex's part
 * about its mean. A set touches the vertices of other parts that are nearer than NEAR times the
 * radius of the set. A set is a prop if
 *   - its largest part is thick: V^(1/3) >= THICK A^(1/2), with volume V and area A
 *     (a cape with two sides is not thick);
 *   - the area that touches other parts is at most LYING times its own area (a sole, in contrast,
 *     lies on the foot).
 *
 * Takes O(vertices of closed parts x log triangles). Without closed parts, only the boundaries are
 * measured. Fails only on out-of-memory or when cancelled. */
#include "mesh/loose_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "mesh/touching.h"

#define TOUCHING 0.1
#define NEAR 0.1
#define THICK 0.22
#define LYING 0.3
#define STAGE "rigid parts"

typedef struct facts { /* of a part or, at its root, of a set */
    double center[3], area, volume, radius, touched;
} facts;

typedef struct finder {
    const arap_mesh *mesh;
    arap_card *cards; /* (parts) */
    facts *own, *all; /* (parts) */
    char *closed;     /* (parts) that may belong to a prop */
    int *parent;      /* (parts) */
    double *reach;    /* (parts) distance within which another part touches */
    arap_touching touching;
} finder;

static const double *place(const finder *f, int i) { return f->mesh->v + 3 * (size_t)i; }

static int part_of(const finder *f, size_t face) {
    return f->mesh->part[f->mesh->triangles[3 * face]];
}

/* Compute centers, areas, volumes and radii of the parts or, stored at their roots, of the sets. */
static void measure(const finder *f, facts *of, int sets) {
    const arap_mesh *mesh = f->mesh;
    memset(of, 0, (size_t)mesh->part_count * sizeof *of);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < mesh->count; i++) {
            int part = mesh->part[i];
            facts *s = &of[sets ? arap_find_root(f->parent, part) : part];
            double radius2 = arap_distance2(place(f, i), s->center);
            if (round) s->radius = fmax(s->radius, radius2);
            for (int c = 0; c < 3 && !round; c++) s->center[c] += mesh->area[i] * place(f, i)[c];
            if (!round) s->area += mesh->area[i];
        }
        for (int p = 0; p < mesh->part_count; p++) {
            for (int c = 0; c < 3 && !round && of[p].area > 0; c++) of[p].center[c] /= of[p].area;
            if (round) of[p].radius = sqrt(of[p].radius);
        }
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        facts *s = &of[part_of(f, t)];
        double corner[3][3], normal[3];
        for (int k = 0; k < 3; k++)
            arap_sub(place(f, mesh->triangles[3 * t + (size_t)k]), s->center, corner[k]);
        arap_cross(corner[1], corner[2], normal);
        if (!sets) s->volume += arap_dot(corner[0], normal) / 6;
    }
}

static arap_status find_touched(arap_context *context, finder *f, int *touched) {
    const arap_mesh *mesh = f->mesh;
    arap_status status = ARAP_OK;
    double farthest = 0;
    measure(f, f->all, 1);
    for (int p = 0; p < mesh->part_count; p++)
        if (f->closed[p]) farthest = fmax(farthest, f->all[arap_find_root(f->parent, p)].radius);
    for (int i = 0; i < mesh->count && !status; i++) {
        double found = NEAR * NEAR * farthest * farthest;
        if (f->closed[mesh->part[i]]) continue;
        int part = arap_touching_nearest(&f->touching, i, -1, &found);
        int root = part < 0 ? -1 : arap_find_root(f->parent, part);
        if (root >= 0 && sqrt(found) <= NEAR * f->all[root].radius) {
            touched[i] = root;
            f->all[root].touched += mesh->area[i];
        }
        if (i % 1024 == 0) status = arap_progress(context, STAGE, 0);
    }
    return status;
}

/* The sets that are props. */
static void keep_props(const finder *f, int *largest, int *set, int *touched) {
    const arap_mesh *mesh = f->mesh;
    for (int p = 0; p < mesh->part_count; p++) largest[p] = -1;
    for (int p = 0; p < mesh->part_count; p++) {
        int *best = &largest[arap_find_root(f->parent, p)];
        if (*best < 0 || f->own[p].area > f->own[*best].area) *best = p;
    }
    for (int p = 0; p < mesh->part_count; p++) {
        int root = arap_find_root(f->parent, p);
        const facts *lead = &f->own[largest[root]], *all = &f->all[root];
        int is_prop = f->closed[p] && cbrt(fabs(lead->volume)) >= THICK * sqrt(lead->area) &&
                      all->touched > 0 && all->touched <= LYING * all->area;
        set[p] = is_prop ? root : -1;
    }
    for (int i = 0; i < mesh->count; i++)
        if (touched[i] >= 0 && set[touched[i]] < 0) touched[i] = -1;
}

arap_status arap_find_props(arap_context *context, const arap_mesh *mesh, const char *may, int *set,
                            int *touched) {
    size_t parts = (size_t)mesh->part_count;
    arap_arena arena = {0};
    finder f = {.mesh = mesh,
                .cards = ARAP_TAKE(&arena, parts, arap_card),
                .own = ARAP_TAKE(&arena, parts, facts),
                .all = ARAP_TAKE(&arena, parts, facts),
                .closed = ARAP_TAKE(&arena, parts, char),
                .parent = ARAP_TAKE(&arena, parts, int),
                .reach = ARAP_TAKE(&arena, parts, double)};
    int *largest = ARAP_TAKE(&arena, parts, int), any = 0;
    arap_status status = arap_arena_status(&arena, &context->error, "the props among the parts");
    for (size_t p = 0; p < parts; p++) set[p] = -1;
    for (int i = 0; i < mesh->count; i++) touched[i] = -1;
    if (status) goto done;
    status = arap_find_cards(context, mesh, f.cards);
    for (size_t p = 0; p < parts && !status; p++) {
        f.parent[p] = (int)p;
        f.closed[p] = may[p] && f.cards[p].area > 0 && f.cards[p].boundary == 0;
        any |= f.closed[p];
    }
    if (status || !any) goto done;
    measure(&f, f.own, 0);
    for (size_t p = 0; p < parts; p++) f.reach[p] = TOUCHING * f.own[p].radius;
    status = arap_touching_create(context, mesh, f.closed, &f.touching);
    if (!status) status = arap_touching_unite(context, &f.touching, f.reach, f.parent);
    if (!status) status = find_touched(context, &f, touched);
    if (!status) keep_props(&f, largest, set, touched);

done:
    arap_touching_clear(&f.touching);
    arap_arena_clear(&arena);
    return status;
}
