/* Bake: see bake.h.
 *
 *     min sum_p sum_i |sum_b w_ib T_b^p v_i - x_i^p|^2   over w >= 0, sum_b w_ib = 1,
 * with at most K nonzero weights per vertex. If bones move, the sum is also minimized over the bone
 * transforms. The weights and the transforms are optimized alternately. One pass over the frames
 * finds the best transforms for the current weights (motion.c) and accumulates sums over all frames
 * (sums.c). The best weights follow from these sums (fit.c). Neither step raises the objective,
 * which is the error plus the energy of the pulls toward given weights and toward neighbors.
 * Transforms that must be rigid start from the rotations nearest to the given transforms. The error
 * alone rises at most by as much as the energy of the pulls falls. With a damping of d, the rise is
 * at most the square root of 2 d, in units of the mesh size. If all transforms are fixed, one pass
 * is sufficient.
 *
 * Takes 8 bytes of memory per vertex and bone, plus 16 frames and the transforms. Fails for invalid
 * input, on out-of-memory, when cancelled, or if a frame cannot be read. */
#include "bake/bake.h"

#include <math.h>
#include <string.h>

#include "bake/simplex.h"
#include "bake/state.h"
#include "base/memory.h"
#include "linalg/rotation.h"
#include "weights/influences.h"
#include "weights/sparse_weights.h"

#define TINY 1e-6  /* smaller weights are omitted from the result */
#define RIGID 1e-6 /* maximum change of a rotation by rounding */

static const arap_setting rows[] = {
#define ARAP_SETTINGS_OF arap_bake_settings
#define ARAP_SETTINGS_BAKE
#include "settings.def"
};
const arap_setting_table arap_bake_settings_table = {sizeof rows / sizeof *rows, rows};

static arap_status check(arap_error *error, const arap_bake_problem *p,
                         const arap_bake_settings *s) {
    int n = p->geometry.vertex_count, bones = p->bone_count + s->new_bones;
    arap_status status = arap_settings_check(error, &arap_bake_settings_table, s);
    if (status) return status;
    status = arap_check_geometry(error, &p->geometry);
    if (status) return status;
    if (!p->frames.count) return arap_fail(error, ARAP_BAD_VALUE, "there are no frames");
    if (!bones)
        return arap_fail(error, ARAP_BAD_VALUE,
                         "there are no bones: provide transforms or new_bones");
    if (bones == 1 && s->iterations && !s->move_bones && !s->new_bones)
        return arap_fail(
            error, ARAP_BAD_VALUE,
            "there is only one bone, which gets all the weight: baking needs 2 or more");
    if (s->new_bones > n)
        return arap_fail(error, ARAP_BAD_VALUE, "new_bones is %d: more than the %d vertices",
                         s->new_bones, n);
    if (!s->iterations && (!p->weights.start || s->new_bones))
        return arap_fail(error, ARAP_BAD_VALUE, "iterations is 0: this requires %s",
                         s->new_bones ? "no new_bones" : "weights");
    if ((p->locked_vertices || p->locked_bones) && !p->weights.start)
        return arap_fail(error, ARAP_BAD_VALUE, "%s needs weights",
                         p->locked_vertices ? "locked_vertices" : "locked_bones");
    size_t each = 12 * (size_t)p->bone_count;
    for (size_t k = 0; k < each * (size_t)p->frames.count; k++)
        if (!isfinite(p->transforms[k]))
            return arap_fail(error, ARAP_BAD_VALUE, "transforms[%zu, %zu] contains %g: not finite",
                             k / each, k % each / 12, p->transforms[k]);
    return p->weights.start ? arap_check_sparse_weights(error, &p->weights, n, p->bone_count)
                            : ARAP_OK;
}

/* Check that every vertex to be weighted has a bone that may move it. */
static arap_status check_candidates(arap_error *error, const arap_bake_state *state) {
    for (int i = 0; i < state->n && state->bones == state->given; i++)
        if (arap_bake_lacks_bone(state, i))
            return arap_fail(error, ARAP_BAD_VALUE, "vertex %d has no bone that may move it", i);
    return ARAP_OK;
}

static arap_bake_weights make_weights(arap_bake_state *state, int room) {
    size_t places = (size_t)state->n * (size_t)room;
    return (arap_bake_weights){room, ARAP_TAKE_ZERO(&state->arena, state->n, int),
                               ARAP_TAKE(&state->arena, places, int),
                               ARAP_TAKE(&state->arena, places, double)};
}

static int is_locked(const arap_bake_state *state, int vertex, int bone) {
    return arap_bake_locks_vertex(state, vertex) || arap_bake_locks_bone(state, bone);
}

