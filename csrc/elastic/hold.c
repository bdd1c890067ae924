/* Ties an elastic body to its bones: see hold.h.
 *
 *     E = sum_i h_i |x_i - T_b(i) v_i|^2 + sum_limbs g_l max(|mean_l x - T_b(l) c_l| - d_l, 0)^2
 *
 * b(i) is the deforming bone with the largest given weight at vertex i, or the nearest bone if no
 * weights are given. Weights are better evidence, because a hand may be nearest to the hip in the
 * rest pose. Let d1 be the distance of the vertex from b(i), d2 its distance from the nearest other
 * bone, r_b the mean of d1 over the vertices of bone b, and A_i the area of the vertex. Then h_i =
 * pull A_i / r_b^2 max(((d2 - d1) / (d2 + d1))^2, MINIMUM), or with MINIMUM alone if d2 < d1. The
 * stiffness is full if no other bone is near, as at the ends of chains (hands, heads, tips), and
 * almost 0 between two bones, so that joints bend freely. Far from all bones, h_i is at least the
 * share FLOOR of the stiffness of the body at the vertex. A vertex that is one limb radius away
 * from the position to which its bone moves it costs as much energy as a strain of sqrt(pull).
 *
 * The limbs are those whose drift is measured (measures/limbs.h). Limb l has the center c_l and the
 * radius r_l, and
 *     g_l = center sum_{i in l} A_i / r_l^2,
 * so a drift of 1 costs as much as a strain of sqrt(center) over the whole limb. d_l is a slack
 * times the distance of the limb's center from T_b(l) c_l at the start of the pose. With a slack of
 * 1, limbs may be as far from their bones as with the initial weights. The aim is the point of the
 * ball of radius d_l around T_b(l) c_l that is nearest to the current center. The squared distance
 * from the ball is convex and at most the squared distance from the aim. Steps that use the
 * distance from the aim instead therefore lower the energy. The anchors of the cells (body.c) are
 * the points of b(i) nearest to the vertices, with f_i = inside A_i / d1^2. All of these terms have
 * the same unit as the energy in body.c.
 *
 * Takes O(vertices x bones). Fails on out-of-memory. */
#include "elastic/hold.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "measures/limbs.h"
#include "measures/skinning.h"
#include "rig/poses.h"

#define MINIMUM 1e-4 /* remaining share of the pull where two bones meet */
#define THIN 0.002   /* minimum radius, in mesh sizes */
/* minimum pull that keeps the system definite, as a share of the stiffness of a vertex */
#define FLOOR 1e-12
#define CHUNK 256

typedef struct nearest_task {
    const arap_mesh *mesh;
    const arap_influences *weights; /* of the caller's vertices, or NULL */
    int bones;
    const double *heads, *tails; /* (bones, 3) units of the mesh */
    const char *deform;
    arap_bone_hold *hold;
    double *distance; /* (count) d1 */
} nearest_task;

/* The deforming bone with the largest weight; -1: none has weight. */
static int strongest_bone(const nearest_task *task, int i) {
    int bone = -1;
    double max = 0;
    if (!task->weights) return -1;
    size_t from = (size_t)task->mesh->first[i];
    for (size_t e = task->weights->start[from]; e < task->weights->start[from + 1]; e++) {
        int b = task->weights->bone[e];
        if ((task->deform && !task->deform[b]) || !(task->weights->weight[e] > max)) continue;
        max = task->weights->weight[e];
        bone = b;
    }
    return bone;
}

/* Find the bone, the distance and, as a preliminary strength, the share of the pull. */
static void find_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const nearest_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double first = INFINITY, second = INFINITY, at[3];
        int bone = 0, own = strongest_bone(task, i);
        for (int b = 0; b < task->bones; b++) {
            if (task->deform && !task->deform[b]) continue;
            double d2 = arap_nearest_on_segment(task->mesh->v + 3 * (size_t)i, task->heads + 3 * b,
                                                task->tails + 3 * b, at);
            if (own >= 0 ? b == own : d2 < first) {
                if (own < 0) second = first;
                memcpy(task->hold->anchor + 3 * (size_t)i, at, sizeof at);
                first = d2;
                bone = b;
            } else if (d2 < second) {
                second = d2;
            }
        }
        first = sqrt(first);
        second = sqrt(second);
        double share = second < first       ? 0
                       : isinf(second)      ? 1
                       : second + first > 0 ? (second - first) / (second + first)
                                            : 0;
        task->hold->bone[i] = bone;
        task->distance[i] = first;
        task->hold->strength[i] = fmax(share * share, MINIMUM);
    }
}

