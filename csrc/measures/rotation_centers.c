/* Centers of rotation: see rotation_centers.h.
 *
 * Vertices of similar weights turn alike; the center of rotation of a vertex is their mean place,
 *     p* = int s(w_p, w_v) v dv / int s(w_p, w_v) dv
 *     s(w_p, w_v) = sum_{j != k} w_pj w_pk w_vj w_vk exp(-(w_pj w_vk - w_pk w_vj)^2 / sigma^2)
 * over the surface. As published, the integral is the sum over triangles of their area times the
 * value at their centroid, with the mean weights of their corners. A triangle counts for a vertex
 * only through bones that both have: triangles are listed by pair of bones, and a vertex visits the
 * lists of its own pairs. Terms below exp(-FAR) are left out.
 *
 * O(pairs of bones of triangles) memory, 80 bytes each; a vertex costs about 10 ns for each
 * triangle that shares a pair. 13,000 vertices of 4 influences take about a second, dense weights
 * of many bones their square. Vertices in parallel, each summed by itself. Fails without memory,
 * cancelled, and for input that cannot be. */
#include "measures/rotation_centers.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/mesh.h"
#include "weights/sparse_weights.h"

#define CHUNK 64
#define SLICE 64 /* chunks between two looks at whether to stop */
#define FAR 50.0

static const arap_setting setting_rows[] = {
#define ARAP_SETTINGS_OF arap_center_settings
#define ARAP_SETTINGS_CENTERS
#include "settings.def"
};
const arap_setting_table arap_center_settings_table = {sizeof setting_rows / sizeof *setting_rows,
                                                       setting_rows};

/* A triangle in the list of a pair of its bones, j < k. */
typedef struct entry {
    int j, k;
    double weight_j, weight_k;
    double factor; /* area times both weights */
    size_t triangle;
} entry;

/* Bones of a triangle with three times their mean weights. */
typedef struct corner_bones {
    int count;
    int *bone;
    double *weight;
} corner_bones;

typedef struct center_task {
    const arap_mesh *mesh;
    const arap_sparse_weights *rows;
    double sigma;
    double *centroid; /* (triangles, 3) */
    entry *entries;   /* by pair, then by triangle */
    size_t count;
    size_t *first; /* (bones + 1) first entry of each j */
    double *out;
} center_task;

static double row_sum(const arap_sparse_weights *rows, int i) {
    double sum = 0;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) sum += rows->weight[e];
    return sum;
}

/* The bones of a triangle, ascending. */
static void gather(const arap_mesh *mesh, const arap_sparse_weights *rows, size_t t,
                   corner_bones *out) {
    out->count = 0;
    for (int c = 0; c < 3; c++) {
        int i = mesh->first[mesh->triangles[3 * t + (size_t)c]];
        double sum = row_sum(rows, i);
        for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (!(rows->weight[e] > 0)) continue;
            int at = 0;
            while (at < out->count && out->bone[at] < rows->bone[e]) at++;
            if (at == out->count || out->bone[at] != rows->bone[e]) {
                for (int k = out->count++; k > at; k--) {
                    out->bone[k] = out->bone[k - 1];
                    out->weight[k] = out->weight[k - 1];
                }
                out->bone[at] = rows->bone[e];
                out->weight[at] = 0;
            }
            out->weight[at] += rows->weight[e] / sum;
        }
    }
}

static double area_of(const arap_mesh *mesh, size_t t) {
    const int *corner = mesh->triangles + 3 * t;
    return arap_triangle_area(mesh->v + 3 * (size_t)corner[0], mesh->v + 3 * (size_t)corner[1],
                              mesh->v + 3 * (size_t)corner[2]);
}

/* Entries of all triangles in their order, into `out` unless it is NULL; their number. */
static size_t list_pairs(const arap_mesh *mesh, const arap_sparse_weights *rows,
                         corner_bones *bones, entry *out) {
    size_t count = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double area = area_of(mesh, t);
        if (!(area > 0)) continue;
        gather(mesh, rows, t, bones);
        for (int a = 0; a < bones->count; a++)
            for (int b = a + 1; b < bones->count; b++, count++) {
                double wj = bones->weight[a] / 3, wk = bones->weight[b] / 3;
                if (out)
                    out[count] = (entry){.j = bones->bone[a],
                                         .k = bones->bone[b],
                                         .weight_j = wj,
                                         .weight_k = wk,
                                         .factor = area * wj * wk,
                                         .triangle = t};
            }
    }
    return count;
}

