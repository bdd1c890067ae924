/* What is barred from a vertex: see barred.h. What is allowed by an edit is not barred by
 * inner_bones.h. O(locks of the vertex + log marks + depth of the skeleton); cannot fail. */
#include "solver/barred.h"

int arap_is_barred(const void *solver, int vertex, int bone) {
    const arap_solver *s = solver;
    int mark = arap_find_mark(&s->marks, arap_lead(&s->parts, vertex), bone);
    if (mark & ARAP_FORBIDDEN) return 1;
    if (!(mark & ARAP_ALLOWED) &&
        arap_inner_bars(&s->inner, &s->skeleton, s->mesh.part[vertex], bone))
        return 1;
    for (int i = s->mesh.first[vertex]; i >= 0 && s->locks.vertex; i = s->mesh.next[i])
        if (arap_is_locked(&s->locks, i, bone)) return 1;
    return 0;
}

arap_barred_fn arap_barred_of(const arap_solver *s) {
    return s->locks.vertex || s->marks.count || s->inner.count ? arap_is_barred : NULL;
}
