/* Samples and smooth functions between them: see mixed_state.h.
 *
 * Creates blue noise by choosing the farthest points. The first sample is the vertex farthest from
 * the mean vertex, and each further sample is the vertex farthest, along edges, from all earlier
 * samples. Let d be the distance of the last sample from its nearest other sample. Then no two
 * samples are closer than d, and no vertex is farther than d from its nearest sample. Vertices of
 * an island without samples are infinitely far away, so every island gets a sample. Edges that
 * belong only to faces without area do not count. Wires and links do.
 *
 * The biharmonic weights of sample s minimize |L w|^2, weighted by the inverse cell areas, with w =
 * 1 at s and w = 0 at the other samples. Constants have no energy, so the weights of a vertex sum
 * to 1 up to rounding errors, which a normalization removes. Weights may be negative.
 *
 * Takes O(samples edges log vertices) and a factorization of the bi-Laplacian, and stores 8 bytes
 * for each vertex and sample. Fails on out-of-memory, and if the bi-Laplacian is not positive
 * definite. */
#include "extras/mixed_state.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/paths.h"
#include "mesh/two_rings.h"

/* Lower the distances of all vertices for one more sample. Returns 0, or -1 if memory runs out. */
static int spread(const arap_mesh *mesh, int sample, double *distance, arap_visits *visits) {
    distance[sample] = 0;
    int failed = arap_visits_add(visits, 0, sample);
    while (visits->count && !failed) {
        arap_visit v = arap_visits_take(visits);
        int i = v.vertex;
        if (v.distance > distance[i]) continue;
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1] && !failed; e++) {
            double edge[3];
            int k = mesh->neighbor[e];
            if (mesh->kind[e] == ARAP_EDGE_COLLAPSED) continue;
            arap_mesh_edge(mesh, i, e, edge);
            double reached = distance[i] + sqrt(arap_dot(edge, edge));
            if (!(reached < distance[k])) continue;
            distance[k] = reached;
            failed = arap_visits_add(visits, reached, k);
        }
    }
    return failed;
}

/* The first sample: the eligible vertex farthest from the mean of the eligible vertices; -1: no
 * vertex is eligible. */
static int find_first(const arap_mesh *mesh, const double *own) {
    double mean[3] = {0}, max = -1;
    int count = 0, first = -1;
    for (int i = 0; i < mesh->count; i++) {
        if (!(own[i] > 0)) continue;
        count++;
        for (int c = 0; c < 3; c++) mean[c] += mesh->v[3 * (size_t)i + (size_t)c];
    }
    for (int c = 0; c < 3; c++) mean[c] /= count;
    for (int i = 0; i < mesh->count; i++) {
        double away = arap_distance2(mesh->v + 3 * (size_t)i, mean);
        if (!(own[i] > 0) || !(away > max)) continue;
        max = away;
        first = i;
    }
    return first;
}

static arap_status choose(arap_context *context, const arap_mesh *mesh, const double *own,
                          int wanted, arap_samples *samples) {
    size_t n = (size_t)mesh->count;
    double *distance = ARAP_NEW(double, n);
    arap_visits visits = {0};
    arap_status status = distance ? ARAP_OK : arap_fail_memory(&context->error, "the samples");
    for (size_t i = 0; i < n && !status; i++) distance[i] = own[i] > 0 ? INFINITY : 0;
    for (int next = status ? -1 : find_first(mesh, own); next >= 0;) {
        samples->vertex[samples->count++] = next;
        if (spread(mesh, next, distance, &visits)) {
            status = arap_fail_memory(&context->error, "the samples");
            break;
        }
        next = -1;
        for (int i = 0; i < mesh->count; i++)
            if (distance[i] > (next < 0 ? 0 : distance[next])) next = i;
        if (next >= 0 && samples->count >= wanted && !isinf(distance[next])) next = -1;
    }
    arap_visits_clear(&visits);
    arap_free(distance);
    return status;
}

/* Solve for the columns of all samples, (samples, size). */
static arap_status solve(arap_context *context, const arap_two_rings *q, int size,
                         const int *vertex, const int *place, const arap_samples *samples,
                         double *columns) {
    arap_matrix matrix = {0};
    arap_factor *factor = NULL;
    double *own = ARAP_NEW(double, size);
    arap_status status = own ? arap_two_rings_matrix(context, q, size, vertex, place, &matrix)
                             : arap_fail_memory(&context->error, "the samples");
    for (int j = 0; j < size && !status; j++) own[j] = q->own[vertex[j]];
    if (!status) status = arap_two_rings_factor(context, &matrix, own, 1, &factor);
    for (int s = 0; s < samples->count && !status; s++) {
        int k = samples->vertex[s];
        for (size_t r = q->ring[k]; r < q->ring[k + 1]; r++)
            if (place[q->neighbor[r]] >= 0)
                columns[(size_t)s * (size_t)size + (size_t)place[q->neighbor[r]]] -= q->edge[r];
    }
    if (!status) status = arap_factor_solve_all(context, factor, samples->count, columns);
    arap_factor_free(factor);
    arap_matrix_clear(&matrix);
    arap_free(own);
    return status;
}

static arap_status weigh(arap_context *context, const arap_mesh *mesh, const arap_two_rings *q,
                         arap_samples *samples) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count, count = (size_t)samples->count;
    int size = 0, *vertex = ARAP_TAKE(&arena, n, int), *place = ARAP_TAKE(&arena, n, int);
    samples->weight = ARAP_TAKE_ZERO(&samples->arena, n * count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the samples");
    if (!status) status = arap_arena_status(&samples->arena, &context->error, "the samples");
    if (status) goto done;
    status = arap_fill_reducing_order(context, mesh->count, q->ring, q->neighbor, vertex);
    if (status) goto done;
    for (size_t i = 0; i < n; i++) place[i] = q->own[i] > 0 ? 0 : -1;
    for (size_t s = 0; s < count; s++) place[samples->vertex[s]] = -1;
    for (size_t k = 0; k < n; k++) {
        int i = vertex[k];
        if (place[i] < 0) continue;
        place[i] = size;
        vertex[size++] = i;
    }
    double *columns = ARAP_TAKE_ZERO(&arena, count * (size_t)size, double);
    status = arap_arena_status(&arena, &context->error, "the samples");
    if (status) goto done;
    if (size) status = solve(context, q, size, vertex, place, samples, columns);
    for (size_t s = 0; s < count && !status; s++)
        samples->weight[(size_t)samples->vertex[s] * count + s] = 1;
    for (size_t k = 0; k < (size_t)size && !status; k++) {
        double *row = samples->weight + (size_t)vertex[k] * count, sum = 0;
        for (size_t s = 0; s < count; s++) sum += row[s] = columns[s * (size_t)size + k];
        /* 0 where no path leads to a sample. */
        for (size_t s = 0; s < count; s++) row[s] = sum > 0 ? row[s] / sum : 1.0 / (double)count;
    }

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_samples_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                arap_samples *samples) {
    arap_two_rings q = {0};
    *samples = (arap_samples){0};
    samples->vertex = ARAP_TAKE(&samples->arena, mesh->count, int);
    arap_status status = arap_arena_status(&samples->arena, &context->error, "the samples");
    if (!status) status = arap_bilaplacian(context, mesh, &q);
    if (!status) status = choose(context, mesh, q.own, wanted, samples);
    if (!status) status = weigh(context, mesh, &q, samples);
    arap_two_rings_clear(&q);
    if (status) arap_samples_clear(samples);
    return status;
}

void arap_samples_clear(arap_samples *samples) {
    arap_arena_clear(&samples->arena);
    *samples = (arap_samples){0};
}
