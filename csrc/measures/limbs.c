/* Limbs and their drift from their bones: see limbs.h.
 *
 * A vertex belongs to the bone nearest to it. The middle of a bone consists of the bone's vertices
 * whose nearest point lies at 0.3 to 0.7 of the bone's length. Let r be the mean distance of these
 * vertices from the bone. The vertices are a limb if there are at least 6 of them, their mean lies
 * within r / 2 of the line of the bone, and r is at most 1.5 times the length of the bone. The bone
 * then runs inside the limb. The drift of a posed limb is a distance in units of r. It is measured
 * from the mean of these vertices to the position to which the bone moves their mean at rest.
 *
 * With a tree of the bones, the search takes O(vertices x log bones). Vertices are processed in
 * parallel. Fails on out-of-memory. */
#include "measures/limbs.h"

#include "base/memory.h"
#include "base/sort.h"
#include "base/vec3.h"
#include "measures/pose_lanes.h"
#include "mesh/bvh.h"

#define CHUNK 256
#define MIDDLE_FROM 0.3
#define MIDDLE_TO 0.7
#define MIN_VERTICES 6
#define MAX_OFF 0.5  /* maximum distance of the mean from the bone, in radii */
#define MAX_WIDE 1.5 /* maximum radius, in bone lengths */

typedef struct nearest_task {
    int n, bones;
    const double *vertices, *heads;
    const double *axis, *length; /* (bones, 3), (bones) */
    const arap_bvh *tree;        /* of the deforming bones */
    const int *leaf;             /* bone of each leaf of the tree */
    int *bone;                   /* (n) bone whose middle contains the vertex, or -1 */
    double *distance;            /* (n) from it */
} nearest_task;

/* Squared distance of a point from a bone, and the position of the nearest point along it. */
static double distance_from(const nearest_task *task, int b, const double *point, double *along) {
    const double *axis = task->axis + 3 * (size_t)b;
    double off[3];
    arap_sub(point, task->heads + 3 * (size_t)b, off);
    double t = arap_dot(off, axis);
    *along = t < 0 ? 0 : t > task->length[b] ? task->length[b] : t;
    for (int c = 0; c < 3; c++) off[c] -= *along * axis[c];
    return arap_dot(off, off);
}

static double leaf_distance(const void *data, int leaf, const double *point) {
    const nearest_task *task = data;
    double along;
    return distance_from(task, task->leaf[leaf], point, &along);
}

static void find_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const nearest_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->n);
    for (int i = chunk * CHUNK; i < end; i++) {
        double best = INFINITY, place = 0;
        const double *point = task->vertices + 3 * (size_t)i;
        int leaf = arap_bvh_nearest(task->tree, point, -1, leaf_distance, task, &best);
        int bone = leaf < 0 ? -1 : task->leaf[leaf];
        if (bone >= 0) best = distance_from(task, bone, point, &place);
        double u = bone >= 0 && task->length[bone] > 0 ? place / task->length[bone] : 0;
        task->bone[i] = u > MIDDLE_FROM && u < MIDDLE_TO ? bone : -1;
        task->distance[i] = sqrt(best);
    }
}

/* The tree of the deforming bones; leaf (bones), boxes (bones, 6). */
static arap_status plant(arap_context *context, const nearest_task *task, const double *tails,
                         const char *deform, int *leaf, double *boxes, arap_bvh **tree) {
    size_t count = 0;
    for (int b = 0; b < task->bones; b++) {
        if (deform && !deform[b]) continue;
        for (int c = 0; c < 3; c++) {
            double head = task->heads[3 * b + c], tail = tails[3 * b + c];
            boxes[6 * count + (size_t)c] = fmin(head, tail);
            boxes[6 * count + 3 + (size_t)c] = fmax(head, tail);
        }
        leaf[count++] = b;
    }
    return arap_bvh_build(context, tree, count, boxes, NULL);
}

/* Compute the mean and the mean distance of the vertices around the middle of a bone. Returns
 * whether they form a limb. */
