/* Local and global steps: see elastic.h.
 *
 * The local step finds the best rotations at x, and with them the energy E(x). The global step
 * finds the minimum g(x) of the remaining quadratic function, which lies above E and touches it at
 * x. Therefore, E(g(x)) <= E(x). Anderson acceleration tries another point. If E is higher at this
 * point than before, g(x) is used instead, so the energy of a pose never rises. The method is that
 * of Peng et al., Anderson acceleration for geometry optimization and physics simulation, 2018. A
 * pose is finished when its relative decrease in energy has been below `tolerance` QUIET times in a
 * row, or when its energy has fallen to the level of rounding errors.
 *
 * Poses are independent of each other. However, all poses share one factorization, so they are
 * solved together, as many right-hand sides. With 13,000 vertices, a pose takes 5 ms per iteration.
 * Each vertex needs 220 bytes of memory per pose, and 24 more bytes for each iteration kept for the
 * acceleration. Fails on out-of-memory, and for energies that are not finite. */
#include "elastic/elastic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "elastic/system.h"
#include "linalg/anderson.h"

#define QUIET 2
#define NOTHING 1e-16 /* squared strain */

typedef struct pose_state {
    double *x;                   /* (count, 3) */
    double *last;                /* (count, 3) g of the previous step */
    double *target, *anchor;     /* (count, 3) */
    double *place, *aim, *slack; /* (limbs, 3), (limbs, 3), (limbs): hold.h */
    double *b;                   /* (count, 3) */
    double *scratch;             /* (3, limbs) */
    arap_anderson *anderson;
    double energy;
    int mixed; /* x is not a g */
    int quiet; /* steps that changed little */
    int done;
} pose_state;

typedef struct descent {
    const arap_body *body;
    const arap_bone_hold *hold;
    const arap_elastic_system *system;
    double tolerance, nothing; /* an energy this low counts as 0 */
    pose_state *pose;
    const int *active; /* poses that go on */
    double *columns;   /* (active, 3, count) */
    double *metric;    /* (count, 3) */
} descent;

static double local_step(const descent *d, pose_state *p) {
    size_t numbers = 3 * (size_t)d->hold->count;
    memset(p->b, 0, numbers * sizeof *p->b);
    const arap_anchors anchors = {d->hold->anchor_weight, d->hold->anchor, p->anchor};
    double energy = arap_body_local_step(d->body, &anchors, p->x, p->b);
    const arap_held held = {p->target, p->place, p->slack, p->aim};
    return energy + arap_bone_hold_energy(d->hold, &held, p->x, p->b);
}

static void take_local_step(void *data, int index, int worker) {
    (void)worker;
    const descent *d = data;
    pose_state *p = d->pose + d->active[index];
    double before = p->energy, energy = local_step(d, p);
    if (p->mixed && !(energy <= before)) {
        memcpy(p->x, p->last, 3 * (size_t)d->hold->count * sizeof *p->x);
        arap_anderson_restart(p->anderson);
        energy = local_step(d, p);
    }
    int falls = isinf(before) || before - energy > d->tolerance * before;
    p->quiet = falls ? 0 : p->quiet + 1;
    p->done = p->quiet >= QUIET || energy <= d->nothing;
    p->energy = energy;
}

static void gather_columns(void *data, int index, int worker) {
    (void)worker;
    const descent *d = data;
    arap_elastic_gather(d->system, d->pose[d->active[index]].b,
                        d->columns + 3 * (size_t)d->hold->count * (size_t)index);
}

static void take_global_step(void *data, int index, int worker) {
    (void)worker;
    const descent *d = data;
    pose_state *p = d->pose + d->active[index];
    size_t numbers = 3 * (size_t)d->hold->count;
    arap_elastic_finish(d->system, d->hold, p->aim, d->columns + numbers * (size_t)index, p->last,
                        p->scratch);
    if (p->anderson) /* b is free by now */
        p->mixed = arap_anderson_mix(p->anderson, p->x, p->last, d->metric, p->b) > 0;
    memcpy(p->x, p->mixed ? p->b : p->last, numbers * sizeof *p->x);
}

