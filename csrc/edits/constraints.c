/* Weight constraints: see constraints.h.
 *
 * In units of the mesh (diagonal 1), the paper's c_i = 100 BBD^2 Lambda_i #poses equals strength
 * Lambda_i with strength = 100 #poses. All functions take O(entries x ring), and fail on
 * out-of-memory only. */
#include "edits/constraints.h"

#include <string.h>

#include "base/memory.h"

#define ATTACH_ABOVE 0.5
#define NEGATIVE -1e-3
#define NEGLIGIBLE -1e-5 /* negative, but clipping costs less than a row */
#define PEAK_ABOVE 0.95

arap_status arap_penalties_create(arap_context *context, const arap_influences *influences,
                                  arap_penalties *penalties) {
    size_t entries = influences->start[influences->count];
    *penalties = (arap_penalties){.stiffness = ARAP_NEW_ZERO(double, entries),
                                  .aim = ARAP_NEW_ZERO(double, entries)};
    if (penalties->stiffness && penalties->aim) return ARAP_OK;
    arap_penalties_clear(penalties);
    return arap_fail_memory(&context->error, "the weight constraints");
}

void arap_penalties_clear(arap_penalties *penalties) {
    arap_free(penalties->stiffness);
    arap_free(penalties->aim);
    *penalties = (arap_penalties){0};
}

static void add_row(arap_penalties *penalties, size_t entry, double stiffness, double target) {
    penalties->stiffness[entry] += stiffness;
    penalties->aim[entry] += stiffness * target;
}

static int is_strict_maximum(const arap_mesh *mesh, const arap_influences *in, int i, size_t e) {
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++)
        if (arap_weight(in, mesh->neighbor[r], in->bone[e]) >= in->weight[e]) return 0;
    return 1;
}

static int is_nearest(const arap_visibility *visibility, int i, int bone) {
    const int *nearest = visibility->nearest + (size_t)i * ARAP_MAX_SHARED;
    for (int s = 0; s < visibility->nearest_count[i]; s++)
        if (nearest[s] == bone) return 1;
    return 0;
}

arap_status arap_append_constraint(arap_context *context, arap_constraint_list *list,
                                   arap_constraint row) {
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 256;
        arap_constraint *grown = arap_realloc(list->rows, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the weight constraints");
        list->rows = grown;
        list->capacity = capacity;
    }
    list->rows[list->count++] = row;
    return ARAP_OK;
}

void arap_constraint_list_clear(arap_constraint_list *list) {
    arap_free(list->rows);
    *list = (arap_constraint_list){0};
}

arap_status arap_find_attachments(arap_context *context, const arap_mesh *mesh,
                                  const arap_visibility *visibility, const arap_influences *heat,
                                  double strength, arap_constraint_list *rows) {
    arap_status status = ARAP_OK;
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = heat->start[i]; e < heat->start[i + 1] && !status; e++)
            if (heat->weight[e] > ATTACH_ABOVE && visibility->visible[i] &&
                is_nearest(visibility, i, heat->bone[e]) &&
                (mesh->tet_count ? visibility->on_bone[i] && visibility->distance[i] <= ARAP_ON_BONE
                                 : is_strict_maximum(mesh, heat, i, e)))
                status = arap_append_constraint(
                    context, rows, (arap_constraint){i, heat->bone[e], 1, strength, 0});
    return status;
}

arap_status arap_find_peaks(arap_context *context, const arap_mesh *mesh,
                            const arap_visibility *visibility, const arap_influences *heat,
                            const arap_skeleton *skeleton, double strength,
                            arap_constraint_list *rows) {
    double *peak = ARAP_NEW_ZERO(double, skeleton->deform_count);
    arap_status status =
        peak ? ARAP_OK : arap_fail_memory(&context->error, "the weight constraints");
    int any_inside = memchr(visibility->bone_inside, 1, (size_t)skeleton->deform_count) != NULL;
    /* Find the peaks first, then everything near them. */
    for (int pass = 0; pass < 2 && !status; pass++)
        for (int i = 0; i < mesh->count; i++)
            for (size_t e = heat->start[i]; e < heat->start[i + 1] && !status; e++) {
                int b = heat->bone[e];
                double w = heat->weight[e];
                if (!visibility->visible[i] || !visibility->on_bone[i] ||
                    !is_nearest(visibility, i, b) ||
                    (any_inside && skeleton->deform_parent[b] < 0 && !visibility->bone_inside[b]))
                    continue;
                if (!pass)
                    peak[b] = w > peak[b] ? w : peak[b];
                else if (w >= PEAK_ABOVE * peak[b])
                    status = arap_append_constraint(context, rows,
                                                    (arap_constraint){i, b, w, strength, 0});
            }
    arap_free(peak);
    return status;
}

