/* Weights along a surface: see inspection.h.
 *
 * Neighbors. With m the mean of the rows of the neighbors of i, the contrast is |w_i - m|_1 / 2,
 * the share of the weight that would have to move to other bones. The roughness is the mean
 * contrast of the neighbors, with i left out of their means. Roughness is also large around borders
 * and tips, but not around a speckle. Both measures take O(entries x ring^2).
 *
 * Gaps. Shortest paths along edges (Dijkstra 1959) start at the core of a bone, until all entries
 * of the bone are reached or the limit is exceeded. This search takes O(k log k) for the k visited
 * vertices, which for weights without gaps are the vertices that the bone moves. The straight
 * distance is the distance to the nearest vertex of the core, which is found in a tree in O(log k)
 * per entry. Bones are processed in parallel, and each writes only its own entries.
 *
 * The search needs 24 bytes of memory per vertex and thread. Fails on out-of-memory, and for
 * malformed rows. */
#include "measures/inspection.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/paths.h"
#include "weights/sparse_weights.h"

#define CHUNK 256
#define CORE 0.5     /* share of the largest weight of a bone */
#define MINIMUM 0.05 /* minimum weight that is considered */
#define UNLIKE 0.2   /* minimum contrast at which roughness is computed */
#define FAR 4.0      /* limit of the search along the surface, in largest straight distances */

/* Neighbors, and the entries of each bone. Vertices are those of the welded mesh. */
typedef struct inspection {
    const arap_mesh *mesh;
    const arap_sparse_weights *rows;
    int bones;
    size_t *ring; /* (count + 1) */
    int *neighbor;
    char *link;         /* connected only by a link; usable for paths, but not a neighbor for
                         * comparisons */
    double *sum;        /* (count) of the row */
    size_t *bone_start; /* (bones + 1) */
    long long *entry;   /* of the caller's rows, sorted by bone; only those of first vertices */
    int *vertex;        /* (the same) */
    const arap_inspection *out;
    double *mean; /* (threads, bones) */
    struct paths *paths;
    char *failed; /* (bones) */
    arap_arena arena;
} inspection;

/* Scratch of a thread: entries marked with the number of the current bone are valid. */
typedef struct paths {
    double *distance;    /* (count) */
    int *reached, *kind; /* (count) bone + 1 */
    int *core;           /* (count) */
    arap_visits visits;
} paths;

static int row_of(const inspection *in, int i, long long *end) {
    int first = in->mesh->first[i];
    *end = in->rows->start[first + 1];
    return first;
}

/* Weight of an entry in the row of i, normalized to sum 1; 0 if the row is 0. */
static double share_of(const inspection *in, int i, long long e) {
    return in->sum[i] > 0 ? in->rows->weight[e] / in->sum[i] : 0;
}

/* Half the sum of absolute differences between a row and a mean that sums to `mass`. */
static double difference(const inspection *in, int i, const double *mean, double mass) {
    long long end, e = in->rows->start[row_of(in, i, &end)];
    double sum = mass;
    for (; e < end; e++) {
        double m = mean[in->rows->bone[e]];
        sum += fabs(share_of(in, i, e) - m) - m;
    }
    return sum / 2;
}

/* Add a row, or reset the mean with a share of 0. */
static void add_row(const inspection *in, int i, double share, double *mean) {
    long long end, e = in->rows->start[row_of(in, i, &end)];
    for (; e < end; e++) {
        double *m = mean + in->rows->bone[e];
        *m = share > 0 ? *m + share * share_of(in, i, e) : 0;
    }
}

static int counts(const inspection *in, size_t e, int but) {
    return !in->link[e] && in->neighbor[e] != but && in->sum[in->neighbor[e]] > 0;
}

/* Set `mean` to the mean row of the neighbors of i with weights, except one. Returns their number.
 * With `clear`, reset it to 0. */
