/* Finds the parts of the mesh that surround each bone: see containment.h.
 *
 * At each of SECTIONS positions along a bone, RAYS rays start perpendicular to it. A part is judged
 * by the number of rays that meet it within RAY, each counted at its first hit.
 *
 * The directions come from the skeleton and the surface, not from the coordinate axes, so rotating
 * the scene does not change the result. The rays take O(bones x log triangles). A second pass
 * visits the result, which needs O(parts) additional memory. Fails only on out-of-memory or when
 * cancelled. */
#include "springs/containment.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/sight.h"

#define MANY_FACES 2000 /* faces per bone, which cost less than its rays */
#define RAYS 12         /* around a bone */
#define SECTIONS 4      /* along it */
#define RAY 0.3         /* length of a ray, relative to the mesh size */
#define NO_LENGTH 1e-6  /* bones shorter than this have no direction */
#define PI 3.141592653589793

/* The hits of the rays from one bone. */
typedef struct view {
    const arap_mesh *mesh;
    const arap_bone_lines *lines;
    double center[3]; /* of the main surface */
    double *nearest;  /* (parts) fraction of the ray at which it hits each part, or 2 */
    int *hit, count;  /* parts that this ray meets */
    double *sums;     /* (parts, 4) sums over the rays so far: number, distance, components along x
                         and y */
    int *met, met_count;
} view;

/* An arap_hit_fn that records what the ray hits and continues. */
static int note_hit(const void *data, int index, const double *a, const double *b) {
    view *v = *(view *const *)data;
    int part = v->mesh->part[v->mesh->triangles[3 * (size_t)index]];
    double at = arap_cross_face(v->mesh, index, a, b);
    if (!(at >= 0 && at <= 1)) return 0;
    if (v->nearest[part] > 1) v->hit[v->count++] = part;
    v->nearest[part] = fmin(v->nearest[part], at);
    return 0;
}

static void find_center(view *v) {
    const arap_mesh *mesh = v->mesh;
    double all = 0;
    for (int i = 0; i < mesh->count; i++) {
        if (!mesh->main[i]) continue;
        for (int c = 0; c < 3; c++)
            v->center[c] += mesh->area[i] * mesh->v[3 * (size_t)i + (size_t)c];
        all += mesh->area[i];
    }
    for (int c = 0; c < 3; c++) v->center[c] /= all;
}

/* Two unit vectors perpendicular to a bone, the first of them toward the middle of the surface, or
 * else toward the head of another bone. */
static void axes_across(const view *v, const arap_bone_line *l, double *x, double *y) {
    const double *towards = v->center;
    x[0] = x[1] = x[2] = 0;
    for (int b = 0; b <= v->lines->count; b++) {
        double from[3];
        arap_sub(towards, l->head, from);
        double along = arap_dot(from, l->along);
        for (int c = 0; c < 3; c++) x[c] = from[c] - along * l->along[c];
        double length = sqrt(arap_dot(x, x));
        for (int c = 0; c < 3 && length > 0; c++) x[c] /= length;
        if (length > 1e-3 * v->mesh->size) break;
        if (b < v->lines->count) towards = v->lines->line[b].head;
    }
    if (!(arap_dot(x, x) > 0.5)) { /* everything is on one line, so any direction is valid */
        double any[3] = {0, 0, 0};
        int min = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(l->along[c]) < fabs(l->along[min])) min = c;
        any[min] = 1;
        arap_cross(l->along, any, x);
        double length = sqrt(arap_dot(x, x));
        for (int c = 0; c < 3; c++) x[c] /= length;
    }
    arap_cross(l->along, x, y);
}

