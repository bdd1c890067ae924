/* The ARAP energy of any weights: see energy.h.
 *
 *   E_i = sum_poses sum_k a_ik |e'_ik|^2 - 2 sum_poses tr(R_i^T cov_i) + #poses sum_k a_ik |e_ik|^2
 *
 * with each pose multiplied by its weight (pose_weights.c). The first sum is the stretch of
 * arap_stiffness_product. The second is the alignment of the local step. Both sums over the poses
 * are computed either before any vertex is visited or in the same pass. For as-rigid-as-desired
 * bone kinds, R_i is not a pure rotation, and the third sum becomes sum_poses sum_k a_ik |R_i
 * e_ik|^2. The local step returns the excess of this sum over the third sum above. The cost is that
 * of a local step and a product (stiffness.h). Fails if memory runs out or if the energy is not
 * finite. */
#include "energy/energy.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "energy/local_step.h"
#include "energy/stiffness.h"

arap_status arap_energy(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                        const arap_packed_poses *packed, const arap_influences *influences,
                        double *energy, double *vertex_energy) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    double *stretch = ARAP_TAKE(&arena, n, double), *alignment = ARAP_TAKE(&arena, n, double);
    arap_local_step *local_step = NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the energy");
    if (status) goto done;
    status = arap_local_step_create(context, mesh, packed, influences, NULL, NULL, &local_step);
    if (!status) status = arap_local_step_run(context, local_step, NULL, alignment);
    if (!status)
        status =
            arap_stiffness_product(context, mesh, poses, influences, NULL, NULL, stretch, NULL);
    if (status) goto done;
    const double *excess = arap_local_step_excess(local_step);
    double total = 0, unit = 0;
    for (size_t i = 0; i < n; i++) {
        double rest = 0;
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
            double e[3];
            arap_mesh_edge(mesh, (int)i, r, e);
            rest += poses->total * mesh->edge_weight[r] * arap_dot(e, e);
        }
        double springs;
        arap_mesh_tie(mesh, (int)i, &springs);
        rest += poses->total * springs;
        double own = stretch[i] - 2 * alignment[i] + rest + (excess ? excess[i] : 0);
        if (vertex_energy) vertex_energy[i] = rest > 0 ? fmax(own / rest, 0) : 0;
        total += own;
        unit += rest;
    }
    *energy = unit > 0 ? total / unit : 0;
    if (!isfinite(*energy))
        status = arap_fail(&context->error, ARAP_NOT_FINITE, "the energy is %g", *energy);
    else if (*energy < 0) /* rounding, where nothing is bent */
        *energy = 0;

done:
    arap_local_step_free(local_step);
    arap_arena_clear(&arena);
    return status;
}
