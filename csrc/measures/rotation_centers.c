/* Centers of rotation: see rotation_centers.h.
 *
 * Vertices with similar weights turn in the same way. The center of rotation of a vertex is their
 * mean position,
 *     p* = int s(w_p, w_v) v dv / int s(w_p, w_v) dv
 *     s(w_p, w_v) = sum_{j != k} w_pj w_pk w_vj w_vk exp(-(w_pj w_vk - w_pk w_vj)^2 / sigma^2)
 * over the surface. As in the publication, the integral is computed as a sum over triangles: the
 * area of a triangle times the value at the centroid, with the mean weights of the corners. A
 * triangle contributes to a vertex only through bones that influence both. For one bone j after
 * another, its triangles are listed by their other bones k > j, and each vertex of bone j visits
 * the lists of its own bones k. Terms below exp(-FAR) are omitted.
 *
 * A vertex takes about 10 ns for each triangle that shares a pair. 13,000 vertices with 4
 * influences take about a second. For dense weights, the time is proportional to the square of the
 * number of bones, as the definition requires. The lists take 16 bytes of memory for each bone of a
 * triangle, and 32 bytes for each pair of the current bone j. Vertices are processed in parallel,
 * each summed in a fixed order. Fails on out-of-memory, when cancelled, and for invalid input. */
#include "measures/rotation_centers.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/mesh.h"
#include "weights/sparse_weights.h"

#define CHUNK 4         /* vertices; takes milliseconds if many bones are dense */
#define POLL_EVERY 4096 /* triangles between two polls for cancellation */
#define FAR 50.0

static const arap_setting setting_rows[] = {
#define ARAP_SETTINGS_OF arap_center_settings
#define ARAP_SETTINGS_CENTERS
#include "settings.def"
};
const arap_setting_table arap_center_settings_table = {sizeof setting_rows / sizeof *setting_rows,
                                                       setting_rows};

/* The bones of rows or triangles, and the positions of each bone. */
typedef struct table {
    size_t *start;  /* (rows + 1) */
    int *bone;      /* bones of a row, in ascending order */
    double *weight; /* weights that sum to 1 */
    size_t *first;  /* (bones + 1) start of each bone in the lists of positions */
    size_t *place;  /* entries of the bone, in ascending order */
    int *row;       /* (the same) their rows */
} table;

/* A triangle in the list of a pair of its bones, j < k. */
typedef struct entry {
    double weight_j, weight_k;
    double factor; /* area times both weights */
    size_t triangle;
} entry;

typedef struct center_task {
    const arap_mesh *mesh;
    double sigma;
    table vertices, triangles;
    double *centroid, *area; /* (triangles, 3), (triangles) */
    int j;                   /* the current bone */
    entry *entries;          /* its pairs, by k, then by triangle */
    size_t room;
    size_t *first; /* (bones + 1) first entry of each k */
    double *sum;   /* (vertices, 4) s v dv, s dv */
} center_task;

static double row_sum(const arap_sparse_weights *rows, int i) {
    double sum = 0;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) sum += rows->weight[e];
    return sum;
}

/* Add the bones of one of the caller's rows, normalized to sum 1, to sorted ones. Returns their
 * number. */
static int add_row(const arap_sparse_weights *rows, int i, int count, int *bone, double *weight) {
    double sum = row_sum(rows, i);
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
        if (!(rows->weight[e] > 0)) continue;
        int at = 0;
        while (at < count && bone[at] < rows->bone[e]) at++;
        if (at == count || bone[at] != rows->bone[e]) {
            for (int k = count++; k > at; k--) {
                bone[k] = bone[k - 1];
                weight[k] = weight[k - 1];
            }
            bone[at] = rows->bone[e];
            weight[at] = 0;
        }
        weight[at] += rows->weight[e] / sum;
    }
    return count;
}

/* Build the table of the caller's vertices or, with `mesh`, of the means of its triangles. */
static arap_status make_table(arap_context *context, arap_arena *arena, const arap_mesh *mesh,
                              size_t count, const arap_sparse_weights *rows, int bones, table *t) {
    int *bone = ARAP_TAKE(arena, bones, int);
    double *weight = ARAP_TAKE(arena, bones, double);
    size_t all = 0;
    t->start = ARAP_TAKE_ZERO(arena, count + 1, size_t);
    t->first = ARAP_TAKE_ZERO(arena, bones + 2, size_t);
    arap_status status = arap_arena_status(arena, &context->error, "the centers of rotation");
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (size_t i = 0; i < count && !status; i++) {
            int own = 0;
            if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
            for (size_t c = 0; c < (mesh ? 3 : 1); c++)
                own = add_row(rows, mesh ? mesh->first[mesh->triangles[3 * i + c]] : (int)i, own,
                              bone, weight);
            t->start[i + 1] = t->start[i] + (size_t)own;
            for (int k = 0; k < own && fill; k++) {
                t->bone[t->start[i] + (size_t)k] = bone[k];
                t->weight[t->start[i] + (size_t)k] = mesh ? weight[k] / 3 : weight[k];
                t->first[bone[k] + 2]++;
            }
        }
        if (fill || status) break;
        all = t->start[count];
        t->bone = ARAP_TAKE(arena, all, int);
        t->weight = ARAP_TAKE(arena, all, double);
        t->place = ARAP_TAKE(arena, all, size_t);
        t->row = ARAP_TAKE(arena, all, int);
        status = arap_arena_status(arena, &context->error, "the centers of rotation");
    }
    for (int b = 2; b < bones + 2 && !status; b++) t->first[b] += t->first[b - 1];
    for (size_t i = 0; i < count && !status; i++)
        for (size_t e = t->start[i]; e < t->start[i + 1]; e++) {
            size_t at = t->first[t->bone[e] + 1]++;
            t->place[at] = e;
            t->row[at] = (int)i;
        }
    return status;
}

