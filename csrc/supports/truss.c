/* The truss: see truss.h.
 *
 * Edges of the surface keep its shape and say nothing of where it is beside the bones: the energy
 * of the surface alone is least where limbs stay behind. A spoke is one more edge of the one-ring
 * of a vertex, to the nearest point x on a bone inside, which that bone b carries along as a vertex
 * of weight 1 would: s_i sum_poses |T_b x - f_i - R_i (x - v_i)|^2, s_i = g h strength Lambda_i / 3
 * (unit / |x - v_i|)^2, in the unit of the edges around it (rings.c), but for spokes shorter than
 * SHORT of the mean distance of the skin from that bone, or THIN of the unit. Thickness, center and
 * volume of a limb are kept that way; R_i is the rotation of the one-ring, so twist and bend stay
 * free. g: near a joint the skin belongs to two bones, and a spoke has JOINT of its strength there,
 * rising to all of it at the limb's radius from the joint. h: what is left of a spoke that has
 * given way (spokes.c).
 *
 * Which bone. A part of the mesh surrounds a bone if most rays from the bone, across it, meet the
 * part, as far away on one side as on the other. A vertex gets its spoke to the nearest bone among
 * those that its part surrounds; a bone that no part surrounds counts for the part with most of the
 * skin near it. A part that surrounds none, a piece of armor or a button, hangs on the bone
 * nearest to most of its area as a whole, the less so the smaller it is beside its distance from
 * it: a button follows what it sits on (links.c). STBs and spines carry no points (araplbs.h has
 * them for Python only): their problems have no truss.
 *
 * Rays start in directions that the skeleton and the surface give, not the coordinates, so that
 * turning the scene changes nothing. Cost: O(vertices x bones) distances and
 * O(bones x log triangles) rays once, O(vertices) memory; then as one neighbor more per vertex.
 * Fails on memory only, or cancelled. */
#include "supports/truss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/nearest.h"
#include "supports/spokes.h"

#define CHUNK 256
#define SHORT 0.2  /* of the mean distance between skin and bone */
#define THIN 0.1   /* of the unit of edge weights: shorter ones count as so long in any case */
#define JOINT 0.2  /* share of its strength that a spoke has at a joint */
#define RAYS 12    /* around a bone */
#define SECTIONS 4 /* along it */
#define REACH 0.3  /* length of a ray, of the size of the mesh */
#define MOST_RAYS 0.6
#define OFF_CENTER 0.5 /* mean vector of the hits, of their mean distance */
#define SAME_PLACE 0.3 /* of a bone's length: a child whose head is as near hangs on its tail */
#define ROUNDING 1e-9  /* differences below it decide nothing: the first bone or part wins */
#define NO_LENGTH 1e-6 /* bones shorter than it have no direction */
#define PI 3.141592653589793

typedef struct line {
    const double *head;
    double along[3], length; /* unit vector */
    int head_joint, tail_joint;
} line;

/* The skin of a part that is nearest to a bone. */
typedef struct patch {
    int part, bone;
    double area, distance; /* area-weighted mean */
    int open;              /* spokes of the part may go to the bone */
} patch;

typedef struct truss {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    double strength, unit;
    double center[3]; /* of the surface */
    int bones;
    line *lines;      /* (bones) */
    int *near;        /* (vertices) the bone of its spoke, or -1 */
    double *distance; /* (vertices) */
    int patch_count;
    patch *patches; /* ascending by part, then bone */
    int *first;     /* (parts + 1) first patch of a part */
    char *whole;    /* (parts) surrounds no bone: hangs on one as a whole */
    double *size2;  /* (parts) mean square distance from its center */
} truss;

static double to_line(const line *l, const double *p, double *place, double *point) {
    double from[3];
    arap_sub(p, l->head, from);
    *place = fmin(fmax(arap_dot(from, l->along), 0), l->length);
    for (int c = 0; c < 3; c++) point[c] = l->head[c] + *place * l->along[c];
    return sqrt(arap_distance2(p, point));
}

