/* Spines and STBs: see spines.h.
 *
 * A spine is the limit of infinitely many bones that all turn by the same amount (paper section
 * 1.2). With E = e1 - e0, w = theta a and R(u) = exp(u [w]x), the curve of their joints is
 *     c(u) = e0 + sigma int_0^u R(x) dx E
 * and a point p with parameter u keeps its position relative to its bone:
 *     p -> R_s (c(u) + R(u) (p - e0 - u E)) + t_s.
 * Integration by parts gives the paper's Eq. 2 to 4, except for the sign in front of a x E, which
 * is wrong in the paper (docs/energy.md). With K = [u w]x, x = |u w|, Rodrigues' formula and its
 * integral are
 *     R(u)            = I + sin x / x K + (1 - cos x) / x^2 K^2
 *     int_0^u R(y) dy = u (I + (1 - cos x) / x^2 K + (x - sin x) / x^3 K^2)
 * whose factors all have limits at x = 0, so nothing is divided by theta. Derivatives by u and
 * Jacobian are
 *     R' = [w]x R,   c' = sigma R E
 *     J  = R_s (R + (R' (p - e0 - u E) + (sigma - 1) R E) grad u^T)
 * as in Eq. A.1, except that the t_loc' printed there is not the derivative of the t_loc printed
 * there, with either sign.
 *
 * The gradient of u is the vector g along E that minimizes sum_k lambda_ik (g . e_ik - (u_k -
 * u_i))^2, or 0 if no edge runs along the bone (appendix of the paper).
 *
 * A spine moves each vertex by a separate transform, so poses cannot be summed in advance. The
 * moved points are stored instead, which takes 24 bytes of memory x vertices x spines x poses.
 * Computing them takes O(vertices x spines x poses). Vertices are processed in parallel. Fails on
 * out-of-memory and for invalid bends and parameters. */
#include "rig/spines.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define CHUNK 64
#define STRAIGHT 1e-6 /* sine of the maximum angle between an STB and its axis */

void arap_compose(const double *a, const double *b, double *out) {
    for (int r = 0; r < 3; r++) {
        const double *row = a + 4 * r;
        for (int c = 0; c < 4; c++)
            out[4 * r + c] =
                row[0] * b[c] + row[1] * b[4 + c] + row[2] * b[8 + c] + (c == 3 ? row[3] : 0);
    }
}

/* v + s1 w x v + s2 w x (w x v) */
static void turn(const double *w, double s1, double s2, const double *v, double *out) {
    double once[3], twice[3];
    arap_cross(w, v, once);
    arap_cross(w, once, twice);
    for (int c = 0; c < 3; c++) out[c] = v[c] + s1 * once[c] + s2 * twice[c];
}

/* sin x / x, (1 - cos x) / x^2 and (x - sin x) / x^3, x the root of x2. */
static void find_ratios(double x2, double *sine, double *versine, double *rest) {
    double half = 0.5 * sqrt(x2), half_sine = x2 > 1e-8 ? sin(half) / half : 1 - x2 / 24;
    *sine = x2 > 1e-8 ? half_sine * cos(half) : 1 - x2 / 6;
    *versine = 0.5 * half_sine * half_sine;
    *rest = x2 > 1e-8 ? (1 - *sine) / x2 : 1.0 / 6 - x2 / 120;
}

void arap_spine_factors(const double *bend, double u, double *factors) {
    double sine, versine, rest, stretch = bend[3];
    find_ratios(u * u * arap_dot(bend, bend), &sine, &versine, &rest);
    double once = u * sine, twice = u * u * versine; /* R(u) = I + once K + twice K^2 */
    factors[0] = -once;
    factors[1] = -twice;
    factors[2] = (stretch - 1) * u;
    factors[3] = stretch * twice - u * once;
    factors[4] = stretch * u * u * u * rest - u * twice;
}

void arap_spine_transform(const double *head, const double *tail, const double *bend, double u,
                          double *transform, double *slope) {
    double w[3] = {u * bend[0], u * bend[1], u * bend[2]}, stretch = bend[3];
    double sine, versine, rest;
    find_ratios(arap_dot(w, w), &sine, &versine, &rest);
    double along[3], center[3], turned[3], curve[3];
    arap_sub(tail, head, along);
    for (int c = 0; c < 3; c++) {
        double unit[3] = {c == 0, c == 1, c == 2}, column[3];
        turn(w, sine, versine, unit, column);
        for (int r = 0; r < 3; r++) transform[4 * r + c] = column[r];
        center[c] = head[c] + u * along[c];
    }
    turn(w, versine, rest, along, curve);
    turn(w, sine, versine, center, turned);
    for (int r = 0; r < 3; r++) transform[4 * r + 3] = head[r] + stretch * u * curve[r] - turned[r];
    if (!slope) return;
    double straight[3], moved[3];
    turn(w, sine, versine, along, straight);
    arap_cross(bend, turned, moved);
    for (int c = 0; c < 3; c++) {
        double column[3] = {transform[c], transform[4 + c], transform[8 + c]}, change[3];
        arap_cross(bend, column, change);
        for (int r = 0; r < 3; r++) slope[4 * r + c] = change[r];
        slope[4 * c + 3] = (stretch - 1) * straight[c] - moved[c];
    }
}

