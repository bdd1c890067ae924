/* One-rings and ARAP weights of a mesh: see rings.h.
 *
 * As described in docs/energy.md 1, a triangle of area A adds A/3 to the Lambda of each of its
 * three vertices and to a_ik = Lambda_i lambda_ik of each of its six directed edges. The weights
 * are always positive and symmetric, and sum_k lambda_ik = 2. A tet of volume V adds V/4 to each of
 * its four vertices and V/6 to each of its twelve directed edges, with the same properties. Next to
 * tets, triangles count by area times thickness (tets.c), and triangles on the surface of the tets
 * do not count.
 *
 * Wire edges (section 6 of the paper) have weights that are not symmetric: a vertex with V face
 * neighbors and V' wire neighbors gives each of its wire edges
 *     lambda_ij = (sum_k lambda_ik) min(1/2, V'/V) / V'.
 * Links between parts have LINK_SHARE of the weight that wire edges in their place would have. Such
 * links determine the direction in which a loose part moves, while the part's own edges keep it
 * rigid. With the full weight, parts that meet in a joint would bend each other. Links between
 * layers of cloth have the share LAYER_SHARE instead. The two kinds of links are counted
 * separately. With a smaller share, clothes sink below the skin in poses. With a larger one, both
 * stretch. A vertex without any face area (wires, loose vertices, collapsed faces) is assigned a
 * tenth of the mean vertex area and V = V', so that it still gets weights. Edges of collapsed faces
 * at such a vertex count as wires.
 *
 * These weights are areas, and the energy of an edge is area times squared length times squared
 * strain. Strain in short edges would therefore cost almost nothing. With a power p > 0, every
 * weight is then
 *     a_ik (unit / L)^2 (L / max(l, SHORTEST L))^p,   log L = sum a_ik log l / sum a_ik,
 * where the sums run over the part of the mesh, and `unit` is a fixed share of the mesh size. With
 * p = 2, the energy is the area-weighted mean of squared relative errors, which is the same for
 * every tessellation. With p = 3, regions with more detail than the rest have more influence.
 * Subdividing the whole mesh evenly changes neither energy. Wires longer than L count as having
 * length L, because parts that an artist joins by a wire are meant to move together. A link counts
 * as having the length that the edges of the part would have if the part had LINK_VERTICES vertices
 * (LAYER_VERTICES for layers). The distance between the parts and the actual length of the edges do
 * not matter. When links counted as having the length L, they were four times as stiff after every
 * triangle of the same surface had been split into four.
 *
 * Rows are gathered from the neighborhood of each vertex on all threads. Sums over the mesh follow
 * the order of the vertices. Takes O(edges) time and 44 bytes per directed edge. Fails on
 * out-of-memory and if there are more faces than an int can count. */
#include "mesh/rings.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/tets.h"

#define WIRE_AREA_SHARE 0.1
#define LINK_SHARE 0.05
#define LAYER_SHARE 0.5
#define UNIT 0.02     /* share of the mesh size */
#define SHORTEST 0.01 /* minimum length of edges, in mean lengths */
#define LINK_VERTICES 16
#define LAYER_VERTICES 500

#define CHUNK 128 /* vertices of a task */
#define WIDE 64   /* entries of a row above which it is sorted instead of filled in order */

/* A directed edge before it is added to the rows. */
typedef struct ring_entry {
    int to;
    int kind;
    double a;
} ring_entry;

/* The rings under construction. Tets, triangles and wires share one numbering, in this order. The
 * surface of tets is excluded. */
typedef struct ring_task {
    arap_mesh *mesh;
    size_t *first;    /* (vertices + 1) position in `around` of the elements around each vertex */
    int *around;      /* ascending */
    double *size;     /* (tets, triangles) volume, or a third of the area */
    ring_entry *rows; /* rows of each task in sequence, starting at entry_bound() */
    double wire_area, power;
    const double *mean; /* (parts) length of an edge, */
    const double *link; /* and that of a link */
    double *value;      /* (directed edges) scratch */
} ring_task;

/* Merge an entry with that of the same neighbor. */
static void merge(ring_entry *into, const ring_entry *entry) {
    into->a += entry->a;
    if (entry->kind < into->kind) into->kind = entry->kind;
}

/* Insert an entry in a row sorted by neighbor. Returns the new number of entries. */
static size_t insert(ring_entry *row, size_t count, ring_entry entry) {
    size_t at = count;
    while (at > 0 && row[at - 1].to > entry.to) at--;
    if (at > 0 && row[at - 1].to == entry.to) {
        merge(&row[at - 1], &entry);
        return count;
    }
    for (size_t k = count; k > at; k--) row[k] = row[k - 1];
    row[at] = entry;
    return count + 1;
}

