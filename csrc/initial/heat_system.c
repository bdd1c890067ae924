/* The heat system: see heat_system.h.
 *
 *   L + M H        (paper Eq. 6, docs/energy.md 5)
 *
 * L is the cotangent Laplacian, plus a spring for every wire edge and a weak spring for every link
 * between parts. A part that sees its own bone therefore keeps this bone, and a part that sees none
 * takes the weights of the surface on which it sits. M contains the barycentric areas. H_ii is 1 /
 * distance^2 from the skeleton if the vertex sees the nearest point of the skeleton, and 0
 * otherwise. For an island in which no vertex sees a bone, H is computed without the visibility
 * test (islands.c).
 *
 * The matrix is positive definite, and factorizing it takes O(n^1.5). If the factorization fails
 * because of rounding errors, it is repeated with larger sources. Rounding errors can be this large
 * for an island of wires whose distance from the bones is a thousand times its size, or for faces a
 * million times longer than high. */
#include "initial/heat_system.h"

#include <math.h>

#include "base/memory.h"
#include "initial/heat.h"
#include "mesh/laplacian.h"
#include "mesh/two_rings.h"

/* minimum distance as a share of the mesh diagonal, which limits H for vertices on a bone */
#define NEAREST_DISTANCE 1e-6
/* Minimum source of a vertex with a source, as a share of its diagonal, after a failed
 * factorization. */
#define MIN_FLOOR 1e-12
#define FLOOR_GROWTH 1e3
#define MAX_FLOOR 1e-2

/* L + M H in elimination order; dominant: omit the negative conductances of obtuse angles. */
static arap_status heat_matrix(arap_context *context, const arap_mesh *mesh, const int *order,
                               const int *place, const double *source, int dominant,
                               arap_matrix *matrix) {
    arap_arena arena = {0};
    double *edge = ARAP_TAKE(&arena, mesh->ring[mesh->count], double);
    double *own = ARAP_TAKE(&arena, mesh->count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the heat system");
    if (status) goto done;
    arap_conductances(mesh, edge);
    for (int i = 0; i < mesh->count; i++) {
        own[i] = source[i];
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            edge[e] = dominant ? -fmax(edge[e], 0) : -edge[e];
            own[i] -= edge[e];
        }
    }
    arap_two_rings system = {
        .ring = mesh->ring, .neighbor = mesh->neighbor, .edge = edge, .own = own};
    status = arap_two_rings_matrix(context, &system, mesh->count, order, place, matrix);

done:
    arap_arena_clear(&arena);
    return status;
}

/* Store M H of every vertex in `source`. Islands that see no bone are reported. */
static arap_status heat_sources(arap_context *context, const arap_mesh *mesh,
                                const arap_visibility *visibility, double *source, int *rigid_bone,
                                arap_islands_report *report) {
    char *shines = ARAP_NEW(char, mesh->count);
    if (!shines) return arap_fail_memory(&context->error, "the heat sources");
    arap_status status = arap_judge_islands(context, mesh, visibility, shines, rigid_bone, report);
    for (int i = 0; i < mesh->count && !status; i++) {
        double d = fmax(visibility->distance[i], NEAREST_DISTANCE);
        source[i] = shines[i] ? mesh->area[i] / (d * d) : 0;
    }
    arap_free(shines);
    return status;
}

/* Create L + M H and its factor. If the bones are so far away, or the mesh so stiff, that M H is
 * lost to rounding, all sources of an island are equal anyway. The sources are then raised until
 * they have an effect. Rounding may leave only negative cotangents in tets without thickness. As a
 * last resort, these are removed. */
static arap_status factor_heat(arap_context *context, const arap_mesh *mesh, const int *order,
                               arap_heat_system *system) {
    arap_matrix matrix = {0};
    arap_status status;
    for (double floor = MIN_FLOOR;; floor *= FLOOR_GROWTH) {
        int last = floor > MAX_FLOOR;
        status = heat_matrix(context, mesh, order, system->place, system->source, last, &matrix);
        if (status) break;
        status = arap_factor_create(context, &matrix, &system->factor);
        if (status != ARAP_NOT_FACTORED || last) break;
        context->error = (arap_error){0};
        for (int j = 0; j < mesh->count; j++) {
            double *source = &system->source[order[j]];
            double diagonal = matrix.value[matrix.start[j]];
            if (*source > 0) *source = fmax(*source, floor * diagonal);
        }
        arap_matrix_clear(&matrix);
    }
    arap_matrix_clear(&matrix);
    return status;
}

arap_status arap_heat_system_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_visibility *visibility, const int *order,
                                    arap_heat_system *system, arap_islands_report *report) {
    size_t n = (size_t)mesh->count;
    *system = (arap_heat_system){0};
    system->place = ARAP_TAKE(&system->arena, n, int);
    system->source = ARAP_TAKE(&system->arena, n, double);
    system->rigid_bone = ARAP_TAKE(&system->arena, n, int);
    *report = (arap_islands_report){0};
    arap_status status = arap_arena_status(&system->arena, &context->error, "the heat system");
    if (status) goto done;
    for (size_t k = 0; k < n; k++) system->place[order[k]] = (int)k;
    status = heat_sources(context, mesh, visibility, system->source, system->rigid_bone, report);
    if (!status) status = factor_heat(context, mesh, order, system);

done:
    if (status) {
        arap_heat_system_clear(system);
        arap_islands_report_clear(report);
    }
    return status;
}

void arap_heat_system_clear(arap_heat_system *system) {
    arap_factor_free(system->factor);
    arap_arena_clear(&system->arena);
    *system = (arap_heat_system){0};
}
