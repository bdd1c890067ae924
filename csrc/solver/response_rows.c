/* Rows that keep up the response of bones: see response.h.
 *
 * The energy does not penalize a bone that does nothing, because a bone without influence stretches
 * no skin. As a result, some bones next to stronger bones move nothing, or only a fraction of their
 * skin, and the seed and the tessellation determine which ones. Therefore, the response of every
 * bone (responses.c), or the share of a minor bone (own_skin.c), is measured after the last stage
 * of a level. Bones below the required minimum, and their mirror images, get rows on
 * their own skin. These rows, strength_b Lambda_i #poses (w_ib - h_ib)^2, draw the weights toward
 * the initial weights h. The influences of these bones return to the patterns with weight 0 and
 * stay there regardless of their gain (reduce.h), and another stage begins. If a bone still does
 * not respond, its rows become GROWTH times as strong. Finer levels start with the rows of the
 * coarser one. If all bones respond, no rows are added.
 *
 * A single body is measured before its last stage. Bones that will not respond are usually below
 * the minimum at this point, so the rows need no further stage. Loose parts are measured only after
 * the last stage, because this stage may find that a part follows one bone as a whole.
 *
 * Suppose that rows draw the weights of a quadratic energy from w' to w. The energy then rises by
 * half the work of their final pull, sum strength Lambda #poses (h - w) (w - w'). Only the mean of
 * w' over a bone is known, which is the share of the bone before the rows were added.
 *
 * Rows do not change decisions of the user: locked weights, constraints, excluded bones, bones
 * released at a vertex, and rigid parts. If all of a bone's own skin is fixed in this way, the bone
 * cannot be held.
 *
 * Without bone springs, the rows for peaks serve this purpose (initial_weights.c). Measuring the
 * bones takes O(vertices x influences), and each round takes one stage. There are at most
 * ARAP_MAX_ROUNDS rounds on the coarsest level, and one round on each finer level. Fails only on
 * out-of-memory. */
#include "solver/response.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/excluded.h"
#include "weights/rows.h"

#define START 0.002   /* strength of the first rows, over the square of the mesh's size */
#define GROWTH 8      /* factor from one round to the next */
#define NEAR 0.8      /* share of the minimum that is sufficient for a held bone */
#define FAR 0.6       /* the same on finer levels, whose stages take longer */
#define OF_OWN 0.65   /* factor for the share of a held bone on its own skin alone */
#define BODY 0.8      /* with a loose part of this share of the vertices, the mesh is one body */
#define AS_ONE 0.9    /* minimum share of one bone at each vertex of a part that this bone moves */
#define ROUNDING 1e-9 /* weights that differ by less are equal, and the first bone wins */

/* Whether a response is required. */
static int is_active(const arap_solver *s) {
    return s->settings.response > 0 && s->mesh.spring_start && s->settings.expansion_rounds > 0 &&
           s->settings.max_influences != 1 && !s->dual;
}

/* (vertices) weights that the user has decided for all bones; NULL: out of memory. */
static char *find_decided(const arap_solver *s, const arap_influences *in) {
    char *decided = ARAP_NEW_ZERO(char, s->mesh.count);
    if (!decided) return NULL;
    for (int i = 0; i < s->mesh.count; i++) {
        decided[i] = s->parts.count && s->parts.number[i] >= 0;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) decided[i] |= in->locked[e];
    }
    int own = s->constraints.peaks + s->constraints.attachments;
    for (int r = own; r < s->constraints.list.count; r++)
        decided[s->constraints.list.rows[r].vertex] = 1;
    return decided;
}

/* Whether the user has released this bone from a vertex, or excluded it. */
static int is_released(const arap_solver *s, int i, int bone) {
    return (arap_find_mark(&s->marks, arap_lead(&s->parts, i), bone) & ARAP_RELEASED) ||
           (arap_excluded_of(s) && arap_is_excluded(s, i, bone));
}

