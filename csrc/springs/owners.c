/* Owners of the skin: see owners.h.
 *
 * In this file, each segment of a bone with several segments (skeleton.h) counts as a bone, and any
 * segment may own skin.
 *
 * A part of the mesh surrounds a bone if most rays from the bone, across it, meet the part, at
 * about the same distance on all sides (containment.c). A bone that no part surrounds counts as
 * surrounded by the part with most of the skin nearest to this bone. The owner of a vertex is the
 * bone of least cost among those that the vertex's part surrounds and that are not excluded from
 * the vertex:
 *     cost = c max(1, c / (CAP r)),   c = d (1 + OUTSIDE g).
 * d is the distance from the vertex to the nearest point of the bone. g is the share of this way
 * that lies outside the mesh (inside.c), so an arm next to the flank does not own the flank. r is
 * the radius of the bone's limb: the mean distance of the skin that is nearest to the middle half
 * of the bone. A bone counts as near within CAP radii. Beyond them, its cost grows with the square
 * of the distance, so the root of a thin limb inside a thick body does not own the skin of the
 * body. A flat part has no inside and no radius: with the thickness h of the part (sheets.c),
 * OUTSIDE becomes h OUTSIDE, and the second factor is raised to the power h.
 *
 * A part that surrounds no bone, such as a piece of armor or a button, belongs as a whole to the
 * bone nearest to most of its area.
 *
 * Takes O(vertices x bones) distances (bone_lines.c), the rays of containment.c, and about one ray
 * per vertex: bones are tried in ascending order of the cost with g = 0, until this cost exceeds
 * the lowest cost found. Fails only on out-of-memory or when cancelled. */
#include "springs/owners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vec3.h"
#include "mesh/rings.h"
#include "mesh/loose_parts.h"

#define CHUNK 64
#define CAP 1.25           /* radii of its limb within which a bone is near */
#define OUTSIDE 2          /* a way outside the mesh counts 1 + OUTSIDE times */
#define MAX_RAYS 0.6       /* minimum `share` of containment.h at which a part surrounds a bone, */
#define OFF_CENTER 0.5     /* up to this `off` */
#define SAME_DISTANCE 1e-5 /* smaller differences between costs are ignored */
/* smaller differences between areas are ignored, and the first part wins */
#define ROUNDING 1e-9

typedef struct finder {
    const arap_mesh *mesh;
    const double *thick; /* (parts) */
    const arap_owner_choice *choice;
    arap_owners *o;
    double *distances; /* (workers, lines) of the current vertex */
    double *radius;    /* (patches) of their limbs */
    arap_inside inside;
    int *member; /* (vertices) ascending by part */
    int *begin;  /* (parts + 1) first member of a part */
} finder;

static int is_excluded(const finder *f, int i, int line) {
    const arap_owner_choice *choice = f->choice;
    return choice->excluded && choice->excluded(choice->data, i, f->o->lines.line[line].bone);
}

/* How far a point at a given distance from a line is beyond its ends, measured along it. */
static double beyond(const arap_bone_line *l, const double *p, double distance) {
    double from[3];
    if (!(l->length > 0)) return distance;
    arap_sub(p, l->head, from);
    double place = arap_dot(from, l->along);
    return fmax(0, fmax(-place, place - l->length));
}

/* Whether a line at this cost is a better owner of point p than the best line so far, -1: none. In
 * the wedge outside a bend, the joint is the nearest point of both bones. There, the better bone is
 * the one whose end the point passes by the shorter distance. At a tie, it is the first bone. */
static int is_better(const finder *f, const double *p, int line, double cost, double distance,
                     int best, double min, double min_distance) {
    const arap_bone_line *lines = f->o->lines.line;
    if (best < 0) return cost < INFINITY;
    double same = SAME_DISTANCE * (min + f->mesh->unit);
    if (fabs(cost - min) > same) return cost < min;
    double past = beyond(&lines[line], p, distance) - beyond(&lines[best], p, min_distance);
    return fabs(past) > same ? past < 0 : line < best;
}

