/* Mesh input: checks, welding, scaling, parts. See mesh.h.
 *
 * Welding merges vertices whose distance is within a share of the mesh's diagonal (extent.h), and
 * chains of such vertices. The split seams of glTF and FBX files therefore get identical weights.
 * Such vertices are found by sorting along an oblique direction and comparing each vertex with the
 * following vertices within the tolerance, which takes O(n) unless most vertices coincide. Faces
 * that lose a corner in welding are dropped. Corners of closed solids that only touch stay apart
 * (solids.c).
 *
 * A vertex far away (extent.h) is treated as a mistake. The faces, edges and tets of such a vertex
 * are dropped, because they would outweigh all others. The vertex itself is solved as a loose
 * vertex.
 *
 * Parts are connected components over faces and edges, found by union-find and numbered by their
 * lowest vertex. Fails on out-of-memory, for indices out of range, and for coordinates that are not
 * finite or too large for the size of the mesh.
 * */
#include "mesh/mesh.h"

#include <string.h>

#include "base/async_task.h"
#include "base/memory.h"
#include "base/radix_sort.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "mesh/extent.h"
#include "mesh/tets.h"

#define CHUNK 2048 /* vertices of a task */

void arap_triangle_normal(const arap_mesh *mesh, size_t t, double *normal) {
    const int *tri = mesh->triangles + 3 * t;
    const double *a = mesh->v + 3 * (size_t)tri[0];
    double u[3], v[3];
    arap_sub(mesh->v + 3 * (size_t)tri[1], a, u);
    arap_sub(mesh->v + 3 * (size_t)tri[2], a, v);
    arap_cross(u, v, normal);
}

void arap_vertex_normals(const arap_mesh *mesh, double *normals) {
    memset(normals, 0, 3 * (size_t)mesh->count * sizeof *normals);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double normal[3];
        arap_triangle_normal(mesh, t, normal);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++)
                normals[3 * (size_t)mesh->triangles[3 * t + c] + k] += normal[k];
    }
}

arap_status arap_check_geometry(arap_error *error, const arap_geometry *geometry) {
    if (geometry->vertex_count < 1)
        return arap_fail(error, ARAP_BAD_VALUE, "the mesh has no vertices");
    for (size_t i = 0; i < 3 * (size_t)geometry->vertex_count; i++)
        if (!isfinite(geometry->vertices[i]))
            return arap_fail(error, ARAP_BAD_VALUE, "vertices[%zu, %zu] is %g: not finite", i / 3,
                             i % 3, geometry->vertices[i]);
    for (size_t i = 0; i < 3 * geometry->triangle_count; i++)
        if (geometry->triangles[i] < 0 || geometry->triangles[i] >= geometry->vertex_count)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "triangles[%zu, %zu] is %d, but there are %d vertices", i / 3, i % 3,
                             geometry->triangles[i], geometry->vertex_count);
    for (size_t i = 0; i < 2 * geometry->edge_count; i++)
        if (geometry->edges[i] < 0 || geometry->edges[i] >= geometry->vertex_count)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "edges[%zu, %zu] is %d, but there are %d vertices", i / 2, i % 2,
                             geometry->edges[i], geometry->vertex_count);
    for (size_t i = 0; i < 4 * geometry->tet_count; i++)
        if (geometry->tets[i] < 0 || geometry->tets[i] >= geometry->vertex_count)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "tets[%zu, %zu] is %d, but there are %d vertices", i / 4, i % 4,
                             geometry->tets[i], geometry->vertex_count);
    return ARAP_OK;
}

typedef struct placement {
    const arap_geometry *geometry;
    const arap_mesh *mesh;
    double *scaled;
    arap_keyed *items;
} placement;

/* The centered and scaled vertices, and their positions along an oblique direction. */
static void place_chunk(void *data, int chunk, int worker) {
    /* Models rarely have many vertices in one plane across this direction. */
    static const double direction[3] = {0.5347, 0.2713, 0.8003};
    const placement *p = data;
    const arap_mesh *mesh = p->mesh;
    int end = arap_chunk_end(chunk, CHUNK, mesh->input_count);
    (void)worker;
    for (int i = chunk * CHUNK; i < end; i++) {
        double *x = p->scaled + 3 * (size_t)i;
        for (int c = 0; c < 3; c++)
            x[c] = (p->geometry->vertices[3 * (size_t)i + (size_t)c] - mesh->center[c]) /
                   mesh->diagonal;
        p->items[i] = (arap_keyed){arap_key_of(arap_dot(x, direction)), (size_t)i};
        mesh->weld[i] = i;
    }
}

