/* Prepares the input of the evaluation in mixed_state.c: elements of either kind, the sparsity
 * pattern of the matrix, work space, and poses.
 *
 * In each pose, the rotation vector of a sample starts as that of the bone nearest to the sample,
 * relative to the mean rotation of these bones. Many vectors describe the same rotation. Among
 * them, each sample takes the one nearest to the vector of its nearest earlier sample, so
 * interpolated rotations take the shorter path.
 *
 * Takes O(vertices + samples^2). Fails on
 * out-of-memory, for a mesh without elements, and for too many vertices. */
#include "extras/mixed_state.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/rotation.h"
#include "linalg/rotation_vector.h"

static void find_rest(const arap_mesh *mesh, arap_mixed_element *e) {
    double *rest = e->rest, x[3], y[3], n[3];
    for (int c = 0; c < 9; c++) rest[c] = c % 4 == 0;
    if (e->dimension == 3) return;
    /* F at rest has the axes as its columns. */
    for (int c = 0; c < 3; c++) {
        x[c] = y[c] = 0;
        for (int k = 0; k < 3; k++) {
            double v = mesh->v[3 * (size_t)e->corner[k] + (size_t)c];
            x[c] += v * e->slope[2 * k];
            y[c] += v * e->slope[2 * k + 1];
        }
    }
    arap_cross(x, y, n);
    for (int c = 0; c < 3; c++) {
        rest[3 * c] = x[c];
        rest[3 * c + 1] = y[c];
        rest[3 * c + 2] = n[c];
    }
}

static void take_elements(arap_mixed *mixed) {
    const arap_body *body = mixed->body;
    for (size_t t = 0; t < mixed->count; t++) {
        arap_mixed_element *e = mixed->element + t;
        if (t < body->triangle_count) {
            const arap_membrane *from = body->triangle + t;
            *e = (arap_mixed_element){3, 2, from->corner, from->slope[0], from->size, {0}};
        } else {
            const arap_solid *from = body->tet + t - body->triangle_count;
            *e = (arap_mixed_element){4, 3, from->corner, from->slope[0], from->size, {0}};
        }
        find_rest(&body->mesh, e);
    }
}

/* Create the pattern of K by vertices, in elimination order. */
static arap_status order(arap_context *context, arap_mixed *mixed) {
    const arap_mesh *mesh = &mixed->body->mesh;
    size_t n = (size_t)mesh->count;
    int fill = 0, *vertex = ARAP_TAKE(&mixed->arena, n, int);
    mixed->element = ARAP_TAKE(&mixed->arena, mixed->count, arap_mixed_element);
    mixed->place = ARAP_TAKE(&mixed->arena, n, int);
    mixed->row_start = ARAP_TAKE(&mixed->arena, n + 1, int);
    mixed->row = ARAP_TAKE(&mixed->arena, n + mesh->ring[n] / 2, int);
    arap_status status = arap_arena_status(&mixed->arena, &context->error, "the mixed system");
    if (!status)
        status = arap_fill_reducing_order(context, mesh->count, mesh->ring, mesh->neighbor, vertex);
    if (status) return status;
    for (int k = 0; k < mesh->count; k++) mixed->place[vertex[k]] = k;
    for (int j = 0; j < mesh->count; j++) {
        int i = vertex[j], begin = fill;
        mixed->row_start[j] = fill;
        mixed->row[fill++] = j;
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
            int row = mixed->place[mesh->neighbor[e]], at = fill;
            if (row < j) continue;
            for (; at > begin + 1 && mixed->row[at - 1] > row; at--)
                mixed->row[at] = mixed->row[at - 1];
            mixed->row[at] = row;
            fill++;
        }
    }
    mixed->row_start[n] = fill;
    return ARAP_OK;
}

arap_status arap_mixed_create(arap_context *context, const arap_body *body,
                              const arap_bone_hold *hold, int samples, double turn_pull,
                              arap_mixed *mixed) {
    *mixed =
        (arap_mixed){.body = body, .hold = hold, .count = body->triangle_count + body->tet_count};
    if (body->mesh.count > ARAP_MAX_MIXED)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "%d vertices are too many for the mixed method: at most %d",
                         body->mesh.count, ARAP_MAX_MIXED);
    if (!mixed->count)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the mixed method needs a triangle or tet of nonzero size");
    arap_status status = order(context, mixed);
    if (!status) {
        take_elements(mixed);
        status = arap_samples_create(context, &body->mesh, samples, &mixed->samples);
    }
    if (!status) {
        double area = 0;
        for (size_t t = 0; t < mixed->count; t++) area += mixed->element[t].size;
        mixed->turn_pull = turn_pull * area / mixed->samples.count;
    } else {
        arap_mixed_clear(mixed);
    }
    return status;
}