/* Find the nearest of all lines for each vertex. */
static void find_nearest(void *data, int chunk, int worker) {
    const finder *f = data;
    int lines = f->o->lines.count, end = (chunk + 1) * CHUNK;
    if (end > f->mesh->count) end = f->mesh->count;
    double *distance = f->distances + (size_t)worker * arap_apart((size_t)lines);
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *p = f->mesh->v + 3 * (size_t)i;
        double min = INFINITY;
        int best = -1;
        arap_line_distances(&f->o->lines, p, distance);
        for (int k = 0; k < lines; k++) {
            if (!is_better(f, p, k, distance[k], distance[k], best, min, min) ||
                is_excluded(f, i, k))
                continue;
            min = fmin(min, distance[k]);
            best = k;
        }
        f->o->line[i] = best;
        f->o->distance[i] = min;
    }
}

/* The cost of the line of a patch, from c: see the top of this file. */
static double cost_of(const finder *f, int patch, double c) {
    double far = c / (CAP * f->radius[patch]), thick = f->thick[f->o->patches[patch].part];
    if (!(far > 1)) return c;
    return c * (thick < 1 ? pow(far, thick) : far);
}

/* Find the line of least cost among those with an open patch. */
static void find_owner(void *data, int chunk, int worker) {
    const finder *f = data;
    const arap_mesh *mesh = f->mesh;
    const arap_owners *o = f->o;
    double *least = f->distances + (size_t)worker * arap_apart((size_t)o->lines.count);
    int end = arap_chunk_end(chunk, CHUNK, mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *p = mesh->v + 3 * (size_t)i;
        int part = mesh->part[i], best = -1;
        double min = INFINITY, min_distance = INFINITY, place, point[3];
        double thick = o->whole[part] ? 0 : f->thick[part];
        if (o->line[i] < 0) continue;
        arap_line_distances(&o->lines, p, least);
        for (int k = o->first[part]; k < o->first[part + 1]; k++) {
            double *own = &least[o->patches[k].line];
            *own = o->patches[k].open ? cost_of(f, k, *own) : INFINITY;
        }
        for (;;) {
            int next = -1;
            double lowest = INFINITY;
            for (int k = o->first[part]; k < o->first[part + 1]; k++)
                if (least[o->patches[k].line] < lowest) {
                    lowest = least[o->patches[k].line];
                    next = k;
                }
            if (next < 0 || lowest > min + SAME_DISTANCE * (min + mesh->unit)) break;
            int line = o->patches[next].line;
            least[line] = INFINITY;
            if (is_excluded(f, i, line)) continue;
            double distance = arap_line_distance(&o->lines.line[line], p, &place, point);
            double outside = thick > 0 ? arap_outside_share(&f->inside, i, point) : 0;
            double cost = cost_of(f, next, distance * (1 + thick * OUTSIDE * outside));
            if (!is_better(f, p, line, cost, distance, best, min, min_distance)) continue;
            min = fmin(min, cost);
            min_distance = distance;
            best = line;
        }
        o->line[i] = best;
        o->distance[i] = min_distance;
    }
}

static int by_line(const void *key, const void *patch) {
    int line = *(const int *)key, other = ((const arap_patch *)patch)->line;
    return (line > other) - (line < other);
}

