/* Conjugate gradients for a global step, with the factor for earlier poses: see iteration.h.
 *
 * When joints move, the poses change, and with them A = Z'(F + stiffness)Z. Multiplying a vector by
 * A requires no assembly: Z, F (by arap_stiffness_product) and Z' are applied in turn. The factor
 * of the earlier A is the preconditioner. Because the joints move little, A differs little from the
 * earlier matrix. A few steps, each with one product and two back-substitutions, therefore reduce
 * the error as far as is useful for the next local step. If nothing has changed, the first step is
 * exact. Fails on out-of-memory and for weights that are not finite. */
#include "solver/iteration.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "energy/stiffness.h"
#include "linalg/pcg.h"

#define STEPS 12
#define TOLERANCE 0.1 /* share of the preconditioned residual */

typedef struct product {
    const arap_solver *solver;
    arap_influences step; /* the solver's patterns with separate weights: Z p */
    double *image;        /* (entries) F Z p */
    double *pull;         /* (entries) contribution of the bone springs to any product */
    double first, left;   /* preconditioned residual, initial and current */
} product;

/* out = A p */
static arap_status multiply(arap_context *context, void *data, const double *p, double *out) {
    product *m = data;
    const arap_solver *s = m->solver;
    size_t entries = m->step.start[m->step.count];
    memset(m->step.weight, 0, entries * sizeof(double));
    arap_system_add_step(&s->patterns.system, p, m->step.weight);
    arap_status status =
        arap_stiffness_product(context, &s->mesh, &s->poses, &m->step, NULL, m->image, NULL, NULL);
    if (status) return status;
    for (size_t e = 0; e < entries; e++)
        m->image[e] += -m->pull[e] + s->patterns.penalties.stiffness[e] * m->step.weight[e];
    arap_system_reduce(&s->patterns.system, m->image, out);
    return ARAP_OK;
}

static arap_status solve_before(arap_context *context, void *data, double *z) {
    return arap_factor_solve(context, ((product *)data)->solver->patterns.factor, z);
}

static int enough(void *data, int step, double left, const double *z, double *x) {
    product *m = data;
    (void)z, (void)x;
    if (!step) m->first = left;
    m->left = left;
    return step == STEPS || !(left > TOLERANCE * TOLERANCE * m->first);
}

arap_status arap_pcg_step(arap_context *context, const arap_solver *solver, double *x) {
    int n = solver->patterns.system.unknowns;
    size_t entries = solver->influences.start[solver->influences.count];
    arap_arena arena = {0};
    double *work = ARAP_TAKE(&arena, 4 * (size_t)n, double);
    product m = {.solver = solver,
                 .step = solver->influences,
                 .image = ARAP_TAKE(&arena, entries, double),
                 .pull = ARAP_TAKE_ZERO(&arena, entries, double)};
    m.step.weight = ARAP_TAKE_ZERO(&arena, entries, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the global step");
    if (status) goto done;
    if (solver->mesh.spring_start)
        status = arap_stiffness_product(context, &solver->mesh, &solver->poses, &m.step, NULL,
                                        m.pull, NULL, NULL);
    if (status) goto done;
    arap_pcg pcg = {n, &m, multiply, solve_before, enough};
    status = arap_pcg_solve(context, &pcg, work, x);
    if (status) goto done;
    if (!isfinite(m.left))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the solved weights are not finite");

done:
    arap_arena_clear(&arena);
    return status;
}