static arap_status make_lines(arap_context *context, truss *t) {
    const arap_skeleton *s = t->skeleton;
    t->bones = s->deform_count;
    t->lines = ARAP_NEW_ZERO(line, t->bones);
    if (!t->lines) return arap_fail_memory(&context->error, "the truss");
    for (int d = 0; d < t->bones; d++) {
        line *l = &t->lines[d];
        int b = s->deform_bone[d];
        l->head = s->heads + 3 * b;
        arap_sub(s->tails + 3 * b, l->head, l->along);
        l->length = sqrt(arap_dot(l->along, l->along));
        for (int c = 0; c < 3; c++) l->along[c] = l->length > 0 ? l->along[c] / l->length : 0;
        l->head_joint = s->deform_parent[d] >= 0;
    }
    for (int d = 0; d < t->bones; d++) {
        int parent = s->deform_parent[d];
        if (parent < 0) continue;
        line *l = &t->lines[parent];
        double gap2 = arap_distance2(t->lines[d].head, s->tails + 3 * s->deform_bone[parent]);
        l->tail_joint |= gap2 < SAME_PLACE * SAME_PLACE * l->length * l->length;
    }
    return ARAP_OK;
}

/* The nearest bone of each vertex, of all bones, or of the open patches of its part. */
static void find_near(void *data, int chunk, int worker) {
    (void)worker;
    const truss *t = data;
    const arap_mesh *mesh = t->mesh;
    int end = (chunk + 1) * CHUNK < mesh->count ? (chunk + 1) * CHUNK : mesh->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        double least = INFINITY, place, point[3];
        int from = t->first ? t->first[mesh->part[i]] : 0;
        int to = t->first ? t->first[mesh->part[i] + 1] : t->bones;
        t->near[i] = -1;
        for (int k = from; k < to; k++) {
            int bone = t->first ? t->patches[k].bone : k;
            if (t->first && !t->patches[k].open) continue;
            double d = to_line(&t->lines[bone], mesh->v + 3 * (size_t)i, &place, point);
            if (d < least * (1 - ROUNDING)) {
                least = d;
                t->near[i] = bone;
            }
        }
        t->distance[i] = least;
    }
}

static int by_part(const void *a, const void *b) {
    const patch *x = a, *y = b;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return (x->bone > y->bone) - (x->bone < y->bone);
}

static patch *find_patch(const truss *t, int part, int bone) {
    patch key = {.part = part, .bone = bone};
    return bsearch(&key, t->patches + t->first[part], (size_t)(t->first[part + 1] - t->first[part]),
                   sizeof key, by_part);
}

/* The patches of the present nearest bones, none of them open, and their distances. */
static void make_patches(truss *t) {
    const arap_mesh *mesh = t->mesh;
    int fill = 0;
    for (int i = 0; i < mesh->count; i++)
        if (t->near[i] >= 0)
            t->patches[fill++] = (patch){mesh->part[i], t->near[i], mesh->area[i],
                                         mesh->area[i] * t->distance[i], 0};
    qsort(t->patches, (size_t)fill, sizeof *t->patches, by_part);
    t->patch_count = 0;
    for (int k = 0, part = 0; k < fill; k++) {
        const patch *own = &t->patches[k];
        patch *last = t->patches + t->patch_count - 1;
        if (t->patch_count && !by_part(last, own)) {
            last->area += own->area;
            last->distance += own->distance;
            continue;
        }
        for (; part <= own->part; part++) t->first[part] = t->patch_count;
        t->patches[t->patch_count++] = *own;
    }
    int rest = t->patch_count ? t->patches[t->patch_count - 1].part + 1 : 0;
    for (; rest <= mesh->part_count; rest++) t->first[rest] = t->patch_count;
    for (int k = 0; k < t->patch_count; k++) t->patches[k].distance /= t->patches[k].area;
}

/* What rays from one bone have met. */
typedef struct view {
    const arap_mesh *mesh;
    double *nearest; /* (parts) share of the ray at which it meets each part, or 2 */
    int *hit, count; /* parts that this ray meets */
    double *sums;    /* (parts, 4) of the rays so far: how many, distance, distance along x and y */
    int *met, met_count;
} view;

