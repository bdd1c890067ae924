/* The harmonic term of a solver: see smoothness.h.
 *
 * To draw the Laplacian of all weights at vertex i toward zero, the brush of the paper's section 6
 * adds the term
 *     s_i^2 STIFFNESS c_i sum_b |(L w_b)_i / L_ii|^2,    c_i = constraint_strength Lambda_i #poses,
 * with s_i from 0 to 1. Such a row ties a weight to the mean of the neighbors' weights. With s = 1,
 * little of the Laplacian remains. With s = 0.1, about half of it remains. If such rows were as
 * stiff as pinned weights, they would change the surrounding weights more than the smoothed ones.
 * Only the two-rings of such vertices widen the system. After any change, the term and the order
 * are rebuilt in O(vertices). Without smoothed vertices, the solver stores nothing for them. Fails
 * only on out-of-memory. */
#include "solver/smoothness.h"

#include <math.h>

#include "base/memory.h"

#define STIFFNESS 0.01

arap_status arap_make_harmonic(arap_context *context, arap_solver *solver) {
    double unit = solver->settings.constraint_strength * solver->poses.total;
    arap_two_rings_clear(&solver->harmonic);
    if (solver->settings.harmonic > 0 || solver->smoothed) {
        arap_status status =
            arap_harmonic_create(context, &solver->mesh, solver->settings.harmonic * unit,
                                 solver->smoothed, STIFFNESS * unit, &solver->harmonic);
        if (status) return status;
    }
    return arap_order_vertices(context, solver, NULL, solver->order);
}

arap_status arap_order_vertices(arap_context *context, const arap_solver *solver,
                                const int *unknowns, int *order) {
    int wide = solver->harmonic.ring != NULL;
    return arap_elimination_order(context, solver->mesh.count,
                                  wide ? solver->harmonic.ring : solver->mesh.ring,
                                  wide ? solver->harmonic.neighbor : solver->mesh.neighbor,
                                  arap_partners(solver), unknowns, order);
}

arap_status arap_smooth(arap_context *context, arap_solver *solver, const arap_edits *edits) {
    if (!edits->smooth_count && !solver->smoothed) return ARAP_OK;
    double *smoothed = edits->smooth_count ? ARAP_NEW_ZERO(double, solver->mesh.count) : NULL;
    if (edits->smooth_count && !smoothed) return arap_fail_memory(&context->error, "the edits");
    for (int k = 0; k < edits->smooth_count; k++) {
        int v = solver->mesh.weld[edits->smooth_vertex[k]];
        int image = solver->symmetry.vertex ? solver->symmetry.vertex[v] : -1;
        double square = edits->smooth_strength[k] * edits->smooth_strength[k];
        smoothed[v] = fmax(smoothed[v], square);
        if (image >= 0) smoothed[image] = fmax(smoothed[image], square);
    }
    arap_free(solver->smoothed);
    solver->smoothed = smoothed;
    return arap_make_harmonic(context, solver);
}
