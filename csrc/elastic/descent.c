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
 * With fixed rotations, the energy is quadratic, with the same matrix for all poses and
 * coordinates:
 *     (K + C^T G C) x = b + C^T G y
 * K is sparse. It contains the terms of the elements with their anchors, and the pulls h_i on the
 * diagonal. Each row of C computes the mean of a limb, and G = diag(g_l). C^T G C is dense for
 * large limbs, so only K is factorized, and the formula of Sherman, Morrison and Woodbury gives x =
 * z + Y S^-1 (y - C z) with z = K^-1 b, the response Y = K^-1 C^T, and S = G^-1 + C Y.
 *
 * The factorization takes O(vertices^1.5), and each solve takes O(vertices log vertices + limbs
 * vertices). Y takes 8 bytes of memory per vertex and limb.
 *
 * Poses are independent of each other. However, all poses share one factorization, so they are
 * solved together, as many right-hand sides. With 13,000 vertices, a pose takes 5 ms per iteration.
 * Each vertex needs 220 bytes of memory per pose, and 24 more bytes for each iteration kept for the
 * acceleration. Fails on out-of-memory, for energies that are not finite, and if K is not positive
 * definite. */
#include "elastic/elastic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/anderson.h"
#include "linalg/blas.h"
#include "linalg/factor.h"
#include "mesh/two_rings.h"

#define QUIET 2
#define NOTHING 1e-16 /* squared strain */

typedef struct global_system {
    int size;    /* vertices of the mesh */
    int *vertex; /* (size) in elimination order */
    int *place;  /* (size) position of each vertex in that order */
    arap_factor *factor;
    double *response;   /* (limbs, size) K^-1 C^T */
    double *compliance; /* (limbs, limbs) Cholesky factor of 1/g + C K^-1 C^T */
    arap_arena arena;   /* of the arrays */
} global_system;

/* K, with rows in elimination order. */
static arap_status assemble(arap_context *context, const arap_body *body,
                            const arap_bone_hold *hold, const global_system *system,
                            arap_matrix *out) {
    const arap_mesh *mesh = &body->mesh;
    arap_arena arena = {0};
    double *own = ARAP_TAKE(&arena, mesh->count, double);
    double *edge = ARAP_TAKE_ZERO(&arena, mesh->ring[mesh->count], double);
    arap_status status = arap_arena_status(&arena, &context->error, "the elastic system");
    if (status) goto done;
    memcpy(own, hold->strength, (size_t)mesh->count * sizeof *own);
    arap_body_stiffness(body, hold->anchor_weight, own, edge);
    arap_two_rings k = {.ring = mesh->ring, .neighbor = mesh->neighbor, .edge = edge, .own = own};
    status = arap_two_rings_matrix(context, &k, system->size, system->vertex, system->place, out);

done:
    arap_arena_clear(&arena);
    return status;
}

/* Y and the factor of S. */
static arap_status respond(arap_context *context, const arap_bone_hold *hold,
                           global_system *system) {
    size_t n = (size_t)system->size, limbs = (size_t)hold->limbs;
    system->response = ARAP_TAKE_ZERO(&system->arena, limbs * n, double);
    system->compliance = ARAP_TAKE_ZERO(&system->arena, limbs * limbs, double);
    arap_status status = arap_arena_status(&system->arena, &context->error, "the elastic system");
    if (status) return status;
    for (size_t l = 0; l < limbs; l++)
        for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
            system->response[l * n + (size_t)system->place[hold->vertex[k]]] +=
                1 / (double)(hold->start[l + 1] - hold->start[l]);
    status = arap_factor_solve_all(context, system->factor, hold->limbs, system->response);
    if (status) return status;
    for (size_t l = 0; l < limbs; l++)
        for (size_t m = 0; m < limbs; m++) {
            double sum = 0, count = (double)(hold->start[l + 1] - hold->start[l]);
            for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
                sum += system->response[m * n + (size_t)system->place[hold->vertex[k]]];
            system->compliance[l * limbs + m] =
                sum / count + (l == m ? 1 / hold->limb_strength[l] : 0);
        }
    if (!arap_cholesky(hold->limbs, system->compliance))
        return arap_fail(&context->error, ARAP_NOT_FACTORED,
                         "the limbs cannot be held: their system is not positive definite");
    return ARAP_OK;
}

static void clear_system(global_system *system) {
    arap_factor_free(system->factor);
    arap_arena_clear(&system->arena);
    *system = (global_system){0};
}

/* Returns ARAP_NOT_FACTORED if the pulls are too weak to hold the body. */
static arap_status create_system(arap_context *context, const arap_body *body,
                                 const arap_bone_hold *hold, global_system *system) {
    arap_matrix matrix = {0};
    const arap_mesh *mesh = &body->mesh;
    *system = (global_system){.size = mesh->count};
    system->vertex = ARAP_TAKE(&system->arena, mesh->count, int);
    system->place = ARAP_TAKE(&system->arena, mesh->count, int);
    arap_status status = arap_arena_status(&system->arena, &context->error, "the elastic system");
    if (!status)
        status = arap_fill_reducing_order(context, mesh->count, mesh->ring, mesh->neighbor,
                                          system->vertex);
    if (status) goto done;
    for (int k = 0; k < system->size; k++) system->place[system->vertex[k]] = k;
    status = assemble(context, body, hold, system, &matrix);
    if (!status) status = arap_factor_create(context, &matrix, &system->factor);
    if (!status && hold->limbs) status = respond(context, hold, system);

done:
    arap_matrix_clear(&matrix);
    if (status) clear_system(system);
    return status;
}