/* Convert a given row: in ascending order, without zeros; empty if it has no weights. Open weights
 * are scaled to sum to what the weights of locked bones leave. Locked weights with a larger sum
 * than 1 are scaled to 1 here, because the frames are approximated by rows with sum 1, and give()
 * returns the given ones. */
static void take_row(const arap_bake_state *state, int i, arap_bake_weights *out) {
    const arap_sparse_weights *given = &state->problem->weights;
    int row_is_locked = arap_bake_locks_vertex(state, i);
    double open = 0, locked = 0;
    for (long long e = given->start[i]; e < given->start[i + 1]; e++) {
        int stays = !row_is_locked && arap_bake_locks_bone(state, given->bone[e]);
        *(stays ? &locked : &open) += given->weight[e];
    }
    for (long long e = given->start[i]; e < given->start[i + 1]; e++) {
        int stays = !row_is_locked && arap_bake_locks_bone(state, given->bone[e]);
        double weight = given->weight[e];
        if (!(weight > 0) || (!stays && locked >= 1)) continue;
        weight = stays ? weight / fmax(locked, 1) : weight / open * (1 - locked);
        arap_bake_add(out, i, given->bone[e], weight);
    }
}

static arap_status take_weights(arap_bake_state *state) {
    const arap_sparse_weights *given = &state->problem->weights;
    int limit = state->settings->max_influences, longest = 0;
    if (!limit || limit > ARAP_SIMPLEX_MAX) limit = ARAP_SIMPLEX_MAX;
    for (int i = 0; given->start && i < state->n; i++) {
        int length = (int)(given->start[i + 1] - given->start[i]);
        if (length > longest) longest = length;
    }
    /* A vertex whose locked weights use up the limit gets one more influence. */
    int room = (longest > limit ? longest : limit) + (state->problem->locked_bones ? 1 : 0);
    if (room > state->bones) room = state->bones;
    state->weights = make_weights(state, room);
    state->next = make_weights(state, room);
    if (given->start) state->start = make_weights(state, room);
    arap_status status = arap_arena_status(&state->arena, &state->context->error, "the weights");
    for (int i = 0; i < state->n && given->start && !status; i++) {
        take_row(state, i, &state->start);
        take_row(state, i, &state->weights);
    }
    return status;
}

static arap_status take_mesh(arap_bake_state *state) {
    const double *v = state->problem->geometry.vertices;
    double low[3], high[3], diagonal2 = 0;
    memcpy(low, v, sizeof low);
    memcpy(high, v, sizeof high);
    for (size_t k = 0; k < 3 * (size_t)state->n; k++) {
        low[k % 3] = fmin(low[k % 3], v[k]);
        high[k % 3] = fmax(high[k % 3], v[k]);
    }
    for (int c = 0; c < 3; c++) {
        state->center[c] = 0.5 * (low[c] + high[c]);
        diagonal2 += (high[c] - low[c]) * (high[c] - low[c]);
    }
    state->size = diagonal2 > 0 ? sqrt(diagonal2) : 1;
    return isfinite(diagonal2) ? ARAP_OK
                               : arap_fail(&state->context->error, ARAP_BAD_VALUE,
                                           "the bounding box of the mesh is too large");
}

static void place_mesh(arap_bake_state *state) {
    for (size_t i = 0; i < (size_t)state->n; i++) {
        for (size_t c = 0; c < 3; c++)
            state->v[4 * i + c] =
                (state->problem->geometry.vertices[3 * i + c] - state->center[c]) / state->size;
        state->v[4 * i + 3] = 1;
    }
}

/* Replace the linear part of the transform by the nearest rotation, unless it already is one. */
static void make_rigid(double *transform) {
    double own[9], rotation[9], off = 0;
    for (int k = 0; k < 9; k++) own[k] = transform[4 * (k / 3) + k % 3];
    arap_nearest_rotation(own, rotation);
    for (int k = 0; k < 9; k++) off = fmax(off, fabs(own[k] - rotation[k]));
    for (int k = 0; k < 9 && off > RIGID; k++) transform[4 * (k / 3) + k % 3] = rotation[k];
}

static arap_status check_size(const arap_bake_state *state, int pose, int bone,
                              const double *placed) {
    const double *given =
        state->problem->transforms + 12 * ((size_t)pose * (size_t)state->given + (size_t)bone);
    for (int k = 0; k < 12; k++)
        if (!(fabs(placed[k]) < ARAP_FARTHEST))
            return arap_fail(&state->context->error, ARAP_BAD_VALUE,
                             "transforms[%d, %d] contains %g: too large for a mesh of size %g",
                             pose, bone, given[k], state->size);
    return ARAP_OK;
}