/* Accumulate the sums of all rays from one bone. */
static void look_around(view *v, const arap_bvh *faces, const arap_bone_line *l) {
    double x[3], y[3], length = RAY * v->mesh->size;
    v->met_count = 0;
    if (l->length < NO_LENGTH) return;
    axes_across(v, l, x, y);
    for (int k = 0; k < SECTIONS * RAYS; k++) {
        double angle = 2 * PI * (k % RAYS + 0.5) / RAYS, a[3], b[3];
        double place = l->length * (k / RAYS + 0.5) / SECTIONS;
        for (int c = 0; c < 3; c++) {
            a[c] = l->head[c] + place * l->along[c];
            b[c] = a[c] + length * (cos(angle) * x[c] + sin(angle) * y[c]);
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
}

struct arap_containment {
    int line, bone, part;
    double share, off;
};

void arap_containments_drop_faces(arap_containments *containments) {
    arap_bvh_free(containments->faces);
    containments->faces = NULL;
}

void arap_containments_clear(arap_containments *containments) {
    arap_containments_drop_faces(containments);
    arap_free(containments->found);
    *containments = (arap_containments){0};
}

/* The same search for all bones. */
typedef struct search {
    const arap_bvh *faces;
    view *views;               /* (workers) */
    arap_containments *around; /* (bones) */
    char *failed;              /* (bones) no memory */
} search;

static void search_line(void *data, int line, int worker) {
    const search *of = data;
    view *v = &of->views[worker];
    arap_containments *around = &of->around[line];
    look_around(v, of->faces, &v->lines->line[line]);
    around->found = ARAP_NEW(struct arap_containment, v->met_count);
    of->failed[line] = !around->found;
    for (int k = 0; k < v->met_count; k++) {
        double *sum = v->sums + 4 * v->met[k];
        double off = sqrt(sum[2] * sum[2] + sum[3] * sum[3]);
        if (around->found)
            around->found[around->count++] = (struct arap_containment){
                line, v->lines->line[line].bone, v->met[k], sum[0] / (SECTIONS * RAYS),
                sum[1] > 0 ? off / sum[1] : 1};
        memset(sum, 0, 4 * sizeof *sum);
    }
}

/* Collects the rays of all bones, one bone after the other. */
static arap_status collect(arap_context *context, const search *of, int bones,
                           arap_containments *kept) {
    int count = 0;
    for (int b = 0; b < bones; b++) count += of->around[b].count;
    kept->found = ARAP_NEW(struct arap_containment, count);
    if (!kept->found || memchr(of->failed, 1, (size_t)bones))
        return arap_fail_memory(&context->error, "the surroundings of the bones");
    for (int b = 0; b < bones; b++)
        for (int k = 0; k < of->around[b].count; k++)
            kept->found[kept->count++] = of->around[b].found[k];
    return ARAP_OK;
}

/* By rays, into `kept`. */
static arap_status find_contained(arap_context *context, const arap_mesh *mesh,
                                  const arap_bone_lines *lines, const char *stage,
                                  arap_containments *kept) {
    size_t parts = (size_t)mesh->part_count, workers = (size_t)context->threads;
    size_t bones = (size_t)lines->count, room = arap_apart(parts);
    if (workers > bones) workers = bones ? bones : 1;
    int is_for_few = !kept->faces && mesh->triangle_count / MANY_FACES >= bones;
    arap_bvh *large = NULL; /* needed only here */
    arap_arena arena = {0};
    double *nearest = ARAP_TAKE(&arena, workers * room, double);
    double *sums = ARAP_TAKE_ZERO(&arena, 4 * workers * room, double);
    int *hit = ARAP_TAKE(&arena, workers * room, int),
        *met = ARAP_TAKE(&arena, workers * room, int);
    search of = {.views = ARAP_TAKE(&arena, workers, view),
                 .around = ARAP_TAKE_ZERO(&arena, bones, arap_containments),
                 .failed = ARAP_TAKE_ZERO(&arena, bones, char)};
    arap_status status =
        arap_arena_status(&arena, &context->error, "the surroundings of the bones");
    if (status) goto done;
    view one = {.mesh = mesh, .lines = lines};
    find_center(&one);
    for (size_t p = 0; p < workers * room; p++) nearest[p] = 2;
    for (size_t w = 0; w < workers; w++) {
        of.views[w] = one;
        of.views[w].nearest = nearest + w * room;
        of.views[w].sums = sums + 4 * w * room;
        of.views[w].hit = hit + w * room;
        of.views[w].met = met + w * room;
    }
    if (is_for_few)
        status = arap_face_bvh_for_few(context, mesh, &large);
    else if (!kept->faces)
        status = arap_face_bvh(context, mesh, NULL, &kept->faces);
    of.faces = is_for_few ? large : kept->faces;
    if (!status) status = arap_progress(context, stage, 0);
    if (!status) status = arap_parallel(context, (int)bones, search_line, &of);
    if (!status) status = collect(context, &of, (int)bones, kept);
    if (!status) status = arap_progress(context, stage, 1);
    kept->known = !status;

done:
    for (size_t b = 0; b < bones && of.around; b++) arap_containments_clear(&of.around[b]);
    arap_bvh_free(large);
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_visit_containments(arap_context *context, const arap_mesh *mesh,
                                    const arap_bone_lines *lines, const char *stage,
                                    arap_containments *kept, arap_containment_fn visit,
                                    void *data) {
    arap_status status = ARAP_OK;
    if (!kept->known) {
        arap_free(kept->found); /* left by a call that was stopped */
        kept->found = NULL;
        kept->count = 0;
        status = find_contained(context, mesh, lines, stage, kept);
    }
    if (!status) arap_visit_kept(kept, visit, data);
    return status;
}

void arap_visit_kept(const arap_containments *kept, arap_containment_fn visit, void *data) {
    for (int k = 0; k < kept->count && kept->known; k++) {
        const struct arap_containment *one = &kept->found[k];
        visit(data, one->line, one->bone, one->part, one->share, one->off);
    }
}
