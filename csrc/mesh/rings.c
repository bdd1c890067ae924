/* One-rings and ARAP weights of a mesh: see rings.h.
 *
 * Faces (docs/energy.md 1): a triangle of area A gives A/3 to Lambda of its three vertices and
 * A/3 to a_ik = Lambda_i lambda_ik of its six directed edges. Always positive, symmetric, and
 * sum_k lambda_ik = 2. A tet of volume V gives V/4 to its four vertices and V/6 to each of its
 * twelve directed edges, with the same properties; beside tets, triangles count by area times
 * thickness (tets.c), and those of the surface of the tets not at all.
 *
 * Wire edges (section 6 of the paper), not symmetric: a vertex with V face neighbors and V'
 * wire neighbors gives each of its wire edges
 *     lambda_ij = (sum_k lambda_ik) min(1/2, V'/V) / V'.
 * Links between parts have LINK_SHARE of the weight that wire edges in their place would have:
 * they decide which way a loose part goes, while its own edges keep it rigid. With the full
 * weight, parts that meet in a joint bend each other.
 * A vertex without any face area (wires, loose vertices, collapsed faces) takes a tenth of
 * the mean vertex area and V = V', so that it is still weighted; edges of collapsed faces at
 * such a vertex count as wires.
 *
 * These are areas, and the energy of an edge is area times squared length times squared strain:
 * with them strain is almost free where edges are short. With a power p > 0, every weight is then
 *     a_ik (unit / L)^2 (L / max(l, SHORTEST L))^p,   log L = sum a_ik log l / sum a_ik,
 * the sums over the part of the mesh, unit a fixed share of the size of the mesh. With p = 2 the
 * energy is the area-weighted mean of squared relative errors, the same for every tessellation;
 * with p = 3 what is modeled in more detail than the rest counts more. Subdividing all of the mesh
 * alike changes neither. Links count as edges of length L, however near the parts are, and so do
 * longer wires: parts that an artist joins by a wire are meant to move together.
 *
 * Cost: O(edges), memory 44 bytes per directed edge. Fails without memory only. */
#include "mesh/rings.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/tets.h"

#define WIRE_AREA_SHARE 0.1
#define LINK_SHARE 0.05
#define UNIT 0.02     /* of the size of the mesh */
#define SHORTEST 0.01 /* shorter edges, in mean lengths, count as so long */

/* A directed edge on its way into the rows. */
typedef struct ring_entry {
    int to;
    int kind;
    double a;
} ring_entry;

static void push(ring_entry *entries, size_t *fill, int from, int to, double a, int kind) {
    entries[fill[from]++] = (ring_entry){to, kind, a};
}

/* Sort a row by neighbor (stable: sums keep the order of the triangles) and merge repeats.
 * Returns the number of different neighbors. */
static size_t merge_row(ring_entry *row, size_t count) {
    for (size_t i = 1; i < count; i++) {
        ring_entry moving = row[i];
        size_t j = i;
        for (; j > 0 && row[j - 1].to > moving.to; j--) row[j] = row[j - 1];
        row[j] = moving;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && row[kept - 1].to == row[i].to) {
            row[kept - 1].a += row[i].a;
            if (row[i].kind < row[kept - 1].kind) row[kept - 1].kind = row[i].kind;
        } else {
            row[kept++] = row[i];
        }
    }
    return kept;
}

/* Weights of the edges of one kind of vertex i, `share` times those of wire edges. */
static void weigh_edges(arap_mesh *mesh, int i, int kind, int faces, double share) {
    int count = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) count += mesh->kind[e] == kind;
    double part = faces ? fmin(0.5, (double)count / faces) : 0.5;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
        if (mesh->kind[e] == kind) mesh->edge_weight[e] = share * mesh->area[i] * 2 * part / count;
}

static void weigh_wires(arap_mesh *mesh, int i, double wire_area) {
    int faces = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
        faces += mesh->kind[e] == ARAP_EDGE_FACE;
    if (mesh->area[i] <= 0) mesh->area[i] = wire_area;
    weigh_edges(mesh, i, ARAP_EDGE_WIRE, faces, 1);
    weigh_edges(mesh, i, ARAP_EDGE_LINK, faces, LINK_SHARE);
}