double arap_spine_parameter(const double *head, const double *tail, const double *point) {
    double along[3], from[3];
    arap_sub(tail, head, along);
    arap_sub(point, head, from);
    double length2 = arap_dot(along, along);
    double u = length2 > 0 ? arap_dot(from, along) / length2 : 0;
    return u < 0 ? 0 : u > 1 ? 1 : u;
}

arap_status arap_spines_create(arap_context *context, const arap_skeleton *skeleton, int columns,
                               int poses, arap_spines *spines) {
    *spines = (arap_spines){.count = skeleton->spine_count};
    if (!spines->count) return ARAP_OK;
    size_t count = (size_t)spines->count;
    spines->place = ARAP_TAKE(&spines->arena, columns, int);
    spines->bone = ARAP_TAKE(&spines->arena, count, int);
    spines->head = ARAP_TAKE(&spines->arena, 3 * count, double);
    spines->tail = ARAP_TAKE(&spines->arena, 3 * count, double);
    spines->bend = ARAP_TAKE(&spines->arena, ARAP_BEND * count * (size_t)poses, double);
    arap_status status = arap_arena_status(&spines->arena, &context->error, "the spines");
    if (status) {
        arap_spines_clear(spines);
        return status;
    }
    int fill = 0;
    for (int d = 0; d < columns; d++) {
        int b = d < skeleton->deform_count ? skeleton->deform_bone[d] : -1;
        spines->place[d] = -1;
        if (b < 0 || !arap_is_spine(skeleton->kinds[b])) continue;
        memcpy(spines->head + 3 * fill, skeleton->heads + 3 * b, 3 * sizeof(double));
        memcpy(spines->tail + 3 * fill, skeleton->tails + 3 * b, 3 * sizeof(double));
        spines->place[d] = fill;
        spines->bone[fill++] = d;
    }
    return ARAP_OK;
}

/* Whether this bend is valid for a bone of its kind. */
static arap_status check_bend(arap_error *error, const arap_skeleton *s, int pose, int b,
                              const double *bend) {
    double turn2 = arap_dot(bend, bend), along[3], off[3];
    if (!isfinite(turn2) || !isfinite(bend[3]))
        return arap_fail(error, ARAP_BAD_VALUE, "bends[%d, %d] is (%g, %g, %g, %g): not finite",
                         pose, b, bend[0], bend[1], bend[2], bend[3]);
    if (bend[3] <= 0)
        return arap_fail(error, ARAP_BAD_VALUE, "bends[%d, %d] has the stretch %g: must be above 0",
                         pose, b, bend[3]);
    if (arap_deforming(s, b) < 0) return ARAP_OK;
    if (s->kinds[b] == ARAP_BONE_RIGID && (turn2 > 0 || bend[3] != 1))
        return arap_fail(
            error, ARAP_BAD_VALUE,
            "bends[%d, %d] is (%g, %g, %g, %g), but bone %d is rigid: must be (0, 0, 0, 1)", pose,
            b, bend[0], bend[1], bend[2], bend[3], b);
    arap_sub(s->tails + 3 * b, s->heads + 3 * b, along);
    arap_cross(along, bend, off);
    if (s->kinds[b] == ARAP_BONE_STB &&
        arap_dot(off, off) > STRAIGHT * STRAIGHT * turn2 * arap_dot(along, along))
        return arap_fail(error, ARAP_BAD_VALUE,
                         "bends[%d, %d] turns about (%g, %g, %g), but bone %d is an STB, which "
                         "turns only about itself",
                         pose, b, bend[0], bend[1], bend[2], b);
    return ARAP_OK;
}