/* An arap_hit_fn that notes what the ray meets and goes on. */
static int note_hit(const void *data, int index, const double *a, const double *b) {
    view *v = *(view *const *)data;
    const int *tri = v->mesh->triangles + 3 * (size_t)index;
    int part = v->mesh->part[tri[0]];
    double at =
        arap_cross_triangle(a, b, v->mesh->v + 3 * (size_t)tri[0], v->mesh->v + 3 * (size_t)tri[1],
                            v->mesh->v + 3 * (size_t)tri[2]);
    if (!(at >= 0 && at <= 1)) return 0;
    if (v->nearest[part] > 1) v->hit[v->count++] = part;
    v->nearest[part] = fmin(v->nearest[part], at);
    return 0;
}

/* Two unit vectors across a bone, the first of them towards the middle of the surface, or else to
 * the head of another bone. */
static void axes_across(const truss *t, const line *l, double *x, double *y) {
    const double *towards = t->center;
    x[0] = x[1] = x[2] = 0;
    for (int b = 0; b <= t->bones; b++) {
        double from[3];
        arap_sub(towards, l->head, from);
        double along = arap_dot(from, l->along);
        for (int c = 0; c < 3; c++) x[c] = from[c] - along * l->along[c];
        double length = sqrt(arap_dot(x, x));
        for (int c = 0; c < 3 && length > 0; c++) x[c] /= length;
        if (length > 1e-3 * t->mesh->size) break;
        if (b < t->bones) towards = t->lines[b].head;
    }
    if (!(arap_dot(x, x) > 0.5)) { /* all in one line: any direction is as good */
        double any[3] = {0, 0, 0};
        int least = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(l->along[c]) < fabs(l->along[least])) least = c;
        any[least] = 1;
        arap_cross(l->along, any, x);
        double length = sqrt(arap_dot(x, x));
        for (int c = 0; c < 3; c++) x[c] /= length;
    }
    arap_cross(l->along, x, y);
}

/* Open the patches of the parts that surround the bone; returns their number. */
static int open_around(truss *t, const arap_bvh *faces, int bone, view *v) {
    const line *l = &t->lines[bone];
    double x[3], y[3], reach = REACH * t->mesh->size;
    int open = 0;
    if (l->length < NO_LENGTH) return 0;
    axes_across(t, l, x, y);
    v->met_count = 0;
    for (int k = 0; k < SECTIONS * RAYS; k++) {
        double angle = 2 * PI * (k % RAYS + 0.5) / RAYS, a[3], b[3];
        double place = l->length * (k / RAYS + 0.5) / SECTIONS;
        for (int c = 0; c < 3; c++) {
            a[c] = l->head[c] + place * l->along[c];
            b[c] = a[c] + reach * (cos(angle) * x[c] + sin(angle) * y[c]);
        }
        v->count = 0;
        arap_bvh_crossed(faces, a, b, note_hit, &v);
        for (int j = 0; j < v->count; j++) {
            double *sum = v->sums + 4 * v->hit[j], d = v->nearest[v->hit[j]];
            if (sum[0] == 0) v->met[v->met_count++] = v->hit[j];
            sum[0] += 1;
            sum[1] += d;
            sum[2] += d * cos(angle);
            sum[3] += d * sin(angle);
            v->nearest[v->hit[j]] = 2;
        }
    }
    for (int k = 0; k < v->met_count; k++) {
        double *sum = v->sums + 4 * v->met[k];
        patch *own = find_patch(t, v->met[k], bone);
        double off = sqrt(sum[2] * sum[2] + sum[3] * sum[3]);
        if (own && sum[0] >= MOST_RAYS * SECTIONS * RAYS && off <= OFF_CENTER * sum[1])
            own->open = ++open > 0;
        memset(sum, 0, 4 * sizeof *sum);
    }
    return open;
}

