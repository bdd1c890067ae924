/* BoneGlow weights: see heat.h.
 *
 *   (L + M H) w_b = M H chi_b,   chi_ib = g_ib / sum_b g_ib,
 *   g_ib = integral over bone b of  V sin(phi) |cos(theta)| / r^2  ds
 *
 * BoneGlow weights are heat weights whose binary chi is replaced by "a softer bone visibility test"
 * (a lecture on Wareham & Lasenby 2008). The new chi is the share of bone b in the light that falls
 * on vertex i. The line from the vertex to a point of the bone has the length r, the angle phi to
 * the bone (a rod sends no light along itself), and the angle theta to the surface normal. V is 1
 * if no face crosses this line, and 0 otherwise. The system and the interpretation of chi as a soft
 * visibility come from this lecture. V, sin(phi) and 1 / r^2 follow other implementations of the
 * paper. The following choices are our own. cos(theta) is the Lambert factor of the lit surface.
 * Bones shine in proportion to their length, so a bone cut in two gives the same light. Both sides
 * of a face are lit, for thin sheets and normals that point inward. Wires and vertices inside a
 * volume have no side (cos = 1). H is 1 / d^2. If the vertex sees the nearest bone, d is the
 * distance from this bone, as with heat. Otherwise, d is the distance from the nearest point that
 * lights the vertex. H is 0 for a vertex without light. Virtual segments and bones without length
 * send no light. An island without light takes the weights of the nearest bones, as with heat. An
 * island far from all bones follows the nearest one.
 *
 * Quadrature: with s = h tan(alpha) along the bone, h the distance to its line, the integral is
 * that of V |cos(theta)| over sin(alpha), divided by h. The integrand is sampled at the midpoints
 * of SAMPLES equal parts. Without V and cos, the integral has a closed form, which is an upper
 * bound. Bones are visited in the order of this bound, the brightest first, until the next bone
 * could add less than MIN_LIGHT times the light so far, or MAX_LIGHTS bones have been visited.
 *
 * Takes about SAMPLES rays for each vertex and each bone near it, O(log faces) each, in parallel,
 * plus the cost of heat.c. Fails if heat.c fails. */
#include "initial/heat.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "weights/rows.h"

#define SAMPLES 6
#define MAX_LIGHTS 16 /* bones that are looked at */
#define MIN_LIGHT 0.05
#define MIN_DISTANCE 1e-6 /* minimum distance of a vertex from the line of a bone */
#define CHUNK 256
#define SLICE_PER_THREAD 4

typedef struct glow_task {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_visibility *visibility;
    const arap_bvh *faces;
    const double *normals; /* (count, 3) normals of any length; 0: no side */
    double *bounds;        /* (workers, deform_count) */
    int *lights;           /* (count) number of bones that light the vertex */
    int *bone;             /* (count, MAX_LIGHTS) these bones, in ascending order */
    double *light;         /* (count, MAX_LIGHTS) */
    char *lit;             /* (count) */
    double *distance;      /* (count) distance to the skeleton, or to the bone that lights the
                              vertex */
} glow_task;

/* A bone as seen from a point: its line, with s measured from the foot of the perpendicular. */
typedef struct rod {
    double foot[3], along[3]; /* unit */
    double from, to;          /* s of its ends */
    double height;            /* h */
    double sine_from, sine_to;
} rod;

/* Returns the maximum light that the bone sends: 0 for a bone without length. */
static double see_rod(const arap_skeleton *skeleton, int bone, const double *p, rod *out) {
    const double *head = skeleton->heads + 3 * (size_t)skeleton->deform_bone[bone],
                 *tail = skeleton->tails + 3 * (size_t)skeleton->deform_bone[bone];
    double rel[3], length;
    arap_sub(tail, head, out->along);
    length = sqrt(arap_dot(out->along, out->along));
    if (!(length > 0)) return 0;
    for (int c = 0; c < 3; c++) out->along[c] /= length;
    arap_sub(head, p, rel);
    out->from = arap_dot(rel, out->along);
    out->to = out->from + length;
    for (int c = 0; c < 3; c++) out->foot[c] = head[c] - out->from * out->along[c];
    out->height = fmax(sqrt(arap_distance2(out->foot, p)), MIN_DISTANCE);
    out->sine_from = out->from / hypot(out->from, out->height);
    out->sine_to = out->to / hypot(out->to, out->height);
    return (out->sine_to - out->sine_from) / out->height;
}

/* Compute g_ib, and lower *nearest to the distance of the visible part of the bone. */
static double light_from(const glow_task *task, int i, const rod *r, double *nearest) {
    const double *p = task->mesh->v + 3 * (size_t)i, *normal = task->normals + 3 * (size_t)i;
    double size = sqrt(arap_dot(normal, normal)), step = (r->sine_to - r->sine_from) / SAMPLES;
    double sum = 0;
    for (int k = 0; k < SAMPLES; k++) {
        double sine = r->sine_from + (k + 0.5) * step, point[3], line[3];
        double s = r->height * sine / sqrt(fmax(1 - sine * sine, 1e-300));
        s = fmin(fmax(s, r->from), r->to);
        for (int c = 0; c < 3; c++) point[c] = r->foot[c] + s * r->along[c];
        arap_sub(point, p, line);
        double distance = fmax(sqrt(arap_dot(line, line)), MIN_DISTANCE);
        double cosine = size > 0 ? fabs(arap_dot(line, normal)) / (size * distance) : 1;
        if (!(cosine > 0) || !arap_sees(task->mesh, task->faces, i, point)) continue;
        sum += fmin(cosine, 1);
        *nearest = fmin(*nearest, distance);
    }
    return sum * step / r->height;
}