static int average(const inspection *in, int i, int but, int clear, double *mean) {
    int count = 0;
    for (size_t e = in->ring[i]; e < in->ring[i + 1]; e++) count += counts(in, e, but);
    for (size_t e = in->ring[i]; e < in->ring[i + 1]; e++)
        if (counts(in, e, but)) add_row(in, in->neighbor[e], clear ? 0 : 1.0 / count, mean);
    return count;
}

static double contrast_of(const inspection *in, int i, int but, double *mean) {
    double found = 0;
    if (!(in->sum[i] > 0)) return 0;
    if (average(in, i, but, 0, mean)) found = difference(in, i, mean, 1);
    average(in, i, but, 1, mean);
    return found;
}

static void compare_chunk(void *data, int chunk, int worker) {
    const inspection *in = data;
    double *mean = in->mean + (size_t)in->bones * (size_t)worker;
    int end = arap_chunk_end(chunk, CHUNK, in->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double rough = 0, contrast = contrast_of(in, i, -1, mean);
        int count = 0;
        for (size_t e = in->ring[i]; e < in->ring[i + 1] && contrast >= UNLIKE; e++) {
            if (!counts(in, e, -1)) continue;
            rough += contrast_of(in, in->neighbor[e], i, mean);
            count++;
        }
        in->out->contrast[in->mesh->first[i]] = contrast;
        in->out->roughness[in->mesh->first[i]] = count ? rough / count : 0;
    }
}

static double weight_of(const inspection *in, size_t k) {
    return share_of(in, in->vertex[k], in->entry[k]);
}

/* Find the core of a bone in p->core, kind -(bone + 1). Returns the number of its vertices. */
static int find_core(const inspection *in, int bone, paths *p) {
    size_t begin = in->bone_start[bone], end = in->bone_start[bone + 1];
    double max = 0, best = 0;
    int mark = bone + 1, filled = 0, best_from = 0, best_count = 0;
    for (size_t k = begin; k < end; k++) max = fmax(max, weight_of(in, k));
    for (size_t k = begin; k < end; k++)
        if (max >= MINIMUM && weight_of(in, k) >= CORE * max) {
            p->kind[in->vertex[k]] = mark;
            p->distance[in->vertex[k]] = weight_of(in, k);
        }
    for (size_t k = begin; k < end; k++) {
        double sum = 0;
        int from = filled;
        if (p->kind[in->vertex[k]] != mark) continue;
        p->kind[in->vertex[k]] = -mark;
        p->core[filled++] = in->vertex[k];
        for (int at = from; at < filled; at++) {
            int i = p->core[at];
            sum += p->distance[i];
            for (size_t e = in->ring[i]; e < in->ring[i + 1]; e++)
                if (p->kind[in->neighbor[e]] == mark) {
                    p->kind[in->neighbor[e]] = -mark;
                    p->core[filled++] = in->neighbor[e];
                }
        }
        if (sum > best) {
            best = sum;
            best_from = from;
            best_count = filled - from;
        }
    }
    for (int at = 0; at < filled; at++)
        if (at < best_from || at >= best_from + best_count) p->kind[p->core[at]] = 0;
    memmove(p->core, p->core + best_from, (size_t)best_count * sizeof *p->core);
    return best_count;
}

typedef struct point_set {
    const double *v;
    const int *vertex;
} point_set;

static double point_distance2(const void *data, int index, const double *p) {
    const point_set *set = data;
    return arap_distance2(p, set->v + 3 * (size_t)set->vertex[index]);
}

/* Compute straight-line distances of the entries outside the core. Returns the largest, or a
 * negative number on failure. */