/* Which patches are open: see the top of this file. */
static arap_status open_patches(arap_context *context, truss *t) {
    const arap_mesh *mesh = t->mesh;
    size_t parts = (size_t)mesh->part_count;
    arap_bvh *faces = NULL;
    patch **largest = ARAP_NEW_ZERO(patch *, t->bones); /* of each bone */
    view v = {.mesh = mesh,
              .nearest = ARAP_NEW(double, parts),
              .hit = ARAP_NEW(int, parts),
              .sums = ARAP_NEW_ZERO(double, 4 * parts),
              .met = ARAP_NEW(int, parts)};
    arap_status status = ARAP_OK;
    if (!largest || !v.nearest || !v.hit || !v.sums || !v.met) {
        status = arap_fail_memory(&context->error, "the truss");
        goto done;
    }
    status = arap_face_bvh(context, mesh, NULL, &faces);
    for (size_t p = 0; p < parts; p++) v.nearest[p] = 2;
    for (int k = 0; k < t->patch_count; k++) {
        patch *own = &t->patches[k], **most = &largest[own->bone];
        if (!*most || own->area > (*most)->area * (1 + ROUNDING)) *most = own;
    }
    for (int b = 0; b < t->bones && !status; b++) {
        if (!open_around(t, faces, b, &v) && largest[b]) largest[b]->open = 1;
        status = arap_progress(context, "truss", (double)(b + 1) / t->bones);
    }
    for (size_t p = 0; p < parts && !status; p++) {
        patch *most = NULL;
        t->whole[p] = t->first[p] < t->first[p + 1];
        for (int k = t->first[p]; k < t->first[p + 1]; k++) {
            if (t->patches[k].open) t->whole[p] = 0;
            if (!most || t->patches[k].area > most->area * (1 + ROUNDING)) most = &t->patches[k];
        }
        if (t->whole[p]) most->open = 1;
    }

done:
    arap_bvh_free(faces);
    arap_free(largest);
    arap_free(v.nearest);
    arap_free(v.hit);
    arap_free(v.sums);
    arap_free(v.met);
    return status;
}

/* Center of the surface, and how large its parts are; sums (parts, 4): scratch, all 0 */
static void measure_parts(truss *t, double *sums) {
    const arap_mesh *mesh = t->mesh;
    double all = 0;
    for (int i = 0; i < mesh->count; i++) {
        double *sum = sums + 4 * mesh->part[i], area = mesh->area[i];
        for (int c = 0; c < 3; c++) sum[c] += area * mesh->v[3 * (size_t)i + (size_t)c];
        sum[3] += area;
        all += area;
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3; c++) {
            t->center[c] += sums[4 * p + c] / all;
            sums[4 * p + c] /= sums[4 * p + 3];
        }
    for (int i = 0; i < mesh->count; i++) {
        const double *mean = sums + 4 * mesh->part[i];
        t->size2[mesh->part[i]] +=
            mesh->area[i] / mean[3] * arap_distance2(mean, mesh->v + 3 * (size_t)i);
    }
}

/* The spoke of vertex i to its bone. */
static arap_spoke make_spoke(const truss *t, const arap_bendy *bendy, int i) {
    const line *l = &t->lines[t->near[i]];
    int part = t->mesh->part[i];
    double radius = find_patch(t, part, t->near[i])->distance, place, joint = INFINITY;
    arap_spoke spoke = {.bone = t->near[i], .held = 1, .whole = t->whole[part]};
    double length = to_line(l, t->mesh->v + 3 * (size_t)i, &place, spoke.point);
    arap_place_columns(bendy, spoke.bone, l->length > 0 ? place / l->length : 0, spoke.column,
                       spoke.share);
    length = fmax(length, fmax(SHORT * radius, THIN * t->unit));
    spoke.strength = t->strength * t->mesh->area[i] / 3 * t->unit * t->unit / (length * length);
    if (spoke.whole)
        spoke.strength *= fmin(1, t->size2[part] / fmax(radius * radius, NO_LENGTH * NO_LENGTH));
    else {
        if (l->head_joint) joint = place;
        if (l->tail_joint) joint = fmin(joint, l->length - place);
        double rise = fmin(1, joint / fmax(radius, NO_LENGTH));
        spoke.strength *= fmax(JOINT, rise * rise * (3 - 2 * rise));
    }
    return spoke;
}

