/* Weights that fit frames: see state.h.
 *
 * For each vertex, minimizes w^T A w - 2 h . w over w >= 0 with sum 1 and a limited number of
 * nonzero weights, where A_bc = v^T G_bc v (sums.c). simplex.h solves this problem and computes
 * columns of A on demand. Pulls add squares to the function:
 *     rho |w_i - w_i0|^2                  to the given weights,
 *     sigma sum_edges l_ij |w_i - w_j|^2  to the neighbors, l_ij = 2 / (ring_i + ring_j).
 * The second sum couples all vertices. With m_ij the mean of the old weights of i and j,
 *     |w_i - w_j|^2 <= 2 |w_i - m_ij|^2 + 2 |w_j - m_ij|^2,
 * with equality for the old weights. The sum that is minimized vertex by vertex therefore lies
 * above the objective and touches it at the old weights, so no step raises the objective.
 *
 * Locked weights are eliminated. Their columns are subtracted from h, and their weights from the
 * required sum. Each column takes O(bones), and a vertex needs a few columns. Vertices are
 * processed in parallel. Fails on out-of-memory and when cancelled. */
#include "bake/state.h"

#include <math.h>
#include <string.h>

#include "bake/simplex.h"
#include "base/memory.h"

#define CHUNK 64
#define SLICE 64 /* chunks between two reports */

static void put_edge(const arap_bake_state *state, int *size, int from, int to) {
    int i = state->same[from], j = state->same[to];
    if (i == j) return;
    if (state->ring) {
        int *ring = state->ring + state->ring_start[i];
        for (int k = 0; k < size[i]; k++)
            if (ring[k] == j) return;
        ring[size[i]] = j;
    }
    size[i]++;
}

static void put_edges(const arap_bake_state *state, int *size) {
    const arap_geometry *g = &state->problem->geometry;
    for (size_t t = 0; t < g->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int i = g->triangles[3 * t + (size_t)c], j = g->triangles[3 * t + (size_t)(c + 1) % 3];
            put_edge(state, size, i, j);
            put_edge(state, size, j, i);
        }
    for (size_t e = 0; e < g->edge_count; e++) {
        put_edge(state, size, g->edges[2 * e], g->edges[2 * e + 1]);
        put_edge(state, size, g->edges[2 * e + 1], g->edges[2 * e]);
    }
}

/* Room was reserved for each edge once per face, so remove the gaps. */
static void close_gaps(arap_bake_state *state, const int *size) {
    int fill = 0;
    for (int i = 0; i < state->n; i++) {
        int from = state->ring_start[i];
        state->ring_start[i] = fill;
        memmove(state->ring + fill, state->ring + from, (size_t)size[i] * sizeof *size);
        fill += size[i];
    }
    state->ring_start[state->n] = fill;
}

arap_status arap_bake_rings(arap_bake_state *state) {
    int *size = ARAP_NEW_ZERO(int, state->n);
    state->ring_start = ARAP_TAKE(&state->arena, state->n + 1, int);
    if (size && state->ring_start) {
        put_edges(state, size);
        state->ring_start[0] = 0;
        for (int i = 0; i < state->n; i++)
            state->ring_start[i + 1] = state->ring_start[i] + size[i];
        state->ring = ARAP_TAKE(&state->arena, state->ring_start[state->n], int);
    }
    if (state->ring) {
        memset(size, 0, (size_t)state->n * sizeof *size);
        put_edges(state, size);
        close_gaps(state, size);
    }
    arap_free(size);
    return state->ring ? ARAP_OK : arap_fail_memory(&state->context->error, "the edges");
}

/* v^T G_bc v of a vertex, [b, c] of the Gram matrix. */
static double pair(const arap_bake_state *state, int vertex, int b, int c) {
    size_t width = 4 * (size_t)state->bones;
    const double *v = state->v + 4 * (size_t)vertex;
    const double *g = state->gram + 4 * (size_t)b * width + 4 * (size_t)c;
    double sum = 0;
    for (size_t r = 0; r < 4; r++)
        sum += v[r] * (g[r * width] * v[0] + g[r * width + 1] * v[1] + g[r * width + 2] * v[2] +
                       g[r * width + 3] * v[3]);
    return sum;
}

/* Work space of a thread. */
typedef struct fit_space {
    arap_simplex_space simplex;
    double *linear, *diagonal, *row; /* (bones), (bones), (4 bones) */
    char *allowed;
} fit_space;

typedef struct vertex_columns {
    const arap_bake_state *state;
    int vertex;
    double ridge, *row;
} vertex_columns;

static void make_column(const void *data, int index, double *out) {
    const vertex_columns *of = data;
    const arap_bake_state *state = of->state;
    size_t width = 4 * (size_t)state->bones;
    const double *v = state->v + 4 * (size_t)of->vertex;
    const double *g = state->gram + 4 * (size_t)index * width;
    for (size_t k = 0; k < width; k++)
        of->row[k] =
            v[0] * g[k] + v[1] * g[width + k] + v[2] * g[2 * width + k] + v[3] * g[3 * width + k];
    for (int b = 0; b < state->bones; b++) {
        const double *u = of->row + 4 * (size_t)b;
        out[b] = u[0] * v[0] + u[1] * v[1] + u[2] * v[2] + u[3] * v[3];
    }
    out[index] += of->ridge;
}