/* Store the lights of vertex i in ascending order of bones. */
static void keep_light(const glow_task *task, int i, int bone, double light) {
    size_t first = (size_t)i * MAX_LIGHTS, at = first + (size_t)task->lights[i]++;
    for (; at > first && task->bone[at - 1] > bone; at--) {
        task->bone[at] = task->bone[at - 1];
        task->light[at] = task->light[at - 1];
    }
    task->bone[at] = bone;
    task->light[at] = light;
}

static void light_vertex(const glow_task *task, int i, double *bounds) {
    const double *p = task->mesh->v + 3 * (size_t)i;
    int bones = task->skeleton->deform_count;
    double total = 0, nearest = INFINITY;
    rod r;
    for (int b = 0; b < bones; b++) bounds[b] = see_rod(task->skeleton, b, p, &r);
    task->lights[i] = 0;
    for (int tried = 0; tried < MAX_LIGHTS; tried++) {
        int best = 0;
        for (int b = 1; b < bones; b++)
            if (bounds[b] > bounds[best]) best = b;
        if (!(bounds[best] > MIN_LIGHT * total)) break;
        bounds[best] = 0;
        see_rod(task->skeleton, best, p, &r);
        double light = light_from(task, i, &r, &nearest);
        if (!(light > 0)) continue;
        keep_light(task, i, best, light);
        total += light;
    }
    for (int k = 0; k < task->lights[i]; k++) task->light[(size_t)i * MAX_LIGHTS + k] /= total;
    task->lit[i] = task->lights[i] > 0;
    task->distance[i] =
        task->lit[i] && !task->visibility->visible[i] ? nearest : task->visibility->distance[i];
}

static void light_chunk(void *data, int chunk, int worker) {
    const glow_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++)
        light_vertex(task, i,
                     task->bounds +
                         (size_t)worker * arap_apart((size_t)task->skeleton->deform_count));
}

/* chi: the shares of the lights or, without any lights, the nearest bones. */
static arap_status make_shares(arap_context *context, const glow_task *task, arap_influences *out) {
    arap_rows rows;
    arap_status status = arap_rows_create(context, task->mesh->count, &rows);
    for (size_t i = 0; i < (size_t)task->mesh->count && !status; i++) {
        int count = task->lit[i] ? task->lights[i] : task->visibility->nearest_count[i];
        status = arap_rows_next(context, &rows, (size_t)count);
        for (size_t k = 0; k < (size_t)count && !status; k++)
            if (task->lit[i])
                arap_rows_add(&rows, task->bone[i * MAX_LIGHTS + k],
                              task->light[i * MAX_LIGHTS + k], 0);
            else
                arap_rows_add(&rows, task->visibility->nearest[i * ARAP_MAX_SHARED + k],
                              1.0 / count, 0);
    }
    return arap_rows_end(status, &rows, out);
}

arap_status arap_boneglow_weights(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  const int *order, double floor, arap_influences *out,
                                  arap_islands_report *report) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    int chunks = arap_chunks(mesh->count, CHUNK), bones = skeleton->deform_count;
    arap_bvh *faces = NULL;
    arap_influences shares = {0};
    arap_visibility lit = *visibility;
    double *normals = ARAP_TAKE(&arena, 3 * n, double);
    glow_task task = {
        .mesh = mesh,
        .skeleton = skeleton,
        .visibility = visibility,
        .normals = normals,
        .bounds = ARAP_TAKE(&arena, (size_t)context->threads * arap_apart((size_t)bones), double),
        .lights = ARAP_TAKE(&arena, n, int),
        .bone = ARAP_TAKE(&arena, MAX_LIGHTS * n, int),
        .light = ARAP_TAKE(&arena, MAX_LIGHTS * n, double),
        .lit = ARAP_TAKE(&arena, n, char),
        .distance = ARAP_TAKE(&arena, n, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the light of bones");
    if (status) goto done;
    arap_vertex_normals(mesh, normals);
    status = arap_face_bvh(context, mesh, NULL, &faces);
    if (status) goto done;
    task.faces = faces;
    status = arap_parallel_slices(context, "bone glow", chunks, SLICE_PER_THREAD * context->threads,
                                  light_chunk, &task);
    if (!status) status = make_shares(context, &task, &shares);
    if (status) goto done;
    lit.visible = task.lit;
    lit.distance = task.distance;
    status = arap_diffuse_shares(context, mesh, bones, &lit, order, &shares, floor, out, report);

done:
    arap_bvh_free(faces);
    arap_influences_clear(&shares);
    arap_arena_clear(&arena);
    return status;
}
