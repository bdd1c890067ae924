/* Passes over all frames: see state.h.
 *
 * All information in the frames about a vertex is contained in
 *     G_bc = sum_p T_b^T T_c,   h_b = sum_p (T_b v) . x,   sum_p x . x,
 * because |sum_b w_b T_b v - x|^2 summed over the frames is sum_bc w_b w_c v^T G_bc v - 2 w . h + x
 * . x. G is one matrix with 4 rows per bone, and h is the product of x v^T (12 numbers per frame)
 * with the transforms. An error computed from these sums is a difference of large numbers. Such an
 * error is accurate to the square root of the rounding precision at best, and less accurate if
 * transforms are large. The reported error is therefore computed from the vertex positions in the
 * frames, in a pass that reads the frames anyway.
 *
 * Each frame takes O(24 vertices bones) operations in BLAS. Apart from the transforms, memory does
 * not grow with the number of frames: 8 bytes per vertex and bone, plus 16 frames. Vertices are
 * processed in parallel, and sums follow the order of the frames. Fails on out-of-memory, when
 * cancelled, and if reading fails. */
#include "bake/state.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"

#define CHUNK 128
#define WIDTH (12 * ARAP_FRAME_BLOCK)

typedef struct moment_task {
    arap_bake_state *state;
    const double *packed; /* (12 count, bones) */
    double *space;        /* (threads, CHUNK, WIDTH) */
} moment_task;

static void add_moments(void *data, int chunk, int worker) {
    const moment_task *task = data;
    arap_bake_state *state = task->state;
    int begin = chunk * CHUNK, end = arap_chunk_end(chunk, CHUNK, state->n);
    int count = state->block.count, width = 12 * count;
    double *space = task->space + (size_t)worker * CHUNK * WIDTH;
    for (int i = begin; i < end; i++) {
        const double *v = state->v + 4 * (size_t)i;
        double *row = space + (size_t)(i - begin) * (size_t)width;
        for (int f = 0; f < count; f++) {
            const double *x = state->block.points + 3 * ((size_t)f * (size_t)state->n + (size_t)i);
            for (int r = 0; r < 3; r++) {
                state->square[i] += x[r] * x[r];
                for (int c = 0; c < 4; c++) *row++ = x[r] * v[c];
            }
        }
    }
    arap_add_product(end - begin, width, state->bones, space, task->packed,
                     state->moment + (size_t)begin * (size_t)state->bones);
}

typedef struct error_task {
    arap_bake_state *state;
    double *sum, *max; /* (n) squared distances */
    int *frame;        /* (n) of the largest */
} error_task;

static void add_errors(void *data, int chunk, int worker) {
    (void)worker;
    const error_task *task = data;
    arap_bake_state *state = task->state;
    const arap_bake_weights *w = &state->weights;
    int begin = chunk * CHUNK, end = arap_chunk_end(chunk, CHUNK, state->n);
    for (int f = 0; f < state->block.count; f++) {
        int frame = state->block.first + f;
        const double *t = state->transform + 12 * (size_t)state->bones * (size_t)frame;
        for (int i = begin; i < end; i++) {
            const double *x = state->block.points + 3 * ((size_t)f * (size_t)state->n + (size_t)i);
            const double *v = state->v + 4 * (size_t)i, *weight = arap_bake_values(w, i);
            const int *bone = arap_bake_bones(w, i);
            double off = 0;
            for (int r = 0; r < 3; r++) {
                double at = -x[r];
                if (!w->count[i]) /* stays at rest */
                    at += v[r] + (state->center[r] - state->block.center[f][r]) / state->size;
                for (int k = 0; k < w->count[i]; k++) {
                    const double *row = t + 12 * (size_t)bone[k] + 4 * r;
                    at +=
                        weight[k] * (row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3] * v[3]);
                }
                off += at * at;
            }
            task->sum[i] += off;
            if (off > task->max[i]) {
                task->max[i] = off;
                task->frame[i] = frame;
            }
        }
    }
}