/* Sort by neighbor, keeping the order for equal neighbors. */
static int by_neighbor(const void *a, const void *b) {
    const ring_entry *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to)
                          : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Merge the entries of a long unsorted row, such as that of the center of a fan. */
static size_t sort_row(ring_entry *row, size_t count) {
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) row[k].kind += (int)k * ARAP_EDGE_KINDS;
    qsort(row, count, sizeof *row, by_neighbor);
    for (size_t k = 0; k < count; k++) {
        row[k].kind %= ARAP_EDGE_KINDS;
        if (kept && row[kept - 1].to == row[k].to)
            merge(&row[kept - 1], &row[k]);
        else
            row[kept++] = row[k];
    }
    return kept;
}

/* Weights of the edges of one kind of vertex i, of which there are `count`: `share` times those of
 * wire edges. */
static void weigh_edges(arap_mesh *mesh, int i, int kind, int count, int faces, double share) {
    double part = faces ? fmin(0.5, (double)count / faces) : 0.5;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1] && count; e++)
        if (mesh->kind[e] == kind) mesh->edge_weight[e] = share * mesh->area[i] * 2 * part / count;
}

static void weigh_wires(arap_mesh *mesh, int i, double wire_area) {
    int count[ARAP_EDGE_KINDS] = {0};
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) count[(int)mesh->kind[e]]++;
    int faces = count[ARAP_EDGE_FACE];
    if (mesh->area[i] <= 0) mesh->area[i] = wire_area;
    weigh_edges(mesh, i, ARAP_EDGE_WIRE, count[ARAP_EDGE_WIRE], faces, 1);
    weigh_edges(mesh, i, ARAP_EDGE_LINK, count[ARAP_EDGE_LINK], faces, LINK_SHARE);
    weigh_edges(mesh, i, ARAP_EDGE_LAYER, count[ARAP_EDGE_LAYER], faces, LAYER_SHARE);
}

/* (L / max(l, SHORTEST L))^p */
static double share_of_length(const arap_mesh *mesh, int i, size_t e, double mean, double power) {
    double edge[3];
    arap_mesh_edge(mesh, i, e, edge);
    double length = fmax(sqrt(arap_dot(edge, edge)) / mean, SHORTEST);
    if (mesh->kind[e] == ARAP_EDGE_WIRE) length = fmin(length, 1);
    return pow(length, -power);
}

static arap_status for_vertices(arap_context *context, arap_task task, ring_task *t) {
    return arap_parallel_short(context, arap_chunks(t->mesh->count, CHUNK), task, t);
}

/* Logarithms of squared lengths, -infinity for 0. */
static void log_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            if (mesh->neighbor[e] < i || arap_mesh_is_link(mesh, e)) continue;
            double edge[3];
            arap_mesh_edge(mesh, i, e, edge);
            t->value[e] = t->value[mesh->reverse[e]] = log(arap_dot(edge, edge));
        }
}

static void share_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            if (mesh->neighbor[e] > i && !arap_mesh_is_link(mesh, e))
                t->value[e] = t->value[mesh->reverse[e]] =
                    share_of_length(mesh, i, e, t->mean[mesh->part[i]], t->power);
}

static void scale_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++) {
        double scale = mesh->unit / t->mean[mesh->part[i]];
        double link = mesh->unit / t->link[mesh->part[i]];
        double by_kind[] = {
            [ARAP_EDGE_LINK] = link * link,
            [ARAP_EDGE_LAYER] = link * link * LAYER_VERTICES / LINK_VERTICES,
        };
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            mesh->edge_weight[e] *= arap_mesh_is_link(mesh, e) ? by_kind[(int)mesh->kind[e]]
                                                               : scale * scale * t->value[e];
    }
}

/* Lengths of the links of all parts: those of the edges of equilateral triangles, twice as many as
 * LINK_VERTICES, which cover the part. A part without faces, or of tets, has L. */
static void measure_links(const ring_task *t, const double *mean, double *link) {
    const arap_mesh *mesh = t->mesh;
    for (int p = 0; p < mesh->part_count; p++) link[p] = 0;
    for (size_t k = mesh->surface_count; k < mesh->triangle_count && !mesh->tet_count; k++)
        link[mesh->part[mesh->triangles[3 * k]]] += 3 * t->size[k - mesh->surface_count];
    for (int p = 0; p < mesh->part_count; p++)
        link[p] = link[p] > 0 ? sqrt(2 / sqrt(3) * link[p] / LINK_VERTICES) : mean[p];
}

