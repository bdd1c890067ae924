/* The results of a solver: see arap.h. These functions change nothing in the solver except the
 * clock of its stages. The functions take O(influences). Computing the energy also takes a local
 * step. They fail only on out-of-memory, or if the energy cannot be computed. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "energy/energy.h"
#include "solver/response.h"
#include "solver/levels.h"
#include "solver/solver.h"
#include "solver/excluded.h"
#include "weights/rows.h"

void arap_solver_report(const arap_solver *solver, arap_report *report) {
    *report = (arap_report){0};
    report->vertices = solver->mesh.input_count;
    report->welded = solver->mesh.input_count - solver->mesh.count;
    report->far_vertices = solver->mesh.far_count;
    report->collapsed_triangles = solver->mesh.collapsed_count;
    report->parts = solver->mesh.part_count;
    report->bones = solver->skeleton.count;
    report->deforming_bones = solver->skeleton.deform_count;
    report->poses = solver->pose_count;
    report->symmetric_bones = solver->symmetry.bone_count;
    for (int i = 0; i < solver->mesh.input_count; i++)
        report->symmetric_vertices +=
            arap_symmetry_image(&solver->symmetry, solver->mesh.weld[i]) >= 0;
    report->unseen_count = solver->heat_report.unseen_count;
    report->unseen = solver->heat_report.unseen;
    report->coarse_vertices = solver->coarse_vertices;
    report->rigid_parts = solver->parts.count;
    report->found_rigid_parts = solver->found_rigid;
    report->linked_parts = solver->linked_parts;
    report->links = solver->link_count;
    report->layer_links = solver->mesh.layer_count;
    report->iterations = solver->iterations;
    report->energies = solver->history.energies;
    report->energy_count = solver->history.count;
    report->energy_before = solver->energy_before;
    memcpy(report->stage_start, solver->history.stage_start, sizeof report->stage_start);
    report->unknowns = solver->assembled.unknowns;
    report->factor_size = solver->assembled.factor_size;
    report->factor_bytes = solver->assembled.factor_bytes;
    report->factor_flops = solver->assembled.factor_flops;
    report->peak_rows = solver->constraints.peaks;
    report->attach_rows = solver->constraints.attachments;
    report->neumann_rows = solver->assembled.neumann_rows;
    report->positivity_rows = solver->assembled.positivity_rows;
    report->damping = solver->assembled.damping;
    report->held_cost = arap_response_rows_cost(solver);
    double rest = solver->poses.total * solver->mesh.rest_energy;
    report->section_energy = rest > 0 ? solver->present.sections / rest : 0;
    memcpy(report->seconds, solver->seconds, sizeof report->seconds);
    if (!solver->coarse) return;
    arap_report coarse;
    arap_solver_report(solver->coarse, &coarse);
    report->section_energy = coarse.section_energy;
    report->peak_rows = coarse.peak_rows;
    for (int t = 0; t < ARAP_TIMES; t++) report->seconds[t] += coarse.seconds[t];
}

void arap_solver_inside(const arap_solver *solver, struct arap_test_state *inside) {
    *inside = (struct arap_test_state){
        .mesh = &solver->mesh,
        .skeleton = &solver->skeleton,
        .symmetry = &solver->symmetry,
        .poses = &solver->poses,
        .visibility = solver->has_visibility ? &solver->visibility : NULL,
        .influences = &solver->influences,
        .clusters = solver->coarse ? solver->clusters.cluster : NULL,
        .system = &solver->patterns.system,
        .right_side = solver->patterns.right_side,
        .product = solver->patterns.product,
        .visits =
            solver->patterns.local_step ? arap_local_step_visits(solver->patterns.local_step) : 0};
}

/* Combine the weights of a coarse level with the locks of this one. A row may consist only of
 * locked entries. */
static arap_status present_weights(arap_context *context, const arap_solver *s,
                                   arap_influences *out) {
    if (!s->coarse) return arap_influences_copy(context, &s->influences, out);
    arap_status status = arap_coarse_weights(context, s, out);
    if (!status) status = arap_locks_apply(context, &s->locks, &s->mesh, &s->skeleton, out);
    if (!status)
        status = arap_rigid_patterns(context, &s->parts, &s->mesh, s->skeleton.deform_count,
                                     arap_excluded_of(s), s, out);
    if (status) arap_influences_clear(out);
    return status;
}

