/* Assembles the system of the global step: see system.h and docs/energy.md 4.
 *
 * Blocks of F (stiffness.h, harmonic.h) are formed between neighbors, reduced by Z and added to the
 * column of the earlier vertex. Columns of different vertices are independent and are processed in
 * parallel. Vertices that share a row (shared_rows.h), as a rigid part or as images, count as one
 * vertex with all their neighbors. The block of this vertex is the sum of their blocks. Takes
 * O(edges x influences^2) time, and only the memory of A. Fails on out-of-memory and if there are
 * more non-zeros than an int can count. */
#include "solver/system.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "energy/stiffness.h"

#define CHUNK 64
#define MANY 128 /* vertices per task, without sums of blocks */

typedef struct assembly {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_two_rings *harmonic;
    const double *tie;
    const arap_influences *in;
    /* The vertices that share blocks: one-rings, two-rings with the harmonic term. */
    const size_t *ring;
    const int *neighbor;
    const double *edge_weight_sym;
    const arap_mirror_reuse *mirror_reuse; /* NULL: nothing is counted twice */
    int count;                             /* number of parts, including single vertices */
    const int *order;                      /* (count) their leads in elimination order */
    const int *place;                      /* (vertices) position of a lead in this order */
    int *placed;      /* (vertices) position of the lead of each; -1: it has no unknowns */
    size_t max_edges; /* number of edges from the vertices of a part, with some reserve */
    arap_system *system;
    double *block; /* (workers, widest * widest + max_edges) */
    int widest;
    size_t *below; /* (count) rows below the block on the diagonal */
} assembly;

static size_t row_size(const arap_influences *in, int i) { return in->start[i + 1] - in->start[i]; }

/* arap_gram_block, plus `same` between influences of one bone. */
static void form_block(const assembly *a, int k, int l, double factor, double same, double *block) {
    const arap_influences *in = a->in;
    size_t height = row_size(in, k), width = row_size(in, l);
    if (factor == 0)
        memset(block, 0, height * width * sizeof *block);
    else
        arap_gram_block(a->mesh, a->poses, in, k, l, factor, block);
    if (same == 0) return;
    for (size_t p = 0; p < height; p++) {
        ptrdiff_t q = arap_find_influence(in, l, in->bone[in->start[k] + p]);
        if (q >= 0) block[p * width + ((size_t)q - in->start[l])] += same;
    }
}

/* Replace rows and columns of twins by their means, because an unknown is half of both. */
static void fold_block(const assembly *a, int k, int l, double *block) {
    const arap_shared_rows *shared = &a->system->shared;
    size_t k0 = a->in->start[k], l0 = a->in->start[l];
    size_t height = row_size(a->in, k), width = row_size(a->in, l);
    for (size_t p = 0; p < height; p++) {
        size_t twin = arap_twin_of(shared, k0 + p) - k0;
        for (size_t q = 0; q < width && twin > p; q++)
            block[p * width + q] = 0.5 * (block[p * width + q] + block[twin * width + q]);
    }
    for (size_t q = 0; q < width; q++) {
        size_t twin = arap_twin_of(shared, l0 + q) - l0;
        for (size_t p = 0; p < height && twin > q; p++)
            block[p * width + q] = 0.5 * (block[p * width + q] + block[p * width + twin]);
    }
}

/* Add the block to rows [offset_k, offset_k + size_k) of the columns of l, beginning at position
 * `at` of the first column. For a diagonal block, only the lower triangle is added. */
static void add_block(const assembly *a, int k, int l, const double *block, int at) {
    const arap_influences *in = a->in;
    arap_system *s = a->system;
    size_t width = row_size(in, l);
    size_t k0 = (size_t)s->eliminated[k], l0 = (size_t)s->eliminated[l];
    int diagonal = s->offset[k] == s->offset[l];
    for (int u = 0; u < s->size[l]; u++) {
        size_t q = (size_t)s->entry[in->start[l] + (size_t)u];
        /* Column u is u entries shorter, because the diagonal block above it is missing. */
        double *value = s->matrix.value + s->matrix.start[s->offset[l] + u] + at - u;
        for (int t = diagonal ? u : 0; t < s->size[k]; t++) {
            size_t p = (size_t)s->entry[in->start[k] + (size_t)t];
            value[t] += block[p * width + q] - block[k0 * width + q] - block[p * width + l0] +
                        block[k0 * width + l0];
        }
    }
}

