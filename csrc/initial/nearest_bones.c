/* Rigid weights: see heat.h.
 *
 *   w_ib = 1 for the bone b that owns the point of the skeleton nearest to vertex i, else 0
 *
 * These weights are the "Voronoi indicative functions" chi_b that heat weights diffuse (Baran &
 * Popovic 2007). As in that paper, chi_b does not depend on visibility, which only determines where
 * heat enters. Virtual segments count as their owners (visibility.c). If several bones are equally
 * near, as around a joint, the first one is used. Parts without a visible bone, or far from all
 * bones, are treated in the same way.
 *
 * Takes O(n). Fails on out-of-memory only. */
#include "initial/heat.h"

#include "base/memory.h"
#include "weights/rows.h"

arap_status arap_nearest_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, int max, arap_influences *out) {
    arap_rows rows;
    arap_status status = arap_rows_create(context, mesh->count, &rows);
    for (size_t i = 0; i < (size_t)mesh->count && !status; i++) {
        int count = visibility->nearest_count[i] < max ? visibility->nearest_count[i] : max;
        status = arap_rows_next(context, &rows, (size_t)count);
        for (size_t s = 0; s < (size_t)count && !status; s++)
            arap_rows_add(&rows, visibility->nearest[i * ARAP_MAX_SHARED + s], 1.0 / count, 0);
    }
    return arap_rows_end(status, &rows, out);
}