/* Compute non-negative weights with sum 1, without those below min_weight. If the patterns are
 * symmetric, the weights are made symmetric again after each sum, because sums are rounded. */
static arap_status tidy(arap_context *context, const arap_solver *s, arap_influences *out) {
    const arap_symmetry none = {0}, *symmetry = s->coarse ? &none : &s->symmetry;
    double min = s->settings.min_weight;
    arap_status status = present_weights(context, s, out);
    if (status) return status;
    char *keep = ARAP_NEW(char, out->start[out->count]);
    if (!keep) {
        status = arap_fail_memory(&context->error, "the weights");
        goto done;
    }
    arap_influences_normalize(out);
    status = arap_symmetry_weights(context, symmetry, out);
    if (status) goto done;
    arap_rigid_weights(&s->parts, out);
    for (int i = 0; i < out->count; i++) {
        size_t largest = out->start[i];
        for (size_t e = out->start[i]; e < out->start[i + 1]; e++) {
            keep[e] = out->locked[e] || (out->weight[e] >= min && out->weight[e] > 0);
            if (out->locked[largest] || (!out->locked[e] && out->weight[e] > out->weight[largest]))
                largest = e;
        }
        if (!out->locked[largest] && out->weight[largest] > 0) keep[largest] = 1;
    }
    arap_influences_drop(out, keep);
    arap_influences_normalize(out);
    status = arap_symmetry_weights(context, symmetry, out);
    arap_rigid_weights(&s->parts, out);

done:
    arap_free(keep);
    if (status) arap_influences_clear(out);
    return status;
}

/* Build one row for the caller: locked weights as given, then the free ones, which share what the
 * locked ones of this vertex leave. */
static arap_status export_row(arap_context *context, const arap_solver *s,
                              const arap_influences *in, int i, arap_rows *rows) {
    int v = s->mesh.weld[i];
    double taken = 0, open = 0;
    long long first = s->locks.start ? s->locks.start[i] : 0,
              last = s->locks.start ? s->locks.start[i + 1] : 0;
    arap_status status =
        arap_rows_next(context, rows, (size_t)(last - first) + in->start[v + 1] - in->start[v]);
    for (long long e = first; e < last && !status; e++) {
        int owner = s->skeleton.owner[s->locks.bone[e]];
        int d = owner >= 0 && s->skeleton.deform_bone[owner] == s->locks.bone[e] ? owner : -1;
        if (d < 0 || !arap_is_locked(&s->locks, i, d)) continue;
        taken += s->locks.weight[e];
        arap_rows_insert(rows, s->locks.bone[e], s->locks.weight[e], 1);
    }
    if (status || (s->locks.vertex && s->locks.vertex[i])) return status;
    for (size_t e = in->start[v]; e < in->start[v + 1]; e++) {
        if (arap_is_locked(&s->locks, i, in->bone[e])) continue;
        open += in->weight[e];
        arap_rows_insert(rows, s->skeleton.deform_bone[in->bone[e]], in->weight[e], 0);
    }
    double rest = taken < 1 ? 1 - taken : 0;
    /* Symmetric rows have no locked weights, so no remainder has to be shared; sharing would also
     * sum in a different order. */
    int lead = arap_lead(&s->parts, v);
    if (s->locks.vertex && open > 0 && arap_symmetry_image(&s->symmetry, lead) < 0)
        for (size_t e = rows->made.start[i]; e < rows->made.start[i + 1]; e++)
            if (!rows->made.locked[e]) rows->made.weight[e] *= rest / open;
    return status;
}

static arap_status hand_out(arap_context *context, const arap_solver *s, const arap_influences *in,
                            arap_influences *out) {
    int n = s->mesh.input_count;
    arap_rows rows;
    arap_status status = arap_rows_create(context, n, &rows);
    for (int i = 0; i < n && !status; i++) status = export_row(context, s, in, i, &rows);
    return arap_rows_end(status, &rows, out);
}

/* Whether rows differ from the caller's only in bone numbers, because nothing is welded or
 * locked. */