/* (loose parts) whether a single bone moves the part; NULL: out of memory. */
static char *find_moved_as_one(const arap_solver *s, const arap_influences *in) {
    const int *part = s->mesh.part;
    int *bone = ARAP_NEW(int, s->mesh.part_count);
    char *as_one = ARAP_NEW(char, s->mesh.part_count);
    for (int p = 0; bone && as_one && p < s->mesh.part_count; p++) bone[p] = -1, as_one[p] = 1;
    for (int i = 0; bone && as_one && i < in->count; i++) {
        int best = -1;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            if (in->weight[e] >= AS_ONE) best = in->bone[e];
        if (bone[part[i]] < 0) bone[part[i]] = best;
        as_one[part[i]] &= best >= 0 && best == bone[part[i]];
    }
    arap_free(bone);
    return as_one;
}

/* Find own skin that the user has not decided. `in`: the current weights. */
static arap_status free_skin(arap_context *context, const arap_solver *s, const char *decided,
                             const arap_influences *in, arap_influences *out) {
    const arap_influences *own = &s->response_rows.own;
    char *keep = ARAP_NEW(char, own->start[own->count]), *as_one = find_moved_as_one(s, in);
    arap_status status = ARAP_OK;
    if (!keep || !as_one) status = arap_fail_memory(&context->error, "the skin of bones");
    for (int i = 0; i < own->count && !status; i++)
        for (size_t e = own->start[i]; e < own->start[i + 1]; e++) {
            int b = own->bone[e],
                is_others = s->response_rows.is_minor[b] && as_one[s->mesh.part[i]];
            keep[e] = !decided[i] && !is_others && !is_released(s, i, b);
        }
    if (!status) status = arap_influences_filter(context, own, keep, out);
    arap_free(keep);
    arap_free(as_one);
    return status;
}

/* Create the rows of held bones on this skin. */
static arap_status make_rows(arap_context *context, arap_solver *s, const arap_influences *skin) {
    arap_response_rows *p = &s->response_rows;
    arap_status status = ARAP_OK;
    p->list.count = 0;
    for (int i = 0; i < s->mesh.count; i++) {
        double largest = 0;
        p->bone[i] = -1;
        for (size_t e = skin->start[i]; e < skin->start[i + 1] && !status; e++) {
            int b = skin->bone[e];
            double target = skin->weight[e];
            double strength = p->strength[b] * s->mesh.size * s->mesh.size;
            if (!(strength > 0)) continue;
            status = arap_append_constraint(context, &p->list,
                                            (arap_constraint){i, b, target, strength, 0});
            if (!(target > largest * (1 + ROUNDING))) continue;
            largest = target;
            p->bone[i] = b;
        }
    }
    return status;
}

static arap_status begin(arap_context *context, arap_solver *s) {
    arap_response_rows *p = &s->response_rows;
    if (p->strength) return ARAP_OK;
    p->strength = ARAP_NEW_ZERO(double, s->skeleton.deform_count);
    p->free_share = ARAP_NEW_ZERO(double, s->skeleton.deform_count);
    p->bone = ARAP_NEW(int, s->mesh.count);
    for (int i = 0; p->bone && i < s->mesh.count; i++) p->bone[i] = -1;
    p->is_minor = ARAP_NEW(char, s->skeleton.deform_count);
    arap_status status = p->strength && p->free_share && p->bone && p->is_minor
                             ? arap_own_skin(context, s, &p->own)
                             : arap_fail_memory(&context->error, "the bones that are held");
    for (int b = 0; b < s->skeleton.deform_count && !status; b++) p->is_minor[b] = 0;
    for (size_t e = 0; !status && e < p->own.start[p->own.count]; e++)
        if (p->own.weight[e] <= ARAP_MAX_OF_VERTEX) p->is_minor[p->own.bone[e]] = 1;
    if (status) arap_response_rows_clear(p);
    return status;
}

/* Store in `response` the measure that should reach the minimum: the response itself or, for a
 * minor bone, the share, because its skin follows other bones in any case. Once rows hold such a
 * bone, only the share on its own skin is measured, because rows cannot achieve more. before:
 * (deforming bones) scratch. */
