/* Rigid parts of a solver: see rigid.h and rigid_parts.h.
 *
 * A locked vertex belongs to a part only if the same columns are locked with the same values in
 * the whole part. Fails only on out-of-memory. */
#include "solver/rigid.h"

#include <string.h>

#include "base/memory.h"
#include "solver/excluded.h"

/* Whether all input vertices of vertex v are locked like input vertex `other`. */
static int is_locked_as(const arap_solver *s, int v, int other) {
    for (int i = s->mesh.first[v]; i >= 0; i = s->mesh.next[i])
        if (!arap_same_locks(&s->locks, &s->skeleton, i, other)) return 0;
    return 1;
}

/* Find the vertices excluded by their locks: in each part, those that differ from the first vertex
 * that is not entirely locked. */
static void keep_out(const arap_solver *s, char *kept_out) {
    for (int lead = 0; lead < s->mesh.count; lead++) {
        int first = -1;
        if (s->parts.number[lead] < 0 || s->parts.lead[lead] != lead) continue;
        for (int v = lead; v >= 0; v = s->parts.next[v]) {
            if (first < 0 && is_locked_as(s, v, s->mesh.first[v])) first = s->mesh.first[v];
            kept_out[v] = first < 0 || !is_locked_as(s, v, first);
        }
    }
}

arap_status arap_make_rigid_parts(arap_context *context, arap_solver *solver, const int *label) {
    arap_rigid_parts_clear(&solver->parts);
    arap_status status = arap_rigid_parts_create(context, &solver->mesh, &solver->symmetry, label,
                                                 NULL, &solver->parts);
    if (status || !solver->locks.vertex || !solver->parts.count) return status;
    char *kept_out = ARAP_NEW_ZERO(char, solver->mesh.count);
    if (!kept_out) return arap_fail_memory(&context->error, "the rigid parts");
    keep_out(solver, kept_out);
    arap_rigid_parts_clear(&solver->parts);
    status = arap_rigid_parts_create(context, &solver->mesh, &solver->symmetry, label, kept_out,
                                     &solver->parts);
    arap_free(kept_out);
    return status;
}

arap_status arap_take_rigid_parts(arap_context *context, arap_solver *solver,
                                  const arap_edits *edits) {
    size_t n = (size_t)solver->mesh.input_count;
    solver->found_rigid = 0;
    arap_free(solver->rigid_labels);
    solver->rigid_labels = NULL;
    if (edits->rigid_parts) {
        solver->rigid_labels = ARAP_NEW(int, n);
        if (!solver->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
        memcpy(solver->rigid_labels, edits->rigid_parts, n * sizeof(int));
    }
    return arap_make_rigid_parts(context, solver, solver->rigid_labels);
}

static arap_status share_parts(arap_context *context, const arap_solver *s,
                               arap_influences *patterns) {
    return arap_rigid_patterns(context, &s->parts, &s->mesh, s->skeleton.deform_count,
                               arap_excluded_of(s), s, patterns);
}

arap_status arap_share_patterns(arap_context *context, arap_solver *solver,
                                arap_influences *patterns) {
    arap_status status = share_parts(context, solver, patterns);
    if (status || !solver->symmetry.vertex) return status;
    status = arap_symmetry_patterns(context, &solver->symmetry, solver->skeleton.deform_count,
                                    arap_excluded_of(solver), solver, patterns);
    if (!status) status = share_parts(context, solver, patterns);
    if (!status && solver->settings.rigid_influences == 1)
        arap_rigid_unmirror(&solver->parts, &solver->symmetry);
    return status;
}

arap_status arap_add_rigid_parts(arap_context *context, arap_solver *solver, const char *found) {
    const arap_mesh *mesh = &solver->mesh;
    int known = solver->parts.count;
    if (!solver->rigid_labels) solver->rigid_labels = ARAP_NEW(int, mesh->input_count);
    if (!solver->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
    for (int i = 0; i < mesh->input_count; i++) {
        int v = mesh->weld[i], part = mesh->part[v];
        solver->rigid_labels[i] = found[part] ? known + part : known ? solver->parts.number[v] : -1;
    }
    arap_status status = arap_make_rigid_parts(context, solver, solver->rigid_labels);
    solver->found_rigid = solver->parts.count - known;
    if (!status) arap_marks_lead(&solver->marks, &solver->parts);
    return status;
}