/* Make edge weights independent of the tessellation: see the top of this file. An edge and its
 * reverse get the same values. */
static arap_status balance_edges(arap_context *context, ring_task *t) {
    const arap_mesh *mesh = t->mesh;
    arap_arena arena = {0};
    double *sums = ARAP_TAKE_ZERO(&arena, 2 * mesh->part_count, double);
    double *mean = ARAP_TAKE(&arena, mesh->part_count, double);
    double *link = ARAP_TAKE(&arena, mesh->part_count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the one-rings");
    if (status) goto done;
    status = for_vertices(context, log_chunk, t);
    for (int i = 0; i < mesh->count && !status; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            if (arap_mesh_is_link(mesh, e)) continue;
            double length = t->value[e], *sum = sums + 2 * mesh->part[i];
            if (isinf(length)) continue;
            sum[0] += mesh->edge_weight[e] * length / 2;
            sum[1] += mesh->edge_weight[e];
        }
    for (int p = 0; p < mesh->part_count; p++) {
        const double *sum = sums + 2 * (size_t)p;
        mean[p] = sum[1] > 0 ? exp(sum[0] / sum[1]) : mesh->unit; /* loose: links at most */
    }
    measure_links(t, mean, link);
    t->mean = mean;
    t->link = link;
    if (!status) status = for_vertices(context, share_chunk, t);
    if (!status) status = for_vertices(context, scale_chunk, t);

done:
    arap_arena_clear(&arena);
    return status;
}

static arap_status append_links(arap_context *context, arap_mesh *mesh, const arap_links *links) {
    if (!links || !links->count) return ARAP_OK;
    int *wires = ARAP_TAKE(&mesh->arena, 2 * (mesh->wire_count + links->count), int);
    if (!wires) return arap_fail_memory(&context->error, "links between parts");
    memcpy(wires, mesh->wires, 2 * mesh->wire_count * sizeof *wires);
    memcpy(wires + 2 * mesh->wire_count, links->pair, 2 * links->count * sizeof(int));
    mesh->wires = wires;
    mesh->wire_count += links->count;
    mesh->link_count = links->count;
    mesh->layer_count = links->layers;
    return ARAP_OK;
}

/* Maximum number of entries in a row, from the number of tets, triangles and wires around its
 * vertex. */
static size_t entry_bound(const ring_task *t, size_t around) {
    return around * (t->mesh->tet_count ? 3 : 2);
}

/* Build the row of vertex i, in which each neighbor occurs once. Sums keep the order of the
 * triangles. Returns the number of entries. */
static size_t gather(const ring_task *t, int i, ring_entry *row) {
    const arap_mesh *mesh = t->mesh;
    size_t tets = mesh->tet_count, faces = mesh->triangle_count - mesh->surface_count, count = 0;
    int is_wide = entry_bound(t, t->first[i + 1] - t->first[i]) > WIDE;
    for (size_t k = t->first[i]; k < t->first[i + 1]; k++) {
        size_t one = (size_t)t->around[k];
        const int *corner;
        int corners;
        ring_entry entry = {.kind = ARAP_EDGE_WIRE};
        if (one < tets + faces) {
            int is_tet = one < tets;
            corners = is_tet ? 4 : 3;
            corner = is_tet ? mesh->tets + 4 * one
                            : mesh->triangles + 3 * (mesh->surface_count + one - tets);
            entry.kind = t->size[one] > 0 ? ARAP_EDGE_FACE : ARAP_EDGE_COLLAPSED;
            entry.a = is_tet ? t->size[one] / 6 : t->size[one];
        } else {
            one -= tets + faces;
            corners = 2;
            corner = mesh->wires + 2 * one;
            if (one >= mesh->wire_count - mesh->link_count)
                entry.kind =
                    one >= mesh->wire_count - mesh->layer_count ? ARAP_EDGE_LAYER : ARAP_EDGE_LINK;
        }
        for (int c = 0; c < corners; c++) {
            entry.to = corner[c];
            if (entry.to == i) continue;
            if (is_wide)
                row[count++] = entry;
            else
                count = insert(row, count, entry);
        }
    }
    return is_wide ? sort_row(row, count) : count;
}

/* Build the rows of a task, their sizes, and the areas. */
static void gather_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    size_t tets = mesh->tet_count, faces = mesh->triangle_count - mesh->surface_count;
    ring_entry *row = t->rows + entry_bound(t, t->first[chunk * CHUNK]);
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++) {
        for (size_t k = t->first[i]; k < t->first[i + 1]; k++) {
            size_t one = (size_t)t->around[k];
            if (one >= tets + faces) break;
            mesh->area[i] += one < tets ? t->size[one] / 4 : t->size[one];
        }
        row += mesh->ring[i + 1] = gather(t, i, row);
    }
}

