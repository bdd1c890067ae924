/* The way through the inside: see owners.h.
 *
 * The segment from a vertex to a point meets faces at ascending parameters. Each face that the
 * segment meets from behind ends a stretch inside a shell, and each face that it meets from the
 * front begins one. With d the number of shells around the current place, the share is the length
 * of the stretches with d = 0. At the vertex, d is 1 if the segment starts against the normal of
 * the surface, else 0. A sleeve, and the air between the sleeve and the arm, are inside the same
 * shell, and so is the space below an open skirt. A stretch beyond the last face does not count,
 * because bones may protrude from the skin. Faces of the vertex itself meet the segment only at its
 * end and do not count.
 *
 * The normals of a part point inward if its signed volume around its center is negative. A flat
 * part has no inside. Its callers do not ask (sheets.c).
 *
 * Each call takes O(log faces + met faces). If a segment meets more than MOST faces, the rest is
 * ignored. Creation takes O(faces) and fails only on out-of-memory. */
#include "springs/owners.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/sight.h"

#define MOST 64 /* faces on one segment */
/* share of a segment; faces that meet it this close together are one: an edge */
#define SAME 1e-9

typedef struct crossings {
    const arap_inside *inside;
    int vertex, count;
    double at[MOST]; /* ascending */
    char leaves[MOST];
} crossings;

/* The area vector of a face, outward. */
static void face_normal(const arap_inside *inside, int face, double *out) {
    const arap_mesh *mesh = inside->mesh;
    arap_triangle_normal(mesh, (size_t)face, out);
    for (int c = 0; c < 3 && inside->inward[mesh->part[mesh->triangles[3 * (size_t)face]]]; c++)
        out[c] = -out[c];
}

/* An arap_hit_fn that records the crossing and continues. */
static int note_crossing(const void *data, int face, const double *a, const double *b) {
    crossings *c = *(crossings *const *)data;
    const int *tri = c->inside->mesh->triangles + 3 * (size_t)face;
    double normal[3], way[3];
    if (tri[0] == c->vertex || tri[1] == c->vertex || tri[2] == c->vertex) return 0;
    double at = arap_cross_face(c->inside->mesh, face, a, b);
    if (!(at > SAME && at < 1 - SAME) || c->count == MOST) return 0;
    face_normal(c->inside, face, normal);
    arap_sub(b, a, way);
    int k = c->count++;
    for (; k > 0 && c->at[k - 1] > at; k--) {
        c->at[k] = c->at[k - 1];
        c->leaves[k] = c->leaves[k - 1];
    }
    c->at[k] = at;
    c->leaves[k] = arap_dot(way, normal) > 0;
    return 0;
}

double arap_outside_share(const arap_inside *inside, int i, const double *point) {
    crossings found = {.inside = inside, .vertex = i, .count = 0}, *data = &found;
    const double *p = inside->mesh->v + 3 * (size_t)i;
    double way[3], share = 0, left = 0; /* where the segment last left all shells */
    arap_bvh_crossed(inside->faces, p, point, note_crossing, &data);
    arap_sub(point, p, way);
    int depth = arap_dot(way, inside->normal + 3 * (size_t)i) <= 0;
    for (int k = 0; k < found.count; k++) {
        if (k && found.leaves[k] == found.leaves[k - 1] && found.at[k] - found.at[k - 1] <= SAME)
            continue;
        if (!found.leaves[k]) {
            if (!depth++) share += found.at[k] - left;
        } else if (depth && !--depth) {
            left = found.at[k];
        }
    }
    return share;
}

arap_status arap_inside_create(arap_context *context, const arap_mesh *mesh, const arap_bvh *faces,
                               arap_inside *out) {
    arap_arena arena = {0};
    double *volume = ARAP_TAKE_ZERO(&arena, mesh->part_count, double);
    double *center = ARAP_TAKE_ZERO(&arena, 4 * mesh->part_count, double);
    *out = (arap_inside){.mesh = mesh, .faces = faces};
    out->normal = ARAP_TAKE(&out->arena, 3 * (size_t)mesh->count, double);
    out->inward = ARAP_TAKE_ZERO(&out->arena, mesh->part_count, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the inside of the mesh");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the inside of the mesh");
    if (status) goto done;
    arap_part_centers(mesh, center);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        int vertex = mesh->triangles[3 * t], part = mesh->part[vertex];
        double normal[3], from[3];
        arap_triangle_normal(mesh, t, normal);
        arap_sub(mesh->v + 3 * (size_t)vertex, center + 4 * part, from);
        volume[part] += arap_dot(normal, from);
    }
    for (int p = 0; p < mesh->part_count; p++) out->inward[p] = volume[p] < 0;
    arap_vertex_normals(mesh, out->normal);
    for (int i = 0; i < mesh->count; i++)
        for (int c = 0; c < 3 && out->inward[mesh->part[i]]; c++)
            out->normal[3 * (size_t)i + (size_t)c] *= -1;

done:
    arap_arena_clear(&arena);
    if (status) arap_inside_clear(out);
    return status;
}

void arap_inside_clear(arap_inside *inside) {
    arap_arena_clear(&inside->arena);
    *inside = (arap_inside){0};
}