/* Copy the caller's transforms relative to the centers, and make them rigid if required. New bones
 * are at rest. Frames are read to find their centers. */
static arap_status place_transforms(arap_bake_state *state, double (*centers)[3]) {
    for (int first = 0; first < state->frames; first += ARAP_FRAME_BLOCK) {
        arap_status status = arap_bake_progress(state, "frames", 0);
        if (!status)
            status =
                arap_read_frames(state->context, &state->problem->frames, first, &state->block);
        if (!status) status = arap_seams_split(state);
        if (status) return status;
        memcpy(centers + first, state->block.center, (size_t)state->block.count * sizeof *centers);
    }
    arap_status status = ARAP_OK;
    for (int p = 0; p < state->frames; p++)
        for (int b = 0; b < state->bones && !status; b++) {
            double *to = state->transform + 12 * ((size_t)p * (size_t)state->bones + (size_t)b);
            const double *from =
                state->problem->transforms + 12 * ((size_t)p * (size_t)state->given + (size_t)b);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 4; c++) to[4 * r + c] = r == c;
            if (b >= state->given) continue;
            for (int r = 0; r < 3; r++) {
                double shift = from[4 * r + 3] - centers[p][r];
                for (int c = 0; c < 3; c++) {
                    to[4 * r + c] = from[4 * r + c];
                    shift += from[4 * r + c] * state->center[c];
                }
                to[4 * r + 3] = shift / state->size;
            }
            status = check_size(state, p, b, to);
            if (!status && state->moves[b] && state->settings->rigid) make_rigid(to);
        }
    return status;
}

static arap_status create_state(arap_bake_state *state) {
    arap_context *context = state->context;
    size_t n = (size_t)state->n, m = (size_t)state->bones;
    arap_status status = take_mesh(state);
    if (status) return status;
    state->v = ARAP_TAKE(&state->arena, 4 * n, double);
    state->transform = ARAP_TAKE(&state->arena, 12 * m * (size_t)state->frames, double);
    state->moves = ARAP_TAKE(&state->arena, m, char);
    state->gram = ARAP_TAKE_ZERO(&state->arena, 16 * m * m, double);
    state->moment = ARAP_TAKE(&state->arena, n * m, double);
    state->square = ARAP_TAKE(&state->arena, n, double);
    state->same = ARAP_TAKE(&state->arena, n, int);
    state->block = arap_frame_block_make(&state->arena, state->n, 1 / state->size);
    status = arap_arena_status(&state->arena, &context->error, "the sums over frames");
    if (status) return status;
    for (int b = 0; b < state->bones; b++) {
        state->moves[b] = b >= state->given || state->settings->move_bones;
        state->has_moving |= state->moves[b];
    }
    place_mesh(state);
    status = take_weights(state);
    if (!status) status = check_candidates(&context->error, state);
    for (int i = 0; i < state->n; i++) state->same[i] = i;
    if (!status && state->settings->iterations) status = arap_seams_find(state);
    return status;
}

static arap_status alternate(arap_bake_state *state, arap_baked *out) {
    const arap_bake_settings *s = state->settings;
    double last = INFINITY;
    int placed = state->bones > state->given;
    arap_status status = placed ? arap_place_bones(state) : ARAP_OK;
    for (int k = 0; k < s->iterations && !status; k++) {
        double objective, *before = k && state->has_moving ? &out->history[k - 1] : NULL;
        int improve = state->has_moving && (k > 0 || placed || state->start.room);
        if (!k || state->has_moving) status = arap_sum_frames(state, improve, before);
        if (!status) status = arap_fit_weights(state, k == 0, &out->history[k], &objective);
        state->done++;
        if (status) break;
        out->iterations++;
        if ((!state->has_moving && !(s->smoothness > 0)) || sqrt(objective) == 0 ||
            sqrt(last) - sqrt(objective) < s->tolerance * sqrt(last))
            break;
        last = objective;
    }
    return status;
}

/* Omit tiny weights. */
static void tidy(arap_bake_state *state) {
    arap_bake_weights *w = &state->weights;
    for (int i = 0; i < state->n; i++) {
        int *bone = w->bone + (size_t)i * (size_t)w->room, fill = 0;
        double *weight = arap_bake_values(w, i), kept = 0, share = arap_bake_share(state, i);
        for (int k = 0; k < w->count[i]; k++) {
            int stays = is_locked(state, i, bone[k]);
            if (!stays && weight[k] < TINY) continue;
            if (!stays) kept += weight[k];
            bone[fill] = bone[k];
            weight[fill++] = weight[k];
        }
        w->count[i] = fill;
        for (int k = 0; k < fill; k++)
            if (!is_locked(state, i, bone[k])) weight[k] *= share / kept;
    }
}

