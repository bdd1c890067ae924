/* Doubts about the bones of loose parts: see inspection.h.
 *
 * The owner of a part is the bone b with more than half of the part's weight, if the weights of b
 * differ from their mean by at most BENDS on average: a part that bends has no owner. How well a
 * bone fits the part is
 *     fit_b = (w_b + s_b + ANY) / d_b^2,
 * where w_b is the mean weight of b in the part, s_b its mean weight on the surface that the part
 * touches, and d_b the mean distance of the part from b. Means of the part are weighted by area.
 * The touched surface consists of the points of other parts nearest to the nearest TOUCHING of the
 * part's vertices. Like the energy, w and s favor the bone that keeps the part on what it lies on.
 * ANY lets the distance decide between bones that move neither. With the square, more of the parts
 * that artists give to another bone are listed (docs/decisions/036).
 *
 * Only the deforming parent and children of the owner are other choices: artists who disagree with
 * the owner nearly always choose one of the two that fit best. The doubt is the best fit of these,
 * divided by that of the owner. Among equal fits, the first bone counts.
 *
 * Takes O(n log n) for the touched surface (closest.c) and O(n (1 + relatives)) for the rest. Parts
 * are processed in parallel. Fails on out-of-memory, when cancelled, and for a mesh, weights or
 * bones that cannot be used. */
#include "measures/inspection.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "mesh/nearest.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/sparse_weights.h"

#define ANY 1         /* fits have a ratio of at most 3 at equal distances */
#define TOUCHING 0.25 /* share of the vertices of a part, or more at the same distance */
#define SAME 1e-6     /* of the diagonal */
#define HALF 0.5
#define BENDS 0.1 /* of a weight */

typedef struct gap {
    double distance;
    int vertex;
} gap;

typedef struct study {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_sparse_weights *rows;
    arap_closest touched; /* by each vertex of the caller */
    double *area;         /* (vertices of the caller) */
    int *member, *begin;  /* (vertices), (parts + 1) the vertices of each part */
    gap *gaps;            /* (vertices) scratch, as `member` */
    double *means;        /* (workers, 2, deforming bones) scratch */
    arap_part_doubts *out;
    arap_arena arena; /* of the arrays that end with the study */
} study;

/* Add the row of vertex i, scaled to this sum, to `mean` (deforming bones). */
static void add_row(const study *s, int i, double sum, double *mean) {
    const arap_sparse_weights *rows = s->rows;
    double own = 0;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) own += rows->weight[e];
    for (long long e = rows->start[i]; e < rows->start[i + 1] && own > 0; e++) {
        int d = arap_deforming(s->skeleton, rows->bone[e]);
        if (d >= 0) mean[d] += sum * (rows->weight[e] / own);
    }
}

/* Mean difference of the normalized weights of a bone in a part from their mean, both times its
 * area. */
static double spread_of(const study *s, int part, int bone, double mean, double area, double *row) {
    double sum = 0;
    for (int k = s->begin[part]; k < s->begin[part + 1]; k++) {
        int i = s->member[k];
        row[bone] = 0;
        add_row(s, i, 1, row);
        sum += s->area[i] * fabs(row[bone] - mean / area);
    }
    for (int b = 0; b < s->skeleton->deform_count; b++) row[b] = 0;
    return sum;
}

static int nearest_first(const void *a, const void *b) {
    const gap *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Store the mean row of what the part touches. Returns 0 if there is no other part. */
static int find_touched(const study *s, int part, double *mean) {
    int begin = s->begin[part], size = s->begin[part + 1] - begin;
    int count = (int)(TOUCHING * size);
    gap *gaps = s->gaps + begin;
    if (count < 1) count = 1;
    for (int k = 0; k < size; k++) {
        int i = s->member[begin + k];
        gaps[k] = (gap){fabs(s->touched.height[i]), i};
    }
    qsort(gaps, (size_t)size, sizeof *gaps, nearest_first);
    if (!(gaps[0].distance < INFINITY)) return 0;
    double same = SAME * s->mesh->diagonal; /* as near as the last one: mirror images are equal */
    while (count < size && gaps[count].distance <= gaps[count - 1].distance + same) count++;
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++) {
            size_t at = 3 * (size_t)gaps[k].vertex + (size_t)c;
            if (s->touched.corner[at] >= 0)
                add_row(s, s->touched.corner[at], s->touched.bary[at] / count, mean);
        }
    return 1;
}

/* Area-weighted mean distance of a part from a deforming bone, times its area. */
static double distance_from(const study *s, int part, int bone) {
    double sum = 0, nearest[3];
    for (int k = s->begin[part]; k < s->begin[part + 1]; k++) {
        int i = s->member[k];
        const double *p = s->mesh->v + 3 * (size_t)s->mesh->weld[i];
        sum += s->area[i] * sqrt(arap_distance2_to_bone(s->skeleton, bone, p, nearest));
    }
    return sum;
}