/* The image of a spoke, to the partner of its bone. */
static arap_spoke reflect(const truss *t, const arap_bendy *bendy, const arap_symmetry *symmetry,
                          const arap_spoke *spoke) {
    arap_spoke out = *spoke;
    double place, point[3];
    out.bone = symmetry->bone[spoke->bone];
    arap_reflect(symmetry, spoke->point, symmetry->offset, out.point);
    const line *l = &t->lines[out.bone];
    to_line(l, out.point, &place, point);
    arap_place_columns(bendy, out.bone, l->length > 0 ? place / l->length : 0, out.column,
                       out.share);
    return out;
}

/* The spokes of vertex i to `out`: symmetric ones where there are partners, of which the lower
 * decides. Returns their number, at most 2. */
static int place_spokes(const truss *t, const arap_bendy *bendy, const arap_symmetry *symmetry,
                        int i, arap_spoke *out) {
    int image = symmetry->vertex ? symmetry->vertex[i] : -1;
    int from = image >= 0 && image < i ? image : i;
    if (t->near[from] < 0) return 0;
    int partner = image >= 0 ? symmetry->bone[t->near[from]] : -1;
    if (partner < 0) from = i;
    if (t->near[from] < 0) return 0;
    out[0] = make_spoke(t, bendy, from);
    if (partner < 0 || image > i) return 1;
    if (image < i) {
        arap_spoke own = out[0];
        out[0] = reflect(t, bendy, symmetry, &own);
        return 1;
    }
    if (partner == out[0].bone) return 1;
    out[0].strength /= 2;
    out[1] = reflect(t, bendy, symmetry, &out[0]);
    return 2;
}

arap_status arap_truss_create(arap_context *context, arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bendy *bendy, const arap_symmetry *symmetry,
                              double strength, const int *wanted, const char *wanted_whole) {
    size_t n = (size_t)mesh->count, parts = (size_t)mesh->part_count, fill = 0;
    int chunks = (mesh->count + CHUNK - 1) / CHUNK;
    if (!(strength > 0)) return ARAP_OK;
    truss t = {.mesh = mesh, .skeleton = skeleton, .strength = strength, .unit = mesh->unit};
    int *first = ARAP_NEW(int, parts + 1);
    double *sums = ARAP_NEW_ZERO(double, 4 * parts);
    t.near = ARAP_NEW(int, n);
    t.distance = ARAP_NEW(double, n);
    t.patches = ARAP_NEW(patch, n);
    t.whole = ARAP_NEW_ZERO(char, parts);
    t.size2 = ARAP_NEW_ZERO(double, parts);
    mesh->spoke_start = ARAP_NEW(size_t, n + 1);
    mesh->spoke = ARAP_NEW(arap_spoke, 2 * n);
    arap_status status = make_lines(context, &t);
    if (status) goto done;
    if (!first || !sums || !t.near || !t.distance || !t.patches || !t.whole || !t.size2 ||
        !mesh->spoke_start || !mesh->spoke) {
        status = arap_fail_memory(&context->error, "the truss");
        goto done;
    }
    measure_parts(&t, sums);
    if (wanted) {
        memset(t.whole, 1, parts);
        for (size_t i = 0; i < n; i++) {
            double place, point[3];
            t.near[i] = wanted[i];
            t.whole[mesh->part[i]] &= wanted_whole[i];
            if (wanted[i] >= 0)
                t.distance[i] = to_line(&t.lines[wanted[i]], mesh->v + 3 * i, &place, point);
        }
        t.first = first;
    } else {
        arap_parallel(context, chunks, find_near, &t);
        t.first = first;
        make_patches(&t);
        status = open_patches(context, &t);
        if (status) goto done;
        arap_parallel(context, chunks, find_near, &t);
    }
    make_patches(&t);
    for (size_t i = 0; i < n; i++) {
        mesh->spoke_start[i] = fill;
        fill += (size_t)place_spokes(&t, bendy, symmetry, (int)i, mesh->spoke + fill);
    }
    mesh->spoke_start[n] = fill;
    arap_spokes_weigh(mesh);

done:
    arap_free(first);
    arap_free(sums);
    arap_free(t.lines);
    arap_free(t.near);
    arap_free(t.distance);
    arap_free(t.patches);
    arap_free(t.whole);
    arap_free(t.size2);
    return status;
}