/* Fill ->first, ->next and ->count, and number mesh->weld, from the sets of vertices in it. */
static void number_vertices(arap_mesh *mesh) {
    int n = mesh->input_count;
    /* The root of a set is its lowest vertex. */
    for (int i = 0; i < n; i++) mesh->next[i] = arap_find_root(mesh->weld, i);
    mesh->count = 0;
    for (int i = 0; i < n; i++)
        mesh->weld[i] = mesh->next[i] == i ? mesh->count++ : mesh->weld[mesh->next[i]];
    for (int v = 0; v < mesh->count; v++) mesh->first[v] = -1;
    for (int i = n - 1; i >= 0; i--) {
        mesh->next[i] = mesh->first[mesh->weld[i]];
        mesh->first[mesh->weld[i]] = i;
    }
}

static arap_status check_distances(arap_error *error, const arap_geometry *g, const arap_mesh *mesh,
                                   const double *scaled) {
    for (size_t i = 0; i < 3 * (size_t)mesh->input_count; i++)
        if (!(fabs(scaled[i]) < ARAP_FARTHEST))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "vertices[%zu, %zu] is %g: too far away for a mesh of size %g", i / 3,
                             i % 3, g->vertices[i], mesh->diagonal);
    return ARAP_OK;
}

/* Fill mesh->weld, ->first, ->next and ->count, and `vertices`, centered and scaled. */
static arap_status weld(arap_context *context, arap_mesh *mesh, const arap_geometry *geometry,
                        double tolerance, double *vertices) {
    int n = mesh->input_count, apart = 0, *set = NULL;
    arap_keyed *items = ARAP_NEW(arap_keyed, 2 * (size_t)n), *sorted = items, *scratch = items + n;
    if (!items) return arap_fail_memory(&context->error, "welding");
    placement p = {geometry, mesh, vertices, items};
    arap_status status = arap_parallel_short(context, arap_chunks(n, CHUNK), place_chunk, &p);
    if (!status) status = check_distances(&context->error, geometry, mesh, vertices);
    if (!status && tolerance >= 0) status = arap_radix_sort(context, (size_t)n, &sorted, &scratch);
    if (status) goto done;
    for (int s = 0; s < n && tolerance >= 0; s++) {
        const double *p = vertices + 3 * sorted[s].index;
        double along = arap_number_of(sorted[s].key);
        for (int t = s + 1; t < n && arap_number_of(sorted[t].key) - along <= tolerance; t++)
            if (arap_distance2(p, vertices + 3 * sorted[t].index) <= tolerance * tolerance)
                arap_unite(mesh->weld, (int)sorted[s].index, (int)sorted[t].index);
    }
    number_vertices(mesh);
    if (mesh->count == n) goto done;
    set = ARAP_NEW(int, n);
    status = set ? arap_solids_part(context, geometry, vertices, mesh, set, &apart)
                 : arap_fail_memory(&context->error, "welding");
    if (status || !apart) goto done;
    memcpy(mesh->weld, set, (size_t)n * sizeof *set);
    number_vertices(mesh);

done:
    arap_free(items);
    arap_free(set);
    return status;
}

/* Set mesh->main and its count. */
static void find_main(const arap_geometry *g, const arap_extent *extent, arap_mesh *mesh) {
    int any = mesh->triangle_count || mesh->wire_count || mesh->tet_count;
    memset(mesh->main, !any, (size_t)mesh->count);
    for (size_t k = 0; k < 3 * mesh->triangle_count; k++) mesh->main[mesh->triangles[k]] = 1;
    for (size_t k = 0; k < 4 * mesh->tet_count; k++) mesh->main[mesh->tets[k]] = 1;
    for (size_t k = 0; k < 2 * mesh->wire_count; k++) mesh->main[mesh->wires[k]] = 1;
    for (int i = 0; i < mesh->count; i++) {
        const double *point = g->vertices + 3 * (size_t)mesh->first[i];
        for (int c = 0; c < 3; c++)
            if (point[c] < extent->box[0][c] || point[c] > extent->box[1][c]) mesh->main[i] = 0;
        mesh->main_count += mesh->main[i];
    }
}

/* Set mesh->size. Without a surface, it is twice the largest distance from the mean vertex. */
static arap_status measure_size(arap_context *context, void *data) {
    arap_mesh *mesh = data;
    const char *main = mesh->main;
    double mean[3] = {0, 0, 0}, area = 0, radius2 = 0;
    (void)context;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        if (!main[tri[0]] || !main[tri[1]] || !main[tri[2]]) continue;
        area += arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                                   mesh->v + 3 * (size_t)tri[2]);
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->count; i++)
        if (main[i / 3]) mean[i % 3] += mesh->v[i] / mesh->main_count;
    for (int i = 0; i < mesh->count; i++)
        if (main[i]) radius2 = fmax(radius2, arap_distance2(mesh->v + 3 * (size_t)i, mean));
    mesh->size = area > 0 ? sqrt(2 * area) : radius2 > 0 ? fmin(2 * sqrt(radius2), 2) : 1;
    return ARAP_OK;
}

