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
 * to all of it (sheets.h).
 *
 * Choice of the bone. In this file, each segment of a bone with several segments (skeleton.h)
 * counts as a bone, and any segment may carry the spring. A part of the mesh surrounds a bone if
 * most rays from the bone, across it, meet the part, at about the same distance on all sides
 * (containment.c). The spring of a vertex leads to the nearest bone among those that the vertex's
 * part surrounds and that are not excluded from the vertex. A bone that no part surrounds counts as
 * surrounded by the part with most of the skin near this bone. A part that surrounds no bone, such
 * as a piece of armor or a button, is tied as a whole to the bone nearest to most of its area. The
 * tie is weaker the smaller such a part is relative to its distance from the bone, so a button
 * follows the surface on which it sits (links.c). STBs and spines cannot carry points, so problems
 * with them have no bone springs.
 *
 * Creation takes O(vertices x bones) distances (bone_lines.c), the rays of containment.c, and
 * O(vertices) memory. After that, the cost is that of one more neighbor per vertex. Fails only on
 * out-of-memory or when cancelled.
 * */
#include "springs/bone_springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/sheets.h"
#include "springs/bone_lines.h"
#include "springs/spring_weights.h"
#include "springs/containment.h"

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
#define SHEET 0.05         /* share of its strength that a spring of a planar sheet keeps */
#define MAX_RAYS 0.6       /* minimum `share` of containment.h at which a part surrounds a bone, */
#define OFF_CENTER 0.5     /* up to this `off` */
#define SAME_DISTANCE 1e-5 /* smaller differences between distances are ignored */
/* smaller differences between areas are ignored, and the first part wins */
#define ROUNDING 1e-9
#define NO_LENGTH 1e-6 /* bones shorter than this have no direction */

/* The skin of a part that is nearest to a line: a bone or one segment of it (bone_lines.h). */
typedef struct patch {
    int part, line;
    double area, distance; /* area-weighted mean */
    int open;              /* springs of the part may go to the bone */
} patch;

typedef struct bone_springs {
    const arap_mesh *mesh;
    arap_excluded_fn excluded; /* or NULL */
    const void *data;
    double strength, unit;
    arap_containments *kept;
    arap_bone_lines lines;
    int *near;         /* (vertices) the line of its spring, or -1 */
    double *distance;  /* (vertices) */
    double *distances; /* (workers, lines) of the current vertex */
    int patch_count;
    patch *patches; /* ascending by part, then line */
    int *patch_of;  /* (vertices) its patch, or -1 */
    int *first;     /* (parts + 1) first patch of a part */
    int *member;    /* (vertices) ascending by part */
    int *begin;     /* (parts + 1) first member of a part */
    char *whole;    /* (parts) surrounds no bone, so the whole part is tied to one */
    double *size2;  /* (parts) mean square distance from its center */
    double *held;   /* (parts) share of their strength that its springs keep */
} bone_springs;

static int is_excluded(const bone_springs *t, int i, int line) {
    return t->excluded && t->excluded(t->data, i, t->lines.line[line].bone);
}

/* How far a point at a given distance from a line is beyond its ends, measured along it. */
static double beyond(const arap_bone_line *l, const double *p, double distance) {
    double from[3];
    if (!(l->length > 0)) return distance;
    arap_sub(p, l->head, from);
    double place = arap_dot(from, l->along);
    return fmax(0, fmax(-place, place - l->length));
}

/* Whether a line is nearer to vertex i than the nearest line so far, near[i] at distance `min`. In
 * the wedge outside a bend, the joint is the nearest point of both bones. There, the nearer bone is
 * the one whose end the vertex passes by the shorter distance. Vertices in the plane between two
 * bones are equally far from both. */
static int is_nearer(const bone_springs *t, int i, int line, double distance, double min) {
    const double *p = t->mesh->v + 3 * (size_t)i;
    if (t->near[i] < 0) return distance < min;
    double same = SAME_DISTANCE * (min + t->unit);
    if (fabs(distance - min) > same) return distance < min;
    return beyond(&t->lines.line[line], p, distance) <
           beyond(&t->lines.line[t->near[i]], p, min) - same;
}