static void take_measures(const arap_solver *s, const arap_influences *skin,
                          const arap_influences *weights, const double *share, double *before,
                          double *response) {
    const arap_response_rows *p = &s->response_rows;
    for (int b = 0; b < s->skeleton.deform_count; b++) {
        if (!p->is_minor[b] || response[b] == ARAP_NO_SKIN) continue;
        response[b] = p->strength[b] > 0 ? 0 : share[b];
        before[b] = 0;
    }
    for (int i = 0; i < skin->count; i++)
        for (size_t e = skin->start[i]; e < skin->start[i + 1]; e++) {
            int b = skin->bone[e];
            if (!p->is_minor[b] || !(p->strength[b] > 0)) continue;
            before[b] += s->mesh.area[i] * skin->weight[e];
            response[b] += s->mesh.area[i] * arap_weight(weights, i, b);
        }
    for (int b = 0; b < s->skeleton.deform_count; b++)
        if (p->is_minor[b] && p->strength[b] > 0 && response[b] != ARAP_NO_SKIN)
            response[b] =
                before[b] > 0 ? fmax(share[b], OF_OWN * response[b] / before[b]) : share[b];
}

/* Hold the bones below the minimum more strongly, and give their images the same strength. */
static int strengthen(arap_solver *s, const double *measure, const double *share, double minimum) {
    arap_response_rows *p = &s->response_rows;
    int count = 0;
    for (int b = 0; b < s->skeleton.deform_count; b++) {
        if (measure[b] == ARAP_NO_SKIN || measure[b] >= minimum) continue;
        if (!(p->strength[b] > 0)) p->free_share[b] = share[b];
        p->strength[b] = p->strength[b] > 0 ? GROWTH * p->strength[b] : START;
        count++;
    }
    for (int b = 0; b < s->skeleton.deform_count && s->symmetry.bone_count; b++) {
        int image = s->symmetry.bone[b];
        if (image >= 0) p->strength[b] = fmax(p->strength[b], p->strength[image]);
    }
    return count;
}

/* Hold the bones below `minimum` with these weights, and count them in `found`. */
static arap_status hold(arap_context *context, arap_solver *s, const arap_influences *weights,
                        double minimum, int *found) {
    arap_influences skin = {0};
    arap_arena arena = {0};
    double *response = ARAP_TAKE(&arena, s->skeleton.deform_count, double);
    double *share = ARAP_TAKE(&arena, s->skeleton.deform_count, double);
    double *scratch = ARAP_TAKE(&arena, s->skeleton.deform_count, double);
    char *decided = find_decided(s, weights);
    arap_status status = begin(context, s);
    if (!status && (arena.failed || !decided))
        status = arap_fail_memory(&context->error, "the responses of bones");
    if (!status) status = free_skin(context, s, decided, weights, &skin);
    if (!status) status = arap_responses(context, s, &skin, weights, decided, response, share);
    if (!status) take_measures(s, &skin, weights, share, scratch, response);
    if (!status) *found += strengthen(s, response, share, minimum);
    if (!status && *found) status = make_rows(context, s, &skin);
    arap_arena_clear(&arena);
    arap_free(decided);
    arap_influences_clear(&skin);
    return status;
}

/* Whether one loose part has nearly all vertices of the main mesh. */
static int is_one_body(const arap_solver *s) {
    int part = -1, lead = 0, own = 0;
    for (int i = 0; i < s->mesh.count; i++) { /* the part with more than half of the vertices, if
                                               * any */
        if (!s->mesh.main[i]) continue;
        if (lead == 0) part = s->mesh.part[i];
        lead += s->mesh.part[i] == part ? 1 : -1;
    }
    for (int i = 0; i < s->mesh.count; i++) own += s->mesh.main[i] && s->mesh.part[i] == part;
    return own >= BODY * s->mesh.main_count;
}

arap_status arap_response_rows_foresee(arap_context *context, arap_solver *solver) {
    int found = 0;
    return is_active(solver) && is_one_body(solver)
               ? hold(context, solver, &solver->influences, solver->settings.response, &found)
               : ARAP_OK;
}