static int is_limb(const nearest_task *task, int b, size_t count, const int *vertex, double *center,
                   double *radius) {
    double sum[3] = {0}, distance = 0, off[3];
    if (count < MIN_VERTICES) return 0;
    for (size_t k = 0; k < count; k++) {
        for (int c = 0; c < 3; c++) sum[c] += task->vertices[3 * (size_t)vertex[k] + (size_t)c];
        distance += task->distance[vertex[k]];
    }
    for (int c = 0; c < 3; c++) center[c] = sum[c] / (double)count;
    *radius = distance / (double)count;
    const double *axis = task->axis + 3 * (size_t)b;
    arap_sub(center, task->heads + 3 * (size_t)b, off);
    double along = arap_dot(off, axis);
    for (int c = 0; c < 3; c++) off[c] -= along * axis[c];
    return sqrt(arap_dot(off, off)) <= MAX_OFF * *radius && *radius <= MAX_WIDE * task->length[b] &&
           *radius > 0;
}

arap_status arap_limbs_create(arap_context *context, int n, const double *vertices, int bones,
                              const double *heads, const double *tails, const char *deform,
                              arap_limbs *limbs) {
    arap_arena arena = {0};
    size_t m = (size_t)bones;
    double *axis = ARAP_TAKE(&arena, 3 * m, double), *length = ARAP_TAKE(&arena, m, double);
    double *boxes = ARAP_TAKE(&arena, 6 * m, double);
    int *leaf = ARAP_TAKE(&arena, m, int), *from = ARAP_TAKE(&arena, m + 1, int);
    arap_bvh *tree = NULL;
    nearest_task task = {.n = n,
                         .bones = bones,
                         .vertices = vertices,
                         .heads = heads,
                         .axis = axis,
                         .length = length,
                         .leaf = leaf,
                         .bone = ARAP_TAKE(&arena, n, int),
                         .distance = ARAP_TAKE(&arena, n, double)};
    *limbs = (arap_limbs){0};
    limbs->bone = ARAP_TAKE(&limbs->arena, m, int);
    limbs->radius = ARAP_TAKE(&limbs->arena, m, double);
    limbs->center = ARAP_TAKE(&limbs->arena, 3 * m, double);
    limbs->start = ARAP_TAKE(&limbs->arena, m + 1, size_t);
    limbs->vertex = ARAP_TAKE(&limbs->arena, n, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the limbs");
    if (!status) status = arap_arena_status(&limbs->arena, &context->error, "the limbs");
    if (status) goto done;
    for (size_t b = 0; b < m; b++) {
        arap_sub(tails + 3 * b, heads + 3 * b, axis + 3 * b);
        length[b] = sqrt(arap_dot(axis + 3 * b, axis + 3 * b));
        for (size_t c = 3 * b; c < 3 * b + 3 && length[b] > 0; c++) axis[c] /= length[b];
    }
    status = plant(context, &task, tails, deform, leaf, boxes, &tree);
    task.tree = tree;
    if (!status) status = arap_parallel(context, arap_chunks(n, CHUNK), find_chunk, &task);
    if (status) goto done;
    arap_group(n, task.bone, NULL, bones, from, limbs->vertex);
    size_t fill = limbs->start[0] = 0;
    for (int b = 0; b < bones; b++) {
        int l = limbs->count;
        size_t count = (size_t)(from[b + 1] - from[b]);
        if (!is_limb(&task, b, count, limbs->vertex + from[b], limbs->center + 3 * (size_t)l,
                     limbs->radius + l))
            continue;
        limbs->bone[l] = b;
        for (size_t k = 0; k < count; k++)
            limbs->vertex[fill++] = limbs->vertex[(size_t)from[b] + k];
        limbs->start[++limbs->count] = fill;
    }

done:
    arap_bvh_free(tree);
    arap_arena_clear(&arena);
    if (status) arap_limbs_clear(limbs);
    return status;
}

void arap_limbs_clear(arap_limbs *limbs) {
    arap_arena_clear(&limbs->arena);
    *limbs = (arap_limbs){0};
}

double arap_limb_drift2(const arap_limbs *limbs, int limb, const double *points,
                        const double *carried) {
    double sum[3] = {0}, count = (double)(limbs->start[limb + 1] - limbs->start[limb]);
    for (size_t k = limbs->start[limb]; k < limbs->start[limb + 1]; k++)
        for (int c = 0; c < 3; c++)
            sum[c] += points[arap_group_stride(limbs->vertex[k]) + (size_t)(c * ARAP_POSE_LANES)];
    for (int c = 0; c < 3; c++) sum[c] /= count;
    return arap_distance2(sum, carried) / (limbs->radius[limb] * limbs->radius[limb]);
}