/* Find the nearest of all lines for each vertex. */
static void find_nearest(void *data, int chunk, int worker) {
    const bone_springs *t = data;
    int lines = t->lines.count, end = (chunk + 1) * CHUNK;
    if (end > t->mesh->count) end = t->mesh->count;
    double *distance = t->distances + (size_t)worker * arap_apart((size_t)lines);
    for (int i = chunk * CHUNK; i < end; i++) {
        double min = INFINITY;
        arap_line_distances(&t->lines, t->mesh->v + 3 * (size_t)i, distance);
        t->near[i] = -1;
        for (int k = 0; k < lines; k++) {
            if (!is_nearer(t, i, k, distance[k], min) || is_excluded(t, i, k)) continue;
            min = fmin(min, distance[k]);
            t->near[i] = k;
        }
        t->distance[i] = min;
    }
}

/* Find the nearest line with an open patch, if the patch of the nearest line is not open. */
static void find_open(void *data, int chunk, int worker) {
    (void)worker;
    const bone_springs *t = data;
    const arap_mesh *mesh = t->mesh;
    int end = (chunk + 1) * CHUNK < mesh->count ? (chunk + 1) * CHUNK : mesh->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        if (t->near[i] < 0 || t->patches[t->patch_of[i]].open) continue;
        double min = INFINITY, place, point[3];
        t->near[i] = -1;
        for (int k = t->first[mesh->part[i]]; k < t->first[mesh->part[i] + 1]; k++) {
            if (!t->patches[k].open || is_excluded(t, i, t->patches[k].line)) continue;
            const arap_bone_line *l = &t->lines.line[t->patches[k].line];
            double d = arap_line_distance(l, mesh->v + 3 * (size_t)i, &place, point);
            if (!is_nearer(t, i, t->patches[k].line, d, min)) continue;
            min = fmin(min, d);
            t->near[i] = t->patches[k].line;
        }
        t->distance[i] = min;
    }
}

static int by_line(const void *key, const void *patch_) {
    int line = *(const int *)key, other = ((const patch *)patch_)->line;
    return (line > other) - (line < other);
}

static patch *find_patch(const bone_springs *t, int part, int line) {
    return bsearch(&line, t->patches + t->first[part],
                   (size_t)(t->first[part + 1] - t->first[part]), sizeof(patch), by_line);
}

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Create the patches of the current nearest lines, initially not open, and their distances. */
static arap_status make_patches(arap_context *context, bone_springs *t) {
    const arap_mesh *mesh = t->mesh;
    int *at = ARAP_NEW(int, t->lines.count); /* patch of each line, if not below first[part] */
    int *line = ARAP_NEW(int, t->lines.count);
    arap_status status = ARAP_OK;
    if (!at || !line) {
        status = arap_fail_memory(&context->error, "bone springs");
        goto done;
    }
    for (int k = 0; k < t->lines.count; k++) at[k] = -1;
    t->patch_count = 0;
    for (int p = 0; p < mesh->part_count; p++) {
        int from = t->first[p] = t->patch_count, count = 0;
        for (int m = t->begin[p]; m < t->begin[p + 1]; m++) {
            int near = t->near[t->member[m]];
            if (near < 0 || at[near] >= from) continue;
            at[near] = from;
            line[count++] = near;
        }
        qsort(line, (size_t)count, sizeof *line, ascending);
        for (int k = 0; k < count; k++) {
            at[line[k]] = from + k;
            t->patches[from + k] = (patch){.part = p, .line = line[k]};
        }
        t->patch_count += count;
        for (int m = t->begin[p]; m < t->begin[p + 1]; m++) {
            int i = t->member[m];
            t->patch_of[i] = t->near[i] < 0 ? -1 : at[t->near[i]];
            if (t->near[i] < 0) continue;
            patch *own = &t->patches[t->patch_of[i]];
            own->area += mesh->area[i];
            own->distance += mesh->area[i] * t->distance[i];
        }
        for (int k = from; k < t->patch_count; k++) t->patches[k].distance /= t->patches[k].area;
    }
    t->first[mesh->part_count] = t->patch_count;

done:
    arap_free(at);
    arap_free(line);
    return status;
}

/* An arap_containment_fn that opens the patch of the part. */
static void open_around(void *data, int line, int bone, int part, double share, double off) {
    bone_springs *t = data;
    patch *own = find_patch(t, part, line);
    (void)bone;
    if (own && share >= MAX_RAYS && off <= OFF_CENTER) own->open = 1;
}