static void fill_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    const ring_entry *row = t->rows + entry_bound(t, t->first[chunk * CHUNK]);
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++)
        for (size_t at = mesh->ring[i]; at < mesh->ring[i + 1]; at++, row++) {
            int flat = mesh->area[i] <= 0 || mesh->area[row->to] <= 0;
            int collapsed = row->kind == ARAP_EDGE_COLLAPSED;
            mesh->neighbor[at] = row->to;
            mesh->edge_weight[at] = row->a;
            mesh->kind[at] = (char)(collapsed && flat ? ARAP_EDGE_WIRE : row->kind);
        }
}

static void finish_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    arap_mesh *mesh = t->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++) {
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            if (mesh->neighbor[e] < i) continue;
            size_t reverse = arap_mesh_find_edge(mesh, mesh->neighbor[e], i);
            mesh->reverse[e] = (uint32_t)reverse;
            mesh->reverse[reverse] = (uint32_t)e;
        }
        weigh_wires(mesh, i, t->wire_area);
    }
}

/* The contribution of an edge to the energy at rest, which replaces its symmetric weight. */
static void rest_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, t->mesh->count); i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            mesh->edge_weight_sym[e] =
                mesh->edge_weight[e] *
                arap_distance2(mesh->v + 3 * (size_t)i, mesh->v + 3 * (size_t)mesh->neighbor[e]);
}

static void symmetric_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    (void)worker;
    for (size_t e = mesh->ring[chunk * CHUNK];
         e < mesh->ring[arap_chunk_end(chunk, CHUNK, t->mesh->count)]; e++)
        mesh->edge_weight_sym[e] = mesh->edge_weight[e] + mesh->edge_weight[mesh->reverse[e]];
}

/* The surroundings of each vertex. */
static void look_around(const ring_task *t) {
    const arap_mesh *mesh = t->mesh;
    size_t n = (size_t)mesh->count, *first = t->first;
    const int *faces = mesh->triangles + 3 * mesh->surface_count;
    size_t face_count = mesh->triangle_count - mesh->surface_count;
    memset(first, 0, (n + 1) * sizeof *first);
    for (size_t k = 0; k < 4 * mesh->tet_count; k++) first[mesh->tets[k]]++;
    for (size_t k = 0; k < 3 * face_count; k++) first[faces[k]]++;
    for (size_t k = 0; k < 2 * mesh->wire_count; k++) first[mesh->wires[k]]++;
    for (size_t i = 0; i < n; i++) first[i + 1] += first[i];
    /* Iterate from the last to the first, so that `first` ends at the correct value. */
    int one = (int)(mesh->tet_count + face_count + mesh->wire_count);
    for (size_t k = 2 * mesh->wire_count; k--;) {
        one -= k % 2 == 1;
        t->around[--first[mesh->wires[k]]] = one;
    }
    for (size_t k = 3 * face_count; k--;) {
        one -= k % 3 == 2;
        t->around[--first[faces[k]]] = one;
    }
    for (size_t k = 4 * mesh->tet_count; k--;) {
        one -= k % 4 == 3;
        t->around[--first[mesh->tets[k]]] = one;
    }
}

/* For triangles. */
static void measure_chunk(void *data, int chunk, int worker) {
    const ring_task *t = data;
    const arap_mesh *mesh = t->mesh;
    size_t first = mesh->surface_count + (size_t)chunk * CHUNK, end = first + CHUNK;
    (void)worker;
    if (end > mesh->triangle_count) end = mesh->triangle_count;
    for (size_t k = first; k < end; k++) {
        const int *tri = mesh->triangles + 3 * k;
        t->size[mesh->tet_count + k - mesh->surface_count] =
            mesh->thickness *
            arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                               mesh->v + 3 * (size_t)tri[2]) /
            3;
    }
}

/* Compute volumes and areas, and their total. */
static arap_status measure(arap_context *context, ring_task *t, double *sum) {
    const arap_mesh *mesh = t->mesh;
    size_t faces = mesh->triangle_count - mesh->surface_count;
    arap_status status =
        arap_parallel_short(context, (int)((faces + CHUNK - 1) / CHUNK), measure_chunk, t);
    *sum = 0;
    for (size_t k = 0; k < mesh->tet_count; k++)
        *sum += t->size[k] = fabs(arap_mesh_tet_volume(mesh, k));
    for (size_t k = 0; k < faces && !status; k++) *sum += 3 * t->size[mesh->tet_count + k];
    return status;
}

