/* Layers: see links.h.
 *
 * A garment stays above the skin if both move in the same way wherever one lies on the other. Hard
 * parts that meet in a joint also lie on each other, but they slide along each other. Therefore, at
 * least one of two layers must be a sheet. The size of a part is twice its radius about its mean
 * vertex. A part is a sheet if
 *   - it is open: its border is at least OPEN times its size. A sleeve is open in this sense, but a
 *     limb with a hole that another part covers is not;
 *   - or it is thin, like cloth with thickness: twice its volume divided by its surface, which is
 *     the thickness of a plate, is below THIN times the square root of its surface.
 * Plates of armor and robots are also sheets, but each moves with one bone. Therefore, both parts
 * must span a joint, as a sleeve and the arm below it span an elbow: the joint must be inside both
 * boxes, excluding a margin of MARGIN times the sides. A vertex lies on a triangle if it is within
 * NEAR of the triangle, above or below its interior (within 60 degrees of the normal), and faces
 * the same way.
 *
 * Takes O(triangles + parts x joints), plus O(b log b) for b border sides of triangles. Fails only
 * on out-of-memory. */
#include "mesh/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/vec3.h"
#include "mesh/nearest.h"

#define NEAR 0.02 /* share of the mesh size, see mesh.h */
#define OPEN 0.5
#define THIN 0.05
#define OVER 0.25 /* squared cosine */
#define MARGIN 0.1

/* For each vertex, a number that is 0 if the vertex is not on a border. Around such a vertex, the
 * next corners in its triangles are the same as the previous ones, which is detected by sums of
 * random numbers of the corners. */