typedef struct fit_task {
    arap_bake_state *state;
    arap_bake_weights next;
    fit_space *spaces;
    const double *own; /* (bones, 4, 4) the diagonal of the Gram matrix */
    int fresh, first;  /* first: chunk */
} fit_task;

static double edge_pull(const arap_bake_state *state, int i, int j) {
    int own = state->ring_start[i + 1] - state->ring_start[i];
    int other = state->ring_start[j + 1] - state->ring_start[j];
    return 2 * state->settings->smoothness * state->frames / (own + other);
}

static void add_row(const arap_bake_weights *w, int vertex, double factor, double *out) {
    const int *bone = arap_bake_bones(w, vertex);
    const double *weight = arap_bake_values(w, vertex);
    for (int k = 0; k < w->count[vertex]; k++) out[bone[k]] += factor * weight[k];
}

/* Add the pulls on a vertex to its linear term. Returns the ridge. */
static double add_pulls(const arap_bake_state *state, int i, double *linear) {
    const arap_bake_weights *w = &state->weights;
    double ridge = 0;
    if (state->start.room && state->start.count[i]) {
        ridge = state->settings->damping * state->frames;
        add_row(&state->start, i, ridge, linear);
    }
    if (!state->ring || !w->count[i]) return ridge;
    for (int k = state->ring_start[i]; k < state->ring_start[i + 1]; k++) {
        int j = state->ring[k];
        double pull = edge_pull(state, i, j);
        if (!w->count[j]) continue;
        add_row(w, i, pull, linear);
        add_row(w, j, pull, linear);
        ridge += 2 * pull;
    }
    return ridge;
}

static void copy_row(const arap_bake_weights *from, int i, arap_bake_weights *to, int j) {
    to->count[j] = from->count[i];
    memcpy(to->bone + (size_t)j * (size_t)to->room, arap_bake_bones(from, i),
           (size_t)from->count[i] * sizeof(int));
    memcpy(arap_bake_values(to, j), arap_bake_values(from, i),
           (size_t)from->count[i] * sizeof(double));
}

/* Build the row of a vertex from its locked weights (from its current row) and the others. */
static void put_row(const fit_task *task, int i, const arap_simplex_solution *found) {
    const arap_bake_weights *old = &task->state->weights;
    arap_bake_weights next = task->next;
    next.count[i] = 0;
    for (int k = 0; k < old->count[i]; k++)
        if (arap_bake_locks_bone(task->state, arap_bake_bones(old, i)[k]))
            arap_bake_add(&next, i, arap_bake_bones(old, i)[k], arap_bake_values(old, i)[k]);
    for (int k = 0; k < found->count; k++)
        arap_bake_add(&next, i, found->index[k], found->weight[k]);
}

/* v^T g v */
static double square(const double *g, const double *v) {
    double sum = 0;
    for (int r = 0; r < 4; r++)
        sum += v[r] *
               (g[4 * r] * v[0] + g[4 * r + 1] * v[1] + g[4 * r + 2] * v[2] + g[4 * r + 3] * v[3]);
    return sum;
}

static void fit_vertex(const fit_task *task, fit_space *space, int i) {
    const arap_bake_state *state = task->state;
    const arap_bake_weights *old = &state->weights;
    size_t m = (size_t)state->bones;
    int limit = state->settings->max_influences, taken = 0, known = 0;
    double total = arap_bake_share(state, i);
    vertex_columns columns = {state, i, 0, space->row};
    arap_simplex_solution found = {0}, kept = {0};
    memcpy(space->linear, state->moment + (size_t)i * m, m * sizeof(double));
    columns.ridge = add_pulls(state, i, space->linear);
    for (size_t b = 0; b < m; b++) {
        space->diagonal[b] = square(task->own + 16 * b, state->v + 4 * (size_t)i) + columns.ridge;
        space->allowed[b] = (char)arap_bake_may_move(state, i, (int)b);
    }
    if (!limit || limit > ARAP_SIMPLEX_MAX) limit = ARAP_SIMPLEX_MAX;
    for (int k = 0; k < old->count[i]; k++) {
        int own = arap_bake_bones(old, i)[k];
        double weight = arap_bake_values(old, i)[k];
        if (arap_bake_locks_bone(state, own)) {
            make_column(&columns, own, space->simplex.product);
            for (size_t b = 0; b < m; b++) space->linear[b] -= weight * space->simplex.product[b];
            taken++;
        } else if (space->allowed[own] && known < limit) {
            kept.index[known++] = own;
        }
    }
    limit = limit > taken ? limit - taken : 1;
    if (total > 0) {
        arap_simplex_problem problem = {.count = state->bones,
                                        .total = total,
                                        .max = limit,
                                        .linear = space->linear,
                                        .diagonal = space->diagonal,
                                        .allowed = space->allowed,
                                        .column = make_column,
                                        .data = &columns};
        if (known > limit) known = 0;
        if (known) arap_simplex_solve(&problem, &space->simplex, known, &kept);
        if (!known || task->fresh) arap_simplex_solve(&problem, &space->simplex, 0, &found);
        if (known && (!task->fresh || kept.value < found.value)) found = kept;
    }
    put_row(task, i, &found);
}