/* Keep pulls large enough for a positive definite system. */
static arap_status raise_pulls(arap_context *context, const arap_body *body, arap_bone_hold *hold) {
    arap_arena arena = {0};
    double *own = ARAP_TAKE_ZERO(&arena, hold->count, double);
    double *edge = ARAP_TAKE_ZERO(&arena, body->mesh.ring[hold->count], double);
    arap_status status = arap_arena_status(&arena, &context->error, "the hold");
    if (!status) arap_body_stiffness(body, hold->anchor_weight, own, edge);
    for (int i = 0; i < hold->count && !status; i++)
        hold->strength[i] = fmax(hold->strength[i], FLOOR * own[i]);
    arap_arena_clear(&arena);
    return status;
}

static arap_status hold_vertices(arap_context *context, const arap_body *body,
                                 const arap_bones *bones, const arap_influences *weights,
                                 double pull, double inside, arap_bone_hold *hold) {
    arap_arena arena = {0};
    const arap_mesh *mesh = &body->mesh;
    size_t m = (size_t)bones->count;
    double *ends = ARAP_TAKE(&arena, 6 * m, double),
           *distance = ARAP_TAKE(&arena, mesh->count, double);
    double *sum = ARAP_TAKE_ZERO(&arena, 2 * m, double);
    arap_status status = ARAP_OK;
    int deforming = !bones->deform;
    for (size_t b = 0; b < m && !deforming; b++) deforming = bones->deform[b];
    if (!deforming) {
        status = arap_fail(&context->error, ARAP_BAD_VALUE, "no bone of the skeleton deforms");
        goto done;
    }
    status = arap_arena_status(&arena, &context->error, "the hold");
    if (status) goto done;
    for (size_t k = 0; k < 6 * m; k++)
        ends[k] = ((k < 3 * m ? bones->heads[k] : bones->tails[k - 3 * m]) - mesh->center[k % 3]) /
                  mesh->diagonal;
    status = arap_parallel(context, arap_chunks(mesh->count, CHUNK), find_chunk,
                           &(nearest_task){mesh, weights, bones->count, ends, ends + 3 * m,
                                           bones->deform, hold, distance});
    if (status) goto done;
    for (int i = 0; i < mesh->count; i++) {
        sum[2 * hold->bone[i]] += distance[i];
        sum[2 * hold->bone[i] + 1]++;
    }
    for (int i = 0; i < mesh->count; i++) {
        const double *of = sum + 2 * hold->bone[i];
        double radius = fmax(of[0] / of[1], THIN * mesh->size);
        hold->strength[i] *= pull * body->size[i] / (radius * radius);
        double spring = fmax(distance[i], THIN * mesh->size);
        hold->anchor_weight[i] = inside * body->size[i] / (spring * spring);
    }
    status = raise_pulls(context, body, hold);

done:
    arap_arena_clear(&arena);
    return status;
}

static arap_status hold_limbs(arap_context *context, const arap_body *body, const double *vertices,
                              const arap_bones *bones, double center, arap_bone_hold *hold) {
    const arap_mesh *mesh = &body->mesh;
    arap_limbs limbs;
    arap_status status = arap_limbs_create(context, mesh->input_count, vertices, bones->count,
                                           bones->heads, bones->tails, bones->deform, &limbs);
    if (status) return status;
    hold->limb_strength = ARAP_TAKE_ZERO(&hold->arena, limbs.count, double);
    hold->limb_arena = limbs.arena;
    status = arap_arena_status(&hold->arena, &context->error, "the hold");
    if (status) return status;
    for (size_t k = 0; k < limbs.start[limbs.count]; k++)
        limbs.vertex[k] = mesh->weld[limbs.vertex[k]];
    for (int l = 0; l < limbs.count; l++) {
        double radius = limbs.radius[l] / mesh->diagonal;
        for (size_t k = limbs.start[l]; k < limbs.start[l + 1]; k++)
            hold->limb_strength[l] += center * body->size[limbs.vertex[k]] / (radius * radius);
        for (int c = 0; c < 3; c++)
            limbs.center[3 * l + c] = (limbs.center[3 * l + c] - mesh->center[c]) / mesh->diagonal;
    }
    hold->limbs = center > 0 ? limbs.count : 0;
    hold->limb_bone = limbs.bone;
    hold->start = limbs.start;
    hold->vertex = limbs.vertex;
    hold->center = limbs.center;
    return ARAP_OK;
}