/* Determine which patches are open: see the top of this file. */
static arap_status open_patches(arap_context *context, bone_springs *t) {
    const arap_mesh *mesh = t->mesh;
    patch **best = ARAP_NEW_ZERO(patch *, t->lines.count); /* of each line: open, or the largest */
    if (!best) return arap_fail_memory(&context->error, "bone springs");
    arap_status status =
        arap_visit_containments(context, mesh, &t->lines, "truss", t->kept, open_around, t);
    for (int k = 0; k < t->patch_count && !status; k++) {
        patch *own = &t->patches[k], **max = &best[own->line];
        if (*max && (*max)->open) continue;
        if (!*max || own->open || own->area > (*max)->area * (1 + ROUNDING)) *max = own;
    }
    for (int k = 0; k < t->lines.count && !status; k++)
        if (best[k]) best[k]->open = 1;
    for (int p = 0; p < mesh->part_count && !status; p++) {
        patch *max = NULL;
        t->whole[p] = t->first[p] < t->first[p + 1];
        for (int k = t->first[p]; k < t->first[p + 1]; k++) {
            if (t->patches[k].open) t->whole[p] = 0;
            if (!max || t->patches[k].area > max->area * (1 + ROUNDING)) max = &t->patches[k];
        }
        if (t->whole[p]) max->open = 1;
    }
    arap_free(best);
    return status;
}

/* Rises smoothly from 0 at 0 to 1 at `end`. */
static double rise_to(double end, double x) {
    double share = fmin(1, x / fmax(end, NO_LENGTH));
    return share * share * (3 - 2 * share);
}

/* Collect the vertices of the parts and their sizes; sums (parts, 4): scratch, all 0 */
static void measure_parts(bone_springs *t, double *sums) {
    const arap_mesh *mesh = t->mesh;
    for (int i = 0; i < mesh->count; i++) t->begin[mesh->part[i]]++;
    for (int p = 0; p < mesh->part_count; p++) t->begin[p + 1] += t->begin[p];
    for (int i = mesh->count - 1; i >= 0; i--) t->member[--t->begin[mesh->part[i]]] = i;
    for (int i = 0; i < mesh->count; i++) {
        double *sum = sums + 4 * mesh->part[i], area = mesh->area[i];
        for (int c = 0; c < 3; c++) sum[c] += area * mesh->v[3 * (size_t)i + (size_t)c];
        sum[3] += area;
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) sums[4 * p + c] /= sums[4 * p + 3];
    for (int i = 0; i < mesh->count; i++) {
        const double *mean = sums + 4 * mesh->part[i];
        t->size2[mesh->part[i]] +=
            mesh->area[i] / mean[3] * arap_distance2(mean, mesh->v + 3 * (size_t)i);
    }
}

/* The spring of vertex i to its bone. */
static arap_spring make_spring(const bone_springs *t, const arap_bendy *bendy, int i) {
    const arap_bone_line *l = &t->lines.line[t->near[i]];
    int part = t->mesh->part[i];
    double radius = t->patches[t->patch_of[i]].distance, place, joint = INFINITY;
    arap_spring spring = {.bone = l->bone, .held = 1, .whole = t->whole[part]};
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
        spring.strength *= STRENGTH * t->held[part] * fmax(JOINT, rise_to(reach, joint));
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
    const arap_bone_line *l = &t->lines.line[arap_nearest_line(&t->lines, out.bone, out.point)];
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
    if (t->near[from] < 0) return 0;
    int partner = image >= 0 ? symmetry->bone[t->lines.line[t->near[from]].bone] : -1;
    if (partner < 0) from = i;
    if (t->near[from] < 0) return 0;
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
    int n = p->bone_springs->mesh->count, end = (chunk + 1) * CHUNK < n ? (chunk + 1) * CHUNK : n;
    (void)worker;
    for (int i = chunk * CHUNK; i < end; i++)
        p->count[i] =
            (char)place_springs(p->bone_springs, p->bendy, p->symmetry, i, p->spring + p->start[i]);
}

