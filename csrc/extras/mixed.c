/* Mixed finite elements in several poses: see mixed.h.
 *
 * The energy J of the turns (mixed_state.c) is minimized by L-BFGS with HISTORY pairs and
 * backtracking. A step is accepted if J falls by ARMIJO times the decrease that the slope predicts.
 * Otherwise, it is halved, up to MAX_HALVINGS times. `iterations` counts evaluations. The reported
 * energies are those of the last accepted turns, so they never rise. A pose is finished when the
 * relative decrease in J has been below `tolerance` twice in a row, or when no step lowers J.
 *
 * Each evaluation requires a factorization, which takes 0.1 s for 2,000 vertices. Poses are
 * processed in parallel, with a matrix and a factor for each thread. Fails if an evaluation fails
 * (mixed_state.c). */
#include "extras/mixed.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define HISTORY 8
#define ARMIJO 1e-4
#define MAX_HALVINGS 12
#define FIRST_STEP 0.2 /* radians by which the largest turn changes in the first step */
#define QUIET 2

typedef struct mixed_run {
    arap_mixed_pose pose;
    arap_status status;
    arap_error error;
    double energy;
    double *turns, *slope, *direction; /* (3 samples) of the last accepted step */
    double *trial, *trial_slope;       /* (3 samples) */
    double *moved, *changed;           /* (HISTORY, 3 samples) */
    double product[HISTORY];           /* of each pair */
    double *x, *trial_x;               /* (count, 3) */
    double step;
    int pairs, next, halvings, quiet, started, done;
    arap_arena arena;
} mixed_run;

typedef struct mixed_task {
    const arap_mixed *mixed;
    double tolerance;
    arap_mixed_work *work; /* (threads) */
    mixed_run *run;
} mixed_task;

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Compute direction = -H slope from the pairs with the two loops of L-BFGS. If it is not a descent
 * direction, use the slope itself. */
static void find_direction(size_t n, mixed_run *r) {
    double share[HISTORY];
    for (size_t k = 0; k < n; k++) r->direction[k] = -r->slope[k];
    for (int a = 0; a < r->pairs; a++) {
        int p = (r->next - 1 - a + HISTORY) % HISTORY;
        share[p] = dot(n, r->moved + n * (size_t)p, r->direction) / r->product[p];
        for (size_t k = 0; k < n; k++) r->direction[k] -= share[p] * r->changed[n * (size_t)p + k];
    }
    if (r->pairs) {
        size_t last = n * (size_t)((r->next - 1 + HISTORY) % HISTORY);
        double scale = dot(n, r->moved + last, r->changed + last) /
                       dot(n, r->changed + last, r->changed + last);
        for (size_t k = 0; k < n; k++) r->direction[k] *= scale;
    }
    for (int a = r->pairs - 1; a >= 0; a--) {
        int p = (r->next - 1 - a + HISTORY) % HISTORY;
        double other = dot(n, r->changed + n * (size_t)p, r->direction) / r->product[p];
        for (size_t k = 0; k < n; k++)
            r->direction[k] += (share[p] - other) * r->moved[n * (size_t)p + k];
    }
    r->step = 1;
    if (r->pairs && dot(n, r->direction, r->slope) < 0) return;
    double max = 0;
    r->pairs = 0;
    for (size_t k = 0; k < n; k++) max = fmax(max, fabs(r->slope[k]));
    for (size_t k = 0; k < n; k++) r->direction[k] = -r->slope[k];
    r->step = max > 0 ? FIRST_STEP / max : 0;
}

static void next_trial(size_t n, mixed_run *r) {
    for (size_t k = 0; k < n; k++) r->trial[k] = r->turns[k] + r->step * r->direction[k];
}

/* Accept the trial: it becomes the turns and adds a pair. */
static void accept(size_t n, size_t numbers, double energy, double tolerance, mixed_run *r) {
    double *moved = r->moved + n * (size_t)r->next, *changed = r->changed + n * (size_t)r->next;
    if (r->started) {
        for (size_t k = 0; k < n; k++) {
            moved[k] = r->trial[k] - r->turns[k];
            changed[k] = r->trial_slope[k] - r->slope[k];
        }
        r->product[r->next] = dot(n, moved, changed);
        if (r->product[r->next] > 1e-12 * dot(n, changed, changed)) {
            r->next = (r->next + 1) % HISTORY;
            if (r->pairs < HISTORY) r->pairs++;
        } else if (r->pairs == HISTORY) {
            r->pairs--; /* the oldest was in its place */
        }
        r->quiet = r->energy - energy <= tolerance * r->energy ? r->quiet + 1 : 0;
        r->done = r->quiet >= QUIET;
    }
    memcpy(r->turns, r->trial, n * sizeof *r->turns);
    memcpy(r->slope, r->trial_slope, n * sizeof *r->slope);
    memcpy(r->x, r->trial_x, numbers * sizeof *r->x);
    r->energy = energy;
    r->started = 1;
    r->halvings = 0;
    find_direction(n, r);
    next_trial(n, r);
    if (!(dot(n, r->slope, r->slope) > 0)) r->done = 1;
}

