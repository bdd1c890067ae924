/* Responses of bones: see response.h.
 *
 * Let S_b be the own skin of bone b (own_skin.c), h the initial weights, and A the areas of the
 * vertices. When b and its children turn about the head of b, linear blending moves vertex i by a
 * share s_ib of the rigid movement. This share is the sum of w_ic over b and the bones below b.
 * With a the direction of the bone and x = v_i - head, the root mean square distance of the vertex
 * from the axes across the bone through its head is l_i = sqrt((|x|^2 + (x . a)^2) / 2). The
 * response is sum_S A_i l_i s_ib(w) / sum_S A_i l_i s_ib(h). If all distances l_i are 0, only the
 * areas count. A short bone between two others of a chain can have skin that follows its children
 * but not the bone itself. The second measure is therefore the share, sum A_i w_ib / sum A_i h_ib
 * over all vertices, or over the main mesh (mesh.h) if the bone has skin there. Each measure is 1
 * if the skin follows as it did at the start, and 0 for a bone that moves nothing. Both measures
 * are linear in the weights.
 *
 * Takes O(vertices x influences). Fails on out-of-memory, or when cancelled. */
#include "solver/response.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "weights/influences.h"

#define POLL_EVERY 64 /* vertices between two polls for cancellation */
#define NO_LEVER 1e-9 /* added to all levers, in units of the mesh; matters only without levers */

static double lever(const arap_solver *s, int i, int bone) {
    size_t b = 3 * (size_t)s->skeleton.deform_bone[bone];
    double along[3], x[3];
    arap_sub(s->skeleton.tails + b, s->skeleton.heads + b, along);
    arap_sub(s->mesh.v + 3 * (size_t)i, s->skeleton.heads + b, x);
    double length2 = arap_dot(along, along), part = arap_dot(x, along);
    double square = arap_dot(x, x) + (length2 > 0 ? part * part / length2 : 0);
    return sqrt(square / 2) + NO_LEVER;
}

/* How far vertex i follows the bone. */
static double goes_along(const arap_skeleton *skeleton, const arap_influences *in, int i,
                         int bone) {
    double sum = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (arap_is_below(skeleton, in->bone[e], bone)) sum += in->weight[e];
    return sum;
}

/* has_main: whether the own skin of a bone belongs to the main mesh. */
static void add_shares(const arap_solver *s, const arap_influences *in, const char *has_main, int i,
                       double *sum) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (s->mesh.main[i] || !has_main[in->bone[e]])
            sum[in->bone[e]] += s->mesh.area[i] * in->weight[e];
}

arap_status arap_responses(arap_context *context, const arap_solver *solver,
                           const arap_influences *own, const arap_influences *weights,
                           const char *ignored, double *response, double *share) {
    size_t bones = (size_t)solver->skeleton.deform_count;
    arap_arena arena = {0};
    double *whole = ARAP_TAKE_ZERO(&arena, bones, double);
    double *all = ARAP_TAKE_ZERO(&arena, bones, double);
    char *has_main = ARAP_TAKE_ZERO(&arena, bones, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the responses of bones");
    if (status) goto done;
    memset(response, 0, bones * sizeof *response);
    memset(share, 0, bones * sizeof *share);
    for (int i = 0; i < own->count; i++)
        for (size_t e = own->start[i]; e < own->start[i + 1]; e++)
            has_main[own->bone[e]] |= solver->mesh.main[i];
    for (int i = 0; i < weights->count && !status; i++) {
        if (i % POLL_EVERY == 0) status = arap_poll_cancel(context);
        if (ignored && ignored[i]) continue;
        add_shares(solver, weights, has_main, i, share);
        add_shares(solver, &solver->initial, has_main, i, all);
        for (size_t e = own->start[i]; e < own->start[i + 1]; e++) {
            int b = own->bone[e];
            double counts = solver->mesh.area[i] * lever(solver, i, b);
            whole[b] += counts * goes_along(&solver->skeleton, &solver->initial, i, b);
            response[b] += counts * goes_along(&solver->skeleton, weights, i, b);
        }
    }
    for (size_t b = 0; b < bones; b++) {
        response[b] = whole[b] > 0 ? response[b] / whole[b] : ARAP_NO_SKIN;
        share[b] = whole[b] > 0 ? share[b] / all[b] : ARAP_NO_SKIN;
    }

done:
    arap_arena_clear(&arena);
    return status;
}