static arap_status open_pose(arap_context *context, const descent *d,
                             const arap_elastic_settings *settings, const double *transforms,
                             double *x, pose_state *p) {
    size_t numbers = 3 * (size_t)d->hold->count, limbs = (size_t)d->hold->limbs;
    *p = (pose_state){.x = x,
                      .last = ARAP_NEW(double, numbers),
                      .target = ARAP_NEW(double, numbers),
                      .anchor = ARAP_NEW(double, numbers),
                      .place = ARAP_NEW(double, 3 * limbs),
                      .aim = ARAP_NEW(double, 3 * limbs),
                      .slack = ARAP_NEW(double, limbs),
                      .b = ARAP_NEW(double, numbers),
                      .scratch = ARAP_NEW(double, 3 * limbs),
                      .energy = INFINITY};
    if (!p->last || !p->target || !p->anchor || !p->place || !p->aim || !p->slack || !p->b ||
        !p->scratch)
        return arap_fail_memory(&context->error, "the elastic poses");
    arap_bone_hold_targets(d->hold, &d->body->mesh, transforms, p->target, p->anchor, p->place);
    for (int l = 0; l < d->hold->limbs; l++) {
        double mean[3];
        arap_limb_mean(d->hold, l, x, mean);
        p->slack[l] = settings->slack * sqrt(arap_distance2(mean, p->place + 3 * (size_t)l));
    }
    return settings->acceleration
               ? arap_anderson_create(context, numbers, settings->acceleration, &p->anderson)
               : ARAP_OK;
}

static void close_pose(pose_state *p) {
    arap_free(p->last);
    arap_free(p->target);
    arap_free(p->anchor);
    arap_free(p->place);
    arap_free(p->aim);
    arap_free(p->slack);
    arap_free(p->b);
    arap_free(p->scratch);
    arap_anderson_free(p->anderson);
}

/* Remove finished poses from the list. Returns the number of remaining ones. */
static int keep_active(const descent *d, int count, int *active) {
    int kept = 0;
    for (int k = 0; k < count; k++)
        if (!d->pose[active[k]].done) active[kept++] = active[k];
    return kept;
}

static arap_status check_energies(arap_context *context, const descent *d, int poses) {
    for (int p = 0; p < poses; p++)
        if (!isfinite(d->pose[p].energy))
            return arap_fail(&context->error, ARAP_NOT_FINITE,
                             "the elastic energy of pose %d is not finite", p);
    return ARAP_OK;
}

static arap_status iterate(arap_context *context, descent *d, arap_factor *factor, int poses,
                           int iterations, int *active, double *energies) {
    int count = poses;
    arap_status status = ARAP_OK;
    for (int k = 0; k <= iterations && !status; k++) {
        status = arap_parallel(context, count, take_local_step, d);
        if (!status) status = check_energies(context, d, poses);
        for (int p = 0; p < poses && energies && !status; p++)
            energies[(size_t)k * (size_t)poses + (size_t)p] = d->pose[p].energy;
        count = keep_active(d, count, active);
        if (k == iterations || !count || status) continue;
        status = arap_parallel(context, count, gather_columns, d);
        if (!status) status = arap_factor_solve_all(context, factor, 3 * count, d->columns);
        if (!status) status = arap_parallel(context, count, take_global_step, d);
        if (!status)
            status = arap_progress(context, "elastic poses", (k + 1.0) / (iterations + 1.0));
    }
    return status;
}

arap_status arap_descend(arap_context *context, const arap_body *body, const arap_bone_hold *hold,
                         int bones, int poses, const double *transforms,
                         const arap_elastic_settings *settings, double *x, double *energies) {
    size_t numbers = 3 * (size_t)hold->count;
    arap_elastic_system system = {0};
    int *active = ARAP_NEW(int, poses);
    descent d = {.body = body,
                 .hold = hold,
                 .system = &system,
                 .tolerance = settings->tolerance,
                 .pose = ARAP_NEW_ZERO(pose_state, poses),
                 .active = active,
                 .columns = ARAP_NEW(double, numbers * (size_t)poses),
                 .metric = ARAP_NEW(double, numbers)};
    arap_status status = ARAP_OK;
    if (!active || !d.pose || !d.columns || !d.metric) {
        status = arap_fail_memory(&context->error, "the elastic poses");
        goto done;
    }
    for (size_t k = 0; k < numbers; k++) d.metric[k] = body->size[k / 3];
    for (size_t i = 0; i < (size_t)hold->count; i++) d.nothing += NOTHING * body->size[i];
    status = arap_elastic_system_create(context, body, hold, &system);
    for (int p = 0; p < poses && !status; p++) {
        active[p] = p;
        status = open_pose(context, &d, settings, transforms + 12 * (size_t)bones * (size_t)p,
                           x + numbers * (size_t)p, d.pose + p);
    }
    if (!status)
        status = iterate(context, &d, system.factor, poses, settings->iterations, active, energies);

done:
    for (int p = 0; p < poses && d.pose; p++) close_pose(d.pose + p);
    arap_elastic_system_clear(&system);
    arap_free(active);
    arap_free(d.pose);
    arap_free(d.columns);
    arap_free(d.metric);
    return status;
}