static void evaluate(void *data, int pose, int worker) {
    const mixed_task *task = data;
    mixed_run *r = task->run + pose;
    size_t n = 3 * (size_t)task->mixed->samples.count;
    size_t numbers = 3 * (size_t)task->mixed->hold->count;
    arap_context own = {.threads = 1};
    double energy;
    if (r->done || r->status) return;
    r->status = arap_mixed_evaluate(&own, task->mixed, &r->pose, r->trial, task->work + worker,
                                    &energy, r->trial_slope, r->trial_x, NULL);
    r->error = own.error;
    if (!r->status && !r->started && !isfinite(energy))
        r->status = arap_fail(&r->error, ARAP_NOT_FINITE,
                              "the mixed energy of pose %d is not finite", pose);
    if (r->status) return;
    double promised = r->step * dot(n, r->slope, r->direction);
    if (!r->started || energy <= r->energy + ARMIJO * promised) {
        accept(n, numbers, energy, task->tolerance, r);
        return;
    }
    r->step /= 2;
    r->done = ++r->halvings > MAX_HALVINGS;
    next_trial(n, r);
}

static arap_status open_run(arap_context *context, const arap_mixed *mixed,
                            const double *transforms, double *x, mixed_run *r) {
    size_t n = 3 * (size_t)mixed->samples.count, numbers = 3 * (size_t)mixed->hold->count;
    *r = (mixed_run){.x = x};
    r->turns = ARAP_TAKE_ZERO(&r->arena, n, double);
    r->slope = ARAP_TAKE_ZERO(&r->arena, n, double);
    r->direction = ARAP_TAKE_ZERO(&r->arena, n, double);
    r->trial = ARAP_TAKE(&r->arena, n, double);
    r->trial_slope = ARAP_TAKE(&r->arena, n, double);
    r->moved = ARAP_TAKE(&r->arena, HISTORY * n, double);
    r->changed = ARAP_TAKE(&r->arena, HISTORY * n, double);
    r->trial_x = ARAP_TAKE(&r->arena, numbers, double);
    arap_status status = arap_arena_status(&r->arena, &context->error, "the mixed poses");
    if (status) return status;
    return arap_mixed_pose_create(context, mixed, transforms, &r->pose, r->trial);
}

static arap_status iterate(arap_context *context, const mixed_task *task, int poses, int iterations,
                           double *energies) {
    arap_status status = ARAP_OK;
    for (int k = 0; k <= iterations && !status; k++) {
        int left = 0;
        status = arap_parallel_slices(context, "mixed elements", poses, context->threads, evaluate,
                                      (void *)task);
        for (int p = 0; p < poses && !status; p++) {
            status = task->run[p].status;
            if (status) context->error = task->run[p].error;
            left += !task->run[p].done;
            if (energies) energies[(size_t)k * (size_t)poses + (size_t)p] = task->run[p].energy;
        }
        if (!left && !energies) break;
    }
    return status;
}

arap_status arap_mixed_poses(arap_context *context, const arap_body *body,
                             const arap_bone_hold *hold, int bones, int poses,
                             const double *transforms, const arap_elastic_settings *settings,
                             double *x, double *energies) {
    arap_mixed mixed;
    size_t numbers = 3 * (size_t)hold->count;
    int workers = context->threads < poses ? context->threads : poses;
    mixed_task task = {.mixed = &mixed,
                       .tolerance = settings->tolerance,
                       .work = ARAP_NEW_ZERO(arap_mixed_work, workers),
                       .run = ARAP_NEW_ZERO(mixed_run, poses)};
    arap_status status =
        arap_mixed_create(context, body, hold, settings->samples, settings->hold, &mixed);
    if (!status && (!task.work || !task.run))
        status = arap_fail_memory(&context->error, "the mixed poses");
    for (int k = 0; k < workers && !status; k++)
        status = arap_mixed_work_create(context, &mixed, task.work + k);
    for (int p = 0; p < poses && !status; p++)
        status = open_run(context, &mixed, transforms + 12 * (size_t)bones * (size_t)p,
                          x + numbers * (size_t)p, task.run + p);
    if (!status) status = iterate(context, &task, poses, settings->iterations, energies);
    for (int p = 0; p < poses && task.run; p++) {
        arap_mixed_pose_clear(&task.run[p].pose);
        arap_arena_clear(&task.run[p].arena);
    }
    for (int k = 0; k < workers && task.work; k++) arap_mixed_work_clear(task.work + k);
    arap_free(task.work);
    arap_free(task.run);
    arap_mixed_clear(&mixed);
    return status;
}