static int are_callers(const arap_solver *s) {
    int same = !s->locks.vertex && !s->locks.start && s->mesh.count == s->mesh.input_count;
    for (int i = 0; i < s->mesh.count && same; i++) same = s->mesh.weld[i] == i;
    for (int d = 1; d < s->skeleton.deform_count && same; d++)
        same = s->skeleton.deform_bone[d] > s->skeleton.deform_bone[d - 1];
    return same;
}

arap_status arap_solver_weights(arap_context *context, arap_solver *solver, arap_influences *out) {
    arap_influences tidied = {0};
    arap_start_lap(solver);
    arap_status status = tidy(context, solver, &tidied);
    if (!status && are_callers(solver)) {
        *out = tidied;
        tidied = (arap_influences){0};
        memset(out->locked, 0, out->start[out->count]);
        for (size_t e = 0; e < out->start[out->count]; e++)
            out->bone[e] = solver->skeleton.deform_bone[out->bone[e]];
    } else if (!status) {
        status = hand_out(context, solver, &tidied, out);
    }
    arap_influences_clear(&tidied);
    arap_lap(solver, ARAP_TIME_RESULT);
    return status;
}

arap_status arap_solver_energy(arap_context *context, arap_solver *solver, double *energy) {
    arap_influences tidied = {0};
    arap_start_lap(solver);
    arap_status status = tidy(context, solver, &tidied);
    if (!status && solver->settings.deformer == ARAP_DEFORMER_DUAL_QUATERNIONS)
        status = arap_dual_energy_of(context, &solver->mesh, &solver->skeleton, &solver->poses,
                                     &tidied, energy);
    else if (!status)
        status = arap_energy(context, &solver->mesh, &solver->poses, &solver->packed, &tidied,
                             energy, NULL);
    arap_influences_clear(&tidied);
    arap_lap(solver, ARAP_TIME_RESULT);
    return status;
}

arap_status arap_solver_usage(arap_context *context, const arap_solver *solver,
                              const arap_influences *weights, arap_usage *out) {
    char *used = ARAP_NEW_ZERO(char, solver->skeleton.count);
    *out = (arap_usage){.mean = (double)weights->start[weights->count] / weights->count,
                        .idle = ARAP_NEW(int, solver->skeleton.deform_count)};
    if (!used || !out->idle) {
        arap_free(used);
        arap_free(out->idle);
        return arap_fail_memory(&context->error, "the report");
    }
    for (int i = 0; i < weights->count; i++)
        if (weights->start[i + 1] - weights->start[i] > out->max)
            out->max = weights->start[i + 1] - weights->start[i];
    for (size_t e = 0; e < weights->start[weights->count]; e++)
        if (weights->weight[e] > 0) used[weights->bone[e]] = 1;
    for (int d = 0; d < solver->skeleton.deform_count; d++)
        if (!used[solver->skeleton.deform_bone[d]])
            out->idle[out->idle_count++] = solver->skeleton.deform_bone[d];
    arap_free(used);
    return ARAP_OK;
}

/* Convert rows of vertices and deforming bones to rows of the caller. */
static arap_status own_rows(arap_context *context, const arap_solver *s, const arap_influences *in,
                            arap_influences *out) {
    arap_rows rows;
    arap_status status = arap_rows_create(context, s->mesh.count, &rows);
    for (int v = 0; v < s->mesh.count && !status; v++) {
        int i = s->mesh.first[v];
        status = arap_rows_next(context, &rows, in->start[i + 1] - in->start[i]);
        for (size_t e = in->start[i]; e < in->start[i + 1] && !status; e++) {
            int d = arap_deforming(&s->skeleton, in->bone[e]);
            if (d >= 0) arap_rows_insert(&rows, d, in->weight[e], 0);
        }
    }
    return arap_rows_end(status, &rows, out);
}

