/* Heat weights: see heat.h.
 *
 *   (L + M H) w_b = M H chi_b        (paper Eq. 6, docs/energy.md 5)
 *
 * L + M H: heat_system.c. chi: 1 for the bone that owns the nearest point of the skeleton, shared
 * among equals. An island to which no bone is near (the nearest is farther than the island is
 * large) follows that bone rigidly.
 *
 * One factorization, bones solved in blocks: O(n^1.5) + O(bones n log n); memory O(n) for a
 * block plus the kept entries. Fails without memory, where the system cannot be factorized and
 * for weights that are not finite. */
#include "initial/heat.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "initial/heat_system.h"

#define BLOCK_PER_THREAD 32

/* A growing list of (vertex, bone, weight), bones ascending. */
typedef struct entry_list {
    struct entry {
        int vertex, bone;
        double weight;
    } *entries;
    size_t count, capacity;
} entry_list;

static arap_status append(arap_context *context, entry_list *list, int vertex, int bone,
                          double weight) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        struct entry *grown = arap_realloc(list->entries, capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the heat weights");
        list->entries = grown;
        list->capacity = capacity;
    }
    list->entries[list->count++] = (struct entry){vertex, bone, weight};
    return ARAP_OK;
}

/* Solve for all bones, block by block, and list the weights above `floor`. */
static arap_status solve_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, const int *order,
                               const arap_heat_system *system, int bones, double floor,
                               entry_list *list, double *sum) {
    size_t n = (size_t)mesh->count;
    int block = BLOCK_PER_THREAD * context->threads;
    if (block > bones) block = bones;
    double *x = ARAP_NEW(double, n * (size_t)block);
    arap_status status = x ? ARAP_OK : arap_fail_memory(&context->error, "the heat weights");
    for (int first = 0; first < bones && !status; first += block) {
        int width = bones - first < block ? bones - first : block;
        memset(x, 0, n * (size_t)width * sizeof *x);
        for (size_t i = 0; i < n; i++) {
            int shares = visibility->nearest_count[i];
            for (int s = 0; s < shares; s++) {
                int b = visibility->nearest[i * ARAP_MOST_SHARED + (size_t)s] - first;
                if (b >= 0 && b < width)
                    x[(size_t)b * n + (size_t)system->place[i]] = system->source[i] / shares;
            }
        }
        status = arap_factor_solve_all(context, system->factor, width, x);
        for (int b = 0; b < width && !status; b++)
            for (size_t k = 0; k < n && !status; k++) {
                double w = x[(size_t)b * n + k];
                if (!isfinite(w))
                    status =
                        arap_fail(&context->error, ARAP_NOT_FINITE,
                                  "the heat weight of vertex %d is %g", mesh->first[order[k]], w);
                if (w > 0) sum[order[k]] += w;
                if (w > floor && !status) status = append(context, list, order[k], first + b, w);
            }
        if (!status)
            status = arap_progress(context, "heat weights", (double)(first + width) / bones);
    }
    arap_free(x);
    return status;
}

/* Sorted rows from the list; rigid vertices and rows without heat get one bone. */
static arap_status gather(arap_context *context, const arap_mesh *mesh,
                          const arap_visibility *visibility, const entry_list *list,
                          const double *sum, const int *rigid_bone, arap_influences *out) {
    int n = mesh->count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    if (!sizes) return arap_fail_memory(&context->error, "the heat weights");
    for (size_t e = 0; e < list->count; e++) sizes[list->entries[e].vertex]++;
    for (int i = 0; i < n; i++)
        if (rigid_bone[i] >= 0 || !sizes[i]) sizes[i] = -1;
    for (int i = 0; i < n; i++) sizes[i] = sizes[i] < 0 ? 1 : sizes[i];
    arap_status status = arap_influences_create(context, n, sizes, out);
    if (status) goto done;
    memset(sizes, 0, (size_t)n * sizeof *sizes);
    for (size_t e = 0; e < list->count; e++) {
        const struct entry *entry = &list->entries[e];
        if (rigid_bone[entry->vertex] >= 0) continue;
        size_t at = out->start[entry->vertex] + (size_t)sizes[entry->vertex]++;
        out->bone[at] = entry->bone;
        out->weight[at] = entry->weight / sum[entry->vertex];
    }
    for (int i = 0; i < n; i++) {
        if (sizes[i]) continue;
        out->bone[out->start[i]] =
            rigid_bone[i] >= 0 ? rigid_bone[i] : visibility->nearest[(size_t)i * ARAP_MOST_SHARED];
        out->weight[out->start[i]] = 1;
    }

done:
    arap_free(sizes);
    return status;
}

arap_status arap_heat_weights(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const int *order, double floor, arap_influences *out,
                              arap_heat_report *report) {
    arap_heat_system system = {0};
    entry_list list = {0};
    double *sum = NULL;
    arap_status status = arap_heat_system_create(context, mesh, visibility, order, &system, report);
    if (status) return status;
    sum = ARAP_NEW_ZERO(double, mesh->count);
    if (!sum) status = arap_fail_memory(&context->error, "the heat weights");
    if (!status)
        status = solve_bones(context, mesh, visibility, order, &system, skeleton->deform_count,
                             floor, &list, sum);
    if (!status) status = gather(context, mesh, visibility, &list, sum, system.rigid_bone, out);
    if (status) arap_heat_report_clear(report);
    arap_heat_system_clear(&system);
    arap_free(list.entries);
    arap_free(sum);
    return status;
}

void arap_heat_report_clear(arap_heat_report *report) {
    arap_free(report->unseen);
    *report = (arap_heat_report){0};
}