void arap_mixed_clear(arap_mixed *mixed) {
    arap_arena_clear(&mixed->arena);
    arap_samples_clear(&mixed->samples);
    *mixed = (arap_mixed){0};
}

arap_status arap_mixed_work_create(arap_context *context, const arap_mixed *mixed,
                                   arap_mixed_work *work) {
    size_t n = (size_t)mixed->body->mesh.count, blocks = (size_t)mixed->row_start[n];
    arap_arena *arena = &work->arena;
    *work = (arap_mixed_work){0};
    work->matrix = (arap_matrix){.size = (int)(3 * n),
                                 .start = ARAP_TAKE(arena, 3 * n + 1, int),
                                 .row = ARAP_TAKE(arena, 9 * blocks - 3 * n, int),
                                 .value = ARAP_TAKE(arena, 9 * blocks - 3 * n, double)};
    work->turn = ARAP_TAKE(arena, 3 * n, double);
    work->slope = ARAP_TAKE(arena, 3 * n, double);
    work->rotation = ARAP_TAKE(arena, 9 * mixed->count, double);
    work->x = ARAP_TAKE(arena, 3 * n, double);
    work->z = ARAP_TAKE(arena, 3 * n, double);
    work->pull = ARAP_TAKE(arena, 3 * n, double);
    arap_status status = arap_arena_status(arena, &context->error, "the mixed system");
    if (status) {
        arap_mixed_work_clear(work);
        return status;
    }
    int fill = 0;
    for (int j = 0; j < (int)n; j++)
        for (int c = 0; c < 3; c++) {
            work->matrix.start[3 * j + c] = fill;
            for (int k = c; k < 3; k++) work->matrix.row[fill++] = 3 * j + k;
            for (int at = mixed->row_start[j] + 1; at < mixed->row_start[j + 1]; at++)
                for (int k = 0; k < 3; k++) work->matrix.row[fill++] = 3 * mixed->row[at] + k;
        }
    work->matrix.start[3 * n] = fill;
    return ARAP_OK;
}

void arap_mixed_work_clear(arap_mixed_work *work) {
    arap_factor_free(work->factor);
    arap_arena_clear(&work->arena);
    *work = (arap_mixed_work){0};
}

arap_status arap_mixed_pose_create(arap_context *context, const arap_mixed *mixed,
                                   const double *transforms, arap_mixed_pose *pose, double *turns) {
    size_t samples = (size_t)mixed->samples.count;
    size_t count = 3 * (size_t)mixed->hold->count, limbs = 3 * (size_t)mixed->hold->limbs;
    arap_arena arena = {0};
    *pose = (arap_mixed_pose){0};
    pose->target = ARAP_TAKE(&pose->arena, count, double);
    pose->bone_turn = ARAP_TAKE(&pose->arena, 9 * samples, double);
    double *place = ARAP_TAKE(&arena, limbs, double), *anchor = ARAP_TAKE(&arena, count, double);
    double sum[9] = {0};
    arap_status status = arap_arena_status(&arena, &context->error, "the mixed poses");
    if (!status) status = arap_arena_status(&pose->arena, &context->error, "the mixed poses");
    if (!status)
        arap_bone_hold_targets(mixed->hold, &mixed->body->mesh, transforms, pose->target, anchor,
                               place);
    arap_arena_clear(&arena);
    if (status) {
        arap_mixed_pose_clear(pose);
        return status;
    }
    for (size_t s = 0; s < samples; s++) {
        const double *t = transforms + 12 * (size_t)mixed->hold->bone[mixed->samples.vertex[s]];
        const double own[9] = {t[0], t[1], t[2], t[4], t[5], t[6], t[8], t[9], t[10]};
        arap_nearest_rotation(own, pose->bone_turn + 9 * s);
        for (int c = 0; c < 9; c++) sum[c] += pose->bone_turn[9 * s + (size_t)c];
    }
    arap_nearest_rotation(sum, pose->mean);
    for (size_t s = 0; s < samples; s++) {
        double relative[9], min = INFINITY;
        size_t near = 0;
        arap_multiply_transposed(pose->bone_turn + 9 * s, pose->mean, relative);
        arap_vector_from_rotation(relative, turns + 3 * s);
        for (size_t other = 0; other < s; other++) {
            double away =
                arap_distance2(mixed->body->mesh.v + 3 * (size_t)mixed->samples.vertex[s],
                               mixed->body->mesh.v + 3 * (size_t)mixed->samples.vertex[other]);
            if (!(away < min)) continue;
            min = away;
            near = other;
        }
        if (s) arap_unwind(turns + 3 * near, turns + 3 * s);
    }
    return ARAP_OK;
}

void arap_mixed_pose_clear(arap_mixed_pose *pose) {
    arap_arena_clear(&pose->arena);
    *pose = (arap_mixed_pose){0};
}
