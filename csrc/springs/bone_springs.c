/* Bone springs: see bone_springs.h.
 *
 * The edges of the surface keep its shape but not its position relative to the bones. The energy of
 * the surface alone is therefore lowest if limbs lag behind. A spring is an additional edge of a
 * vertex's one-ring. The edge leads to the nearest point x on a bone b inside the mesh. x moves
 * with b as if it were a vertex of weight 1:
 *     s_i sum_poses |T_b x - f_i - R_i (x - v_i)|^2,
 *     s_i = g h STRENGTH strength Lambda_i (unit / |x - v_i|)^2,
 * in the unit of the edges around it (rings.c). The minimum length of a spring is the radius of the
 * limb (the mean distance of its skin from that bone) or THIN times the unit, whichever is larger.
 * Shorter springs are treated as having this length. Otherwise, vertices close to the bone would be
 * tied most firmly, although they need a spring least. Springs preserve the thickness, center and
 * volume of a limb. R_i is the rotation of the one-ring, so twist and bend stay free. h is the
 * remaining strength of a spring that has given way (spring_weights.c). The skin near a joint
 * belongs to two bones, so the factor g reduces the strength of springs there. A spring at the
 * joint has the share JOINT of its strength. The share rises to 1 at a distance of the limb's
 * radius from the joint or, if the bone is short for its limb, at MIDDLE of the bone. It never
 * reaches 1 within NEAREST of the radius. Otherwise, one of several short bones in a thick limb
 * would take the skin of all.
 *
 * A flat part, such as that of a cutout, has neither thickness nor volume, and lies on its bones.
 * The springs of such a part keep only the share SHEET of their strength, so bends spread over the
 * width of the part. The springs of thin parts that are nearly flat keep more of their strength, up
 * to all of it (sheets.c).
 *
 * The spring of a vertex leads to the bone that owns the vertex (owners.h). A part that surrounds
 * no bone, such as a piece of armor or a button, is tied as a whole to its owner. The tie is weaker
 * the smaller such a part is relative to its distance from the bone, so a button follows the
 * surface on which it sits (links.c). STBs and spines cannot carry points, so problems with them
 * have no bone springs.
 *
 * Creation takes the time of owners.c and O(vertices) memory. After that, the cost is that of one
 * more neighbor per vertex. Fails only on out-of-memory or when cancelled. */
#include "springs/bone_springs.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/loose_parts.h"

#define CHUNK 64
/* strength of a spring as long as the unit, relative to the area of its vertex */
#define STRENGTH 0.5
#define WHOLE (2 / 3.) /* the same for a part that is tied to its bone as a whole */
#define THIN 0.1       /* minimum length of springs, as a share of the unit of edge weights */
#define JOINT 0.2      /* share of its strength that a spring keeps at a joint */
/* share of a bone's length from a joint at which no spring is weakened */
#define MIDDLE (1 / 3.)
/* minimum of this distance as a share of the radius, regardless of the length */
#define NEAREST 0.5
#define SHEET 0.05     /* share of its strength that a spring of a planar sheet keeps */
#define NO_LENGTH 1e-6 /* bones shorter than this have no direction */

typedef struct bone_springs {
    const arap_mesh *mesh;
    double strength, unit;
    arap_owners owners;
    double *size2;     /* (parts) mean square distance from its center */
    double *stiffness; /* (parts) share of their strength that its springs keep */
} bone_springs;

/* Rises smoothly from 0 at 0 to 1 at `end`. */
static double rise_to(double end, double x) {
    double share = fmin(1, x / fmax(end, NO_LENGTH));
    return share * share * (3 - 2 * share);
}

/* Measure the sizes of the parts; sums (parts, 4): scratch, all 0 */
static void measure_parts(bone_springs *t, double *sums) {
    const arap_mesh *mesh = t->mesh;
    arap_part_centers(mesh, sums);
    for (int i = 0; i < mesh->count; i++) {
        const double *mean = sums + 4 * mesh->part[i];
        t->size2[mesh->part[i]] +=
            mesh->area[i] / mean[3] * arap_distance2(mean, mesh->v + 3 * (size_t)i);
    }
}

/* The spring of vertex i to its bone. */
static arap_spring make_spring(const bone_springs *t, const arap_bendy *bendy, int i) {
    const arap_bone_line *l = &t->owners.lines.line[t->owners.line[i]];
    int part = t->mesh->part[i];
    double radius = t->owners.patches[t->owners.patch_of[i]].distance, place, joint = INFINITY;
    arap_spring spring = {.bone = l->bone, .held = 1, .whole = t->owners.whole[part]};
    double length = arap_line_distance(l, t->mesh->v + 3 * (size_t)i, &place, spring.point);
    arap_place_columns(bendy, spring.bone, l->length > 0 ? place / l->length : 0, spring.column,
                       spring.share);
    length = fmax(length, fmax(radius, THIN * t->unit));
    spring.strength = t->strength * t->mesh->area[i] * t->unit * t->unit / (length * length);
    if (spring.whole)
        spring.strength *=
            WHOLE * fmin(1, t->size2[part] / fmax(radius * radius, NO_LENGTH * NO_LENGTH));
    else {
        if (l->head_joint) joint = place;
        if (l->tail_joint) joint = fmin(joint, l->length - place);
        double reach = fmin(radius, fmax(NEAREST * radius, MIDDLE * l->length));
        spring.strength *= STRENGTH * t->stiffness[part] * fmax(JOINT, rise_to(reach, joint));
    }
    return spring;
}