static void judge_part(void *data, int part, int worker) {
    const study *s = data;
    const arap_skeleton *skeleton = s->skeleton;
    size_t bones = (size_t)skeleton->deform_count;
    double *own = s->means + 2 * (size_t)worker * bones, *touched = own + bones, area = 0;
    int owner = -1, *other = s->out->other + ARAP_OTHERS * (size_t)part;
    s->out->owner[part] = other[0] = other[1] = -1;
    s->out->doubt[part] = 0;
    for (size_t b = 0; b < 2 * bones; b++) own[b] = 0;
    for (int k = s->begin[part]; k < s->begin[part + 1]; k++) {
        add_row(s, s->member[k], s->area[s->member[k]], own);
        area += s->area[s->member[k]];
    }
    for (int b = 0; b < skeleton->deform_count; b++)
        if (own[b] > HALF * area) owner = b;
    if (owner < 0 || spread_of(s, part, owner, own[owner], area, touched) > BENDS * area ||
        !find_touched(s, part, touched))
        return;
    s->out->owner[part] = skeleton->deform_bone[owner];
    double least = SAME * area, best = 0, next = 0; /* least: for bones inside a tiny part */
    double from = fmax(distance_from(s, part, owner), least);
    double fit = (own[owner] / area + touched[owner] + ANY) / (from * from);
    for (int b = 0; b < skeleton->deform_count; b++) {
        if (skeleton->deform_parent[b] != owner && skeleton->deform_parent[owner] != b) continue;
        from = fmax(distance_from(s, part, b), least);
        double doubt = (own[b] / area + touched[b] + ANY) / (from * from) / fit;
        if (doubt > best) {
            next = best, other[1] = other[0];
            best = doubt, other[0] = skeleton->deform_bone[b];
        } else if (doubt > next)
            next = doubt, other[1] = skeleton->deform_bone[b];
    }
    s->out->doubt[part] = best;
}

/* Divide the area of each triangle among its corners. */
static void find_areas(const arap_geometry *geometry, study *s) {
    const arap_mesh *mesh = s->mesh;
    for (size_t t = 0; t < geometry->triangle_count; t++) {
        const int *corner = geometry->triangles + 3 * t;
        double a[3], b[3], normal[3];
        const double *v = mesh->v, *first = v + 3 * (size_t)mesh->weld[corner[0]];
        arap_sub(v + 3 * (size_t)mesh->weld[corner[1]], first, a);
        arap_sub(v + 3 * (size_t)mesh->weld[corner[2]], first, b);
        arap_cross(a, b, normal);
        for (int c = 0; c < 3; c++) s->area[corner[c]] += sqrt(arap_dot(normal, normal)) / 6;
    }
}

static arap_status make_study(arap_context *context, study *s) {
    size_t n = (size_t)s->mesh->input_count, parts = (size_t)s->mesh->part_count;
    arap_part_doubts *out = s->out;
    s->touched =
        (arap_closest){ARAP_TAKE(&s->arena, 3 * n, int), ARAP_TAKE(&s->arena, 3 * n, double),
                       ARAP_TAKE(&s->arena, n, double)};
    s->area = ARAP_TAKE_ZERO(&s->arena, n, double);
    s->member = ARAP_TAKE(&s->arena, n, int);
    s->begin = ARAP_TAKE(&s->arena, parts + 1, int);
    s->gaps = ARAP_TAKE(&s->arena, n, gap);
    s->means = ARAP_TAKE(&s->arena,
                         2 * (size_t)context->threads * (size_t)s->skeleton->deform_count, double);
    out->count = (int)parts;
    out->part = ARAP_TAKE(&out->arena, n, int);
    out->owner = ARAP_TAKE(&out->arena, parts, int);
    out->other = ARAP_TAKE(&out->arena, ARAP_OTHERS * parts, int);
    out->doubt = ARAP_TAKE(&out->arena, parts, double);
    arap_status status =
        arap_arena_status(&s->arena, &context->error, "the doubts about loose parts");
    if (status) return status;
    return arap_arena_status(&out->arena, &context->error, "the doubts about loose parts");
}

arap_status arap_part_doubts_create(arap_context *context, const arap_geometry *geometry,
                                    const arap_sparse_weights *rows, const arap_bones *bones,
                                    arap_part_doubts *out) {
    arap_mesh mesh = {0};
    arap_skeleton skeleton = {0};
    study s = {.mesh = &mesh, .skeleton = &skeleton, .rows = rows, .out = out};
    *out = (arap_part_doubts){0};
    arap_status status =
        arap_check_sparse_weights(&context->error, rows, geometry->vertex_count, bones->count);
    if (!status) status = arap_mesh_create(context, geometry, bones, ARAP_WELD_TOLERANCE, &mesh);
    if (!status) status = arap_skeleton_create(context, bones, &mesh, &skeleton);
    if (!status) status = make_study(context, &s);
    if (status) goto done;
    find_areas(geometry, &s);
    for (int i = 0; i < mesh.input_count; i++) s.member[i] = i;
    status = arap_closest_points(context, geometry, mesh.input_count, geometry->vertices, s.member,
                                 NULL, NULL, &s.touched);
    if (status) goto done;
    for (int i = 0; i < mesh.input_count; i++) out->part[i] = mesh.part[mesh.weld[i]];
    arap_group(mesh.input_count, out->part, NULL, mesh.part_count, s.begin, s.member);
    status = arap_parallel(context, mesh.part_count, judge_part, &s);

done:
    arap_arena_clear(&s.arena);
    arap_skeleton_clear(&skeleton);
    arap_mesh_clear(&mesh);
    if (status) arap_part_doubts_clear(out);
    return status;
}

void arap_part_doubts_clear(arap_part_doubts *doubts) {
    arap_arena_clear(&doubts->arena);
    *doubts = (arap_part_doubts){0};
}
