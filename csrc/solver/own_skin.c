/* Determines the own skin of bones: see response.h.
 *
 * The own skin of bone b is the skin that is nearest to b and in its line of sight. The own skin is
 * found by means of the initial weights h, which bone heat diffuses from this skin. The own skin is
 * S_b = { i : h_ib > 1/2 } or, for a bone with less than SOME of its weight on these vertices (a
 * minor bone), S_b = { i : h_ib > STRONG max h_b }. Only vertices of the loose parts that can be
 * the skin of b count (skins.c). A bone whose weights on this skin are below MINIMUM has no own
 * skin. Skin outside the main mesh (mesh.h) counts only for bones without skin of the main mesh.
 *
 * A bone outside a body also has skin near it. For example, a root between the legs is nearer to
 * their inner sides than the bones of the legs are. With the unit normal n_i, and o_ib the unit
 * vector to the vertex from the nearest point of the bone, n_i . o_ib < 0 on this skin. With the
 * areas A, let in_b = sum_S A_i h_ib max(0, n_i . o_ib) and out_b = sum_S A_i h_ib max(0, -n_i .
 * o_ib). If the sum of out over all bones is larger than that of in, the faces of the mesh point
 * inward, and the two are swapped. A bone with out_b > FACING in_b is outside its skin. A vertex
 * does not belong to the own skin of such a bone if another bone has a part of the weight, sees the
 * vertex from inside, and lies in the same loose part. The bones of a cape or of a cut arm, which
 * are all next to their skin, keep this skin, because no other bone is inside.
 *
 * Takes O(surrounded pairs + vertices x influences x lines of a bone). Fails on out-of-memory. */
#include "solver/response.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "springs/containment.h"
#include "weights/rows.h"

#define STRONG 0.5
/* share of a bone's weights; a bone with less on skin that is mostly its own is minor */
#define SOME 0.1
#define MINIMUM 0.05
#define FACING 2 /* ratio of the skin that sees a bone from outside to that from inside */

/* The data for the choice of own skin. */
typedef struct chooser {
    arap_arena arena; /* owns all arrays */
    const arap_solver *s;
    arap_skins skins;
    double *above;    /* (bones) own skin has more of the bone than this */
    char *has_main;   /* (bones) has skin of the main mesh */
    double *normal;   /* (vertices, 3) */
    double *in, *out; /* (bones) */
    double sign;      /* sign of the normals, +1 if they point outward */
} chooser;

/* n_i . o_ib */
static double facing(const chooser *c, int i, int bone) {
    const arap_skeleton *skeleton = &c->s->skeleton;
    const double *p = c->s->mesh.v + 3 * (size_t)i, *normal = c->normal + 3 * (size_t)i;
    double way[3], nearest[3];
    arap_distance2_to_bone(skeleton, bone, p, nearest);
    arap_sub(p, nearest, way);
    double long2 = arap_dot(way, way) * arap_dot(normal, normal);
    return long2 > 0 ? c->sign * arap_dot(way, normal) / sqrt(long2) : 0;
}

static int may_be_skin(const chooser *c, int i, int bone) {
    return (c->s->mesh.main[i] || !c->has_main[bone]) &&
           arap_is_skin(&c->skins, bone, c->s->mesh.part[i]);
}

static int is_near(const chooser *c, const arap_influences *in, int i, size_t e) {
    return in->weight[e] > c->above[in->bone[e]] && may_be_skin(c, i, in->bone[e]);
}

static void find_sides(chooser *c, const arap_influences *in) {
    double inside = 0, outside = 0;
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            if (!is_near(c, in, i, e)) continue;
            int b = in->bone[e];
            double cosine = facing(c, i, b), counts = c->s->mesh.area[i] * in->weight[e];
            c->in[b] += counts * fmax(0, cosine);
            c->out[b] += counts * fmax(0, -cosine);
        }
    for (int b = 0; b < c->s->skeleton.deform_count; b++) inside += c->in[b], outside += c->out[b];
    if (outside > inside) {
        double *swapped = c->in;
        c->in = c->out;
        c->out = swapped;
        c->sign = -1;
    }
}