arap_status arap_spines_take_bends(arap_error *error, const arap_skeleton *skeleton, int first,
                                   int count, const double *bends, arap_spines *spines) {
    static const double none[ARAP_BEND] = {0, 0, 0, 1};
    for (int p = 0; p < count && bends; p++)
        for (int b = 0; b < skeleton->count; b++) {
            arap_status status = check_bend(error, skeleton, p, b,
                                            bends + ARAP_BEND * ((size_t)p * skeleton->count + b));
            if (status) return status;
        }
    for (int p = 0; p < count; p++)
        for (int k = 0; k < spines->count; k++) {
            size_t b = (size_t)skeleton->deform_bone[spines->bone[k]];
            const double *bend =
                bends ? bends + ARAP_BEND * ((size_t)p * skeleton->count + b) : none;
            memcpy(spines->bend + ARAP_BEND * ((size_t)(first + p) * spines->count + k), bend,
                   sizeof none);
        }
    return ARAP_OK;
}

arap_status arap_bone_parameters(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_mesh *mesh, int bone, const double *parameters,
                                 double *out, int stride) {
    const double *own = parameters ? parameters + bone : NULL;
    for (int i = 0; i < mesh->input_count && own; i++) {
        double u = own[(size_t)i * (size_t)skeleton->count];
        if (!isnan(u) && !(u >= 0 && u <= 1))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "parameters[%d, %d] is %g: must be from 0 to 1, or NaN", i, bone, u);
    }
    for (int i = 0; i < mesh->count; i++) {
        double u = own ? own[(size_t)mesh->first[i] * (size_t)skeleton->count] : NAN;
        if (isnan(u))
            u = arap_spine_parameter(skeleton->heads + 3 * bone, skeleton->tails + 3 * bone,
                                     mesh->v + 3 * (size_t)i);
        out[(size_t)i * (size_t)stride] = u;
    }
    return ARAP_OK;
}

static void find_gradient(const arap_spines *spines, const arap_mesh *mesh, int i, int k) {
    size_t count = (size_t)spines->count, at = (size_t)i * count + (size_t)k;
    double along[3], edge[3], top = 0, bottom = 0, length2 = 0;
    arap_sub(spines->tail + 3 * k, spines->head + 3 * k, along);
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        arap_mesh_edge(mesh, i, r, edge);
        double step = arap_dot(along, edge);
        double rise = spines->parameter[(size_t)mesh->neighbor[r] * count + (size_t)k] -
                      spines->parameter[at];
        top += mesh->edge_weight[r] * step * rise;
        bottom += mesh->edge_weight[r] * step * step;
        length2 += mesh->edge_weight[r] * arap_dot(edge, edge);
    }
    /* If all edges are perpendicular to the bone up to rounding, the gradient along the bone is
     * unknown. */
    int known = bottom > 1e-20 * length2 * arap_dot(along, along);
    for (int c = 0; c < 3; c++) spines->gradient[3 * at + c] = known ? top / bottom * along[c] : 0;
}

typedef struct place_task {
    const arap_mesh *mesh;
    const double *transform;
    int columns, poses;
    arap_spines *spines;
} place_task;

static void place_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const place_task *task = data;
    const arap_mesh *mesh = task->mesh;
    arap_spines *spines = task->spines;
    size_t count = (size_t)spines->count;
    int end = arap_chunk_end(chunk, CHUNK, mesh->count);
    for (int i = chunk * CHUNK; i < end; i++)
        for (int k = 0; k < spines->count; k++) {
            const double *v = mesh->v + 3 * (size_t)i;
            double u = spines->parameter[(size_t)i * count + (size_t)k];
            double *point =
                spines->point + 3 * (size_t)task->poses * ((size_t)i * count + (size_t)k);
            find_gradient(spines, mesh, i, k);
            for (size_t p = 0; p < (size_t)task->poses; p++) {
                const double *base =
                    task->transform + 12 * (p * (size_t)task->columns + (size_t)spines->bone[k]);
                double own[12], local[3];
                arap_spine_transform(spines->head + 3 * k, spines->tail + 3 * k,
                                     spines->bend + ARAP_BEND * (p * count + (size_t)k), u, own,
                                     NULL);
                for (int r = 0; r < 3; r++) local[r] = arap_dot(own + 4 * r, v) + own[4 * r + 3];
                for (int r = 0; r < 3; r++)
                    point[3 * p + (size_t)r] = arap_dot(base + 4 * r, local) + base[4 * r + 3];
            }
        }
}

arap_status arap_spines_place(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, const double *parameters, int columns,
                              int poses, const double *transform, arap_spines *spines) {
    size_t pairs = (size_t)mesh->count * (size_t)spines->count;
    place_task task = {mesh, transform, columns, poses, spines};
    if (!spines->count) return ARAP_OK;
    spines->parameter = ARAP_TAKE(&spines->arena, pairs, double);
    spines->gradient = ARAP_TAKE(&spines->arena, 3 * pairs, double);
    spines->point = ARAP_TAKE(&spines->arena, 3 * pairs * (size_t)poses, double);
    arap_status status = arap_arena_status(&spines->arena, &context->error, "the points of spines");
    for (int k = 0; k < spines->count && !status; k++)
        status = arap_bone_parameters(&context->error, skeleton, mesh,
                                      skeleton->deform_bone[spines->bone[k]], parameters,
                                      spines->parameter + k, spines->count);
    if (status) return status;
    return arap_parallel(context, arap_chunks(mesh->count, CHUNK), place_chunk, &task);
}

