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

arap_status arap_make_rigid_parts(arap_context *context, arap_solver *s, const int *label) {
    arap_rigid_parts_clear(&s->parts);
    arap_status status =
        arap_rigid_parts_create(context, &s->mesh, &s->symmetry, label, NULL, &s->parts);
    if (status || !s->locks.vertex || !s->parts.count) return status;
    char *kept_out = ARAP_NEW_ZERO(char, s->mesh.count);
    if (!kept_out) return arap_fail_memory(&context->error, "the rigid parts");
    keep_out(s, kept_out);
    arap_rigid_parts_clear(&s->parts);
    status = arap_rigid_parts_create(context, &s->mesh, &s->symmetry, label, kept_out, &s->parts);
    arap_free(kept_out);
    return status;
}

arap_status arap_take_rigid_parts(arap_context *context, arap_solver *s, const arap_edits *edits) {
    size_t n = (size_t)s->mesh.input_count;
    s->found_rigid = s->stage.aggregated = 0;
    arap_free(s->rigid_labels);
    s->rigid_labels = NULL;
    if (edits->rigid_parts) {
        s->rigid_labels = ARAP_NEW(int, n);
        if (!s->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
        memcpy(s->rigid_labels, edits->rigid_parts, n * sizeof(int));
    }
    return arap_make_rigid_parts(context, s, s->rigid_labels);
}

static arap_status share_parts(arap_context *context, const arap_solver *s,
                               arap_influences *patterns) {
    return arap_rigid_patterns(context, &s->parts, &s->mesh, s->skeleton.deform_count,
                               arap_excluded_of(s), s, patterns);
}

arap_status arap_share_patterns(arap_context *context, arap_solver *s, arap_influences *patterns) {
    arap_status status = share_parts(context, s, patterns);
    if (status || !s->symmetry.vertex) return status;
    status = arap_symmetry_patterns(context, &s->symmetry, s->skeleton.deform_count,
                                    arap_excluded_of(s), s, patterns);
    if (!status) status = share_parts(context, s, patterns);
    if (!status && s->settings.rigid_influences == 1 && !s->stage.aggregated)
        arap_rigid_unmirror(&s->parts, &s->symmetry);
    return status;
}

arap_status arap_add_rigid_parts(arap_context *context, arap_solver *s, const char *found) {
    const arap_mesh *mesh = &s->mesh;
    int known = s->parts.count;
    if (!s->rigid_labels) s->rigid_labels = ARAP_NEW(int, mesh->input_count);
    if (!s->rigid_labels) return arap_fail_memory(&context->error, "the rigid parts");
    for (int i = 0; i < mesh->input_count; i++) {
        int v = mesh->weld[i], part = mesh->part[v];
        s->rigid_labels[i] = found[part] ? known + part : known ? s->parts.number[v] : -1;
    }
    arap_status status = arap_make_rigid_parts(context, s, s->rigid_labels);
    s->found_rigid = s->parts.count - known;
    if (!status) arap_marks_lead(&s->marks, &s->parts);
    return status;
}