static double given_weight(const arap_sparse_weights *given, int vertex, int bone) {
    long long e = given->start[vertex];
    while (given->bone[e] != bone) e++;
    return given->weight[e];
}

static arap_status give(arap_bake_state *state, double (*centers)[3], arap_baked *out) {
    const arap_bake_weights *w = &state->weights;
    arap_status status = arap_influences_create(state->context, state->n, w->count, &out->weights);
    if (status) return status;
    for (int b = 0; b < state->bones; b++)
        for (int c = 0; c < 3; c++) out->centers[3 * b + c] = 0;
    double *sum = ARAP_NEW_ZERO(double, state->bones);
    if (!sum) return arap_fail_memory(&state->context->error, "the bones");
    for (int i = 0; i < state->n; i++)
        for (int k = 0; k < w->count[i]; k++) {
            int b = arap_bake_bones(w, i)[k];
            double weight = is_locked(state, i, b) ? given_weight(&state->problem->weights, i, b)
                                                   : arap_bake_values(w, i)[k];
            out->weights.bone[out->weights.start[i] + (size_t)k] = b;
            out->weights.weight[out->weights.start[i] + (size_t)k] = weight;
            sum[b] += weight * weight;
            for (int c = 0; c < 3; c++)
                out->centers[3 * b + c] +=
                    weight * weight * state->problem->geometry.vertices[3 * (size_t)i + c];
        }
    for (int b = 0; b < state->bones; b++)
        for (int c = 0; c < 3; c++)
            out->centers[3 * b + c] =
                sum[b] > 0 ? out->centers[3 * b + c] / sum[b] : state->center[c];
    arap_free(sum);
    for (int p = 0; p < state->frames; p++)
        for (int b = 0; b < state->bones; b++) {
            size_t at = 12 * ((size_t)p * (size_t)state->bones + (size_t)b);
            const double *from = state->transform + at;
            double *to = out->transforms + at;
            for (int r = 0; r < 3; r++) {
                double shift = from[4 * r + 3] * state->size + centers[p][r];
                for (int c = 0; c < 3; c++) {
                    to[4 * r + c] = from[4 * r + c];
                    shift -= from[4 * r + c] * state->center[c];
                }
                to[4 * r + 3] = shift;
            }
            if (!state->moves[b]) /* not one rounding away */
                memcpy(to,
                       state->problem->transforms +
                           12 * ((size_t)p * (size_t)state->given + (size_t)b),
                       12 * sizeof *to);
        }
    return ARAP_OK;
}

arap_status arap_bake(arap_context *context, const arap_bake_problem *problem,
                      const arap_bake_settings *settings, arap_baked *out) {
    *out = (arap_baked){0};
    arap_status status = check(&context->error, problem, settings);
    if (status) return status;
    arap_bake_state state = {.problem = problem,
                             .settings = settings,
                             .n = problem->geometry.vertex_count,
                             .bones = problem->bone_count + settings->new_bones,
                             .given = problem->bone_count,
                             .frames = problem->frames.count,
                             .context = context};
    size_t bones = (size_t)state.bones, frames = (size_t)state.frames;
    double (*centers)[3] = arap_take(&state.arena, frames, sizeof *centers);
    int passes = state.given == state.bones && !settings->move_bones ? 1 : settings->iterations;
    status = create_state(&state);
    *out = (arap_baked){
        .vertices = state.n, .bones = state.bones, .frames = state.frames, .size = state.size};
    out->transforms = ARAP_TAKE(&out->arena, 12 * bones * frames, double);
    out->centers = ARAP_TAKE(&out->arena, 3 * bones, double);
    out->vertex_error = ARAP_TAKE(&out->arena, state.n, double);
    out->history = ARAP_TAKE(&out->arena, settings->iterations, double);
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the result");
    state.planned = 2 + passes + arap_cluster_passes(&state);
    if (!status) status = place_transforms(&state, centers);
    if (!status && settings->smoothness > 0) status = arap_bake_rings(&state);
    state.done++;
    if (!status && settings->iterations) status = alternate(&state, out);
    if (!status && settings->iterations) tidy(&state);
    state.done = state.planned - 1;
    if (!status) status = arap_measure_frames(&state, out);
    if (!status && out->iterations) out->history[out->iterations - 1] = out->rms;
    if (!status) status = give(&state, centers, out);
    arap_arena_clear(&state.arena);
    if (status) arap_baked_clear(out);
    return status;
}

void arap_baked_clear(arap_baked *baked) {
    arap_influences_clear(&baked->weights);
    arap_arena_clear(&baked->arena);
    *baked = (arap_baked){0};
}