static double straight_distances(const inspection *in, int bone, const paths *p, int core) {
    arap_bvh *tree = NULL;
    arap_context alone = {.threads = 1}; /* its error messages are ignored */
    double *boxes = ARAP_NEW(double, 6 * (size_t)core), max = 0;
    point_set set = {in->mesh->v, p->core};
    if (!boxes) return -1;
    for (int k = 0; k < core; k++) {
        memcpy(boxes + 6 * (size_t)k, in->mesh->v + 3 * (size_t)p->core[k], 3 * sizeof *boxes);
        memcpy(boxes + 6 * (size_t)k + 3, boxes + 6 * (size_t)k, 3 * sizeof *boxes);
    }
    arap_status status = arap_bvh_build(&alone, &tree, (size_t)core, boxes, NULL);
    arap_free(boxes);
    if (status) return -1;
    for (size_t k = in->bone_start[bone]; k < in->bone_start[bone + 1]; k++) {
        double d2 = INFINITY;
        if (p->kind[in->vertex[k]] == -(bone + 1) || weight_of(in, k) < MINIMUM) continue;
        arap_bvh_nearest(tree, in->mesh->v + 3 * (size_t)in->vertex[k], -1, point_distance2, &set,
                         &d2);
        in->out->straight[in->entry[k]] = sqrt(d2);
        max = fmax(max, sqrt(d2));
    }
    arap_bvh_free(tree);
    return max;
}

/* Find shortest paths from the core until `wanted` vertices marked with bone + 1 are reached, or
 * everything within `limit`. Returns 0, or -1 if memory runs out. */
static int follow_paths(const inspection *in, int bone, paths *p, int core, int wanted,
                        double limit) {
    int mark = bone + 1;
    p->visits.count = 0;
    for (int k = 0; k < core; k++) {
        p->reached[p->core[k]] = mark;
        p->distance[p->core[k]] = 0;
        if (arap_visits_add(&p->visits, 0, p->core[k])) return -1;
    }
    while (p->visits.count && wanted) {
        arap_visit next = arap_visits_take(&p->visits);
        if (next.distance > p->distance[next.vertex]) continue;
        wanted -= p->kind[next.vertex] == mark;
        for (size_t e = in->ring[next.vertex]; e < in->ring[next.vertex + 1]; e++) {
            int to = in->neighbor[e];
            double distance =
                next.distance + sqrt(arap_distance2(in->mesh->v + 3 * (size_t)to,
                                                    in->mesh->v + 3 * (size_t)next.vertex));
            if (distance > limit || (p->reached[to] == mark && p->distance[to] <= distance))
                continue;
            p->reached[to] = mark;
            p->distance[to] = distance;
            if (arap_visits_add(&p->visits, distance, to)) return -1;
        }
    }
    return 0;
}

static void measure_bone(void *data, int bone, int worker) {
    const inspection *in = data;
    paths *p = in->paths + worker;
    int mark = bone + 1, wanted = 0, core = find_core(in, bone, p);
    if (!core) return;
    double max = straight_distances(in, bone, p, core);
    in->failed[bone] = max < 0;
    if (max <= 0) return;
    size_t begin = in->bone_start[bone], end = in->bone_start[bone + 1];
    for (size_t k = begin; k < end; k++)
        if (p->kind[in->vertex[k]] != -mark && weight_of(in, k) >= MINIMUM) {
            p->kind[in->vertex[k]] = mark;
            wanted++;
        }
    in->failed[bone] = follow_paths(in, bone, p, core, wanted, FAR * max) < 0;
    for (size_t k = begin; k < end; k++) {
        int i = in->vertex[k];
        if (p->kind[i] == mark)
            in->out->along[in->entry[k]] = p->reached[i] == mark ? p->distance[i] : INFINITY;
    }
}

/* While the ring is being built, a neighbor is stored as twice its number, plus one if connected by
 * a link. */
static void fill_ring(const inspection *in, size_t *next, int a, int b, int link) {
    if (a == b) return;
    in->neighbor[next[a]++] = 2 * b + link;
    in->neighbor[next[b]++] = 2 * a + link;
}

/* Sort in ascending order by insertion, because rows are short. */
static void sort_row(int *row, size_t count) {
    for (size_t k = 1; k < count; k++) {
        int value = row[k];
        size_t at = k;
        for (; at && row[at - 1] > value; at--) row[at] = row[at - 1];
        row[at] = value;
    }
}

