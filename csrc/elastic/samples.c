/* Samples and what is smooth between them: see samples.h.
 *
 * Blue noise by farthest points: each sample is the vertex farthest, along edges, from those before
 * it, the first the one farthest from the mean vertex. No two are nearer to each other than the
 * last one was to all others, and no vertex is farther than that from its nearest sample. Vertices
 * of an island without samples are infinitely far, so that every island gets one. Edges of nothing
 * but faces without area do not count, wires and links do.
 *
 * Biharmonic weights of sample s minimize |L w|^2 in the inverse of the cell areas with w = 1 at s
 * and 0 at the other samples. Constants cost nothing, so that the weights of a vertex sum to 1;
 * rounding is divided out. They may be negative.
 *
 * O(samples edges log vertices) and a factorization of the bi-Laplacian; 8 bytes for each vertex
 * and sample. Fails without memory, and where the bi-Laplacian is not positive definite. */
#include "elastic/samples.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/two_rings.h"

/* A binary heap of vertices by distance, each in it once; place -1: not in it. */
typedef struct heap {
    int count, *vertex, *place;
    const double *distance;
} heap;

static void swap(heap *h, int a, int b) {
    int vertex = h->vertex[a];
    h->vertex[a] = h->vertex[b];
    h->vertex[b] = vertex;
    h->place[h->vertex[a]] = a;
    h->place[h->vertex[b]] = b;
}

static int is_before(const heap *h, int a, int b) {
    double x = h->distance[h->vertex[a]], y = h->distance[h->vertex[b]];
    return x < y || (x == y && h->vertex[a] < h->vertex[b]);
}

static void rise(heap *h, int at) {
    for (; at && is_before(h, at, (at - 1) / 2); at = (at - 1) / 2) swap(h, at, (at - 1) / 2);
}

static void add(heap *h, int vertex) {
    if (h->place[vertex] < 0) {
        h->place[vertex] = h->count;
        h->vertex[h->count++] = vertex;
    }
    rise(h, h->place[vertex]);
}

static int take_first(heap *h) {
    int first = h->vertex[0], at = 0;
    swap(h, 0, --h->count);
    h->place[first] = -1;
    for (int child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && is_before(h, child + 1, child)) child++;
        if (!is_before(h, child, at)) break;
        swap(h, child, at);
    }
    return first;
}

/* Lower the distances of all vertices by one more sample. */
static void spread(const arap_mesh *mesh, int sample, double *distance, heap *h) {
    distance[sample] = 0;
    add(h, sample);
    while (h->count) {
        int i = take_first(h);
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            double edge[3];
            int k = mesh->neighbor[e];
            if (mesh->kind[e] == ARAP_EDGE_COLLAPSED) continue;
            arap_mesh_edge(mesh, i, e, edge);
            double reached = distance[i] + sqrt(arap_dot(edge, edge));
            if (!(reached < distance[k])) continue;
            distance[k] = reached;
            add(h, k);
        }
    }
}

/* The first sample: the vertex that counts and is farthest from the mean of these; -1: none does.
 */
static int find_first(const arap_mesh *mesh, const double *own) {
    double mean[3] = {0}, most = -1;
    int count = 0, first = -1;
    for (int i = 0; i < mesh->count; i++) {
        if (!(own[i] > 0)) continue;
        count++;
        for (int c = 0; c < 3; c++) mean[c] += mesh->v[3 * (size_t)i + (size_t)c];
    }
    for (int c = 0; c < 3; c++) mean[c] /= count;
    for (int i = 0; i < mesh->count; i++) {
        double away = arap_distance2(mesh->v + 3 * (size_t)i, mean);
        if (!(own[i] > 0) || !(away > most)) continue;
        most = away;
        first = i;
    }
    return first;
}

static arap_status choose(arap_context *context, const arap_mesh *mesh, const double *own,
                          int wanted, arap_samples *samples) {
    size_t n = (size_t)mesh->count;
    double *distance = ARAP_NEW(double, n);
    heap h = {.vertex = ARAP_NEW(int, n), .place = ARAP_NEW(int, n), .distance = distance};
    arap_status status = ARAP_OK;
    if (!distance || !h.vertex || !h.place) {
        status = arap_fail_memory(&context->error, "the samples");
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        distance[i] = own[i] > 0 ? INFINITY : 0;
        h.place[i] = -1;
    }
    for (int next = find_first(mesh, own); next >= 0;) {
        samples->vertex[samples->count++] = next;
        spread(mesh, next, distance, &h);
        next = -1;
        for (int i = 0; i < mesh->count; i++)
            if (distance[i] > (next < 0 ? 0 : distance[next])) next = i;
        if (next >= 0 && samples->count >= wanted && !isinf(distance[next])) next = -1;
    }

done:
    arap_free(distance);
    arap_free(h.vertex);
    arap_free(h.place);
    return status;
}

/* Solve for the columns of all samples, (samples, size). */
static arap_status solve(arap_context *context, const arap_two_rings *q, int size,
                         const int *vertex, const int *place, const arap_samples *samples,
                         double *columns) {
    arap_matrix matrix = {0};
    arap_factor *factor = NULL;
    double *own = ARAP_NEW(double, size);
    arap_status status = own ? arap_two_rings_matrix(context, q, size, vertex, place, 1, &matrix)
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
    size_t n = (size_t)mesh->count, count = (size_t)samples->count;
    int size = 0, *vertex = ARAP_NEW(int, n), *place = ARAP_NEW(int, n);
    double *columns = NULL;
    samples->weight = ARAP_NEW_ZERO(double, n * count);
    arap_status status = ARAP_OK;
    if (!vertex || !place || !samples->weight) {
        status = arap_fail_memory(&context->error, "the samples");
        goto done;
    }
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
    columns = ARAP_NEW_ZERO(double, count * (size_t)size);
    if (!columns) {
        status = arap_fail_memory(&context->error, "the samples");
        goto done;
    }
    if (size) status = solve(context, q, size, vertex, place, samples, columns);
    for (size_t s = 0; s < count && !status; s++)
        samples->weight[(size_t)samples->vertex[s] * count + s] = 1;
    for (size_t k = 0; k < (size_t)size && !status; k++) {
        double *row = samples->weight + (size_t)vertex[k] * count, sum = 0;
        for (size_t s = 0; s < count; s++) sum += row[s] = columns[s * (size_t)size + k];
        /* 0 where no way leads to a sample. */
        for (size_t s = 0; s < count; s++) row[s] = sum > 0 ? row[s] / sum : 1.0 / (double)count;
    }

done:
    arap_free(vertex);
    arap_free(place);
    arap_free(columns);
    return status;
}

arap_status arap_samples_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                arap_samples *samples) {
    arap_two_rings q = {0};
    *samples = (arap_samples){.vertex = ARAP_NEW(int, mesh->count)};
    arap_status status = samples->vertex ? arap_bilaplacian(context, mesh, &q)
                                         : arap_fail_memory(&context->error, "the samples");
    if (!status) status = choose(context, mesh, q.own, wanted, samples);
    if (!status) status = weigh(context, mesh, &q, samples);
    arap_two_rings_clear(&q);
    if (status) arap_samples_clear(samples);
    return status;
}

void arap_samples_clear(arap_samples *samples) {
    arap_free(samples->vertex);
    arap_free(samples->weight);
    *samples = (arap_samples){0};
}