static void find_border(const arap_mesh *mesh, uint64_t *difference) {
    memset(difference, 0, (size_t)mesh->count * sizeof *difference);
    for (size_t k = 0; k < 3 * mesh->triangle_count; k++) {
        const int *tri = mesh->triangles + k - k % 3;
        difference[mesh->triangles[k]] +=
            arap_random_of((uint64_t)tri[(k + 1) % 3]) - arap_random_of((uint64_t)tri[(k + 2) % 3]);
    }
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Collect the sides of triangles between border vertices, with the lower vertex in the upper half
 * of each number. Returns their number. side: NULL to only count them. */
static size_t find_sides(const arap_mesh *mesh, const uint64_t *difference, uint64_t *side) {
    size_t count = 0;
    for (size_t k = 0; k < 3 * mesh->triangle_count; k++) {
        int a = mesh->triangles[k], b = mesh->triangles[k % 3 == 2 ? k - 2 : k + 1];
        if (!difference[a] || !difference[b]) continue;
        if (side) side[count] = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
        count++;
    }
    return count;
}

/* Add sides that occur once to the length of the border of their part. */
static void measure_border(const arap_mesh *mesh, uint64_t *side, size_t count, double *border) {
    qsort(side, count, sizeof *side, ascending);
    for (size_t k = 0; k < count; k++) {
        if ((k && side[k - 1] == side[k]) || (k + 1 < count && side[k + 1] == side[k])) continue;
        int a = (int)(side[k] >> 32), b = (int)(side[k] & UINT32_MAX);
        border[mesh->part[a]] +=
            sqrt(arap_distance2(mesh->v + 3 * (size_t)a, mesh->v + 3 * (size_t)b));
    }
}

typedef struct part_shape {
    double mean[3], low[3], high[3], radius2, volume, area;
    int vertices, spans_joint;
} part_shape;

static void measure_parts(const arap_mesh *mesh, part_shape *shape) {
    for (int i = 0; i < mesh->count; i++) {
        part_shape *s = &shape[mesh->part[i]];
        for (int c = 0; c < 3; c++) s->mean[c] += mesh->v[3 * (size_t)i + (size_t)c];
        s->vertices++;
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) shape[p].mean[c] /= shape[p].vertices;
    for (int i = 0; i < mesh->count; i++) {
        part_shape *s = &shape[mesh->part[i]];
        s->radius2 = fmax(s->radius2, arap_distance2(mesh->v + 3 * (size_t)i, s->mean));
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        part_shape *s = &shape[mesh->part[tri[0]]];
        double normal[3], off[3];
        arap_triangle_normal(mesh, t, normal);
        arap_sub(mesh->v + 3 * (size_t)tri[0], s->mean, off);
        s->volume += arap_dot(normal, off) / 6;
        s->area += sqrt(arap_dot(normal, normal)) / 2;
    }
}

/* Determine whether a joint is in the middle of the box of each part. */
static void look_for_joints(const arap_mesh *mesh, const arap_joints *joints, part_shape *shape) {
    for (int i = 0; i < mesh->count; i++) {
        part_shape *s = &shape[mesh->part[i]];
        for (int c = 0; c < 3; c++) {
            double at = mesh->v[3 * (size_t)i + (size_t)c];
            s->low[c] = fmin(s->low[c], at);
            s->high[c] = fmax(s->high[c], at);
        }
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int j = 0; j < joints->count; j++) {
            int is_in = 1;
            for (int c = 0; c < 3; c++) {
                double at = joints->at[3 * (size_t)j + (size_t)c];
                double margin = MARGIN * (shape[p].high[c] - shape[p].low[c]);
                is_in &= at >= shape[p].low[c] + margin && at <= shape[p].high[c] - margin;
            }
            shape[p].spans_joint |= is_in;
        }
}

arap_status arap_find_sheets(arap_context *context, const arap_mesh *mesh,
                             const arap_joints *joints, arap_sheet *sheets) {
    size_t parts = (size_t)mesh->part_count;
    arap_arena arena = {0};
    uint64_t *difference = ARAP_TAKE(&arena, mesh->count, uint64_t);
    double *border = ARAP_TAKE_ZERO(&arena, parts, double);
    part_shape *shape = ARAP_TAKE_ZERO(&arena, parts, part_shape);
    arap_status status = arap_arena_status(&arena, &context->error, "the layers of the mesh");
    if (status) goto done;
    find_border(mesh, difference);
    size_t sides = find_sides(mesh, difference, NULL);
    uint64_t *side = ARAP_TAKE(&arena, sides, uint64_t);
    status = arap_arena_status(&arena, &context->error, "the layers of the mesh");
    if (status) goto done;
    find_sides(mesh, difference, side);
    measure_border(mesh, side, sides, border);
    measure_parts(mesh, shape);
    for (size_t p = 0; p < parts; p++)
        for (int c = 0; c < 3; c++) shape[p].low[c] = INFINITY, shape[p].high[c] = -INFINITY;
    look_for_joints(mesh, joints, shape);
    for (size_t p = 0; p < parts; p++) {
        double size = 2 * sqrt(shape[p].radius2), area = shape[p].area;
        int is_open = border[p] >= OPEN * size;
        int is_thin = 2 * fabs(shape[p].volume) < THIN * pow(area, 1.5);
        sheets[p].is_sheet = area > 0 && (is_open || is_thin);
        sheets[p].spans_joint = shape[p].spans_joint;
    }

done:
    arap_arena_clear(&arena);
    return status;
}

int arap_are_layers(const arap_sheet *a, const arap_sheet *b) {
    return (a->is_sheet || b->is_sheet) && a->spans_joint && b->spans_joint;
}

/* If the nearest point is on an edge, any triangle at this edge may have been found. Interpolated
 * vertex normals are the same for all of them. */
int arap_lies_on(const arap_mesh *mesh, const double *normals, int i, int t, const double *bary) {
    const int *tri = mesh->triangles + 3 * (size_t)t;
    double off[3], up[3] = {0};
    for (int k = 0; k < 3; k++) off[k] = mesh->v[3 * (size_t)i + (size_t)k];
    for (int c = 0; c < 3; c++) {
        const double *corner = mesh->v + 3 * (size_t)tri[c], *own = normals + 3 * (size_t)tri[c];
        double length = sqrt(arap_dot(own, own));
        for (int k = 0; k < 3; k++) {
            off[k] -= bary[c] * corner[k];
            if (length > 0) up[k] += bary[c] * own[k] / length;
        }
    }
    double far2 = arap_dot(off, off), along = arap_dot(off, up), near = NEAR * mesh->size;
    return far2 <= near * near && arap_dot(normals + 3 * (size_t)i, up) > 0 &&
           along * along >= OVER * far2 * arap_dot(up, up);
}