static void fit_chunk(void *data, int chunk, int worker) {
    const fit_task *task = data;
    arap_bake_weights next = task->next;
    int begin = (task->first + chunk) * CHUNK;
    int end = arap_chunk_end(task->first + chunk, CHUNK, task->state->n);
    for (int i = begin; i < end; i++)
        if (arap_bake_locks_vertex(task->state, i))
            copy_row(&task->state->weights, i, &next, i);
        else if (task->state->same[i] == i)
            fit_vertex(task, task->spaces + worker, i);
}

static double row_distance2(const arap_bake_weights *a, int i, const arap_bake_weights *b, int j) {
    const int *p = arap_bake_bones(a, i), *q = arap_bake_bones(b, j);
    const double *x = arap_bake_values(a, i), *y = arap_bake_values(b, j);
    double sum = 0;
    int k = 0, l = 0;
    while (k < a->count[i] || l < b->count[j]) {
        int first = l == b->count[j] || (k < a->count[i] && p[k] <= q[l]);
        int second = k == a->count[i] || (l < b->count[j] && q[l] <= p[k]);
        double off = (first ? x[k++] : 0) - (second ? y[l++] : 0);
        sum += off * off;
    }
    return sum;
}

double arap_bake_error(const arap_bake_state *state, int vertex) {
    const int *bone = arap_bake_bones(&state->weights, vertex);
    const double *weight = arap_bake_values(&state->weights, vertex);
    const double *moment = state->moment + (size_t)vertex * (size_t)state->bones;
    double error = state->square[vertex];
    for (int k = 0; k < state->weights.count[vertex]; k++) {
        error -= 2 * weight[k] * moment[bone[k]];
        for (int l = 0; l < state->weights.count[vertex]; l++)
            error += weight[k] * weight[l] * pair(state, vertex, bone[k], bone[l]);
    }
    return error;
}

/* rms: from the sums, accurate to half of the digits. */
static void tell(const arap_bake_state *state, double *rms, double *objective) {
    const arap_bake_weights *w = &state->weights;
    double error = 0, counted = 0, pulls = 0;
    for (int i = 0; i < state->n; i++) {
        double own = fmax(arap_bake_error(state, i), 0);
        error += own;
        if (state->same[i] != i) continue;
        counted += own;
        if (state->start.room && state->start.count[i])
            pulls +=
                state->settings->damping * state->frames * row_distance2(w, i, &state->start, i);
        for (int k = state->ring ? state->ring_start[i] : 0;
             state->ring && k < state->ring_start[i + 1]; k++)
            if (state->ring[k] > i)
                pulls +=
                    edge_pull(state, i, state->ring[k]) * row_distance2(w, i, w, state->ring[k]);
    }
    *rms = state->size * sqrt(error / state->frames / state->n);
    *objective = counted + pulls;
}

arap_status arap_fit_weights(arap_bake_state *state, int fresh, double *rms, double *objective) {
    arap_arena arena = {0};
    arap_context *context = state->context;
    int chunks = arap_chunks(state->n, CHUNK), bones = state->bones;
    fit_task task = {.state = state,
                     .next = state->next,
                     .spaces = ARAP_TAKE(&arena, context->threads, fit_space),
                     .fresh = fresh};
    double *own = ARAP_TAKE(&arena, 16 * (size_t)bones, double);
    for (int k = 0; k < context->threads && task.spaces; k++)
        task.spaces[k] = (fit_space){.simplex = arap_simplex_space_make(&arena, bones),
                                     .linear = ARAP_TAKE(&arena, bones, double),
                                     .diagonal = ARAP_TAKE(&arena, bones, double),
                                     .row = ARAP_TAKE(&arena, 4 * (size_t)bones, double),
                                     .allowed = ARAP_TAKE(&arena, bones, char)};
    arap_status status = arap_arena_status(&arena, &context->error, "the weights");
    size_t width = 4 * (size_t)bones;
    for (size_t b = 0; b < (size_t)bones && !status; b++)
        for (size_t k = 0; k < 16; k++)
            own[16 * b + k] = state->gram[(4 * b + k / 4) * width + 4 * b + k % 4];
    task.own = own;
    for (int first = 0; first < chunks && !status; first += SLICE) {
        status = arap_bake_progress(state, "weights", 0.8 + 0.2 * first / chunks);
        task.first = first;
        if (!status)
            status = arap_parallel(context, chunks - first < SLICE ? chunks - first : SLICE,
                                   fit_chunk, &task);
    }
    if (!status) {
        for (int i = 0; i < state->n; i++)
            if (state->same[i] != i) copy_row(&task.next, state->same[i], &task.next, i);
        state->next = state->weights;
        state->weights = task.next;
        tell(state, rms, objective);
    }
    arap_arena_clear(&arena);
    return status;
}
