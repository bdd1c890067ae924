/* Aggregated parts: see rigid.h.
 *
 * A coat of mail has thousands of loose plates, each of which has a few vertices on the coarsest
 * mesh. Coarsening the plates further would remove their faces. All vertices of a plate follow
 * nearly the same bones, so the rows of the plate share their unknowns until the last stage on the
 * coarsest mesh. Until then, the system has one row for each plate. Parts that are longer than the
 * mean bone, that have no faces, or that have an edit or a lock do not share rows.
 *
 * Takes O(vertices + parts + marks). Fails only on out-of-memory. */

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "solver/rigid.h"

typedef struct part_box {
    double low[3], high[3];
    int size;
    char faces, kept_out, aggregated;
} part_box;

static void grow(part_box *box, const double *v) {
    for (int c = 0; c < 3; c++) {
        box->low[c] = box->size ? fmin(box->low[c], v[c]) : v[c];
        box->high[c] = box->size ? fmax(box->high[c], v[c]) : v[c];
    }
    box->size++;
}

/* Mark the part of vertex v, and that of its image, as having an edit or lock from the caller. */
static void keep_out(const arap_solver *s, int v, part_box *boxes) {
    int image = s->symmetry.vertex ? s->symmetry.vertex[v] : -1;
    boxes[s->mesh.part[v]].kept_out = 1;
    if (image >= 0) boxes[s->mesh.part[image]].kept_out = 1;
}

static void measure(const arap_solver *s, part_box *boxes) {
    const arap_mesh *mesh = &s->mesh;
    const arap_constraint_list *rows = &s->constraints.list;
    for (int v = 0; v < mesh->count; v++) grow(&boxes[mesh->part[v]], mesh->v + 3 * (size_t)v);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        boxes[mesh->part[mesh->triangles[3 * t]]].faces = 1;
    for (int v = 0; v < mesh->count; v++) {
        int is_rigid = s->parts.count && s->parts.number[v] >= 0;
        int is_locked = s->locks.vertex && s->locks.vertex[mesh->first[v]];
        if (is_rigid || is_locked || (s->smoothed && s->smoothed[v] > 0)) keep_out(s, v, boxes);
    }
    for (int k = 0; k < s->marks.count; k++) keep_out(s, s->marks.marks[k].vertex, boxes);
    for (int r = s->constraints.peaks + s->constraints.attachments; r < rows->count; r++)
        keep_out(s, rows->rows[r].vertex, boxes);
}

static double mean_bone_length(const arap_solver *s) {
    const arap_skeleton *bones = &s->skeleton;
    double sum = 0;
    for (int d = 0; d < bones->deform_count; d++) {
        size_t b = 3 * (size_t)bones->deform_bone[d];
        sum += sqrt(arap_distance2(bones->heads + b, bones->tails + b));
    }
    return sum / bones->deform_count;
}

arap_status arap_aggregate_parts(arap_context *context, arap_solver *solver) {
    const arap_mesh *mesh = &solver->mesh;
    double length = mean_bone_length(solver);
    int aggregated = 0, main = 0, rigid = solver->parts.count;
    part_box *boxes = ARAP_NEW_ZERO(part_box, mesh->part_count);
    int *label = ARAP_NEW(int, mesh->input_count);
    arap_status status = ARAP_OK;
    if (!boxes || !label) {
        status = arap_fail_memory(&context->error, "the aggregated parts");
        goto done;
    }
    measure(solver, boxes);
    for (int i = 0; i < mesh->input_count; i++) {
        int v = mesh->weld[i];
        part_box *box = &boxes[mesh->part[v]];
        int may = box->faces && !box->kept_out && box->size < ARAP_FEW_OF_PART &&
                  arap_distance2(box->low, box->high) <= length * length;
        box->aggregated = (char)may;
        label[i] = may ? rigid + mesh->part[v] : rigid ? solver->parts.number[v] : -1;
        aggregated += may && mesh->main[v];
        main += mesh->main[v];
    }
    if (2 * aggregated <= main) goto done;
    for (int p = 0; p < mesh->part_count; p++) solver->lumped_parts += boxes[p].aggregated;
    status = arap_make_rigid_parts(context, solver, label);
    solver->stage.aggregated = !status;

done:
    arap_free(boxes);
    arap_free(label);
    return status;
}

arap_status arap_free_aggregates(arap_context *context, arap_solver *solver) {
    if (!solver->stage.aggregated) return ARAP_OK;
    solver->stage.aggregated = 0;
    return arap_make_rigid_parts(context, solver, solver->rigid_labels);
}
