/* Heat weights: see heat.h.
 *
 *   (L + M H) w_b = M H chi_b        (paper Eq. 6, SPEC section 5)
 *
 * L: cotangent Laplacian, plus a spring for every wire edge and, a weak one, for every link
 * between parts: a part that sees a bone of its own keeps it, one that sees none takes the
 * weights of what it sits on. M: barycentric areas. H_ii = 1 / distance^2 to the skeleton where
 * the vertex sees its nearest point, else 0. chi: 1 for the bone that owns that point, shared
 * among equals. An island of which no vertex sees a bone takes H without the visibility test;
 * one to which no bone is near (the nearest is farther than the island is large) follows that
 * bone rigidly.
 *
 * The paper couples wire edges by extra rows of a least-squares system (its HBM). Springs in
 * the Laplacian itself keep the matrix as it is, need no second factorisation, and give no
 * negative weights; as strong as here they hold both ends together just as the rows do.
 *
 * One factorisation, bones solved in blocks: O(n^1.5) + O(bones n log n); memory O(n) for a
 * block plus the kept entries. Triangles near zero area have their cotangents scaled down as
 * a whole, which keeps the matrix positive definite. */
#include "heat.h"

#include <string.h>

#include "factor.h"
#include "memory.h"
#include "tets.h"
#include "vec3.h"

#define NEAREST_DISTANCE 1e-6 /* share of the mesh diagonal; caps H for vertices on a bone */
#define MOST_COTANGENT 1e4
#define WIRE_CONDUCTANCE 1e3
#define LINK_CONDUCTANCE 0.1
#define BLOCK_PER_THREAD 32

/* A growing list of (vertex, bone, weight), bones ascending. */
typedef struct entry_list {
    struct entry {
        int vertex, bone;
        double weight;
    } *entries;
    size_t count, capacity;
} entry_list;

static arap_status append(arap_job *job, entry_list *list, int vertex, int bone, double weight) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        struct entry *grown = arap_realloc(list->entries, capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&job->error, "the heat weights");
        list->entries = grown;
        list->capacity = capacity;
    }
    list->entries[list->count++] = (struct entry){vertex, bone, weight};
    return ARAP_OK;
}

/* Half the cotangents of the angles at the three corners. */
static void half_cotangents(const double *p, const double *q, const double *r, double *out) {
    const double *corner[3] = {p, q, r};
    double largest = 0;
    for (int c = 0; c < 3; c++) {
        double u[3], v[3], n[3];
        arap_sub(corner[(c + 1) % 3], corner[c], u);
        arap_sub(corner[(c + 2) % 3], corner[c], v);
        arap_cross(u, v, n);
        double twice_area = sqrt(arap_dot(n, n));
        out[c] = twice_area > 0 ? 0.5 * arap_dot(u, v) / twice_area : 0;
        largest = fmax(largest, fabs(out[c]));
    }
    if (largest > MOST_COTANGENT)
        for (int c = 0; c < 3; c++) out[c] *= MOST_COTANGENT / largest;
}

void arap_add_cotangents(const arap_mesh *mesh, double *edges) {
    arap_add_tet_cotangents(mesh, edges);
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        double half[3];
        half_cotangents(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                        mesh->v + 3 * (size_t)tri[2], half);
        for (int c = 0; c < 3; c++) {
            int i = tri[(c + 1) % 3], j = tri[(c + 2) % 3];
            size_t e = arap_mesh_find_edge(mesh, i, j);
            edges[e] += mesh->thickness * half[c];
            edges[mesh->reverse[e]] += mesh->thickness * half[c];
        }
    }
}

void arap_conductances(const arap_mesh *mesh, double *out) {
    for (size_t e = 0; e < mesh->ring[mesh->count]; e++)
        out[e] = mesh->kind[e] == ARAP_EDGE_WIRE   ? mesh->thickness * WIRE_CONDUCTANCE
                 : mesh->kind[e] == ARAP_EDGE_LINK ? mesh->thickness * LINK_CONDUCTANCE
                                                   : 0;
    arap_add_cotangents(mesh, out);
}

