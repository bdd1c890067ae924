/* Diffused parameters: see diffused_parameters.h.
 *
 *   (L + M H) u_b = M H u0_b        (the system of the heat weights, heat_system.c)
 *
 * u0_b, a position along bone b, depends on the skeleton point nearest to the vertex. If this point
 * is on b, u0_b is its position along b. If the point is on a descendant of b, u0_b is the position
 * along b of the head of the child that leads to this descendant. If the point is on any other bone
 * of the same tree, u0_b is 0, because the path to that bone leaves b at its head. A bone of
 * another tree gives no value for b. In this case, the position of the vertex itself is used. As a
 * result, u is linear along a straight limb and follows a bent limb. Two folds that touch do not
 * mix if each sees its own bone. The position of each vertex along the bone (spines.h) would jump
 * between such folds.
 *
 * All bones share one factorization. Obtuse triangles may push u slightly out of its bounds, so u
 * is clamped. Takes O(n^1.5) + O(bones n log n) time, and O(n) memory for a block of bones in
 * addition to the result. Fails on out-of-memory, if the system cannot be factorized, and for
 * parameters that are not finite. */
#include "initial/diffused_parameters.h"

#include <math.h>

#include "base/memory.h"
#include "initial/heat_system.h"
#include "initial/rigged_mesh.h"
#include "rig/spines.h"

/* The values of u_b from the owners of nearest points, one number per deforming bone: a position
 * along b, or NaN if the position of the vertex itself is used. */
static void tell_places(const arap_skeleton *s, int b, double *place) {
    const double *head = s->heads + 3 * s->deform_bone[b], *tail = s->tails + 3 * s->deform_bone[b];
    for (int k = 0; k < s->deform_count; k++) {
        int d = s->order[k], parent = s->deform_parent[d];
        if (d == b)
            place[d] = NAN;
        else if (parent == b)
            place[d] = arap_spine_parameter(head, tail, s->heads + 3 * s->deform_bone[d]);
        else if (parent >= 0)
            place[d] = place[parent];
        else
            place[d] = d == s->root[b] ? 0 : NAN;
    }
}

/* M H u0 of one bone in elimination order. */
static void fill_sources(const arap_mesh *mesh, const arap_skeleton *s,
                         const arap_visibility *visibility, const arap_heat_system *system, int b,
                         const double *place, double *x) {
    const double *head = s->heads + 3 * s->deform_bone[b], *tail = s->tails + 3 * s->deform_bone[b];
    for (int i = 0; i < mesh->count; i++) {
        int shares = visibility->nearest_count[i];
        double own = arap_spine_parameter(head, tail, mesh->v + 3 * (size_t)i), u = 0;
        for (int k = 0; k < shares; k++) {
            double told = place[visibility->nearest[(size_t)i * ARAP_MAX_SHARED + (size_t)k]];
            u += isnan(told) ? own : told;
        }
        x[system->place[i]] = system->source[i] * u / shares;
    }
}

/* Compute columns of the result for these deforming bones. */
static arap_status solve_block(arap_context *context, const arap_mesh *mesh, const arap_skeleton *s,
                               const arap_visibility *visibility, const arap_heat_system *system,
                               const int *chosen, int width, double *place, double *x,
                               double *out) {
    size_t n = (size_t)mesh->count;
    for (int k = 0; k < width; k++) {
        tell_places(s, chosen[k], place);
        fill_sources(mesh, s, visibility, system, chosen[k], place, x + (size_t)k * n);
    }
    arap_status status = arap_factor_solve_all(context, system->factor, width, x);
    for (int k = 0; k < width && !status; k++)
        for (int i = 0; i < mesh->input_count; i++) {
            double u = x[(size_t)k * n + (size_t)system->place[mesh->weld[i]]];
            if (!isfinite(u))
                return arap_fail(&context->error, ARAP_NOT_FINITE,
                                 "the parameter of vertex %d is %g", i, u);
            out[(size_t)i * (size_t)s->count + (size_t)s->deform_bone[chosen[k]]] =
                fmin(fmax(u, 0), 1);
        }
    return status;
}

static arap_status diffuse(arap_context *context, const arap_mesh *mesh, const arap_skeleton *s,
                           const arap_visibility *visibility, const arap_heat_system *system,
                           int all, double *out) {
    arap_arena arena = {0};
    int block = ARAP_RIGHT_SIDES * context->threads, count = 0;
    int *chosen = ARAP_TAKE(&arena, s->deform_count, int);
    double *place = ARAP_TAKE(&arena, s->deform_count, double), *x = NULL;
    for (int d = 0; d < s->deform_count && chosen; d++)
        if (all || s->kinds[s->deform_bone[d]] != ARAP_BONE_RIGID) chosen[count++] = d;
    if (block > count) block = count;
    x = ARAP_TAKE(&arena, (size_t)mesh->count * (size_t)block, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the parameters");
    if (status) goto done;
    for (int first = 0; first < count && !status; first += block) {
        int width = count - first < block ? count - first : block;
        status =
            solve_block(context, mesh, s, visibility, system, chosen + first, width, place, x, out);
    }

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_diffuse_parameters(arap_context *context, const arap_geometry *geometry,
                                    const arap_bones *bones, int link_parts, double *out) {
    arap_rigged_mesh rigged = {0};
    arap_heat_system system = {0};
    arap_islands_report report = {0};
    int *segments = ARAP_NEW(int, bones->count);
    arap_bones any = *bones; /* bendy bones with any number of segments, which does not matter
                                here */
    arap_status status = segments ? ARAP_OK : arap_fail_memory(&context->error, "the skeleton");
    for (int b = 0; b < bones->count && segments; b++) segments[b] = 1;
    any.segments = segments;
    if (!status) status = arap_rigged_mesh_create(context, geometry, &any, link_parts, &rigged);
    if (!status)
        status = arap_heat_system_create(context, &rigged.mesh, &rigged.visibility, rigged.order,
                                         &system, &report);
    if (status) goto done;
    for (size_t k = 0; k < (size_t)rigged.mesh.input_count * (size_t)bones->count; k++)
        out[k] = NAN;
    status = diffuse(context, &rigged.mesh, &rigged.skeleton, &rigged.visibility, &system,
                     !bones->kinds, out);

done:
    arap_free(segments);
    arap_islands_report_clear(&report);
    arap_heat_system_clear(&system);
    arap_rigged_mesh_clear(&rigged);
    return status;
}
