/* Baseline weights: see baseline.h.
 *
 * Keeps the max_influences largest entries of every row that the method returns, removes entries
 * below min_weight except the largest, and scales the rest to sum to 1. Neither poses nor the
 * energy are used. The cost is that of the method. Fails if the method fails, and for invalid
 * input. */
#include "initial/baseline.h"

#include <math.h>

#include "base/memory.h"
#include "initial/biharmonic.h"
#include "initial/heat.h"
#include "initial/rigged_mesh.h"
#include "weights/rows.h"

#define FLOOR 1e-6 /* minimum of raw weights, because smaller ones are removed anyway */

static const arap_setting rows[] = {
#define ARAP_SETTINGS_OF arap_baseline_settings
#define ARAP_SETTINGS_BASELINE
#include "settings.def"
};
const arap_setting_table arap_baseline_settings_table = {sizeof rows / sizeof *rows, rows};

arap_status arap_fresh_weights(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const arap_visibility *visibility,
                               const int *order, const arap_handles *given, arap_initial method,
                               double floor, arap_influences *out, arap_islands_report *report) {
    switch (method) {
    case ARAP_INITIAL_NEAREST:
        return arap_nearest_bones(context, mesh, visibility, 1, out);
    case ARAP_INITIAL_BONEGLOW:
        return arap_boneglow_weights(context, mesh, skeleton, visibility, order, floor, out,
                                     report);
    case ARAP_INITIAL_BBW:
        return arap_bbw(context, mesh, skeleton, visibility, given, floor, out);
    case ARAP_INITIAL_BIHARMONIC:
        return arap_biharmonic_weights(context, mesh, skeleton, visibility, given, floor, out);
    default:
        return arap_heat_weights(context, mesh, skeleton, visibility, order, floor, out, report);
    }
}

/* Mark in keep (for this row) the entries that remain. */
static void choose(const double *weight, int count, const arap_baseline_settings *settings,
                   char *keep) {
    int max = settings->max_influences ? settings->max_influences : count, kept = 0;
    for (int e = 0; e < count; e++) keep[e] = 0;
    while (kept < max) {
        int best = -1;
        for (int e = 0; e < count; e++)
            if (!keep[e] && (best < 0 || weight[e] > weight[best])) best = e;
        int small = best < 0 || !(weight[best] > 0) || weight[best] < settings->min_weight;
        if (best < 0 || (kept && small)) break;
        keep[best] = 1;
        kept++;
    }
}

/* Convert rows of the mesh to rows of the caller's vertices and bones. */
static arap_status hand_out(arap_context *context, const arap_mesh *mesh,
                            const arap_skeleton *skeleton, const arap_baseline_settings *settings,
                            const arap_influences *all, arap_influences *out) {
    int n = mesh->input_count;
    arap_rows rows = {0};
    char *keep = ARAP_NEW(char, skeleton->deform_count);
    arap_status status = keep ? arap_rows_create(context, n, &rows)
                              : arap_fail_memory(&context->error, "the weights");
    for (int i = 0; i < n && !status; i++) {
        size_t from = all->start[mesh->weld[i]];
        int count = (int)(all->start[mesh->weld[i] + 1] - from);
        choose(all->weight + from, count, settings, keep);
        status = arap_rows_next(context, &rows, (size_t)count);
        for (int e = 0; e < count && !status; e++)
            if (keep[e])
                arap_rows_add(&rows, skeleton->deform_bone[all->bone[from + (size_t)e]],
                              all->weight[from + (size_t)e], 0);
    }
    status = arap_rows_end(status, &rows, out);
    if (!status) arap_influences_normalize(out);
    arap_free(keep);
    return status;
}

/* Convert handles to those of the mesh and of deforming bones. */
static arap_status take_handles(arap_context *context, const arap_mesh *mesh,
                                const arap_skeleton *skeleton, const int *handles,
                                const arap_baseline_settings *settings, arap_handles *given) {
    arap_status status = ARAP_OK;
    if (settings->method != ARAP_INITIAL_BBW && settings->method != ARAP_INITIAL_BIHARMONIC)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "handles is given, but the method is not bbw or biharmonic");
    given->bones = ARAP_NEW_ZERO(int, mesh->count);
    if (!given->bones) return arap_fail_memory(&context->error, "the handles of bones");
    for (int i = 0; i < mesh->input_count && !status; i++) {
        int bone = handles[i];
        if (bone == -1) continue;
        if (bone < 0 || bone >= skeleton->count || arap_deforming(skeleton, bone) < 0)
            status = arap_fail(&context->error, ARAP_BAD_VALUE,
                               "handles[%d] is %d: must be -1 or a deforming bone", i, bone);
        else
            status = arap_add_handle(context, given, mesh->weld[i], arap_deforming(skeleton, bone));
    }
    return status;
}

arap_status arap_baseline_weights(arap_context *context, const arap_geometry *geometry,
                                  const arap_bones *bones, const int *handles,
                                  const arap_baseline_settings *settings, arap_influences *out) {
    arap_handles given = {0};
    arap_rigged_mesh rigged = {0};
    arap_islands_report report = {0};
    arap_influences all = {0};
    arap_status status =
        arap_settings_check(&context->error, &arap_baseline_settings_table, settings);
    if (!status)
        status = arap_rigged_mesh_create(context, geometry, bones, settings->link_parts, &rigged);
    if (!status && handles)
        status = take_handles(context, &rigged.mesh, &rigged.skeleton, handles, settings, &given);
    if (!status)
        status = arap_fresh_weights(context, &rigged.mesh, &rigged.skeleton, &rigged.visibility,
                                    rigged.order, handles ? &given : NULL, settings->method,
                                    fmin(FLOOR, settings->min_weight), &all, &report);
    if (!status) status = hand_out(context, &rigged.mesh, &rigged.skeleton, settings, &all, out);
    arap_islands_report_clear(&report);
    arap_influences_clear(&all);
    arap_handles_clear(&given);
    arap_rigged_mesh_clear(&rigged);
    return status;
}
