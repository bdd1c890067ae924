/* Finds sets of parts that touch: see touching.h.
 *
 * A tree contains only the faces of the chosen parts, which are few compared with all faces. Each
 * vertex of these parts searches for the nearest face of another part, and each edge searches for
 * faces that it crosses.
 *
 * Takes O(vertices + faces of the chosen parts x log of these faces). Fails on out-of-memory, or
 * when cancelled. */
#include "mesh/touching.h"

#include <math.h>

#include "base/memory.h"
#include "base/sets.h"
#include "mesh/nearest.h"

#define VERTICES 1024 /* and edges, between two progress reports */

static const double *place(const arap_touching *t, int i) { return t->mesh->v + 3 * (size_t)i; }

arap_status arap_touching_create(arap_context *context, const arap_mesh *mesh, const char *chosen,
                                 arap_touching *out) {
    size_t count = 0;
    *out = (arap_touching){.mesh = mesh, .chosen = chosen};
    for (size_t t = 0; t < mesh->triangle_count; t++)
        count += chosen[mesh->part[mesh->triangles[3 * t]]] != 0;
    arap_arena arena = {0};
    double *boxes = ARAP_TAKE(&arena, 6 * count, double);
    out->face = ARAP_TAKE(&out->arena, count, size_t);
    out->part = ARAP_TAKE(&out->arena, count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "parts that touch");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "parts that touch");
    if (status) goto done;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *corner = mesh->triangles + 3 * t;
        double *box = boxes + 6 * out->count;
        if (!chosen[mesh->part[corner[0]]]) continue;
        for (int c = 0; c < 3; c++) {
            double x = place(out, corner[0])[c], y = place(out, corner[1])[c],
                   z = place(out, corner[2])[c];
            box[c] = fmin(x, fmin(y, z));
            box[3 + c] = fmax(x, fmax(y, z));
        }
        out->part[out->count] = mesh->part[corner[0]];
        out->face[out->count++] = t;
    }
    status = arap_bvh_build(context, &out->tree, out->count, boxes, out->part);

done:
    arap_arena_clear(&arena);
    return status;
}

/* An arap_distance_fn and an arap_hit_fn for these faces. Hits are recorded. */
static double distance_of(const void *data, int index, const double *p) {
    const arap_touching *t = data;
    return arap_face_distance(t->mesh, (int)t->face[index], p);
}

static int unite_crossed(const void *data, int index, const double *a, const double *b) {
    const arap_touching *t = data;
    const int *corner = t->mesh->triangles + 3 * t->face[index];
    if (arap_find_root(t->parent, t->part[index]) == arap_find_root(t->parent, t->now)) return 0;
    double at =
        arap_cross_triangle(a, b, place(t, corner[0]), place(t, corner[1]), place(t, corner[2]));
    if (at >= 0 && at <= 1) arap_unite(t->parent, t->part[index], t->now);
    return 0;
}

int arap_touching_nearest(const arap_touching *touching, int i, int skip, double *distance2) {
    int found = arap_bvh_nearest(touching->tree, place(touching, i), skip, distance_of, touching,
                                 distance2);
    return found < 0 ? -1 : touching->part[found];
}

arap_status arap_touching_unite(arap_context *context, arap_touching *touching, const double *reach,
                                int *parent) {
    const arap_mesh *mesh = touching->mesh;
    arap_status status = ARAP_OK;
    touching->parent = parent;
    for (int i = 0; i < mesh->count && !status; i++) {
        int part = mesh->part[i];
        if (!touching->chosen[part]) continue;
        double near = reach[part] * reach[part];
        int other = arap_touching_nearest(touching, i, part, &near);
        if (other >= 0) arap_unite(parent, other, part);
        if (i % VERTICES == 0) status = arap_progress(context, "rigid parts", 0);
    }
    for (size_t k = 0; k < touching->count && !status; k++) {
        const int *corner = mesh->triangles + 3 * touching->face[k];
        touching->now = touching->part[k];
        for (int c = 0; c < 3; c++)
            arap_bvh_crossed(touching->tree, place(touching, corner[c]),
                             place(touching, corner[(c + 1) % 3]), unite_crossed, touching);
        if (k % VERTICES == 0) status = arap_progress(context, "rigid parts", 0);
    }
    return status;
}

void arap_touching_clear(arap_touching *touching) {
    arap_bvh_free(touching->tree);
    arap_arena_clear(&touching->arena);
    *touching = (arap_touching){0};
}
