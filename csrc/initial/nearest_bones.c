/* Rigid weights: see nearest_bones.h.
 *
 *   w_ib = 1 for the bone b that owns the point of the skeleton nearest to vertex i, else 0
 *
 * The "Voronoi indicative function" chi_b that heat weights diffuse (Baran & Popovic 2007): like
 * there it does not ask whether the vertex sees the bone, which only says where heat comes in.
 * Virtual segments count as their owners (visibility.c). Of bones equally near, around a joint, the
 * first one counts. Parts that see no bone, or are far from all, are no different.
 *
 * O(n); it fails without memory only. */
#include "initial/nearest_bones.h"

#include "base/memory.h"

arap_status arap_nearest_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, int most, arap_influences *out) {
    int n = mesh->count;
    int *sizes = ARAP_NEW(int, n);
    if (!sizes) return arap_fail_memory(&context->error, "the nearest bones");
    for (int i = 0; i < n; i++)
        sizes[i] = visibility->nearest_count[i] < most ? visibility->nearest_count[i] : most;
    arap_status status = arap_influences_create(context, n, sizes, out);
    for (int i = 0; i < n && !status; i++)
        for (int s = 0; s < sizes[i]; s++) {
            out->bone[out->start[i] + (size_t)s] =
                visibility->nearest[(size_t)i * ARAP_MOST_SHARED + (size_t)s];
            out->weight[out->start[i] + (size_t)s] = 1.0 / sizes[i];
        }
    arap_free(sizes);
    return status;
}