/* Sort by one bone of the pair, those of equal bones in their present order; first (bones + 1). */
static void sort_by(int by_j, const entry *from, size_t count, int bones, size_t *first,
                    entry *to) {
    memset(first, 0, ((size_t)bones + 1) * sizeof *first);
    for (size_t e = 0; e < count; e++) first[(by_j ? from[e].j : from[e].k) + 1]++;
    for (int b = 0; b < bones; b++) first[b + 1] += first[b];
    for (size_t e = 0; e < count; e++) to[first[by_j ? from[e].j : from[e].k]++] = from[e];
    for (int b = bones; b > 0; b--) first[b] = first[b - 1];
    first[0] = 0;
}

/* Entries of the pair (j, k): from the returned one to *end. */
static size_t find_pair(const center_task *task, int j, int k, size_t *end) {
    size_t low = task->first[j], high = task->first[j + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (task->entries[middle].k < k)
            low = middle + 1;
        else
            high = middle;
    }
    for (*end = low; *end < task->first[j + 1] && task->entries[*end].k == k;) ++*end;
    return low;
}

/* Add a pair of bones of a vertex with weights a and b: s dv into sum[3], s v dv before it. */
static void add_pair(const center_task *task, int j, int k, double a, double b, double *sum) {
    size_t end, first = find_pair(task, j, k, &end);
    double inverse = 1 / (task->sigma * task->sigma);
    for (size_t e = first; e < end; e++) {
        const entry *with = task->entries + e;
        double off = a * with->weight_k - b * with->weight_j, far = off * off * inverse;
        if (far > FAR) continue;
        double s = a * b * with->factor * exp(-far);
        const double *v = task->centroid + 3 * with->triangle;
        for (int c = 0; c < 3; c++) sum[c] += s * v[c];
        sum[3] += s;
    }
}

static void center_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const center_task *task = data;
    const arap_mesh *mesh = task->mesh;
    const arap_sparse_weights *rows = task->rows;
    int count = mesh->input_count;
    for (int i = chunk * CHUNK; i < count && i < (chunk + 1) * CHUNK; i++) {
        double whole = row_sum(rows, i), sum[4] = {0};
        for (long long e = rows->start[i]; e < rows->start[i + 1]; e++)
            for (long long f = rows->start[i]; f < rows->start[i + 1]; f++)
                if (rows->bone[e] < rows->bone[f] && rows->weight[e] > 0 && rows->weight[f] > 0)
                    add_pair(task, rows->bone[e], rows->bone[f], rows->weight[e] / whole,
                             rows->weight[f] / whole, sum);
        for (int c = 0; c < 3; c++)
            task->out[3 * (size_t)i + (size_t)c] =
                sum[3] > 0 ? mesh->center[c] + mesh->diagonal * sum[c] / sum[3] : NAN;
    }
}

static arap_status find_centers(arap_context *context, int bones, center_task *task) {
    const arap_mesh *mesh = task->mesh;
    corner_bones corners = {0, ARAP_NEW(int, bones), ARAP_NEW(double, bones)};
    entry *unsorted = NULL;
    arap_status status = ARAP_OK;
    task->centroid = ARAP_NEW(double, 3 * mesh->triangle_count);
    task->first = ARAP_NEW(size_t, bones + 1);
    if (!corners.bone || !corners.weight || !task->centroid || !task->first) goto no_memory;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (size_t c = 0; c < 3; c++) {
            double sum = 0;
            for (size_t k = 0; k < 3; k++)
                sum += mesh->v[3 * (size_t)mesh->triangles[3 * t + k] + c];
            task->centroid[3 * t + c] = sum / 3;
        }
    task->count = list_pairs(mesh, task->rows, &corners, NULL);
    unsorted = ARAP_NEW(entry, task->count);
    task->entries = ARAP_NEW(entry, task->count);
    if (!unsorted || !task->entries) goto no_memory;
    list_pairs(mesh, task->rows, &corners, task->entries);
    sort_by(0, task->entries, task->count, bones, task->first, unsorted);
    sort_by(1, unsorted, task->count, bones, task->first, task->entries);
    status =
        arap_parallel_slices(context, "centers of rotation",
                             (mesh->input_count + CHUNK - 1) / CHUNK, SLICE, center_chunk, task);
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the centers of rotation");
done:
    arap_free(corners.bone);
    arap_free(corners.weight);
    arap_free(unsorted);
    arap_free(task->centroid);
    arap_free(task->first);
    arap_free(task->entries);
    return status;
}

arap_status arap_rotation_centers(arap_context *context, const arap_geometry *geometry,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_center_settings *settings, double *out) {
    arap_mesh mesh = {0};
    center_task task = {.mesh = &mesh, .rows = rows, .sigma = settings->sigma, .out = out};
    arap_status status =
        arap_settings_check(&context->error, &arap_center_settings_table, settings);
    if (!status)
        status = arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones);
    if (!status) status = arap_mesh_create(context, geometry, -1, &mesh);
    if (!status) status = find_centers(context, bones, &task);
    arap_mesh_clear(&mesh);
    return status;
}