arap_status arap_bone_hold_create(arap_context *context, const arap_body *body,
                                  const double *vertices, const arap_bones *bones,
                                  const arap_influences *weights, double pull, double center,
                                  double inside, arap_bone_hold *hold) {
    *hold = (arap_bone_hold){.count = body->mesh.count};
    hold->bone = ARAP_TAKE(&hold->arena, body->mesh.count, int);
    hold->strength = ARAP_TAKE(&hold->arena, body->mesh.count, double);
    hold->anchor = ARAP_TAKE(&hold->arena, 3 * (size_t)body->mesh.count, double);
    hold->anchor_weight = ARAP_TAKE(&hold->arena, body->mesh.count, double);
    arap_status status = arap_arena_status(&hold->arena, &context->error, "the hold");
    if (!status) status = hold_vertices(context, body, bones, weights, pull, inside, hold);
    if (!status) status = hold_limbs(context, body, vertices, bones, center, hold);
    if (status) arap_bone_hold_clear(hold);
    return status;
}

void arap_bone_hold_clear(arap_bone_hold *hold) {
    arap_arena_clear(&hold->arena);
    arap_arena_clear(&hold->limb_arena);
    *hold = (arap_bone_hold){0};
}

arap_status arap_bone_hold_transforms(arap_context *context, const arap_mesh *mesh,
                                      const arap_bones *bones, size_t poses, const double *from,
                                      double *to) {
    size_t count = poses * (size_t)bones->count;
    arap_skeleton skeleton = {0};
    arap_status status = arap_skinning_skeleton(context, bones, mesh, &skeleton); /* checks them */
    arap_skeleton_clear(&skeleton);
    if (status) return status;
    for (size_t row = 0; row < 3 * count; row++) {
        const double *t = from + 4 * row;
        memcpy(to + 4 * row, t, 3 * sizeof *to);
        to[4 * row + 3] =
            (arap_dot(t, mesh->center) + t[3] - mesh->center[row % 3]) / mesh->diagonal;
    }
    return arap_check_reach(&context->error, poses, (size_t)bones->count, to);
}

static void carry(const double *transform, const double *v, double *out) {
    for (int r = 0; r < 3; r++) out[r] = arap_dot(transform + 4 * r, v) + transform[4 * r + 3];
}

void arap_bone_hold_targets(const arap_bone_hold *hold, const arap_mesh *mesh,
                            const double *transforms, double *target, double *anchor,
                            double *place) {
    for (size_t i = 0; i < (size_t)hold->count; i++) {
        const double *transform = transforms + 12 * (size_t)hold->bone[i];
        carry(transform, mesh->v + 3 * i, target + 3 * i);
        carry(transform, hold->anchor + 3 * i, anchor + 3 * i);
    }
    for (size_t l = 0; l < (size_t)hold->limbs; l++)
        carry(transforms + 12 * (size_t)hold->limb_bone[l], hold->center + 3 * l, place + 3 * l);
}

void arap_limb_mean(const arap_bone_hold *hold, int limb, const double *x, double *mean) {
    double sum[3] = {0}, count = (double)(hold->start[limb + 1] - hold->start[limb]);
    for (size_t k = hold->start[limb]; k < hold->start[limb + 1]; k++)
        for (size_t c = 0; c < 3; c++) sum[c] += x[3 * (size_t)hold->vertex[k] + c];
    for (int c = 0; c < 3; c++) mean[c] = sum[c] / count;
}

double arap_bone_hold_energy(const arap_bone_hold *hold, const arap_held *pose, const double *x,
                             double *b) {
    double energy = 0, mean[3];
    for (size_t i = 0; i < (size_t)hold->count; i++) {
        energy += hold->strength[i] * arap_distance2(x + 3 * i, pose->target + 3 * i);
        for (size_t k = 3 * i; k < 3 * i + 3; k++) b[k] += hold->strength[i] * pose->target[k];
    }
    for (int l = 0; l < hold->limbs; l++) {
        const double *place = pose->place + 3 * (size_t)l;
        double *aim = pose->aim + 3 * (size_t)l;
        arap_limb_mean(hold, l, x, mean);
        double away = sqrt(arap_distance2(mean, place));
        double share = away > pose->slack[l] ? pose->slack[l] / away : 1;
        for (int c = 0; c < 3; c++) aim[c] = place[c] + share * (mean[c] - place[c]);
        energy += hold->limb_strength[l] * arap_distance2(mean, aim);
    }
    return energy;
}
