/* Responses of bones: see responses.h.
 *
 * Own skin of bone b is what is nearest to it and sees it, by the initial weights h, which bone
 * heat diffuses from there: S_b = { i : h_ib > 1/2 }, or, for a bone that has so much of no vertex,
 * { i : h_ib > STRONG max h_b }. A bone whose weights are below LEAST has no own skin.
 *
 * When b turns about its head and takes its children along, linear blending moves vertex i by the
 * share s_ib = sum of w_ic over b and the bones below it of the way that it would go rigidly. With
 * the root mean square distance l_i of the vertex from the axes across the bone through its head,
 *     response = sum_S A_i l_i s_ib(w) / sum_S A_i l_i s_ib(h),  l_i^2 = (|x|^2 + (x . a)^2) / 2,
 * A: areas, x = v_i - head, a: the direction of the bone. If all levers are 0, areas alone count.
 * A short bone between two others of a chain can have skin that follows its children, and none
 * itself; so there is
 *     share = sum A_i w_ib / sum A_i h_ib
 * over all vertices. Skin that follows as it did at the start has 1, a bone that moves nothing 0.
 * Both are linear in the weights.
 *
 * O(vertices x influences x depth of the skeleton). Fails only without memory. */
#include "solver/responses.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "weights/rows.h"

#define STRONG 0.5
#define LEAST 0.05
#define NO_LEVER 1e-9 /* in units of the mesh: levers that count, if no other does */

arap_status arap_own_skin(arap_context *context, const arap_solver *s, arap_influences *out) {
    const arap_influences *in = &s->initial;
    double *above = ARAP_NEW_ZERO(double, s->skeleton.deform_count);
    if (!above) return arap_fail_memory(&context->error, "the skin of bones");
    for (size_t e = 0; e < in->start[in->count]; e++)
        above[in->bone[e]] = fmax(above[in->bone[e]], in->weight[e]);
    for (int b = 0; b < s->skeleton.deform_count; b++)
        above[b] = above[b] > ARAP_MOST_OF_VERTEX ? ARAP_MOST_OF_VERTEX
                   : above[b] > LEAST             ? STRONG * above[b]
                                                  : INFINITY;
    arap_rows rows;
    arap_status status = arap_rows_create(context, in->count, &rows);
    for (int i = 0; i < in->count && !status; i++) {
        status = arap_rows_next(context, &rows, in->start[i + 1] - in->start[i]);
        for (size_t e = in->start[i]; e < in->start[i + 1] && !status; e++)
            if (in->weight[e] > above[in->bone[e]])
                arap_rows_add(&rows, in->bone[e], in->weight[e], 0);
    }
    arap_free(above);
    return arap_rows_end(status, &rows, out);
}

/* Does bone c hang on bone b, or is it the same? */
static int hangs_on(const arap_skeleton *skeleton, int c, int b) {
    while (c >= 0 && c != b) c = skeleton->deform_parent[c];
    return c == b;
}

static double lever(const arap_solver *s, int i, int bone) {
    size_t b = 3 * (size_t)s->skeleton.deform_bone[bone];
    double along[3], x[3];
    arap_sub(s->skeleton.tails + b, s->skeleton.heads + b, along);
    arap_sub(s->mesh.v + 3 * (size_t)i, s->skeleton.heads + b, x);
    double length2 = arap_dot(along, along), part = arap_dot(x, along);
    double square = arap_dot(x, x) + (length2 > 0 ? part * part / length2 : 0);
    return sqrt(square / 2) + NO_LEVER;
}

/* How far vertex i goes along with the bone. */
static double goes_along(const arap_skeleton *skeleton, const arap_influences *in, int i,
                         int bone) {
    double sum = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (hangs_on(skeleton, in->bone[e], bone)) sum += in->weight[e];
    return sum;
}

static void add_shares(const arap_solver *s, const arap_influences *in, int i, double *sum) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        sum[in->bone[e]] += s->mesh.area[i] * in->weight[e];
}

arap_status arap_responses(arap_context *context, const arap_solver *s, const arap_influences *own,
                           const arap_influences *weights, const char *ignored, double *response,
                           double *share) {
    size_t bones = (size_t)s->skeleton.deform_count;
    double *whole = ARAP_NEW_ZERO(double, bones), *all = ARAP_NEW_ZERO(double, bones);
    arap_status status = ARAP_OK;
    if (!whole || !all) {
        status = arap_fail_memory(&context->error, "the responses of bones");
        goto done;
    }
    memset(response, 0, bones * sizeof *response);
    memset(share, 0, bones * sizeof *share);
    for (int i = 0; i < weights->count; i++) {
        if (ignored && ignored[i]) continue;
        add_shares(s, weights, i, share);
        add_shares(s, &s->initial, i, all);
        for (size_t e = own->start[i]; e < own->start[i + 1]; e++) {
            int b = own->bone[e];
            double counts = s->mesh.area[i] * lever(s, i, b);
            whole[b] += counts * goes_along(&s->skeleton, &s->initial, i, b);
            response[b] += counts * goes_along(&s->skeleton, weights, i, b);
        }
    }
    for (size_t b = 0; b < bones; b++) {
        response[b] = whole[b] > 0 ? response[b] / whole[b] : ARAP_NO_SKIN;
        share[b] = whole[b] > 0 ? share[b] / all[b] : ARAP_NO_SKIN;
    }

done:
    arap_free(whole);
    arap_free(all);
    return status;
}