/* L + M H in elimination order. */
static arap_status heat_matrix(arap_job *job, const arap_mesh *mesh, const int *order,
                               const int *place, const double *source, arap_matrix *matrix) {
    int n = mesh->count;
    size_t directed = mesh->ring[n];
    double *conductance = ARAP_NEW(double, directed);
    *matrix = (arap_matrix){.size = n,
                            .start = ARAP_NEW(int, n + 1),
                            .row = ARAP_NEW(int, directed / 2 + (size_t)n),
                            .value = ARAP_NEW(double, directed / 2 + (size_t)n)};
    if (!conductance || !matrix->start || !matrix->row || !matrix->value) {
        arap_free(conductance);
        return arap_fail_memory(&job->error, "the heat system");
    }
    arap_conductances(mesh, conductance);
    int fill = 0;
    for (int j = 0; j < n; j++) {
        int vertex = order[j], begin = fill;
        matrix->start[j] = fill;
        matrix->row[fill] = j;
        matrix->value[fill++] = source[vertex];
        for (size_t e = mesh->ring[vertex]; e < mesh->ring[vertex + 1]; e++) {
            int i = place[mesh->neighbour[e]];
            matrix->value[begin] += conductance[e];
            if (i < j) continue;
            int at = fill++;
            for (; at > begin + 1 && matrix->row[at - 1] > i; at--) {
                matrix->row[at] = matrix->row[at - 1];
                matrix->value[at] = matrix->value[at - 1];
            }
            matrix->row[at] = i;
            matrix->value[at] = -conductance[e];
        }
    }
    matrix->start[n] = fill;
    arap_free(conductance);
    return ARAP_OK;
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
                int k = mesh->neighbour[e];
                if (island[k] >= 0) continue;
                island[k] = count;
                stack[depth++] = k;
            }
        }
        count++;
    }
    return count;
}

typedef struct island_facts {
    int first, size, seen;
    double mean[3], radius2; /* of its vertices */
    double nearest;          /* distance of its nearest vertex to a bone */
    int nearest_bone, rigid;
} island_facts;

/* M H of every vertex into `source`; islands without sight are reported. */
static arap_status heat_sources(arap_job *job, const arap_mesh *mesh, const arap_sight *sight,
                                int *island, double *source, int *rigid_bone,
                                arap_heat_report *report) {
    int n = mesh->count, count = arap_find_islands(mesh, island, rigid_bone);
    island_facts *facts = ARAP_NEW_ZERO(island_facts, count);
    report->unseen = ARAP_NEW(arap_island, count);
    if (!facts || !report->unseen) {
        arap_free(facts);
        return arap_fail_memory(&job->error, "the heat sources");
    }
    for (int i = 0; i < n; i++) {
        island_facts *f = &facts[island[i]];
        const double *p = mesh->v + 3 * (size_t)i;
        if (!f->size || sight->distance[i] < f->nearest) {
            f->nearest = sight->distance[i];
            f->nearest_bone = sight->nearest[(size_t)i * ARAP_MOST_SHARED];
        }
        if (!f->size) f->first = i;
        for (int c = 0; c < 3; c++) f->mean[c] += p[c];
        f->size++;
        f->seen += sight->visible[i];
    }
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++) facts[k].mean[c] /= facts[k].size;
    for (int i = 0; i < n; i++) {
        island_facts *f = &facts[island[i]];
        f->radius2 = fmax(f->radius2, arap_distance2(mesh->v + 3 * (size_t)i, f->mean));
    }
    report->unseen_count = 0;
    for (int k = 0; k < count; k++) {
        island_facts *f = &facts[k];
        if (f->seen) continue;
        f->rigid = f->nearest > 2 * sqrt(f->radius2);
        report->unseen[report->unseen_count++] =
            (arap_island){mesh->first[f->first], f->size, f->rigid};
    }
    for (int i = 0; i < n; i++) {
        const island_facts *f = &facts[island[i]];
        double d = fmax(sight->distance[i], NEAREST_DISTANCE);
        int shines = sight->visible[i] || !f->seen;
        source[i] = shines ? mesh->area[i] / (d * d) : 0;
        rigid_bone[i] = f->rigid ? f->nearest_bone : -1;
    }
    arap_free(facts);
    return ARAP_OK;
}