/* The image of a spring, tied to the partner of its bone. */
static arap_spring reflect(const bone_springs *t, const arap_bendy *bendy,
                           const arap_symmetry *symmetry, const arap_spring *spring) {
    arap_spring out = *spring;
    double place, point[3];
    out.bone = symmetry->bone[spring->bone];
    arap_reflect(symmetry, spring->point, symmetry->offset, out.point);
    const arap_bone_line *l =
        &t->owners.lines.line[arap_nearest_line(&t->owners.lines, out.bone, out.point)];
    arap_line_distance(l, out.point, &place, point);
    arap_place_columns(bendy, out.bone, l->length > 0 ? place / l->length : 0, out.column,
                       out.share);
    return out;
}

/* Store the springs of vertex i in `out`. If the vertex has a partner, the springs are symmetric,
 * and one of the two vertices decides. Returns their number, at most 2. */
static int place_springs(const bone_springs *t, const arap_bendy *bendy,
                         const arap_symmetry *symmetry, int i, arap_spring *out) {
    int image = symmetry->vertex ? symmetry->vertex[i] : -1;
    int from = image < 0 || arap_symmetry_leads(symmetry, t->mesh, i, image) ? i : image;
    if (t->owners.line[from] < 0) return 0;
    int partner = image >= 0 ? symmetry->bone[t->owners.lines.line[t->owners.line[from]].bone] : -1;
    if (partner < 0) from = i;
    if (t->owners.line[from] < 0) return 0;
    out[0] = make_spring(t, bendy, from);
    if (partner < 0 || (from == i && image != i)) return 1;
    if (from != i) {
        arap_spring own = out[0];
        out[0] = reflect(t, bendy, symmetry, &own);
        return 1;
    }
    if (partner == out[0].bone) return 1;
    out[0].strength /= 2;
    out[1] = reflect(t, bendy, symmetry, &out[0]);
    return 2;
}

typedef struct place_task {
    const bone_springs *bone_springs;
    const arap_bendy *bendy;
    const arap_symmetry *symmetry;
    arap_spring *spring;
    const size_t *start; /* (vertices) index of the first spring of each */
    char *count;         /* (vertices) */
} place_task;

static void place_chunk(void *data, int chunk, int worker) {
    const place_task *p = data;
    int end = arap_chunk_end(chunk, CHUNK, p->bone_springs->mesh->count);
    (void)worker;
    for (int i = chunk * CHUNK; i < end; i++)
        p->count[i] =
            (char)place_springs(p->bone_springs, p->bendy, p->symmetry, i, p->spring + p->start[i]);
}

/* Give each vertex room for its springs: two on the plane of symmetry, otherwise one. */
static arap_status make_room(arap_context *context, const arap_symmetry *symmetry,
                             arap_mesh *mesh) {
    size_t room = 0;
    mesh->spring_start = ARAP_TAKE(&mesh->arena, (size_t)mesh->count + 1, size_t);
    for (int i = 0; i < mesh->count && mesh->spring_start; i++) {
        mesh->spring_start[i] = room;
        room += symmetry->vertex && symmetry->vertex[i] == i ? 2 : 1;
    }
    mesh->spring = ARAP_TAKE(&mesh->arena, room, arap_spring);
    return arap_arena_status(&mesh->arena, &context->error, "bone springs");
}

/* Close the gaps between the springs. count: (vertices) */
static void close_gaps(arap_mesh *mesh, const char *count) {
    size_t fill = 0;
    for (int i = 0; i < mesh->count; i++) {
        size_t start = mesh->spring_start[i], springs = (size_t)count[i];
        if (springs && fill < start)
            memmove(mesh->spring + fill, mesh->spring + start, springs * sizeof *mesh->spring);
        mesh->spring_start[i] = fill;
        fill += springs;
    }
    mesh->spring_start[mesh->count] = fill;
}

arap_status arap_bone_springs_create(arap_context *context, arap_mesh *mesh,
                                     const arap_skeleton *skeleton, const arap_bendy *bendy,
                                     const arap_symmetry *symmetry, double strength,
                                     const arap_owner_choice *choice, arap_containments *kept) {
    size_t parts = (size_t)mesh->part_count;
    if (!(strength > 0)) return ARAP_OK;
    arap_arena arena = {0};
    bone_springs t = {.mesh = mesh,
                      .strength = strength,
                      .unit = mesh->unit,
                      .size2 = ARAP_TAKE_ZERO(&arena, parts, double),
                      .stiffness = ARAP_TAKE(&arena, parts, double)};
    double *sums = ARAP_TAKE_ZERO(&arena, 4 * parts, double);
    char *count = ARAP_TAKE(&arena, mesh->count, char);
    arap_status status = arap_arena_status(&arena, &context->error, "bone springs");
    if (!status) status = make_room(context, symmetry, mesh);
    if (status) goto done;
    measure_parts(&t, sums);
    status = arap_part_thickness(context, mesh, t.stiffness);
    if (!status)
        status = arap_owners_create(context, mesh, skeleton, t.stiffness, choice, kept, &t.owners);
    if (status) goto done;
    for (size_t p = 0; p < parts; p++) t.stiffness[p] = SHEET + (1 - SHEET) * t.stiffness[p];
    place_task place = {&t, bendy, symmetry, mesh->spring, mesh->spring_start, count};
    status = arap_parallel_short(context, arap_chunks(mesh->count, CHUNK), place_chunk, &place);
    if (status) goto done;
    close_gaps(mesh, count);
    arap_springs_weigh(mesh);

done:
    arap_owners_clear(&t.owners);
    arap_arena_clear(&arena);
    return status;
}