static arap_patch *find_patch(const arap_owners *o, int part, int line) {
    return bsearch(&line, o->patches + o->first[part],
                   (size_t)(o->first[part + 1] - o->first[part]), sizeof(arap_patch), by_line);
}

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Create the patches of the current owners, initially not open, and their distances. */
static arap_status make_patches(arap_context *context, finder *f) {
    arap_arena arena = {0};
    const arap_mesh *mesh = f->mesh;
    arap_owners *o = f->o;
    int *at =
        ARAP_TAKE(&arena, o->lines.count, int); /* patch of each line, if not below first[part] */
    int *line = ARAP_TAKE(&arena, o->lines.count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the owners of the skin");
    if (status) goto done;
    for (int k = 0; k < o->lines.count; k++) at[k] = -1;
    o->patch_count = 0;
    for (int p = 0; p < mesh->part_count; p++) {
        int from = o->first[p] = o->patch_count, count = 0;
        for (int m = f->begin[p]; m < f->begin[p + 1]; m++) {
            int owner = o->line[f->member[m]];
            if (owner < 0 || at[owner] >= from) continue;
            at[owner] = from;
            line[count++] = owner;
        }
        qsort(line, (size_t)count, sizeof *line, ascending);
        for (int k = 0; k < count; k++) {
            at[line[k]] = from + k;
            o->patches[from + k] = (arap_patch){.part = p, .line = line[k]};
        }
        o->patch_count += count;
        for (int m = f->begin[p]; m < f->begin[p + 1]; m++) {
            int i = f->member[m];
            o->patch_of[i] = o->line[i] < 0 ? -1 : at[o->line[i]];
            if (o->line[i] < 0) continue;
            arap_patch *own = &o->patches[o->patch_of[i]];
            own->area += mesh->area[i];
            own->distance += mesh->area[i] * o->distance[i];
        }
        for (int k = from; k < o->patch_count; k++) o->patches[k].distance /= o->patches[k].area;
    }
    o->first[mesh->part_count] = o->patch_count;

done:
    arap_arena_clear(&arena);
    return status;
}

/* An arap_containment_fn that opens the patch of the part. */
static void open_around(void *data, int line, int bone, int part, double share, double off) {
    arap_patch *own = find_patch(data, part, line);
    (void)bone;
    if (own && share >= MAX_RAYS && off <= OFF_CENTER) own->open = 1;
}

/* Determine which patches are open: see the top of this file. */
static arap_status open_patches(arap_context *context, finder *f, arap_containments *kept) {
    const arap_mesh *mesh = f->mesh;
    arap_owners *o = f->o;
    arap_patch **best = ARAP_NEW_ZERO(arap_patch *, o->lines.count); /* of each line: open, or the
                                                                     * largest */
    if (!best) return arap_fail_memory(&context->error, "the owners of the skin");
    arap_status status =
        arap_visit_containments(context, mesh, &o->lines, "truss", kept, open_around, o);
    for (int k = 0; k < o->patch_count && !status; k++) {
        arap_patch *own = &o->patches[k], **max = &best[own->line];
        if (*max && (*max)->open) continue;
        if (!*max || own->open || own->area > (*max)->area * (1 + ROUNDING)) *max = own;
    }
    for (int k = 0; k < o->lines.count && !status; k++)
        if (best[k]) best[k]->open = 1;
    for (int p = 0; p < mesh->part_count && !status; p++) {
        arap_patch *max = NULL;
        o->whole[p] = o->first[p] < o->first[p + 1];
        for (int k = o->first[p]; k < o->first[p + 1]; k++) {
            if (o->patches[k].open) o->whole[p] = 0;
            if (!max || o->patches[k].area > max->area * (1 + ROUNDING)) max = &o->patches[k];
        }
        if (o->whole[p]) max->open = 1;
    }
    arap_free(best);
    return status;
}

/* The radius of the limb at each patch: see the top of this file. area (patches): scratch. A patch
 * without skin around the middle of its bone has the mean distance of all its skin. */
static void find_radii(finder *f, double *area) {
    const arap_mesh *mesh = f->mesh;
    const arap_owners *o = f->o;
    for (int k = 0; k < o->patch_count; k++) f->radius[k] = area[k] = 0;
    for (int i = 0; i < mesh->count; i++) {
        if (o->line[i] < 0) continue;
        const arap_bone_line *l = &o->lines.line[o->line[i]];
        double place, point[3];
        double distance = arap_line_distance(l, mesh->v + 3 * (size_t)i, &place, point);
        if (!(place > l->length / 4 && place < l->length * 3 / 4)) continue;
        f->radius[o->patch_of[i]] += mesh->area[i] * distance;
        area[o->patch_of[i]] += mesh->area[i];
    }
    for (int k = 0; k < o->patch_count; k++)
        f->radius[k] = area[k] > 0 ? f->radius[k] / area[k] : o->patches[k].distance;
}

static arap_status choose(arap_context *context, finder *f, arap_containments *kept, double *area) {
    int chunks = arap_chunks(f->mesh->count, CHUNK);
    arap_status status = arap_parallel_short(context, chunks, find_nearest, f);
    if (!status) status = make_patches(context, f);
    /* before the rays of containment.c, which would otherwise sort the faces for themselves */
    if (!status && !kept->faces) status = arap_face_bvh(context, f->mesh, NULL, &kept->faces);
    if (!status) status = open_patches(context, f, kept);
    if (!status) status = arap_inside_create(context, f->mesh, kept->faces, &f->inside);
    if (status) return status;
    find_radii(f, area);
    return arap_parallel_short(context, chunks, find_owner, f);
}

/* Use the owners that the caller knows. */
static void take(finder *f) {
    const arap_mesh *mesh = f->mesh;
    const int *bone = f->choice->bone;
    arap_owners *o = f->o;
    memset(o->whole, 1, (size_t)mesh->part_count);
    for (int i = 0; i < mesh->count; i++) {
        const double *p = mesh->v + 3 * (size_t)i;
        double place, point[3];
        o->line[i] = bone[i] < 0 ? -1 : arap_nearest_line(&o->lines, bone[i], p);
        o->whole[mesh->part[i]] &= f->choice->whole[i];
        if (bone[i] >= 0)
            o->distance[i] = arap_line_distance(&o->lines.line[o->line[i]], p, &place, point);
    }
}

arap_status arap_owners_create(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const double *thick,
                               const arap_owner_choice *choice, arap_containments *kept,
                               arap_owners *out) {
    size_t n = (size_t)mesh->count, parts = (size_t)mesh->part_count;
    arap_arena arena = {0};
    *out = (arap_owners){0};
    out->line = ARAP_TAKE(&out->arena, n, int);
    out->distance = ARAP_TAKE(&out->arena, n, double);
    out->patches = ARAP_TAKE(&out->arena, n, arap_patch);
    out->patch_of = ARAP_TAKE(&out->arena, n, int);
    out->first = ARAP_TAKE(&out->arena, parts + 1, int);
    out->whole = ARAP_TAKE_ZERO(&out->arena, parts, char);
    finder f = {.mesh = mesh,
                .thick = thick,
                .choice = choice,
                .o = out,
                .member = ARAP_TAKE(&arena, n, int),
                .begin = ARAP_TAKE(&arena, parts + 1, int),
                .radius = ARAP_TAKE(&arena, n, double)};
    double *area = ARAP_TAKE(&arena, n, double);
    arap_status status = arap_bone_lines_create(context, skeleton, &out->lines);
    size_t lines = (size_t)out->lines.count;
    f.distances = ARAP_TAKE(&arena, (size_t)context->threads * arap_apart(lines), double);
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the owners of the skin");
    if (!status) status = arap_arena_status(&arena, &context->error, "the owners of the skin");
    if (status) goto done;
    arap_group(mesh->count, mesh->part, NULL, mesh->part_count, f.begin, f.member);
    if (choice->bone)
        take(&f);
    else
        status = choose(context, &f, kept, area);
    if (!status) status = make_patches(context, &f);

done:
    arap_arena_clear(&arena);
    arap_inside_clear(&f.inside);
    if (status) arap_owners_clear(out);
    return status;
}

void arap_owners_clear(arap_owners *owners) {
    arap_bone_lines_clear(&owners->lines);
    arap_arena_clear(&owners->arena);
    *owners = (arap_owners){0};
}

arap_status arap_find_owners(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, int *out) {
    arap_mesh mesh = {0};
    arap_skeleton skeleton = {0};
    arap_containments kept = {0};
    arap_owners owners = {0};
    arap_owner_choice choice = {0};
    double *thick = NULL;
    arap_status status = arap_progress(context, "mesh", 0);
    if (!status) status = arap_mesh_create(context, geometry, bones, ARAP_WELD_TOLERANCE, &mesh);
    if (!status) status = arap_skeleton_create(context, bones, &mesh, &skeleton);
    if (!status) status = arap_mesh_connect(context, &mesh, NULL, 0);
    if (status) goto done;
    thick = ARAP_NEW(double, mesh.part_count);
    status = thick ? arap_part_thickness(context, &mesh, thick)
                   : arap_fail_memory(&context->error, "the owners of the skin");
    if (!status)
        status = arap_owners_create(context, &mesh, &skeleton, thick, &choice, &kept, &owners);
    for (int i = 0; i < mesh.input_count && !status; i++) {
        int line = owners.line[mesh.weld[i]];
        out[i] = line < 0 ? -1 : skeleton.deform_bone[owners.lines.line[line].bone];
    }

done:
    arap_owners_clear(&owners);
    arap_containments_clear(&kept);
    arap_free(thick);
    arap_skeleton_clear(&skeleton);
    arap_mesh_clear(&mesh);
    return status;
}