arap_status arap_bone_springs_create(arap_context *context, arap_mesh *mesh,
                                     const arap_skeleton *skeleton, const arap_bendy *bendy,
                                     const arap_symmetry *symmetry, double strength,
                                     arap_excluded_fn excluded, const void *data, const int *wanted,
                                     const char *wanted_whole, arap_containments *kept) {
    size_t n = (size_t)mesh->count, parts = (size_t)mesh->part_count, fill = 0;
    int chunks = (mesh->count + CHUNK - 1) / CHUNK;
    if (!(strength > 0)) return ARAP_OK;
    bone_springs t = {.mesh = mesh,
                      .excluded = excluded,
                      .data = data,
                      .strength = strength,
                      .unit = mesh->unit,
                      .kept = kept};
    double *sums = ARAP_NEW_ZERO(double, 4 * parts);
    arap_status status = arap_bone_lines_create(context, skeleton, &t.lines);
    t.near = ARAP_NEW(int, n);
    t.distance = ARAP_NEW(double, n);
    t.distances = ARAP_NEW(double, (size_t)context->threads * arap_apart((size_t)t.lines.count));
    t.patches = ARAP_NEW(patch, n);
    t.patch_of = ARAP_NEW(int, n);
    t.first = ARAP_NEW(int, parts + 1);
    t.member = ARAP_NEW(int, n);
    t.begin = ARAP_NEW_ZERO(int, parts + 1);
    t.whole = ARAP_NEW_ZERO(char, parts);
    t.size2 = ARAP_NEW_ZERO(double, parts);
    t.held = ARAP_NEW(double, parts);
    char *count = ARAP_NEW(char, n);
    mesh->spring_start = ARAP_NEW(size_t, n + 1);
    size_t room = 0; /* two for vertices on the plane of symmetry */
    for (size_t i = 0; i < n && mesh->spring_start; i++) {
        mesh->spring_start[i] = room;
        room += symmetry->vertex && symmetry->vertex[i] == (int)i ? 2 : 1;
    }
    mesh->spring = ARAP_NEW(arap_spring, room);
    if (status) goto done;
    if (!count || !sums || !t.held || !t.near || !t.distance || !t.distances || !t.patches ||
        !t.patch_of || !t.first || !t.member || !t.begin || !t.whole || !t.size2 ||
        !mesh->spring_start || !mesh->spring) {
        status = arap_fail_memory(&context->error, "bone springs");
        goto done;
    }
    measure_parts(&t, sums);
    status = arap_part_thickness(context, mesh, t.held);
    if (status) goto done;
    for (size_t p = 0; p < parts; p++) t.held[p] = SHEET + (1 - SHEET) * t.held[p];
    if (wanted) {
        memset(t.whole, 1, parts);
        for (size_t i = 0; i < n; i++) {
            double place, point[3];
            t.near[i] =
                wanted[i] < 0 ? -1 : arap_nearest_line(&t.lines, wanted[i], mesh->v + 3 * i);
            t.whole[mesh->part[i]] &= wanted_whole[i];
            if (wanted[i] >= 0)
                t.distance[i] =
                    arap_line_distance(&t.lines.line[t.near[i]], mesh->v + 3 * i, &place, point);
        }
    } else {
        status = arap_parallel_short(context, chunks, find_nearest, &t);
        if (!status) status = make_patches(context, &t);
        if (!status) status = open_patches(context, &t);
        if (!status) status = arap_parallel_short(context, chunks, find_open, &t);
        if (status) goto done;
    }
    status = make_patches(context, &t);
    if (status) goto done;
    place_task place = {&t, bendy, symmetry, mesh->spring, mesh->spring_start, count};
    status = arap_parallel_short(context, chunks, place_chunk, &place);
    if (status) goto done;
    for (size_t i = 0; i < n; i++) { /* one after the other */
        size_t from = mesh->spring_start[i], own = (size_t)count[i];
        if (own && fill < from)
            memmove(mesh->spring + fill, mesh->spring + from, own * sizeof *mesh->spring);
        mesh->spring_start[i] = fill;
        fill += own;
    }
    mesh->spring_start[n] = fill;
    arap_springs_weigh(mesh);

done:
    arap_free(count);
    arap_free(sums);
    arap_bone_lines_clear(&t.lines);
    arap_free(t.near);
    arap_free(t.distance);
    arap_free(t.distances);
    arap_free(t.patches);
    arap_free(t.patch_of);
    arap_free(t.first);
    arap_free(t.member);
    arap_free(t.begin);
    arap_free(t.whole);
    arap_free(t.size2);
    arap_free(t.held);
    return status;
}