/* Solve for all bones, block by block, and list the weights above `floor`. */
static arap_status solve_bones(arap_job *job, const arap_mesh *mesh, const arap_sight *sight,
                               const int *order, const int *place, const double *source, int bones,
                               arap_factor *factor, double floor, entry_list *list, double *sum) {
    size_t n = (size_t)mesh->count;
    int block = BLOCK_PER_THREAD * job->threads;
    if (block > bones) block = bones;
    double *x = ARAP_NEW(double, n *(size_t)block);
    arap_status status = x ? ARAP_OK : arap_fail_memory(&job->error, "the heat weights");
    for (int first = 0; first < bones && !status; first += block) {
        int width = bones - first < block ? bones - first : block;
        memset(x, 0, n * (size_t)width * sizeof *x);
        for (size_t i = 0; i < n; i++) {
            int shares = sight->nearest_count[i];
            for (int s = 0; s < shares; s++) {
                int b = sight->nearest[i * ARAP_MOST_SHARED + (size_t)s] - first;
                if (b >= 0 && b < width) x[(size_t)b * n + (size_t)place[i]] = source[i] / shares;
            }
        }
        status = arap_factor_solve_all(job, factor, width, x);
        for (int b = 0; b < width && !status; b++)
            for (size_t k = 0; k < n && !status; k++) {
                double w = x[(size_t)b * n + k];
                if (!isfinite(w))
                    status =
                        arap_fail(&job->error, ARAP_NOT_FINITE,
                                  "the heat weight of vertex %d is %g", mesh->first[order[k]], w);
                if (w > 0) sum[order[k]] += w;
                if (w > floor && !status) status = append(job, list, order[k], first + b, w);
            }
        if (!status) status = arap_progress(job, "heat weights", (double)(first + width) / bones);
    }
    arap_free(x);
    return status;
}

/* Sorted rows from the list; rigid vertices and rows without heat get one bone. */
static arap_status gather(arap_job *job, const arap_mesh *mesh, const arap_sight *sight,
                          const entry_list *list, const double *sum, const int *rigid_bone,
                          arap_influences *out) {
    int n = mesh->count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    if (!sizes) return arap_fail_memory(&job->error, "the heat weights");
    for (size_t e = 0; e < list->count; e++) sizes[list->entries[e].vertex]++;
    for (int i = 0; i < n; i++)
        if (rigid_bone[i] >= 0 || !sizes[i]) sizes[i] = -1;
    for (int i = 0; i < n; i++) sizes[i] = sizes[i] < 0 ? 1 : sizes[i];
    arap_status status = arap_influences_create(job, n, sizes, out);
    if (status) goto done;
    memset(sizes, 0, (size_t)n * sizeof *sizes);
    for (size_t e = 0; e < list->count; e++) {
        const struct entry *entry = &list->entries[e];
        if (rigid_bone[entry->vertex] >= 0) continue;
        size_t at = out->start[entry->vertex] + (size_t)sizes[entry->vertex]++;
        out->bone[at] = entry->bone;
        out->weight[at] = entry->weight / sum[entry->vertex];
    }
    for (int i = 0; i < n; i++) {
        if (sizes[i]) continue;
        out->bone[out->start[i]] =
            rigid_bone[i] >= 0 ? rigid_bone[i] : sight->nearest[(size_t)i * ARAP_MOST_SHARED];
        out->weight[out->start[i]] = 1;
    }

done:
    arap_free(sizes);
    return status;
}

arap_status arap_heat_weights(arap_job *job, const arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_sight *sight, const int *order, double floor,
                              arap_influences *out, arap_heat_report *report) {
    size_t n = (size_t)mesh->count;
    arap_matrix matrix = {0};
    arap_factor *factor = NULL;
    entry_list list = {0};
    int *place = ARAP_NEW(int, n), *island = ARAP_NEW(int, n), *rigid_bone = ARAP_NEW(int, n);
    double *source = ARAP_NEW(double, n), *sum = ARAP_NEW_ZERO(double, n);
    arap_status status;
    *report = (arap_heat_report){0};
    if (!place || !island || !rigid_bone || !source || !sum) {
        status = arap_fail_memory(&job->error, "the heat weights");
        goto done;
    }
    for (size_t k = 0; k < n; k++) place[order[k]] = (int)k;
    status = heat_sources(job, mesh, sight, island, source, rigid_bone, report);
    if (!status) status = heat_matrix(job, mesh, order, place, source, &matrix);
    if (!status) status = arap_factor_create(job, &matrix, &factor);
    if (!status)
        status = solve_bones(job, mesh, sight, order, place, source, skeleton->deform_count, factor,
                             floor, &list, sum);
    if (!status) status = gather(job, mesh, sight, &list, sum, rigid_bone, out);

done:
    if (status) arap_heat_report_clear(report);
    arap_factor_free(factor);
    arap_matrix_clear(&matrix);
    arap_free(list.entries);
    arap_free(place);
    arap_free(island);
    arap_free(rigid_bone);
    arap_free(source);
    arap_free(sum);
    return status;
}

void arap_heat_report_clear(arap_heat_report *report) {
    arap_free(report->unseen);
    *report = (arap_heat_report){0};
}
