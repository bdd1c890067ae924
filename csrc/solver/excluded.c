/* Bones that are excluded from a vertex: see excluded.h. Edits by the user override inner_bones.h:
 * a bone that an edit allows is not excluded, and no bone is excluded if the bone inside the part
 * is excluded or locked. Takes O(locks of the vertex + log marks + depth of the skeleton), and
 * O(constraints) for a bone out of reach. Cannot fail. */
#include "solver/excluded.h"

/* By locks and marks. */
static int is_refused(const arap_solver *s, int vertex, int bone, int mark) {
    if (mark & ARAP_EXCLUDED) return 1;
    for (int i = s->mesh.first[vertex]; i >= 0 && s->locks.vertex; i = s->mesh.next[i])
        if (arap_is_locked(&s->locks, i, bone)) return 1;
    return 0;
}

int arap_is_excluded(const void *solver, int vertex, int bone) {
    const arap_solver *s = solver;
    int lead = arap_lead(&s->parts, vertex), part = s->mesh.part[vertex];
    int mark = arap_find_mark(&s->marks, lead, bone);
    if (is_refused(s, vertex, bone, mark)) return 1;
    if (mark & ARAP_ALLOWED) return 0;
    if (arap_pierced_excludes(&s->pierced, vertex, bone)) {
        int partner = s->symmetry.bone[bone];
        if (!is_refused(s, vertex, partner, arap_find_mark(&s->marks, lead, partner))) return 1;
    }
    if (!arap_inner_excludes(&s->inner, &s->skeleton, part, bone)) return 0;
    int keeper = s->inner.keeper[part];
    return keeper < 0 || !is_refused(s, vertex, keeper, arap_find_mark(&s->marks, lead, keeper));
}

arap_excluded_fn arap_excluded_of(const arap_solver *solver) {
    return solver->locks.vertex || solver->marks.count || solver->inner.count ||
                   solver->pierced.count
               ? arap_is_excluded
               : NULL;
}

/* Whether the user has allowed the bone at the vertex, or constrained its weight there. */
static int is_wanted(const arap_solver *s, int vertex, int bone) {
    if (arap_find_mark(&s->marks, arap_lead(&s->parts, vertex), bone) & ARAP_ALLOWED) return 1;
    for (int r = s->constraints.peaks + s->constraints.attachments; r < s->constraints.list.count;
         r++) {
        const arap_constraint *row = &s->constraints.list.rows[r];
        if (row->vertex == vertex && row->bone == bone) return 1;
    }
    return 0;
}

int arap_cannot_adopt(const void *solver, int vertex, int bone) {
    const arap_solver *s = solver;
    if (arap_excluded_of(s) && arap_is_excluded(s, vertex, bone)) return 1;
    return arap_is_beyond_spread(&s->spread, &s->mesh, &s->skeleton, vertex, bone) &&
           !is_wanted(s, vertex, bone);
}