arap_status arap_response_rows_review(arap_context *context, arap_solver *solver) {
    int again = solver->response_rows.list.count > 0, found = 0;
    if (!is_active(solver) ||
        solver->response_rows.rounds >= (solver->coarse_vertices ? 1 : ARAP_MAX_ROUNDS))
        return ARAP_OK;
    arap_status status = hold(context, solver, &solver->influences,
                              solver->settings.response * (solver->coarse_vertices ? FAR
                                                           : again                 ? NEAR
                                                                                   : 1),
                              &found);
    solver->response_rows.rounds += found > 0;
    solver->stage.last += found > 0;
    return status;
}

arap_status arap_response_rows_inherit(arap_context *context, arap_solver *solver,
                                       const arap_influences *weights) {
    const arap_response_rows *from = &solver->coarse->response_rows;
    int found = from->list.count > 0;
    if (!is_active(solver)) return ARAP_OK;
    arap_status status = begin(context, solver);
    if (!status && found) {
        size_t size = (size_t)solver->skeleton.deform_count * sizeof(double);
        memcpy(solver->response_rows.strength, from->strength, size);
        memcpy(solver->response_rows.free_share, from->free_share, size);
    }
    return status ? status
                  : hold(context, solver, weights, solver->settings.response * FAR, &found);
}

arap_status arap_response_rows_offer(arap_context *context, const arap_solver *solver,
                                     arap_influences *patterns) {
    const arap_constraint *row = solver->response_rows.list.rows,
                          *end = row + solver->response_rows.list.count;
    arap_rows rows;
    if (row == end) return ARAP_OK;
    arap_status status = arap_rows_create(context, patterns->count, &rows);
    for (int i = 0; i < patterns->count && !status; i++) {
        const arap_constraint *first = row;
        while (row < end && row->vertex == i) row++;
        size_t own = patterns->start[i + 1] - patterns->start[i];
        status = arap_rows_next(context, &rows, own + (size_t)(row - first));
        for (size_t e = patterns->start[i]; e < patterns->start[i + 1] && !status; e++)
            arap_rows_add(&rows, patterns->bone[e], patterns->weight[e], patterns->locked[e]);
        for (; first < row && !status; first++)
            if (arap_find_influence(patterns, i, first->bone) < 0)
                arap_rows_insert(&rows, first->bone, 0, 0);
    }
    if (status) {
        arap_rows_clear(&rows);
        return status;
    }
    arap_influences_clear(patterns);
    arap_rows_take(&rows, patterns);
    return ARAP_OK;
}

double arap_response_rows_cost(const arap_solver *solver) {
    double sum = 0;
    for (int r = 0; r < solver->response_rows.list.count; r++) {
        const arap_constraint *row = &solver->response_rows.list.rows[r];
        double w = arap_weight(&solver->influences, row->vertex, row->bone);
        double before = solver->response_rows.free_share[row->bone] * row->target;
        sum += row->strength * solver->mesh.area[row->vertex] * (row->target - w) * (w - before);
    }
    double cost = sum * solver->poses.total;
    return solver->present.energy > 0 ? fmax(0, cost / solver->present.energy) : 0;
}

arap_status arap_response_rows_renew(arap_context *context, arap_solver *solver) {
    arap_influences skin = {0};
    solver->response_rows.rounds = 0;
    if (!solver->response_rows.list.count) return ARAP_OK;
    char *decided = find_decided(solver, &solver->influences);
    arap_status status = decided ? free_skin(context, solver, decided, &solver->influences, &skin)
                                 : arap_fail_memory(&context->error, "the bones that are held");
    if (!status) status = make_rows(context, solver, &skin);
    arap_free(decided);
    arap_influences_clear(&skin);
    return status;
}

void arap_response_rows_clear(arap_response_rows *rows) {
    arap_free(rows->strength);
    arap_free(rows->free_share);
    arap_influences_clear(&rows->own);
    arap_free(rows->bone);
    arap_free(rows->is_minor);
    arap_constraint_list_clear(&rows->list);
    *rows = (arap_response_rows){0};
}