/* Convert b (size, 3) of the vertices to three columns (3, size) in elimination order. */
static void gather(const global_system *system, const double *b, double *columns) {
    size_t n = (size_t)system->size;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < 3; c++) columns[c * n + k] = b[3 * (size_t)system->vertex[k] + c];
}

/* Convert columns (3, size), solved with the factor, to the points x (size, 3). The limbs' centers
 * are pulled toward aim (limbs, 3). scratch: (3, limbs) */
static void finish(const global_system *system, const arap_bone_hold *hold, const double *aim,
                   double *columns, double *x, double *scratch) {
    size_t n = (size_t)system->size, limbs = (size_t)hold->limbs;
    for (size_t l = 0; l < limbs; l++)
        for (size_t c = 0; c < 3; c++) {
            double sum = 0, count = (double)(hold->start[l + 1] - hold->start[l]);
            for (size_t k = hold->start[l]; k < hold->start[l + 1]; k++)
                sum += columns[c * n + (size_t)system->place[hold->vertex[k]]];
            scratch[c * limbs + l] = aim[3 * l + c] - sum / count;
        }
    if (limbs) {
        arap_cholesky_solve(hold->limbs, system->compliance, 3, scratch);
        arap_add_product(3, hold->limbs, system->size, scratch, system->response, columns);
    }
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < 3; c++) x[3 * (size_t)system->vertex[k] + c] = columns[c * n + k];
}

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
    const global_system *system;
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
    gather(d->system, d->pose[d->active[index]].b,
           d->columns + 3 * (size_t)d->hold->count * (size_t)index);
}

static void take_global_step(void *data, int index, int worker) {
    (void)worker;
    const descent *d = data;
    pose_state *p = d->pose + d->active[index];
    size_t numbers = 3 * (size_t)d->hold->count;
    finish(d->system, d->hold, p->aim, d->columns + numbers * (size_t)index, p->last, p->scratch);
    if (p->anderson) /* b is free by now */
        p->mixed = arap_anderson_mix(p->anderson, p->x, p->last, d->metric, p->b) > 0;
    memcpy(p->x, p->mixed ? p->b : p->last, numbers * sizeof *p->x);
}

static arap_status open_pose(arap_context *context, const descent *d,
                             const arap_elastic_settings *settings, const double *transforms,
                             double *x, arap_arena *arena, pose_state *p) {
    size_t numbers = 3 * (size_t)d->hold->count, limbs = (size_t)d->hold->limbs;
    *p = (pose_state){.x = x,
                      .last = ARAP_TAKE(arena, numbers, double),
                      .target = ARAP_TAKE(arena, numbers, double),
                      .anchor = ARAP_TAKE(arena, numbers, double),
                      .place = ARAP_TAKE(arena, 3 * limbs, double),
                      .aim = ARAP_TAKE(arena, 3 * limbs, double),
                      .slack = ARAP_TAKE(arena, limbs, double),
                      .b = ARAP_TAKE(arena, numbers, double),
                      .scratch = ARAP_TAKE(arena, 3 * limbs, double),
                      .energy = INFINITY};
    arap_status status = arap_arena_status(arena, &context->error, "the elastic poses");
    if (status) return status;
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
    arap_arena arena = {0};
    size_t numbers = 3 * (size_t)hold->count;
    global_system system = {0};
    int *active = ARAP_TAKE(&arena, poses, int);
    descent d = {.body = body,
                 .hold = hold,
                 .system = &system,
                 .tolerance = settings->tolerance,
                 .pose = ARAP_TAKE_ZERO(&arena, poses, pose_state),
                 .active = active,
                 .columns = ARAP_TAKE(&arena, numbers * (size_t)poses, double),
                 .metric = ARAP_TAKE(&arena, numbers, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the elastic poses");
    if (status) goto done;
    for (size_t k = 0; k < numbers; k++) d.metric[k] = body->size[k / 3];
    for (size_t i = 0; i < (size_t)hold->count; i++) d.nothing += NOTHING * body->size[i];
    status = create_system(context, body, hold, &system);
    for (int p = 0; p < poses && !status; p++) {
        active[p] = p;
        status = open_pose(context, &d, settings, transforms + 12 * (size_t)bones * (size_t)p,
                           x + numbers * (size_t)p, &arena, d.pose + p);
    }
    if (!status)
        status = iterate(context, &d, system.factor, poses, settings->iterations, active, energies);

done:
    for (int p = 0; p < poses && d.pose; p++) arap_anderson_free(d.pose[p].anderson);
    clear_system(&system);
    arap_arena_clear(&arena);
    return status;
}