/* Collect neighbors by triangles, wires and links, each once and in ascending order. */
static arap_status make_ring(arap_context *context, size_t link_count, const int *links,
                             inspection *in) {
    const arap_mesh *mesh = in->mesh;
    const int *tri = mesh->triangles, *wires = mesh->wires, *weld = mesh->weld;
    size_t n = (size_t)mesh->count, kept = 0, from = 0;
    size_t max = 6 * mesh->triangle_count + 2 * mesh->wire_count + 2 * link_count;
    in->ring = ARAP_TAKE_ZERO(&in->arena, n + 2, size_t);
    in->neighbor = ARAP_TAKE(&in->arena, max, int);
    in->link = ARAP_TAKE(&in->arena, max, char);
    arap_status status = arap_arena_status(&in->arena, &context->error, "the neighbors");
    if (status) return status;
    for (size_t k = 0; k < 3 * mesh->triangle_count; k++) in->ring[tri[k] + 2] += 2;
    for (size_t k = 0; k < 2 * mesh->wire_count; k++) in->ring[wires[k] + 2]++;
    for (size_t k = 0; k < link_count; k++)
        if (weld[links[2 * k]] != weld[links[2 * k + 1]])
            for (size_t c = 0; c < 2; c++) in->ring[weld[links[2 * k + c]] + 2]++;
    for (size_t i = 2; i < n + 2; i++) in->ring[i] += in->ring[i - 1];
    /* At this point, ring[i + 1] is the start of row i. While the row is filled, it moves to the
     * end of the row. */
    size_t *next = in->ring + 1;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (size_t c = 0; c < 3; c++)
            fill_ring(in, next, tri[3 * t + c], tri[3 * t + (c + 1) % 3], 0);
    for (size_t k = 0; k < mesh->wire_count; k++)
        fill_ring(in, next, wires[2 * k], wires[2 * k + 1], 0);
    for (size_t k = 0; k < link_count; k++)
        fill_ring(in, next, weld[links[2 * k]], weld[links[2 * k + 1]], 1);
    for (size_t i = 0; i < n; i++) {
        size_t to = in->ring[i + 1], row = kept;
        sort_row(in->neighbor + from, to - from);
        for (size_t e = from; e < to; e++) {
            int vertex = in->neighbor[e] / 2;
            if (kept > row && in->neighbor[kept - 1] == vertex) continue;
            in->link[kept] = (char)(in->neighbor[e] % 2);
            in->neighbor[kept++] = vertex;
        }
        in->ring[i] = row;
        from = to;
    }
    in->ring[n] = kept;
    return ARAP_OK;
}

static arap_status check_links(arap_error *error, size_t count, const int *links, int vertices) {
    for (size_t k = 0; k < 2 * count; k++)
        if (links[k] < 0 || links[k] >= vertices)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "links[%zu, %zu] is %d, but there are %d vertices", k / 2, k % 2,
                             links[k], vertices);
    return ARAP_OK;
}

/* Compute the scales of the rows, and sort the entries of first vertices by bone. */
static arap_status sort_entries(arap_context *context, inspection *in) {
    size_t n = (size_t)in->mesh->count, max = (size_t)in->rows->start[in->mesh->input_count];
    in->sum = ARAP_TAKE(&in->arena, n, double);
    in->bone_start = ARAP_TAKE_ZERO(&in->arena, in->bones + 2, size_t);
    in->entry = ARAP_TAKE(&in->arena, max, long long);
    in->vertex = ARAP_TAKE(&in->arena, max, int);
    arap_status status = arap_arena_status(&in->arena, &context->error, "the weights");
    if (status) return status;
    for (int i = 0; i < in->mesh->count; i++) {
        long long end, e = in->rows->start[row_of(in, i, &end)];
        double sum = 0;
        for (; e < end; e++) {
            sum += in->rows->weight[e];
            in->bone_start[in->rows->bone[e] + 2]++;
        }
        in->sum[i] = sum;
    }
    for (int b = 2; b < in->bones + 2; b++) in->bone_start[b] += in->bone_start[b - 1];
    for (int i = 0; i < in->mesh->count; i++) {
        long long end, e = in->rows->start[row_of(in, i, &end)];
        for (; e < end; e++) {
            size_t at = in->bone_start[in->rows->bone[e] + 1]++;
            in->entry[at] = e;
            in->vertex[at] = i;
        }
    }
    return ARAP_OK;
}