/* The index of a position, or its insertion index, among these in ascending order. */
static int find_place(const int *places, int count, int place) {
    int lo = 0, hi = count;
    if (!count || places[count - 1] < place) return count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (places[mid] < place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The later neighbors of the part of lead l, by their positions in elimination order. */
static int later_places(const assembly *a, int l, int *later) {
    const arap_system *s = a->system;
    int count = 0, own = a->place[l];
    for (int m = l; m >= 0; m = s->shared.next[m])
        for (size_t r = a->ring[m]; r < a->ring[m + 1]; r++) {
            int place = a->placed[a->neighbor[r]];
            if (place <= own) continue;
            int at = find_place(later, count, place);
            if (at < count && later[at] == place) continue;
            memmove(later + at + 1, later + at, (size_t)(count - at) * sizeof *later);
            later[at] = place;
            count++;
        }
    return count;
}

/* Position in the first column of lead l of the rows of another. */
static int position_of(const assembly *a, int l, int lead) {
    const arap_system *s = a->system;
    int column = s->offset[l], lo = s->size[l];
    const int *row = s->matrix.row + s->matrix.start[column];
    int hi = s->matrix.start[column + 1] - s->matrix.start[column];
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (row[mid] < s->offset[lead])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Set the rows of the columns of lead l, without values. */
static void begin_columns(const assembly *a, int l, const int *later, int count) {
    arap_system *s = a->system;
    for (int u = 0; u < s->size[l]; u++) {
        int fill = s->matrix.start[s->offset[l] + u];
        for (int t = u; t < s->size[l]; t++) s->matrix.row[fill++] = s->offset[l] + t;
        for (int j = 0; j < count; j++) {
            int k = a->order[later[j]];
            for (int t = 0; t < s->size[k]; t++) s->matrix.row[fill++] = s->offset[k] + t;
        }
        memset(s->matrix.value + s->matrix.start[s->offset[l] + u], 0,
               (size_t)(fill - s->matrix.start[s->offset[l] + u]) * sizeof(double));
    }
}

/* The scratch of a worker: (max_edges) positions. */
static int *later_of(const assembly *a, int worker) {
    size_t largest = (size_t)a->widest * (size_t)a->widest;
    return (int *)(a->block + (size_t)worker * (largest + a->max_edges) + largest);
}

static void count_chunk(void *data, int chunk, int worker) {
    const assembly *a = data;
    int *later = later_of(a, worker), end = arap_chunk_end(chunk, MANY, a->count);
    for (int j = chunk * MANY; j < end; j++) {
        int count = later_places(a, a->order[j], later);
        a->below[j] = 0;
        for (int k = 0; k < count; k++) a->below[j] += (size_t)a->system->size[a->order[later[k]]];
    }
}

static void begin_chunk(void *data, int chunk, int worker) {
    const assembly *a = data;
    int *later = later_of(a, worker), end = arap_chunk_end(chunk, MANY, a->count);
    for (int j = chunk * MANY; j < end; j++) {
        int l = a->order[j];
        if (a->system->size[l]) begin_columns(a, l, later, later_places(a, l, later));
    }
}

/* The number of times that the blocks of vertex m count. Instead of copying sums, the originals are
 * counted twice, because all rows around a vertex and its image are shared. */
static int times_of(const assembly *a, int m) {
    if (!a->mirror_reuse || !a->mirror_reuse->of) return 1;
    int image = arap_symmetry_image(a->mirror_reuse->symmetry, m);
    if (arap_is_copied(a->mirror_reuse, m)) return 0;
    return image >= 0 && arap_is_copied(a->mirror_reuse, image) ? 2 : 1;
}

static void assemble_part(const assembly *a, int l, double *block) {
    const arap_two_rings *h = a->harmonic;
    arap_system *s = a->system;
    if (!s->size[l]) return;
    for (int m = l; m >= 0; m = s->shared.next[m]) {
        double sum = 0;
        int times = times_of(a, m);
        if (!times) continue;
        for (size_t r = a->ring[m]; r < a->ring[m + 1]; r++) sum += a->edge_weight_sym[r];
        sum += arap_mesh_tie(a->mesh, m, NULL) + (a->tie ? a->tie[m] : 0);
        form_block(a, m, m, times * sum, h->own ? h->own[m] : 0, block);
        fold_block(a, m, m, block);
        add_block(a, m, m, block, 0);
        for (size_t r = a->ring[m]; r < a->ring[m + 1]; r++) {
            int k = a->neighbor[r], lead = s->shared.lead[k];
            if (a->place[lead] < a->place[l] || !s->size[k]) continue;
            form_block(a, k, m, -times * a->edge_weight_sym[r], h->edge ? h->edge[r] : 0, block);
            fold_block(a, k, m, block);
            add_block(a, k, m, block, lead == l ? 0 : position_of(a, l, lead));
        }
    }
}

static void assemble_chunk(void *data, int chunk, int worker) {
    const assembly *a = data;
    size_t largest = (size_t)a->widest * (size_t)a->widest;
    double *block = a->block + (size_t)worker * (largest + a->max_edges);
    int end = arap_chunk_end(chunk, CHUNK, a->count);
    for (int j = chunk * CHUNK; j < end; j++) assemble_part(a, a->order[j], block);
}

/* Whether the k-th influence, in the lead's numbering, is an unknown or balances the unknowns. */
static int is_free(const arap_influences *in, const arap_system *s, size_t k) {
    size_t e = arap_image_of(&s->shared, k);
    return !in->locked[e] && arap_twin_of(&s->shared, e) >= e;
}

/* Find the unknowns of vertex i and their number. The largest free weight of the lead balances the
 * others. Rows that hold weights at zero are then on the diagonal of its block and do not reduce
 * the precision of the rest. */
static void size_vertex(const arap_influences *in, int i, arap_system *s) {
    const double *weight = in->weight + in->start[s->shared.lead[i]];
    size_t start = in->start[i], end = in->start[i + 1], largest = end;
    for (size_t k = start; k < end; k++)
        if (is_free(in, s, k) && (largest == end || weight[k - start] > weight[largest - start]))
            largest = k;
    s->eliminated[i] = (int)((largest < end ? arap_image_of(&s->shared, largest) : end) - start);
    s->size[i] = 0;
    for (size_t k = start; k < end; k++)
        if (is_free(in, s, k) && k != largest)
            s->entry[start + (size_t)s->size[i]++] = (int)(arap_image_of(&s->shared, k) - start);
}

static void size_chunk(void *data, int chunk, int worker) {
    const assembly *a = data;
    int end = arap_chunk_end(chunk, MANY, a->mesh->count);
    (void)worker;
    for (int i = chunk * MANY; i < end; i++) size_vertex(a->in, i, a->system);
}

/* Number the unknowns in elimination order. */
static arap_status number_unknowns(arap_context *context, assembly *a) {
    arap_system *s = a->system;
    arap_status status =
        arap_parallel_short(context, arap_chunks(a->mesh->count, MANY), size_chunk, a);
    for (int i = 0; i < a->mesh->count && !status; i++) {
        int lead = s->shared.lead[i];
        a->placed[i] = s->size[lead] ? a->place[lead] : -1;
    }
    for (int j = 0; j < a->count && !status; j++) {
        int size = 0;
        for (int m = a->order[j]; m >= 0; m = a->system->shared.next[m]) {
            s->offset[m] = s->unknowns;
            size = s->size[m];
        }
        s->unknowns += size;
    }
    return status;
}

/* Sort the leads in the order of the last vertices of their parts. */
static void order_parts(assembly *a, const int *vertices, int *leads, int *place) {
    int n = a->mesh->count;
    for (int j = 0; j < n; j++) place[a->system->shared.lead[vertices[j]]] = j;
    for (int j = 0; j < n; j++) {
        int lead = a->system->shared.lead[vertices[j]];
        if (place[lead] == j) leads[a->count++] = lead;
    }
    for (int j = 0; j < a->count; j++) {
        size_t edges = 0;
        place[leads[j]] = j;
        for (int m = leads[j]; m >= 0; m = a->system->shared.next[m])
            edges += a->ring[m + 1] - a->ring[m];
        if (edges > a->max_edges) a->max_edges = edges;
    }
}

/* Compute column starts. Returns ARAP_NO_MEMORY if the matrix exceeds 2^31 entries. */
static arap_status size_columns(arap_context *context, assembly *a) {
    arap_system *s = a->system;
    size_t fill = 0;
    arap_status status = arap_parallel_short(context, arap_chunks(a->count, MANY), count_chunk, a);
    for (int j = 0; j < a->count && !status; j++) {
        int l = a->order[j];
        for (int u = 0; u < s->size[l]; u++) {
            s->matrix.start[s->offset[l] + u] = (int)fill;
            fill += a->below[j] + (size_t)(s->size[l] - u);
            if (fill > INT_MAX)
                return arap_fail(&context->error, ARAP_NO_MEMORY,
                                 "the weight system of %d unknowns is too large", s->unknowns);
        }
    }
    s->matrix.start[s->unknowns] = (int)fill;
    return status;
}

arap_status arap_system_create(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_two_rings *harmonic,
                               const double *tie, const arap_influences *influences,
                               const arap_symmetry *symmetry, const arap_rigid_parts *parts,
                               const arap_mirror_reuse *mirror_reuse, const int *order,
                               arap_async_fn analyze, void *data, arap_async_task *analysis,
                               arap_system *system) {
    size_t n = (size_t)mesh->count, entries = influences->start[n];
    arap_arena arena = {0};
    int *place = ARAP_TAKE(&arena, n, int), *leads = ARAP_TAKE(&arena, n, int),
        *placed = ARAP_TAKE(&arena, n, int);
    int wide = harmonic->ring != NULL;
    assembly a = {.mesh = mesh,
                  .poses = poses,
                  .harmonic = harmonic,
                  .tie = tie,
                  .in = influences,
                  .ring = wide ? harmonic->ring : mesh->ring,
                  .neighbor = wide ? harmonic->neighbor : mesh->neighbor,
                  .edge_weight_sym = wide ? harmonic->edge_weight_sym : mesh->edge_weight_sym,
                  .mirror_reuse = wide || parts->count ? NULL : mirror_reuse,
                  .order = leads,
                  .place = place,
                  .placed = placed,
                  .system = system};
    arap_status status;
    *system = (arap_system){.vertices = mesh->count, .rows = influences};
    system->offset = ARAP_TAKE(&system->arena, n, int);
    system->size = ARAP_TAKE(&system->arena, n, int);
    system->entry = ARAP_TAKE(&system->arena, entries, int);
    system->eliminated = ARAP_TAKE(&system->arena, n, int);
    status = arap_arena_status(&arena, &context->error, "the weight system");
    if (!status) status = arap_arena_status(&system->arena, &context->error, "the weight system");
    if (status) goto done;
    status = arap_shared_rows_create(context, symmetry, parts, influences, &system->shared);
    if (status) goto done;
    order_parts(&a, order, leads, place);
    a.max_edges = arap_apart(a.max_edges);
    for (size_t i = 0; i < n; i++)
        if ((int)row_size(influences, (int)i) > a.widest)
            a.widest = (int)row_size(influences, (int)i);
    status = number_unknowns(context, &a);
    if (status) goto done;
    system->matrix.size = system->unknowns;
    system->matrix.start = ARAP_TAKE(&system->arena, system->unknowns + 1, int);
    a.block = ARAP_TAKE(
        &arena, (size_t)context->threads * ((size_t)a.widest * (size_t)a.widest + a.max_edges),
        double);
    a.below = ARAP_TAKE(&arena, a.count, size_t);
    status = arap_arena_status(&arena, &context->error, "the weight system");
    if (!status) status = arap_arena_status(&system->arena, &context->error, "the weight system");
    if (status) goto done;
    status = size_columns(context, &a);
    if (status) goto done;
    int values = system->matrix.start[system->unknowns];
    system->matrix.row = ARAP_TAKE(&system->arena, values, int);
    system->matrix.value = ARAP_TAKE(&system->arena, values, double);
    system->penalized = ARAP_TAKE(&system->arena, values, double);
    status = arap_arena_status(&system->arena, &context->error, "the weight system");
    if (status) goto done;
    status = arap_parallel_short(context, arap_chunks(a.count, MANY), begin_chunk, &a);
    if (status) goto done;
    if (system->unknowns) arap_async_begin(context, system->unknowns, analyze, data, analysis);
    status = arap_poses_gram_of(context, mesh, poses, influences);
    if (!status) status = arap_parallel(context, arap_chunks(a.count, CHUNK), assemble_chunk, &a);

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_system_clear(arap_system *system) {
    arap_shared_rows_clear(&system->shared);
    arap_arena_clear(&system->arena);
    *system = (arap_system){0};
}

static void copy_chunk(void *data, int chunk, int worker) {
    const arap_system *s = data;
    int end = arap_chunk_end(chunk, MANY, s->unknowns);
    int from = s->matrix.start[chunk * MANY];
    (void)worker;
    memcpy(s->penalized + from, s->matrix.value + from,
           (size_t)(s->matrix.start[end] - from) * sizeof(double));
}

/* The stiffness of an unknown: if an influence and its twin each add half of the unknown, it is a
 * fourth of the sum of both. */
static double stiffness_of(const arap_system *s, const double *stiffness, size_t e) {
    size_t twin = arap_twin_of(&s->shared, e);
    return twin == e ? stiffness[e] : 0.25 * (stiffness[e] + stiffness[twin]);
}

arap_status arap_system_penalize(arap_context *context, arap_system *system,
                                 const double *stiffness) {
    arap_status status =
        arap_parallel_short(context, arap_chunks(system->unknowns, MANY), copy_chunk, system);
    for (int i = 0; i < system->vertices && !status; i++)
        for (int u = 0; u < system->size[i]; u++) {
            double *value = system->penalized + system->matrix.start[system->offset[i] + u];
            double balance = stiffness_of(system, stiffness, arap_balance_entry(system, i));
            value[0] += stiffness_of(system, stiffness, arap_unknown_entry(system, i, u));
            for (int t = 0; t < system->size[i] - u; t++) value[t] += balance;
        }
    return status;
}

/* The slope of an unknown, without its balancing weight: half for each twin in a row that is its
 * own image. */
static double mean_of(const arap_system *s, const double *full, size_t e) {
    return 0.5 * (full[e] + full[arap_twin_of(&s->shared, e)]);
}

void arap_system_reduce(const arap_system *system, const double *full, double *reduced) {
    memset(reduced, 0, (size_t)system->unknowns * sizeof *reduced);
    for (int i = 0; i < system->vertices; i++)
        for (int u = 0; u < system->size[i]; u++)
            reduced[system->offset[i] + u] +=
                mean_of(system, full, arap_unknown_entry(system, i, u)) -
                mean_of(system, full, arap_balance_entry(system, i));
}

/* Add to an influence, or half of it to each twin. */
static void add_half(const arap_system *s, size_t e, double x, double *weight) {
    size_t twin = arap_twin_of(&s->shared, e);
    weight[e] += twin == e ? x : 0.5 * x;
    if (twin != e) weight[twin] += 0.5 * x;
}

void arap_system_add_step(const arap_system *system, const double *x, double *weight) {
    for (int i = 0; i < system->vertices; i++)
        for (int u = 0; u < system->size[i]; u++) {
            add_half(system, arap_unknown_entry(system, i, u), x[system->offset[i] + u], weight);
            add_half(system, arap_balance_entry(system, i), -x[system->offset[i] + u], weight);
        }
}