arap_status arap_spines_replace(arap_context *context, const arap_mesh *mesh, const char *kept,
                                int columns, int poses, const double *transform,
                                arap_spines *spines) {
    place_task task = {mesh, transform, columns, poses, spines};
    size_t count = (size_t)spines->count;
    for (size_t at = 0; at < (size_t)mesh->count * count; at++)
        if (!kept[at])
            spines->parameter[at] =
                arap_spine_parameter(spines->head + 3 * (at % count),
                                     spines->tail + 3 * (at % count), mesh->v + 3 * (at / count));
    return arap_parallel(context, arap_chunks(mesh->count, CHUNK), place_chunk, &task);
}

arap_status arap_spines_copy(arap_context *context, const arap_spines *in, int columns,
                             int vertices, int poses, arap_spines *out) {
    size_t count = (size_t)in->count, pairs = (size_t)vertices * count;
    *out = (arap_spines){.count = in->count};
    if (!count) return ARAP_OK;
    out->place = ARAP_TAKE(&out->arena, columns, int);
    out->bone = ARAP_TAKE(&out->arena, count, int);
    out->head = ARAP_TAKE(&out->arena, 3 * count, double);
    out->tail = ARAP_TAKE(&out->arena, 3 * count, double);
    out->bend = ARAP_TAKE(&out->arena, ARAP_BEND * count * (size_t)poses, double);
    out->parameter = ARAP_TAKE(&out->arena, pairs, double);
    out->gradient = ARAP_TAKE(&out->arena, 3 * pairs, double);
    out->point = ARAP_TAKE(&out->arena, 3 * pairs * (size_t)poses, double);
    arap_status status = arap_arena_status(&out->arena, &context->error, "the points of spines");
    if (status) {
        arap_spines_clear(out);
        return status;
    }
    memcpy(out->place, in->place, (size_t)columns * sizeof(int));
    memcpy(out->bone, in->bone, count * sizeof(int));
    arap_spines_assign(in, vertices, poses, out);
    return ARAP_OK;
}

void arap_spines_assign(const arap_spines *from, int vertices, int poses, arap_spines *to) {
    size_t count = (size_t)from->count, pairs = (size_t)vertices * count;
    if (!count) return;
    memcpy(to->head, from->head, 3 * count * sizeof(double));
    memcpy(to->tail, from->tail, 3 * count * sizeof(double));
    memcpy(to->bend, from->bend, ARAP_BEND * count * (size_t)poses * sizeof(double));
    memcpy(to->parameter, from->parameter, pairs * sizeof(double));
    memcpy(to->gradient, from->gradient, 3 * pairs * sizeof(double));
    memcpy(to->point, from->point, 3 * pairs * (size_t)poses * sizeof(double));
}

void arap_spines_clear(arap_spines *spines) {
    arap_arena_clear(&spines->arena);
    *spines = (arap_spines){.count = 0};
}

void arap_spine_jacobian(const arap_spines *spines, const arap_mesh *mesh, int pose, int vertex,
                         int spine, const double *base, double *jacobian, double *rotation) {
    size_t count = (size_t)spines->count, at = (size_t)vertex * count + (size_t)spine;
    const double *v = mesh->v + 3 * (size_t)vertex, *gradient = spines->gradient + 3 * at;
    double own[12], slope[12], turned[9], local[9];
    arap_spine_transform(spines->head + 3 * spine, spines->tail + 3 * spine,
                         spines->bend + ARAP_BEND * ((size_t)pose * count + (size_t)spine),
                         spines->parameter[at], own, slope);
    for (int r = 0; r < 3; r++) {
        double change = arap_dot(slope + 4 * r, v) + slope[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            turned[3 * r + c] = own[4 * r + c];
            local[3 * r + c] = own[4 * r + c] + change * gradient[c];
        }
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double *row = base + 4 * r;
            jacobian[3 * r + c] = row[0] * local[c] + row[1] * local[3 + c] + row[2] * local[6 + c];
            if (rotation)
                rotation[3 * r + c] =
                    row[0] * turned[c] + row[1] * turned[3 + c] + row[2] * turned[6 + c];
        }
}