/* The entry of a row, and its stiffness in the given unit; -1: no free entry. */
static ptrdiff_t row_entry(const arap_mesh *mesh, const arap_influences *in,
                           const arap_constraint *row, double unit, double *stiffness) {
    ptrdiff_t e = arap_find_influence(in, row->vertex, row->bone);
    *stiffness = unit * row->strength * mesh->area[row->vertex];
    return e >= 0 && !in->locked[e] && !row->released ? e : -1;
}

void arap_add_constraints(const arap_mesh *mesh, const arap_influences *influences,
                          const arap_constraint_list *rows, double unit,
                          arap_penalties *penalties) {
    for (int r = 0; r < rows->count; r++) {
        double stiffness;
        ptrdiff_t e = row_entry(mesh, influences, &rows->rows[r], unit, &stiffness);
        if (e >= 0) add_row(penalties, (size_t)e, stiffness, rows->rows[r].target);
    }
}

/* The mean weight of a row's bone at the neighbors of its vertex; 1: without neighbors. */
static double ring_mean(const arap_mesh *mesh, const arap_influences *in,
                        const arap_constraint *row) {
    size_t begin = mesh->ring[row->vertex], end = mesh->ring[row->vertex + 1];
    double sum = 0;
    for (size_t r = begin; r < end; r++) sum += arap_weight(in, mesh->neighbor[r], row->bone);
    return end > begin ? sum / (double)(end - begin) : 1;
}

int arap_drop_attachments(const arap_mesh *mesh, const arap_influences *influences, double unit,
                          arap_constraint *rows, int count, arap_penalties *penalties) {
    int dropped = 0;
    for (int r = 0; r < count; r++) {
        double stiffness, mean;
        ptrdiff_t e = row_entry(mesh, influences, &rows[r], unit, &stiffness);
        if (e < 0 || (mean = ring_mean(mesh, influences, &rows[r])) > ATTACH_ABOVE) continue;
        int better = 0;
        while (better < count && !(rows[better].bone == rows[r].bone && !rows[better].released &&
                                   ring_mean(mesh, influences, &rows[better]) > mean))
            better++;
        if (better == count) continue;
        rows[r].released = 1;
        add_row(penalties, (size_t)e, -stiffness, rows[r].target);
        dropped++;
    }
    return dropped;
}

double arap_constraints_cost(const arap_mesh *mesh, const arap_influences *influences,
                             const arap_constraint_list *rows, int count, double unit,
                             const char *except) {
    double sum = 0;
    for (int r = 0; r < count; r++) {
        double stiffness;
        ptrdiff_t e = row_entry(mesh, influences, &rows->rows[r], unit, &stiffness);
        if (e >= 0 && !except[e])
            sum += stiffness * (influences->weight[e] - 2 * rows->rows[r].target) *
                   influences->weight[e];
    }
    return sum;
}

int arap_add_neumann(const arap_mesh *mesh, const arap_influences *influences, double strength,
                     arap_penalties *penalties) {
    int rows = 0;
    for (int i = 0; i < influences->count; i++)
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++) {
            int border = 0;
            for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1] && !border; r++)
                border =
                    arap_find_influence(influences, mesh->neighbor[r], influences->bone[e]) < 0;
            if (!border) continue;
            add_row(penalties, e, strength * mesh->area[i], 0);
            rows++;
        }
    return rows;
}

static int is_minimum(const arap_mesh *mesh, const arap_influences *in, int i, size_t e) {
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++)
        if (arap_weight(in, mesh->neighbor[r], in->bone[e]) < in->weight[e]) return 0;
    return 1;
}

int arap_activate_bounds(const arap_mesh *mesh, const arap_influences *influences, double strength,
                         int minima, char *active, arap_penalties *penalties) {
    double max = minima ? NEGATIVE : NEGLIGIBLE;
    int rows = 0;
    for (int i = 0; i < influences->count; i++)
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++) {
            if (active[e] || influences->locked[e] || influences->weight[e] >= max) continue;
            if (minima && !is_minimum(mesh, influences, i, e)) continue;
            active[e] = 1;
            add_row(penalties, e, strength * mesh->area[i], 0);
            rows++;
        }
    return rows;
}

int arap_release_bounds(const arap_mesh *mesh, const arap_influences *influences,
                        const double *descent, double strength, char *active,
                        arap_penalties *penalties) {
    int changes = 0;
    for (int i = 0; i < influences->count; i++) {
        double sum = 0, mean = 0; /* the multiplier for sum w = 1, exact at the optimum */
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++)
            if (!influences->locked[e]) {
                sum += influences->weight[e];
                mean += influences->weight[e] * descent[e];
            }
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++) {
            if (!active[e] || !(descent[e] * sum > mean)) continue;
            active[e] = 0;
            penalties->stiffness[e] -= strength * mesh->area[i];
            changes++;
        }
    }
    return changes;
}

void arap_add_damping(const arap_mesh *mesh, const arap_influences *influences, double share,
                      arap_penalties *penalties) {
    for (int i = 0; i < influences->count; i++)
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++)
            if (!influences->locked[e])
                add_row(penalties, e, share * mesh->area[i], influences->weight[e]);
}