/* (L / max(l, SHORTEST L))^p */
static double share_of_length(const arap_mesh *mesh, int i, size_t e, double mean, double power) {
    double edge[3];
    arap_mesh_edge(mesh, i, e, edge);
    double length = fmax(sqrt(arap_dot(edge, edge)) / mean, SHORTEST);
    if (mesh->kind[e] == ARAP_EDGE_WIRE) length = fmin(length, 1);
    return pow(length, -power);
}

/* Make edge weights independent of the tessellation, see the top of this file. sums (parts, 2):
 * scratch, all 0; value (directed edges): scratch. What an edge has, its reverse has too. */
static void balance_edges(arap_mesh *mesh, double power, double *sums, double *value) {
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            if (mesh->kind[e] == ARAP_EDGE_LINK) continue;
            double edge[3], *sum = sums + 2 * mesh->part[i];
            arap_mesh_edge(mesh, i, e, edge);
            double length2 = arap_dot(edge, edge);
            if (!(length2 > 0)) continue;
            value[e] = mesh->neighbor[e] < i ? value[mesh->reverse[e]] : log(length2);
            sum[0] += mesh->edge_weight[e] * value[e] / 2;
            sum[1] += mesh->edge_weight[e];
        }
    for (int i = 0; i < mesh->count; i++) {
        const double *sum = sums + 2 * mesh->part[i];
        double mean = sum[1] > 0 ? exp(sum[0] / sum[1]) : mesh->unit; /* loose: links at most */
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            double scale = mesh->unit / mean;
            if (mesh->kind[e] == ARAP_EDGE_LINK)
                value[e] = 1;
            else if (mesh->neighbor[e] < i)
                value[e] = value[mesh->reverse[e]];
            else
                value[e] = share_of_length(mesh, i, e, mean, power);
            mesh->edge_weight[e] *= scale * scale * value[e];
        }
    }
}

static arap_status append_links(arap_context *context, arap_mesh *mesh, const int *links,
                                size_t count) {
    if (!count) return ARAP_OK;
    int *wires = arap_realloc(mesh->wires, 2 * (mesh->wire_count + count), sizeof(int));
    if (!wires) return arap_fail_memory(&context->error, "links between parts");
    memcpy(wires + 2 * mesh->wire_count, links, 2 * count * sizeof(int));
    mesh->wires = wires;
    mesh->wire_count += count;
    mesh->link_count = count;
    return ARAP_OK;
}