arap_status arap_solver_responses(arap_context *context, const arap_solver *solver,
                                  const arap_influences *weights, arap_bone_responses *out) {
    size_t bones = (size_t)solver->skeleton.count,
           own_bones = (size_t)solver->skeleton.deform_count;
    arap_influences rows = {0}, own = {0};
    double *response = ARAP_NEW(double, own_bones), *share = ARAP_NEW(double, own_bones);
    *out = (arap_bone_responses){ARAP_NEW(double, bones), ARAP_NEW(double, bones),
                                 ARAP_NEW(char, bones), ARAP_NEW(char, bones),
                                 solver->settings.response};
    arap_status status = response && share && out->response && out->share && out->held && out->inner
                             ? own_rows(context, solver, weights, &rows)
                             : arap_fail_memory(&context->error, "the responses of bones");
    if (!status) status = arap_own_skin(context, solver, &own);
    if (!status) status = arap_responses(context, solver, &own, &rows, NULL, response, share);
    for (int b = 0; b < solver->skeleton.count && !status; b++) {
        int d = arap_deforming(&solver->skeleton, b);
        out->response[b] = d < 0 ? ARAP_NO_DEFORM : response[d];
        out->share[b] = d < 0 ? ARAP_NO_DEFORM : share[d];
        out->held[b] = 0;
        out->inner[b] = d >= 0 && solver->inner.count && solver->inner.is_inner[d];
    }
    for (int r = 0; r < solver->response_rows.list.count && !status; r++)
        out->held[solver->skeleton.deform_bone[solver->response_rows.list.rows[r].bone]] = 1;
    arap_free(response);
    arap_free(share);
    arap_influences_clear(&rows);
    arap_influences_clear(&own);
    if (status) arap_bone_responses_clear(out);
    return status;
}

void arap_bone_responses_clear(arap_bone_responses *responses) {
    arap_free(responses->response);
    arap_free(responses->share);
    arap_free(responses->held);
    arap_free(responses->inner);
    *responses = (arap_bone_responses){0};
}

arap_status arap_solver_initial_weights(arap_context *context, const arap_solver *solver,
                                        arap_influences *out) {
    return hand_out(context, solver, &solver->initial, out);
}

arap_status arap_solver_raw_weights(arap_context *context, const arap_solver *solver,
                                    arap_influences *out) {
    arap_influences present = {0};
    arap_status status = present_weights(context, solver, &present);
    if (!status) status = hand_out(context, solver, &present, out);
    arap_influences_clear(&present);
    return status;
}

void arap_solver_rigid_parts(const arap_solver *solver, int *out) {
    for (int i = 0; i < solver->mesh.input_count; i++)
        out[i] = solver->parts.count ? solver->parts.number[solver->mesh.weld[i]] : -1;
}

arap_status arap_solver_constraints(arap_context *context, const arap_solver *solver, int *count,
                                    arap_constraint_view **out) {
    int peaks = solver->constraints.peaks, own = peaks + solver->constraints.attachments;
    *count = solver->coarse ? 0 : solver->constraints.list.count;
    *out = ARAP_NEW(arap_constraint_view, *count);
    if (!*out) return arap_fail_memory(&context->error, "the constraint rows");
    for (int r = 0; r < *count; r++) {
        const arap_constraint *row = &solver->constraints.list.rows[r];
        (*out)[r] = (arap_constraint_view){solver->mesh.first[row->vertex],
                                           solver->skeleton.deform_bone[row->bone], row->target,
                                           r < peaks ? ARAP_CONSTRAINT_PEAK
                                           : r < own ? ARAP_CONSTRAINT_ATTACH
                                                     : ARAP_CONSTRAINT_USER,
                                           row->released};
    }
    return ARAP_OK;
}

arap_status arap_solver_springs(arap_context *context, const arap_solver *solver, size_t *count,
                                arap_spring_view **out) {
    const arap_mesh *mesh = &solver->mesh;
    *count = solver->coarse || !mesh->spring_start ? 0 : mesh->spring_start[mesh->count];
    *out = ARAP_NEW(arap_spring_view, *count);
    if (!*out) return arap_fail_memory(&context->error, "the springs");
    for (int i = 0; i < mesh->count && *count; i++)
        for (size_t j = mesh->spring_start[i]; j < mesh->spring_start[i + 1]; j++) {
            const arap_spring *spring = &mesh->spring[j];
            (*out)[j] =
                (arap_spring_view){mesh->first[i], solver->skeleton.deform_bone[spring->bone],
                                   spring->held, spring->released};
        }
    return ARAP_OK;
}
