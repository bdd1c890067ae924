/* Start and end of the stage for dual quaternions: see dual_stage.h.
 *
 * Weights for linear blending are close to those for dual quaternions, and so are the influence
 * patterns and the matrix of the global step. If bones rotate little relative to each other, both
 * deformers blend in the same way. The stage therefore keeps the patterns and the matrix. Only the
 * gradient and the energy are those of dual quaternions (iteration.c). Stretch that linear blending
 * allows on purpose (stretch.h) counts as strain in this stage. The cost is that of the first local
 * step. Fails on out-of-memory, and for bones that are not rigid.
 * */
#include "solver/dual_stage.h"

#include "solver/iteration.h"

arap_status arap_check_dual_bones(arap_error *error, const arap_skeleton *skeleton) {
    static const char *const names[] = {"rigid", "stb", "spine", "bendy"};
    for (int b = 0; b < skeleton->count; b++)
        if (skeleton->kinds[b] != ARAP_BONE_RIGID)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "deformer is 'dual_quaternions', but bone %d is '%s': must be 'rigid'",
                             b, names[(int)skeleton->kinds[b]]);
    return ARAP_OK;
}

int arap_must_enter_dual(const arap_solver *solver) {
    return solver->settings.deformer == ARAP_DEFORMER_DUAL_QUATERNIONS && !solver->dual &&
           !solver->coarse && solver->stage.over && solver->stage.number == solver->stage.last;
}

arap_status arap_enter_dual(arap_context *context, arap_solver *solver) {
    arap_patterns *m = &solver->patterns;
    arap_status status = arap_dual_energy_create(context, &solver->mesh, &solver->skeleton,
                                                 &solver->poses, &solver->dual);
    if (status) return status;
    solver->history.stage_start[solver->stage.number + 2] = solver->history.count;
    solver->stage.iterations = solver->stage.over = 0;
    m->has_best = 0;
    m->stride = 1;
    m->guarded = 1; /* steps do not descend if weights are clipped */
    if (m->anderson) arap_anderson_restart(m->anderson);
    return arap_refresh(context, solver);
}

void arap_leave_dual(arap_solver *solver) {
    arap_dual_energy_free(solver->dual);
    solver->dual = NULL;
}