static arap_status find_parts(arap_context *context, arap_mesh *mesh) {
    int n = mesh->count;
    char *has_face = ARAP_NEW_ZERO(char, n);
    if (!has_face) return arap_fail_memory(&context->error, "the mesh parts");
    for (int i = 0; i < n; i++) mesh->part[i] = i;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        arap_unite(mesh->part, tri[0], tri[1]);
        arap_unite(mesh->part, tri[0], tri[2]);
        if (!has_face[tri[0]])
            has_face[tri[0]] =
                arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                                   mesh->v + 3 * (size_t)tri[2]) > 0;
    }
    for (size_t t = 0; t < mesh->tet_count; t++) {
        const int *tet = mesh->tets + 4 * t;
        for (int c = 1; c < 4; c++) arap_unite(mesh->part, tet[0], tet[c]);
        if (arap_mesh_tet_volume(mesh, t) != 0) has_face[tet[0]] = 1;
    }
    for (size_t w = 0; w < mesh->wire_count; w++)
        arap_unite(mesh->part, mesh->wires[2 * w], mesh->wires[2 * w + 1]);
    for (int i = 0; i < n; i++) {
        int root = arap_find_root(mesh->part, i);
        if (has_face[i]) has_face[root] = 1;
        mesh->part[i] = root;
    }
    mesh->part_count = mesh->face_part_count = 0;
    for (int i = 0; i < n; i++) {
        if (mesh->part[i] == i) {
            mesh->face_part_count += has_face[i];
            mesh->part[i] = mesh->part_count++;
        } else {
            mesh->part[i] = mesh->part[mesh->part[i]];
        }
    }
    arap_free(has_face);
    return ARAP_OK;
}

/* Whether a face, an edge or a tet has a distant vertex. */
static int any_far(const arap_mesh *mesh, const char *far, const int *corners, int count) {
    for (int c = 0; c < count && mesh->far_count; c++)
        if (far[mesh->weld[corners[c]]]) return 1;
    return 0;
}

/* Mark the vertices that are far from the dense part of the mesh, but share a face with it. */
static void mark_stray(const arap_geometry *g, const arap_extent *extent, const arap_mesh *mesh,
                       char *far) {
    const int *corners[] = {g->triangles, g->edges, g->tets};
    const size_t counts[] = {g->triangle_count, g->edge_count, g->tet_count}, sizes[] = {3, 2, 4};
    if (isinf(extent->dense[0][0])) return;
    for (int kind = 0; kind < 3; kind++)
        for (size_t k = 0; k < counts[kind]; k++) {
            const int *corner = corners[kind] + sizes[kind] * k;
            size_t outside = 0;
            int beyond[4];
            for (size_t c = 0; c < sizes[kind]; c++) {
                const double *point = g->vertices + 3 * (size_t)corner[c];
                beyond[c] = arap_is_beyond(extent->dense[0], extent->dense[1], point);
                outside += (size_t)beyond[c];
            }
            if (!outside || outside == sizes[kind]) continue;
            for (size_t c = 0; c < sizes[kind]; c++)
                if (beyond[c]) far[mesh->weld[corner[c]]] = 1;
        }
}

static int has_area(const arap_geometry *g, size_t triangle) {
    const int *tri = g->triangles + 3 * triangle;
    return arap_triangle_area(g->vertices + 3 * (size_t)tri[0], g->vertices + 3 * (size_t)tri[1],
                              g->vertices + 3 * (size_t)tri[2]) > 0;
}

/* Copy the welded vertices, and mark those that are far away. */
static arap_status copy_vertices(arap_context *context, const arap_geometry *geometry,
                                 const arap_extent *extent, const double *scaled, arap_mesh *mesh,
                                 char *far) {
    mesh->v = ARAP_TAKE(&mesh->arena, 3 * (size_t)mesh->count, double);
    mesh->part = ARAP_TAKE(&mesh->arena, mesh->count, int);
    mesh->main = ARAP_TAKE(&mesh->arena, mesh->count, char);
    arap_status status = arap_arena_status(&mesh->arena, &context->error, "the mesh");
    if (status) return status;
    for (int i = 0; i < mesh->count; i++) {
        memcpy(mesh->v + 3 * (size_t)i, scaled + 3 * (size_t)mesh->first[i], 3 * sizeof(double));
        far[i] = (char)arap_is_beyond(extent->lo, extent->hi,
                                      geometry->vertices + 3 * (size_t)mesh->first[i]);
    }
    mark_stray(geometry, extent, mesh, far);
    for (int i = 0; i < mesh->count; i++) mesh->far_count += far[i];
    return ARAP_OK;
}

