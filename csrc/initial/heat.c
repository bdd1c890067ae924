/* Heat weights: see heat.h.
 *
 *   (L + M H) w_b = M H chi_b        (paper Eq. 6, docs/energy.md 5)
 *
 * heat_system.c computes L + M H. chi is 1 for the bone that owns the nearest point of the
 * skeleton, and is divided equally if several bones are equally near. Other shares come from
 * boneglow.c. An island whose nearest bone is farther away than the size of the island follows that
 * bone rigidly.
 *
 * All bones share one factorization and are solved in blocks, which takes O(n^1.5) + O(bones n log
 * n) time, and O(n) memory per block plus the kept entries. Fails on out-of-memory, if the system
 * cannot be factorized, and for weights that are not finite. */
#include "initial/heat.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/entries.h"
#include "initial/heat_system.h"

#define BLOCK_PER_THREAD (2 * ARAP_RIGHT_SIDES)

/* Solve for all bones, block by block, and list weights above `floor` of vertices that do not
 * follow a bone rigidly. sum (count): sum of all weights. */
static arap_status solve_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_influences *shares, const int *order,
                               const arap_heat_system *system, int bones, double floor,
                               arap_entries *list, double *sum) {
    size_t n = (size_t)mesh->count;
    int block = BLOCK_PER_THREAD * context->threads;
    if (block > bones) block = bones;
    double *x = ARAP_NEW(double, n * (size_t)block);
    arap_status status = x ? ARAP_OK : arap_fail_memory(&context->error, "the heat weights");
    for (int first = 0; first < bones && !status; first += block) {
        int width = bones - first < block ? bones - first : block;
        memset(x, 0, n * (size_t)width * sizeof *x);
        for (size_t i = 0; i < n; i++)
            for (size_t e = shares->start[i]; e < shares->start[i + 1]; e++) {
                int b = shares->bone[e] - first;
                if (b >= 0 && b < width)
                    x[(size_t)b * n + (size_t)system->place[i]] =
                        system->source[i] * shares->weight[e];
            }
        status = arap_factor_solve_all(context, system->factor, width, x);
        for (int b = 0; b < width && !status; b++) {
            status = arap_poll_cancel(context);
            for (size_t k = 0; k < n && !status; k++) {
                double w = x[(size_t)b * n + k];
                if (!isfinite(w))
                    status =
                        arap_fail(&context->error, ARAP_NOT_FINITE,
                                  "the heat weight of vertex %d is %g", mesh->first[order[k]], w);
                if (w > 0) sum[order[k]] += w;
                if (w > floor && !status && system->rigid_bone[order[k]] < 0)
                    status = arap_entries_add(context, list, order[k], first + b, w);
            }
        }
        if (!status)
            status = arap_progress(context, "heat weights", (double)(first + width) / bones);
    }
    arap_free(x);
    return status;
}

/* Build the rows from the list. Rigid vertices and rows without heat get one bone. rigid_bone is
 * extended to all vertices with a single bone. */
static arap_status gather(arap_context *context, const arap_mesh *mesh,
                          const arap_visibility *visibility, arap_entries *list, const double *sum,
                          int *rigid_bone, arap_influences *out) {
    for (size_t e = 0; e < list->count; e++) list->entry[e].weight /= sum[list->entry[e].vertex];
    for (int i = 0; i < mesh->count; i++)
        if (rigid_bone[i] < 0) rigid_bone[i] = visibility->nearest[(size_t)i * ARAP_MAX_SHARED];
    return arap_entries_rows(context, list, mesh->count, rigid_bone, out);
}

arap_status arap_diffuse_shares(arap_context *context, const arap_mesh *mesh, int bones,
                                const arap_visibility *visibility, const int *order,
                                const arap_influences *shares, double floor, arap_influences *out,
                                arap_islands_report *report) {
    arap_heat_system system = {0};
    arap_entries list = {0};
    double *sum = NULL;
    arap_status status = arap_heat_system_create(context, mesh, visibility, order, &system, report);
    if (status) return status;
    sum = ARAP_NEW_ZERO(double, mesh->count);
    if (!sum) status = arap_fail_memory(&context->error, "the heat weights");
    if (!status)
        status = solve_bones(context, mesh, shares, order, &system, bones, floor, &list, sum);
    if (!status) status = gather(context, mesh, visibility, &list, sum, system.rigid_bone, out);
    if (status) arap_islands_report_clear(report);
    arap_heat_system_clear(&system);
    arap_entries_clear(&list);
    arap_free(sum);
    return status;
}

arap_status arap_heat_weights(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const int *order, double floor, arap_influences *out,
                              arap_islands_report *report) {
    arap_influences shares = {0};
    arap_status status = arap_nearest_bones(context, mesh, visibility, ARAP_MAX_SHARED, &shares);
    if (!status)
        status = arap_diffuse_shares(context, mesh, skeleton->deform_count, visibility, order,
                                     &shares, floor, out, report);
    arap_influences_clear(&shares);
    return status;
}