/* Whether another bone sees vertex i from inside, in a part that contains both. */
static int is_others(const chooser *c, const arap_influences *in, int i, int bone) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->bone[e] != bone && in->weight[e] > MINIMUM &&
            arap_surrounds(&c->skins, in->bone[e], c->s->mesh.part[i]) &&
            !(c->out[in->bone[e]] > FACING * c->in[in->bone[e]]) && facing(c, i, in->bone[e]) > 0)
            return 1;
    return 0;
}

/* The weights above which skin is a bone's own. sum: (bones, 2) zeros, scratch. */
static void find_thresholds(const chooser *c, const arap_influences *in, double *sum) {
    const arap_mesh *mesh = &c->s->mesh;
    int bones = c->s->skeleton.deform_count;
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            c->has_main[in->bone[e]] |= mesh->main[i] && in->weight[e] > MINIMUM &&
                                        arap_is_skin(&c->skins, in->bone[e], mesh->part[i]);
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            int b = in->bone[e];
            double counts = mesh->area[i] * in->weight[e];
            if (!may_be_skin(c, i, b)) continue;
            c->above[b] = fmax(c->above[b], in->weight[e]);
            sum[2 * b] += counts;
            sum[2 * b + 1] += in->weight[e] > ARAP_MAX_OF_VERTEX ? counts : 0;
        }
    for (int b = 0; b < bones; b++)
        c->above[b] = sum[2 * b + 1] > SOME * sum[2 * b] ? ARAP_MAX_OF_VERTEX
                      : c->above[b] > MINIMUM            ? STRONG * c->above[b]
                                                         : INFINITY;
}

static arap_status prepare(arap_context *context, const arap_influences *in, chooser *c) {
    const arap_solver *s = c->s;
    size_t bones = (size_t)s->skeleton.deform_count;
    c->above = ARAP_TAKE_ZERO(&c->arena, bones, double);
    c->has_main = ARAP_TAKE_ZERO(&c->arena, bones, char);
    c->in = ARAP_TAKE_ZERO(&c->arena, bones, double);
    c->out = ARAP_TAKE_ZERO(&c->arena, bones, double);
    c->normal = ARAP_TAKE(&c->arena, 3 * (size_t)s->mesh.count, double);
    double *sum = ARAP_TAKE_ZERO(&c->arena, 2 * bones, double);
    arap_status status = arap_arena_status(&c->arena, &context->error, "the skin of bones");
    if (status) return status;
    arap_vertex_normals(&s->mesh, c->normal);
    status = arap_skins_find(context, &s->containments, (int)bones, &c->skins);
    if (!status) find_thresholds(c, in, sum);
    return status;
}

arap_status arap_own_skin(arap_context *context, const arap_solver *solver, arap_influences *out) {
    const arap_influences *in = &solver->initial;
    chooser c = {.s = solver, .sign = 1};
    arap_rows rows = {0};
    arap_status status = prepare(context, in, &c);
    if (!status) find_sides(&c, in);
    if (!status) status = arap_rows_create(context, in->count, &rows);
    for (int i = 0; i < in->count && !status; i++) {
        status = arap_rows_next(context, &rows, in->start[i + 1] - in->start[i]);
        for (size_t e = in->start[i]; e < in->start[i + 1] && !status; e++) {
            int b = in->bone[e], outside = c.out[b] > FACING * c.in[b];
            if (is_near(&c, in, i, e) && !(outside && is_others(&c, in, i, b)))
                arap_rows_add(&rows, b, in->weight[e], 0);
        }
    }
    arap_arena_clear(&c.arena);
    arap_skins_clear(&c.skins);
    return arap_rows_end(status, &rows, out);
}