static arap_status create_errors(arap_bake_state *state, arap_arena *arena, error_task *out) {
    *out =
        (error_task){state, ARAP_TAKE_ZERO(arena, state->n, double),
                     ARAP_TAKE_ZERO(arena, state->n, double), ARAP_TAKE_ZERO(arena, state->n, int)};
    return arap_arena_status(arena, &state->context->error, "the errors");
}

/* Compute the errors of the frames in the block. */
static arap_status measure_block(arap_bake_state *state, error_task *task) {
    return arap_parallel(state->context, arap_chunks(state->n, CHUNK), add_errors, task);
}

static double rms_of(const arap_bake_state *state, const error_task *task) {
    double sum = 0;
    for (int i = 0; i < state->n; i++) sum += task->sum[i];
    return state->size * sqrt(sum / state->frames / state->n);
}

/* Lay out the transforms of the block as (12 count, bones) and as (3 count, 4 bones). */
static void pack(const arap_bake_state *state, double *packed, double *rows) {
    size_t m = (size_t)state->bones;
    for (int f = 0; f < state->block.count; f++) {
        const double *t = state->transform + 12 * m * (size_t)(state->block.first + f);
        for (size_t b = 0; b < m; b++)
            for (size_t k = 0; k < 12; k++) {
                packed[(12 * (size_t)f + k) * m + b] = t[12 * b + k];
                rows[(3 * (size_t)f + k / 4) * 4 * m + 4 * b + k % 4] = t[12 * b + k];
            }
    }
}

arap_status arap_sum_frames(arap_bake_state *state, int improve, double *rms) {
    arap_arena arena = {0};
    size_t m = (size_t)state->bones, width = 4 * m;
    arap_motion motion = {0};
    error_task errors = {0};
    double *packed = ARAP_TAKE(&arena, WIDTH * m, double),
           *rows = ARAP_TAKE(&arena, WIDTH * m, double);
    double *space = ARAP_TAKE(&arena, (size_t)state->context->threads * CHUNK * WIDTH, double);
    arap_status status = arap_arena_status(&arena, &state->context->error, "the sums over frames");
    if (!status && improve) status = arap_motion_create(state, &motion);
    if (!status && rms) status = create_errors(state, &arena, &errors);
    memset(state->gram, 0, width * width * sizeof(double));
    memset(state->moment, 0, (size_t)state->n * m * sizeof(double));
    memset(state->square, 0, (size_t)state->n * sizeof(double));
    for (int first = 0; first < state->frames && !status; first += ARAP_FRAME_BLOCK) {
        status = arap_bake_progress(state, "frames", 0.8 * first / state->frames);
        if (!status)
            status =
                arap_read_frames(state->context, &state->problem->frames, first, &state->block);
        if (!status && rms) status = measure_block(state, &errors);
        if (!status && improve) status = arap_improve_motion(state, &motion);
        if (status) break;
        pack(state, packed, rows);
        arap_add_gram(3 * state->block.count, (int)width, rows, state->gram);
        moment_task task = {state, packed, space};
        status = arap_parallel(state->context, arap_chunks(state->n, CHUNK), add_moments, &task);
    }
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < i; j++) state->gram[i * width + j] = state->gram[j * width + i];
    if (!status && rms) *rms = rms_of(state, &errors);
    arap_motion_clear(&motion);
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_measure_frames(arap_bake_state *state, arap_baked *out) {
    arap_arena arena = {0};
    error_task task;
    arap_status status = create_errors(state, &arena, &task);
    double max = 0;
    for (int first = 0; first < state->frames && !status; first += ARAP_FRAME_BLOCK) {
        status = arap_bake_progress(state, "error", (double)first / state->frames);
        if (!status)
            status =
                arap_read_frames(state->context, &state->problem->frames, first, &state->block);
        if (!status) status = measure_block(state, &task);
    }
    for (int i = 0; i < state->n && !status; i++) {
        out->vertex_error[i] = state->size * sqrt(task.sum[i] / state->frames);
        if (task.max[i] <= max) continue;
        max = task.max[i];
        out->worst_vertex = i;
        out->worst_frame = task.frame[i];
    }
    if (!status) out->rms = rms_of(state, &task);
    out->max = state->size * sqrt(max);
    arap_arena_clear(&arena);
    return status;
}
