/* Applies edits to a solver: see apply_edits.h.
 *
 * A constraint of the user is a row at the vertex and another row at its mirror image. The rows of
 * peaks and attachments stay in place, as do springs. Marks determine whether these rows and
 * springs are active. Takes O(edits log edits + rows). Fails only on out-of-memory, because edits
 * have already been checked. */
#include "solver/apply_edits.h"

#include "solver/excluded.h"
#include "solver/rigid.h"
#include "solver/smoothness.h"
#include "springs/bone_springs.h"

/* Add a constraint of the user and its image, if there is one. */
static arap_status add_constraint(arap_context *context, arap_solver *s, int vertex, int bone,
                                  double target) {
    arap_constraint row = {vertex, bone, target, s->settings.constraint_strength, 0};
    arap_status status = arap_append_constraint(context, &s->constraints.list, row);
    if (status || !s->symmetry.vertex) return status;
    row.vertex = s->symmetry.vertex[vertex];
    row.bone = s->symmetry.bone[bone];
    int is_image = row.vertex >= 0 && row.bone >= 0 && (row.vertex != vertex || row.bone != bone);
    return is_image ? arap_append_constraint(context, &s->constraints.list, row) : status;
}

void arap_release_constraints(arap_solver *solver) {
    for (int r = 0; r < solver->constraints.peaks + solver->constraints.attachments; r++) {
        arap_constraint *row = &solver->constraints.list.rows[r];
        int lead = arap_lead(&solver->parts, row->vertex);
        row->released = (arap_find_mark(&solver->marks, lead, row->bone) & ARAP_RELEASED) != 0;
    }
    if (solver->mesh.spring_start)
        arap_springs_release(&solver->mesh, &solver->parts, &solver->marks);
}

arap_status arap_take_edits(arap_context *context, arap_solver *solver, const arap_edits *edits) {
    arap_marks marks;
    arap_status status = arap_take_rigid_parts(context, solver, edits);
    if (!status)
        status = arap_marks_create(context, edits, &solver->mesh, &solver->skeleton,
                                   &solver->symmetry, &solver->parts, &marks);
    if (status) return status;
    arap_marks_clear(&solver->marks);
    solver->marks = marks;
    solver->constraints.list.count = solver->constraints.peaks + solver->constraints.attachments;
    for (int c = 0; c < edits->constraint_count && !status; c++) {
        int bone = arap_deforming(&solver->skeleton, edits->constraint_bone[c]);
        if (bone >= 0)
            status = add_constraint(context, solver, solver->mesh.weld[edits->constraint_vertex[c]],
                                    bone, edits->constraint_target[c]);
    }
    arap_release_constraints(solver);
    return status ? status : arap_smooth(context, solver, edits);
}

arap_status arap_apply_edits(arap_context *context, const arap_solver *solver,
                             const arap_influences *offered, arap_influences *influences) {
    if (!solver->marks.count && !offered) return ARAP_OK;
    return arap_edit_influences(context, &solver->marks, &solver->mesh, &solver->skeleton,
                                arap_is_excluded, solver, offered, influences);
}