/* Build the lists of the pairs of bone j. */
static arap_status list_pairs(arap_context *context, int bones, int j, center_task *task) {
    const table *t = &task->triangles;
    arap_status status = ARAP_OK;
    task->j = j;
    for (int fill = 0; fill < 2 && !status; fill++) {
        if (!fill) memset(task->first, 0, ((size_t)bones + 2) * sizeof *task->first);
        for (size_t at = t->first[j]; at < t->first[j + 1] && !status; at++) {
            size_t own = t->place[at], triangle = (size_t)t->row[at];
            if (at % POLL_EVERY == 0) status = arap_poll_cancel(context);
            if (!(task->area[triangle] > 0)) continue;
            for (size_t e = own + 1; e < t->start[triangle + 1]; e++) {
                double wj = t->weight[own], wk = t->weight[e];
                if (fill)
                    task->entries[task->first[t->bone[e] + 1]++] =
                        (entry){wj, wk, task->area[triangle] * wj * wk, triangle};
                else
                    task->first[t->bone[e] + 2]++;
            }
        }
        if (fill || status) break;
        for (int b = 2; b < bones + 2; b++) task->first[b] += task->first[b - 1];
        if (task->first[bones + 1] <= task->room) continue;
        arap_free(task->entries);
        task->room = task->first[bones + 1];
        task->entries = ARAP_NEW(entry, task->room);
        if (!task->entries) return arap_fail_memory(&context->error, "the centers of rotation");
    }
    return status;
}

/* Add the pair j, k of a vertex with weights a and b: s v dv to sum, s dv to sum[3]. */
static void add_pair(const center_task *task, int k, double a, double b, double *sum) {
    double inverse = 1 / (task->sigma * task->sigma);
    for (size_t e = task->first[k]; e < task->first[k + 1]; e++) {
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
    const table *t = &task->vertices;
    size_t begin = t->first[task->j] + (size_t)chunk * CHUNK, end = t->first[task->j + 1];
    for (size_t at = begin; at < end && at < begin + CHUNK; at++) {
        size_t own = t->place[at], i = (size_t)t->row[at];
        for (size_t e = own + 1; e < t->start[i + 1]; e++)
            add_pair(task, t->bone[e], t->weight[own], t->weight[e], task->sum + 4 * i);
    }
}

static void measure_triangles(const arap_mesh *mesh, center_task *task) {
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const int *corner = mesh->triangles + 3 * t;
        task->area[t] =
            arap_triangle_area(mesh->v + 3 * (size_t)corner[0], mesh->v + 3 * (size_t)corner[1],
                               mesh->v + 3 * (size_t)corner[2]);
        for (size_t c = 0; c < 3; c++) {
            double sum = 0;
            for (size_t k = 0; k < 3; k++) sum += mesh->v[3 * (size_t)corner[k] + c];
            task->centroid[3 * t + c] = sum / 3;
        }
    }
}

static arap_status find_centers(arap_context *context, const arap_sparse_weights *rows, int bones,
                                double *out, center_task *task) {
    arap_arena arena = {0};
    const arap_mesh *mesh = task->mesh;
    size_t n = (size_t)mesh->input_count;
    task->centroid = ARAP_TAKE(&arena, 3 * mesh->triangle_count, double);
    task->area = ARAP_TAKE(&arena, mesh->triangle_count, double);
    task->first = ARAP_TAKE(&arena, bones + 2, size_t);
    task->sum = ARAP_TAKE_ZERO(&arena, 4 * n, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the centers of rotation");
    if (status) goto done;
    measure_triangles(mesh, task);
    status = make_table(context, &arena, NULL, n, rows, bones, &task->vertices);
    if (!status)
        status =
            make_table(context, &arena, mesh, mesh->triangle_count, rows, bones, &task->triangles);
    for (int j = 0; j < bones && !status; j++) {
        size_t own = task->vertices.first[j + 1] - task->vertices.first[j];
        status = arap_progress(context, "centers of rotation", (double)j / bones);
        if (!status) status = list_pairs(context, bones, j, task);
        if (!status)
            status = arap_parallel(context, (int)((own + CHUNK - 1) / CHUNK), center_chunk, task);
    }
    for (size_t k = 0; k < 3 * n && !status; k++) {
        const double *sum = task->sum + 4 * (k / 3);
        out[k] = sum[3] > 0 ? mesh->center[k % 3] + mesh->diagonal * sum[k % 3] / sum[3] : NAN;
    }

done:
    arap_arena_clear(&arena);
    arap_free(task->entries);
    return status;
}

arap_status arap_rotation_centers(arap_context *context, const arap_geometry *geometry,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_center_settings *settings, double *out) {
    arap_mesh mesh = {0};
    center_task task = {.mesh = &mesh, .sigma = settings->sigma};
    arap_status status =
        arap_settings_check(&context->error, &arap_center_settings_table, settings);
    if (!status)
        status = arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones);
    if (!status) status = arap_mesh_create(context, geometry, NULL, -1, &mesh);
    if (!status) status = find_centers(context, rows, bones, out, &task);
    arap_mesh_clear(&mesh);
    return status;
}