/* Rows are gathered task by task and then concatenated. */
static arap_status make_rows(arap_context *context, ring_task *t) {
    arap_mesh *mesh = t->mesh;
    size_t n = (size_t)mesh->count, face_vertices = 0;
    double sum;
    arap_status status = measure(context, t, &sum);
    if (status) return status;
    look_around(t);
    t->rows = ARAP_NEW(ring_entry, entry_bound(t, t->first[n]));
    if (!t->rows) return arap_fail_memory(&context->error, "the one-rings");
    status = for_vertices(context, gather_chunk, t);
    if (status) return status;
    for (size_t i = 0; i < n; i++) {
        int row = (int)mesh->ring[i + 1];
        if (row > mesh->largest_ring) mesh->largest_ring = row;
        mesh->ring[i + 1] += mesh->ring[i];
        face_vertices += mesh->area[i] > 0;
    }
    t->wire_area = WIRE_AREA_SHARE * (face_vertices ? sum / (double)face_vertices : 1 / (double)n);
    size_t total = mesh->ring[n];
    if (total > UINT32_MAX)
        return arap_fail(&context->error, ARAP_NO_MEMORY, "the mesh has too many edges (%zu)",
                         total / 2);
    mesh->neighbor = ARAP_TAKE(&mesh->arena, total, int);
    mesh->reverse = ARAP_TAKE(&mesh->arena, total, uint32_t);
    mesh->edge_weight = ARAP_TAKE(&mesh->arena, total, double);
    mesh->edge_weight_sym = t->value = ARAP_TAKE(&mesh->arena, total, double);
    mesh->kind = ARAP_TAKE(&mesh->arena, total, char);
    status = arap_arena_status(&mesh->arena, &context->error, "the one-rings");
    if (status) return status;
    status = for_vertices(context, fill_chunk, t);
    arap_free(t->rows);
    t->rows = NULL;
    return status ? status : for_vertices(context, finish_chunk, t);
}

arap_status arap_mesh_connect(arap_context *context, arap_mesh *mesh, const arap_links *links,
                              double edge_power) {
    size_t n = (size_t)mesh->count;
    ring_task t = {.mesh = mesh, .power = edge_power};
    arap_status status = append_links(context, mesh, links);
    if (status) return status;

    size_t faces = mesh->triangle_count - mesh->surface_count, sizes = mesh->tet_count + faces;
    if (sizes + mesh->wire_count > INT_MAX)
        return arap_fail(&context->error, ARAP_NO_MEMORY,
                         "the mesh has too many faces and edges (%zu)", sizes + mesh->wire_count);
    arap_arena arena = {0};
    mesh->area = ARAP_TAKE_ZERO(&mesh->arena, n, double);
    mesh->ring = ARAP_TAKE_ZERO(&mesh->arena, n + 1, size_t);
    t.first = ARAP_TAKE(&arena, n + 1, size_t);
    t.around = ARAP_TAKE(&arena, 4 * mesh->tet_count + 3 * faces + 2 * mesh->wire_count, int);
    t.size = ARAP_TAKE(&arena, sizes, double);
    status = arap_arena_status(&mesh->arena, &context->error, "the one-rings");
    if (!status) status = arap_arena_status(&arena, &context->error, "the one-rings");
    if (!status) status = make_rows(context, &t);
    mesh->unit = UNIT * mesh->size;
    if (!status && edge_power > 0) status = balance_edges(context, &t);
    if (!status) status = for_vertices(context, rest_chunk, &t);
    mesh->rest_energy = 0;
    for (size_t e = 0; !status && e < mesh->ring[n]; e++)
        mesh->rest_energy += mesh->edge_weight_sym[e];
    if (!status) status = for_vertices(context, symmetric_chunk, &t);
    arap_arena_clear(&arena);
    arap_free(t.rows);
    return status;
}

int arap_find_islands(const arap_mesh *mesh, int *island, int *stack) {
    int count = 0;
    for (int i = 0; i < mesh->count; i++) island[i] = -1;
    for (int i = 0; i < mesh->count; i++) {
        if (island[i] >= 0) continue;
        int depth = 0;
        island[i] = count;
        stack[depth++] = i;
        while (depth) {
            int v = stack[--depth];
            for (size_t e = mesh->ring[v]; e < mesh->ring[v + 1]; e++) {
                int k = mesh->neighbor[e];
                if (island[k] >= 0) continue;
                island[k] = count;
                stack[depth++] = k;
            }
        }
        count++;
    }
    return count;
}