static arap_status make_scratch(arap_context *context, inspection *in) {
    size_t n = (size_t)in->mesh->count;
    in->mean = ARAP_TAKE_ZERO(&in->arena, (size_t)context->threads * (size_t)in->bones, double);
    in->failed = ARAP_TAKE_ZERO(&in->arena, in->bones, char);
    in->paths = ARAP_TAKE(&in->arena, context->threads, paths);
    for (int t = 0; t < context->threads && in->paths; t++)
        in->paths[t] = (paths){.distance = ARAP_TAKE(&in->arena, n, double),
                               .reached = ARAP_TAKE_ZERO(&in->arena, n, int),
                               .kind = ARAP_TAKE_ZERO(&in->arena, n, int),
                               .core = ARAP_TAKE(&in->arena, n, int)};
    return arap_arena_status(&in->arena, &context->error, "the inspection");
}

/* Convert results to the caller's units, and copy those of first vertices to all coincident
 * vertices. */
static void spread_results(const inspection *in) {
    const arap_mesh *mesh = in->mesh;
    const arap_inspection *out = in->out;
    long long entries = in->rows->start[mesh->input_count];
    for (long long e = 0; e < entries; e++) {
        out->straight[e] *= mesh->diagonal;
        out->along[e] *= mesh->diagonal;
    }
    for (int v = 0; v < mesh->input_count; v++) {
        long long end, begin = in->rows->start[row_of(in, mesh->weld[v], &end)];
        int first = mesh->first[mesh->weld[v]];
        if (first == v) continue;
        out->contrast[v] = out->contrast[first];
        out->roughness[v] = out->roughness[first];
        for (long long e = in->rows->start[v]; e < in->rows->start[v + 1]; e++)
            for (long long k = begin; k < end; k++)
                if (in->rows->bone[k] == in->rows->bone[e]) {
                    out->straight[e] = out->straight[k];
                    out->along[e] = out->along[k];
                }
    }
}

arap_status arap_inspect_weights(arap_context *context, const arap_geometry *geometry,
                                 size_t link_count, const int *links,
                                 const arap_sparse_weights *rows, int bones,
                                 const arap_inspection *out) {
    arap_mesh mesh = {0};
    inspection in = {.mesh = &mesh, .rows = rows, .bones = bones, .out = out};
    arap_status status =
        arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones);
    if (!status) status = check_links(&context->error, link_count, links, geometry->vertex_count);
    if (!status) status = arap_progress(context, "neighbors", 0);
    if (!status) status = arap_mesh_create(context, geometry, NULL, ARAP_WELD_TOLERANCE, &mesh);
    if (status) return status;
    memset(out->straight, 0, (size_t)rows->start[mesh.input_count] * sizeof(double));
    memset(out->along, 0, (size_t)rows->start[mesh.input_count] * sizeof(double));
    status = make_ring(context, link_count, links, &in);
    if (!status) status = sort_entries(context, &in);
    if (!status) status = make_scratch(context, &in);
    if (!status) {
        status = arap_parallel(context, arap_chunks(mesh.count, CHUNK), compare_chunk, &in);
        if (!status)
            status = arap_parallel_slices(context, "gaps", bones, bones, measure_bone, &in);
        for (int b = 0; b < bones && !status; b++)
            if (in.failed[b]) status = arap_fail_memory(&context->error, "the paths of a bone");
    }
    if (!status) spread_results(&in);
    for (int t = 0; t < context->threads && in.paths; t++) arap_visits_clear(&in.paths[t].visits);
    arap_arena_clear(&in.arena);
    arap_mesh_clear(&mesh);
    return status;
}