arap_status arap_mesh_connect(arap_context *context, arap_mesh *mesh, const int *links,
                              size_t link_count, double edge_power) {
    size_t n = (size_t)mesh->count;
    ring_entry *entries = NULL;
    size_t *fill = NULL;
    double *sums = NULL;
    arap_status status = append_links(context, mesh, links, link_count);
    if (status) return status;

    size_t directed = 12 * mesh->tet_count + 6 * (mesh->triangle_count - mesh->surface_count) +
                      2 * mesh->wire_count;
    mesh->area = ARAP_NEW_ZERO(double, n);
    mesh->ring = ARAP_NEW_ZERO(size_t, n + 1);
    fill = ARAP_NEW(size_t, n + 1);
    entries = ARAP_NEW(ring_entry, directed);
    if (!mesh->area || !mesh->ring || !fill || !entries) goto no_memory;

    for (size_t k = 0; k < 4 * mesh->tet_count; k++) mesh->ring[mesh->tets[k] + 1] += 3;
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) mesh->ring[mesh->triangles[3 * t + c] + 1] += 2;
    for (size_t w = 0; w < 2 * mesh->wire_count; w++) mesh->ring[mesh->wires[w] + 1]++;
    for (size_t i = 0; i < n; i++) mesh->ring[i + 1] += mesh->ring[i];
    memcpy(fill, mesh->ring, (n + 1) * sizeof *fill);
    double area_sum = 0;
    size_t face_vertices = 0;
    for (size_t t = 0; t < mesh->tet_count; t++) {
        const int *tet = mesh->tets + 4 * t;
        double volume = fabs(arap_mesh_tet_volume(mesh, t));
        int kind = volume > 0 ? ARAP_EDGE_FACE : ARAP_EDGE_COLLAPSED;
        for (int c = 0; c < 4; c++) {
            mesh->area[tet[c]] += volume / 4;
            for (int d = 0; d < 4; d++)
                if (d != c) push(entries, fill, tet[c], tet[d], volume / 6, kind);
        }
        area_sum += volume;
    }
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        double third =
            mesh->thickness *
            arap_triangle_area(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                               mesh->v + 3 * (size_t)tri[2]) /
            3;
        for (int c = 0; c < 3; c++) {
            int i = tri[c], j = tri[(c + 1) % 3];
            mesh->area[i] += third;
            push(entries, fill, i, j, third, third > 0 ? ARAP_EDGE_FACE : ARAP_EDGE_COLLAPSED);
            push(entries, fill, j, i, third, third > 0 ? ARAP_EDGE_FACE : ARAP_EDGE_COLLAPSED);
        }
        area_sum += 3 * third;
    }
    for (size_t w = 0; w < mesh->wire_count; w++) {
        int i = mesh->wires[2 * w], j = mesh->wires[2 * w + 1];
        int kind = w < mesh->wire_count - mesh->link_count ? ARAP_EDGE_WIRE : ARAP_EDGE_LINK;
        push(entries, fill, i, j, 0, kind);
        push(entries, fill, j, i, 0, kind);
    }

    size_t total = 0;
    for (size_t i = 0; i < n; i++) { /* merge in place: rows only shrink */
        size_t begin = mesh->ring[i], end = mesh->ring[i + 1];
        size_t kept = merge_row(entries + begin, end - begin);
        memmove(entries + total, entries + begin, kept * sizeof *entries);
        mesh->ring[i] = total;
        total += kept;
        if ((int)kept > mesh->largest_ring) mesh->largest_ring = (int)kept;
        face_vertices += mesh->area[i] > 0;
    }
    mesh->ring[n] = total;

    mesh->neighbor = ARAP_NEW(int, total);
    mesh->reverse = ARAP_NEW(size_t, total);
    mesh->edge_weight = ARAP_NEW(double, total);
    mesh->edge_weight_sym = ARAP_NEW(double, total);
    mesh->kind = ARAP_NEW(char, total);
    if (!mesh->neighbor || !mesh->reverse || !mesh->edge_weight || !mesh->edge_weight_sym ||
        !mesh->kind)
        goto no_memory;
    memcpy(fill, mesh->ring, n * sizeof *fill);
    for (size_t e = 0; e < total; e++) { /* a vertex meets its neighbors in their order */
        mesh->neighbor[e] = entries[e].to;
        mesh->edge_weight[e] = entries[e].a;
        mesh->reverse[e] = fill[entries[e].to]++;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            int flat = mesh->area[i] <= 0 || mesh->area[mesh->neighbor[e]] <= 0;
            int collapsed = entries[e].kind == ARAP_EDGE_COLLAPSED;
            mesh->kind[e] = (char)(collapsed && flat ? ARAP_EDGE_WIRE : entries[e].kind);
        }
    double mean_area = face_vertices ? area_sum / (double)face_vertices : 1 / (double)n;
    for (size_t i = 0; i < n; i++) weigh_wires(mesh, (int)i, WIRE_AREA_SHARE * mean_area);
    mesh->unit = UNIT * mesh->size;
    if (edge_power > 0) {
        sums = ARAP_NEW_ZERO(double, 2 * mesh->part_count);
        if (!sums) goto no_memory;
        balance_edges(mesh, edge_power, sums, mesh->edge_weight_sym);
    }
    mesh->rest_energy = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            mesh->edge_weight_sym[e] = mesh->edge_weight[e] + mesh->edge_weight[mesh->reverse[e]];
            mesh->rest_energy +=
                mesh->edge_weight[e] *
                arap_distance2(mesh->v + 3 * i, mesh->v + 3 * (size_t)mesh->neighbor[e]);
        }
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the one-rings");
done:
    arap_free(sums);
    arap_free(entries);
    arap_free(fill);
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
