/* Transforms that fit weights to frames: see state.h.
 *
 * In a frame, with v = (v, 1) and T_b (3, 4),
 *     sum_i |sum_b w_ib T_b v_i - x_i|^2 = sum_bc tr(T_b Y_bc T_c^T) - 2 sum_b tr(T_b X_b^T) + ...
 *     Y_bc = sum_i w_ib w_ic v_i v_i^T,   X_b = sum_i w_ib x_i v_i^T:
 * Y is the same in all frames, X is one sum over the mesh, and all further work involves only
 * bones. Several rounds update the bones one after another while the others stay fixed. With M =
 * X_b - sum_{c != b} T_c Y_cb, the best affine transform is M Y_bb^-1. For the best rigid
 * transform, the part of M due to the center is subtracted, and the nearest rotation is used
 * (Kabsch), as in Le and Deng 2012.
 *
 * A bone without vertices keeps its transform. Y takes O(influences^2 vertices), and X takes
 * O(influences vertices) per frame. Frames are processed in parallel. Fails on out-of-memory. */
#include "bake/state.h"

#include <math.h>
#include <string.h>

#include "bake/simplex.h"
#include "base/memory.h"
#include "linalg/rotation.h"

#define ROUNDS 8
#define NO_WEIGHT 1e-14 /* sum of squared weights below which a bone keeps its transform */
/* share of the trace of Y_bb, which keeps affine transforms that no vertex determines */
#define RIDGE 1e-9

static arap_status find_neighbors(arap_bake_state *state, arap_motion *motion) {
    int m = state->bones, fill = 0;
    motion->start = ARAP_TAKE(&motion->arena, m + 1, int);
    arap_status status = arap_arena_status(&motion->arena, &state->context->error, "the bones");
    for (int pass = 0; pass < 2 && !status; pass++) {
        fill = 0;
        for (int b = 0; b < m; b++) {
            motion->start[b] = fill;
            for (int c = 0; c < m; c++) {
                size_t at = (size_t)b * (size_t)m + (size_t)c;
                if (c == b || motion->pair[16 * at + 15] == 0) continue;
                if (pass) motion->neighbor[fill] = c;
                fill++;
            }
        }
        motion->start[m] = fill;
        if (pass) break;
        motion->neighbor = ARAP_TAKE(&motion->arena, fill, int);
        status = arap_arena_status(&motion->arena, &state->context->error, "the bones");
    }
    return status;
}

arap_status arap_motion_create(arap_bake_state *state, arap_motion *out) {
    size_t m = (size_t)state->bones;
    const arap_bake_weights *w = &state->weights;
    *out = (arap_motion){0};
    out->pair = ARAP_TAKE_ZERO(&out->arena, 16 * m * m, double);
    out->target = ARAP_TAKE(&out->arena, 12 * m * ARAP_FRAME_BLOCK, double);
    arap_status status = arap_arena_status(&out->arena, &state->context->error, "the bones");
    for (int i = 0; i < state->n && !status; i++) {
        const double *v = state->v + 4 * (size_t)i, *weight = arap_bake_values(w, i);
        const int *bone = arap_bake_bones(w, i);
        for (int j = 0; j < w->count[i]; j++)
            for (int k = 0; k < w->count[i]; k++) {
                double *y = out->pair + 16 * ((size_t)bone[j] * m + (size_t)bone[k]);
                for (int r = 0; r < 4; r++)
                    for (int c = 0; c < 4; c++) y[4 * r + c] += weight[j] * weight[k] * v[r] * v[c];
            }
    }
    if (!status) status = find_neighbors(state, out);
    if (status) arap_motion_clear(out);
    return status;
}

void arap_motion_clear(arap_motion *motion) {
    arap_arena_clear(&motion->arena);
    *motion = (arap_motion){0};
}

static void take_rigid(const double *m, const double *y, double *transform) {
    double covariance[9], rotation[9], total = y[15];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            covariance[3 * r + c] = m[4 * r + c] - m[4 * r + 3] * y[4 * c + 3] / total;
    arap_nearest_rotation(covariance, rotation);
    for (int r = 0; r < 3; r++) {
        double shift = m[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            transform[4 * r + c] = rotation[3 * r + c];
            shift -= rotation[3 * r + c] * y[4 * c + 3];
        }
        transform[4 * r + 3] = shift / total;
    }
}

static void take_affine(const double *m, const double *y, double *transform) {
    double ridge = RIDGE * (y[0] + y[5] + y[10] + y[15]);
    for (int r = 0; r < 3; r++) {
        double matrix[4][ARAP_SIMPLEX_MAX], row[4];
        for (int c = 0; c < 4; c++) {
            memcpy(matrix[c], y + 4 * c, sizeof row);
            matrix[c][c] += ridge;
            row[c] = m[4 * r + c] + ridge * transform[4 * r + c];
        }
        arap_solve_definite(4, matrix, row);
        memcpy(transform + 4 * r, row, sizeof row);
    }
}

typedef struct motion_task {
    arap_bake_state *state;
    arap_motion *motion;
} motion_task;

static void improve_frame(void *data, int frame, int worker) {
    (void)worker;
    const motion_task *task = data;
    arap_bake_state *state = task->state;
    const arap_motion *motion = task->motion;
    const arap_bake_weights *w = &state->weights;
    size_t m = (size_t)state->bones;
    const double *x = state->block.points + 3 * (size_t)state->n * (size_t)frame;
    double *transform = state->transform + 12 * m * (size_t)(state->block.first + frame);
    double *target = motion->target + 12 * m * (size_t)frame;
    memset(target, 0, 12 * m * sizeof *target);
    for (int i = 0; i < state->n; i++, x += 3) {
        const double *v = state->v + 4 * (size_t)i, *weight = arap_bake_values(w, i);
        const int *bone = arap_bake_bones(w, i);
        for (int k = 0; k < w->count[i]; k++) {
            double *to = target + 12 * (size_t)bone[k];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 4; c++) to[4 * r + c] += weight[k] * x[r] * v[c];
        }
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int b = 0; b < state->bones; b++) {
            const double *own = motion->pair + 16 * ((size_t)b * m + (size_t)b);
            double rest[12];
            if (!state->moves[b] || own[15] < NO_WEIGHT) continue;
            memcpy(rest, target + 12 * (size_t)b, sizeof rest);
            for (int k = motion->start[b]; k < motion->start[b + 1]; k++) {
                const double *t = transform + 12 * (size_t)motion->neighbor[k];
                const double *y = motion->pair + 16 * ((size_t)motion->neighbor[k] * m + (size_t)b);
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 4; c++)
                        for (int d = 0; d < 4; d++) rest[4 * r + c] -= t[4 * r + d] * y[4 * d + c];
            }
            if (state->settings->rigid)
                take_rigid(rest, own, transform + 12 * (size_t)b);
            else
                take_affine(rest, own, transform + 12 * (size_t)b);
        }
}

arap_status arap_improve_motion(arap_bake_state *state, arap_motion *motion) {
    motion_task task = {state, motion};
    return arap_parallel(state->context, state->block.count, improve_frame, &task);
}