/* Copy the faces, edges and tets that have no far vertex and keep their corners apart. */
static void copy_faces(const arap_geometry *geometry, const char *far, arap_mesh *mesh) {
    for (size_t t = 0; t < geometry->triangle_count; t++) {
        if (any_far(mesh, far, geometry->triangles + 3 * t, 3)) continue;
        int a = mesh->weld[geometry->triangles[3 * t]],
            b = mesh->weld[geometry->triangles[3 * t + 1]],
            c = mesh->weld[geometry->triangles[3 * t + 2]];
        if (a == b || b == c || c == a) {
            mesh->collapsed_count += has_area(geometry, t);
            continue;
        }
        int *out = mesh->triangles + 3 * mesh->triangle_count++;
        out[0] = a, out[1] = b, out[2] = c;
    }
    for (size_t e = 0; e < geometry->edge_count; e++) {
        if (any_far(mesh, far, geometry->edges + 2 * e, 2)) continue;
        int a = mesh->weld[geometry->edges[2 * e]], b = mesh->weld[geometry->edges[2 * e + 1]];
        if (a == b) continue;
        int *out = mesh->wires + 2 * mesh->wire_count++;
        out[0] = a, out[1] = b;
    }
    for (size_t t = 0; t < geometry->tet_count; t++) {
        if (any_far(mesh, far, geometry->tets + 4 * t, 4)) continue;
        int *out = mesh->tets + 4 * mesh->tet_count, different = 1;
        for (int c = 0; c < 4; c++) out[c] = mesh->weld[geometry->tets[4 * t + (size_t)c]];
        for (int c = 0; c < 4; c++)
            for (int d = 0; d < c; d++) different &= out[c] != out[d];
        mesh->tet_count += (size_t)different;
    }
}

arap_status arap_mesh_create(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, double weld_tolerance, arap_mesh *mesh) {
    arap_status status = arap_check_geometry(&context->error, geometry);
    arap_extent extent;
    arap_arena arena = {0};
    size_t n = (size_t)geometry->vertex_count;
    *mesh = (arap_mesh){0};
    if (!status) status = arap_extent_find(context, geometry, bones, &extent);
    if (status) return status;
    mesh->input_count = geometry->vertex_count;
    memcpy(mesh->center, extent.center, sizeof mesh->center);
    mesh->diagonal = extent.diagonal;
    mesh->weld = ARAP_TAKE(&mesh->arena, n, int);
    mesh->first = ARAP_TAKE(&mesh->arena, n, int);
    mesh->next = ARAP_TAKE(&mesh->arena, n, int);
    mesh->triangles = ARAP_TAKE(&mesh->arena, 3 * geometry->triangle_count, int);
    mesh->wires = ARAP_TAKE(&mesh->arena, 2 * geometry->edge_count, int);
    mesh->tets = ARAP_TAKE(&mesh->arena, 4 * geometry->tet_count, int);
    double *scaled = ARAP_TAKE(&arena, 3 * n, double);
    char *far = ARAP_TAKE(&arena, n, char);
    status = arap_arena_status(&mesh->arena, &context->error, "the mesh");
    if (!status) status = arap_arena_status(&arena, &context->error, "the mesh");
    if (!status) status = weld(context, mesh, geometry, weld_tolerance, scaled);
    if (!status) status = arap_poll_cancel(context);
    if (!status) status = copy_vertices(context, geometry, &extent, scaled, mesh, far);
    if (status) goto done;
    copy_faces(geometry, far, mesh);
    status = arap_tets_surface(context, mesh);
    if (status) goto done;
    find_main(geometry, &extent, mesh);
    arap_async_task size_task;
    arap_async_begin(context, mesh->count, measure_size, mesh, &size_task);
    status = find_parts(context, mesh);
    arap_status measured = arap_async_end(context, &size_task);
    if (!status) status = measured;
    if (!status) status = arap_poll_cancel(context);

done:
    arap_arena_clear(&arena);
    if (status) arap_mesh_clear(mesh);
    return status;
}

void arap_mesh_clear(arap_mesh *mesh) {
    arap_arena_clear(&mesh->arena);
    *mesh = (arap_mesh){0};
}

double arap_mesh_tie(const arap_mesh *mesh, int i, double *rest) {
    const arap_spring *spring;
    double sum = 0, energy = 0;
    for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++) {
        sum += spring->weight;
        if (rest) energy += spring->weight * arap_distance2(spring->point, mesh->v + 3 * (size_t)i);
    }
    if (rest) *rest = energy;
    return sum;
}

void arap_part_centers(const arap_mesh *mesh, double *centers) {
    for (int i = 0; i < mesh->count; i++) {
        double *sum = centers + 4 * mesh->part[i], area = mesh->area[i];
        for (int c = 0; c < 3; c++) sum[c] += area * mesh->v[3 * (size_t)i + (size_t)c];
        sum[3] += area;
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) centers[4 * p + c] /= centers[4 * p + 3];
}
