/* Conjugate gradients for a global step with a factor of earlier poses: see pcg_step.h.
 *
 * The poses follow moved joints, and with them A = Z'(F + stiffness)Z. Its product with a vector
 * needs no assembly: Z, then F by arap_stiffness_product, then Z'. The factor of the earlier A is
 * the preconditioner: as the joints move little, A differs little from it, and a few steps, each
 * a product and two back-substitutions, reduce the error as far as the next local step makes it
 * worth. Where nothing has changed, the first step is exact. Fails on out-of-memory and for
 * weights that are not finite. */
#include "solver/pcg_step.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "energy/stiffness.h"

#define STEPS 12
#define TOLERANCE 0.1 /* of the preconditioned residual */

typedef struct product {
    const arap_solver *solver;
    arap_influences step; /* the solver's maps with weights of its own: Z p */
    double *image;        /* (entries) F Z p */
    double *pull;         /* (entries) what the truss adds to any product */
} product;

/* out = A p */
static arap_status multiply(arap_context *context, product *m, const double *p, double *out) {
    const arap_solver *s = m->solver;
    size_t entries = m->step.start[m->step.count];
    memset(m->step.weight, 0, entries * sizeof(double));
    arap_system_add_step(&s->maps.system, p, m->step.weight);
    arap_status status =
        arap_stiffness_product(context, &s->mesh, &s->poses, &m->step, NULL, m->image, NULL, NULL);
    if (status) return status;
    for (size_t e = 0; e < entries; e++)
        m->image[e] += -m->pull[e] + s->maps.penalties.stiffness[e] * m->step.weight[e];
    arap_system_reduce(&s->maps.system, m->image, out);
    return ARAP_OK;
}

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

arap_status arap_pcg_step(arap_context *context, const arap_solver *s, double *x) {
    int n = s->maps.system.unknowns;
    size_t entries = s->influences.start[s->influences.count];
    double *work = ARAP_NEW(double, 4 * (size_t)n);
    product m = {.solver = s, .step = s->influences, .image = ARAP_NEW(double, entries)};
    arap_status status = ARAP_OK;
    m.step.weight = ARAP_NEW_ZERO(double, entries);
    m.pull = ARAP_NEW_ZERO(double, entries);
    if (!work || !m.step.weight || !m.image || !m.pull) {
        status = arap_fail_memory(&context->error, "the global step");
        goto done;
    }
    if (s->mesh.spoke_start)
        status =
            arap_stiffness_product(context, &s->mesh, &s->poses, &m.step, NULL, m.pull, NULL, NULL);
    if (status) goto done;
    double *r = work, *z = r + n, *p = z + n, *q = p + n;
    memcpy(r, x, (size_t)n * sizeof(double));
    memcpy(z, r, (size_t)n * sizeof(double));
    memset(x, 0, (size_t)n * sizeof(double));
    status = arap_factor_solve(context, s->maps.factor, z);
    if (status) goto done;
    memcpy(p, z, (size_t)n * sizeof(double));
    double rz = dot(n, r, z), first = rz;
    for (int step = 0; step < STEPS && rz > TOLERANCE * TOLERANCE * first; step++) {
        status = multiply(context, &m, p, q);
        if (status) goto done;
        double curvature = dot(n, p, q);
        if (!(curvature > 0)) break;
        double length = rz / curvature;
        for (int i = 0; i < n; i++) {
            x[i] += length * p[i];
            r[i] -= length * q[i];
        }
        memcpy(z, r, (size_t)n * sizeof(double));
        status = arap_factor_solve(context, s->maps.factor, z);
        if (status) goto done;
        double next = dot(n, r, z), share = next / rz;
        for (int i = 0; i < n; i++) p[i] = z[i] + share * p[i];
        rz = next;
    }
    if (!isfinite(rz))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the solved weights are not finite");

done:
    arap_free(work);
    arap_free(m.step.weight);
    arap_free(m.image);
    arap_free(m.pull);
    return status;
}
