/* The joint system with spines: see joints/system.h. The notation is that of joints/system.c.
 *
 * If bone d is attached to a spine at the position u of its own head J, bone and spine stay
 * connected if
 *     T_d J = T_up [(I - R) e0 + (sigma S - u R) (e1 - e0) + R J],
 * with R = R(u) and S = S(u). The translation of d therefore depends on three joints (paper section
 * 4.4.1; at the tail of the spine u is 1 and J is e1):
 *     dt_d = dt_up + (A_up R - A_d) dJ + A_up (I - R) de0 + A_up (sigma S - u R) (de1 - de0).
 * Let x be the columns of a pose (joints/spines.h). Then x = B L dJ + P dc, where L contains the
 * joint blocks above and those of the further columns, and B contains the chains C and 1. The
 * curvature N of the columns replaces S: A_J = sum_p L^T B^T (N - N P X P^T N) B L, B_J = sum_p L^T
 * B^T (g - N P X P^T g). N differs between poses, but neither the components' part P^T N P nor X
 * does.
 *
 * Transforms follow moved joints exactly, with the resulting bends and positions along the spines,
 * so that bones that met still meet. Takes O(poses columns^3) time and O(poses columns^2) memory.
 * Poses are processed in blocks in a fixed order. Fails on out-of-memory only. */
#include "joints/system.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define JOINT_BLOCKS 3
#define BLOCKS 8

typedef struct arap_joint_block joint_block;

/* out = a b + share a, 3x3, `a` in rows of `stride`. */
static void multiply(const double *a, int stride, const double *b, double share, double *out) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            out[3 * r + c] = share * a[stride * r + c];
            for (int k = 0; k < 3; k++) out[3 * r + c] += a[stride * r + k] * b[3 * k + c];
        }
}

/* K and K^2 of a bend. */
static void cross_matrices(const double *w, double *once, double *twice) {
    const double k[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
    memcpy(once, k, sizeof k);
    multiply(k, 3, k, 0, twice);
}

static int spine_above(const arap_joint_system *s, int d) {
    int up = s->joints->up[d];
    return up < 0 ? -1 : s->spines->posed.spines.place[up];
}

/* The joint blocks of deforming bone d. */
static void hang_joint_blocks(const arap_joint_system *s, int pose, int d,
                              joint_block *joint_blocks) {
    const arap_joints *joints = s->joints;
    const arap_joint_spines *spines = s->spines;
    const double *place = joints->place;
    int up = joints->up[d], k = spine_above(s, d);
    if (up < 0) return;
    const double *pivot = place + 3 * joints->pivot[d];
    const double *own = s->transform + 12 * ((size_t)pose * (size_t)joints->deforming + (size_t)d);
    const double *above = own + 12 * (up - d);
    joint_blocks[0].joint = joints->pivot[d];
    for (int i = 0; i < 9; i++) {
        int at = i / 3 * 4 + i % 3;
        joint_blocks[0].m[i] = above[at] - own[at];
    }
    if (k < 0) return;
    double bend[ARAP_BEND], f[ARAP_SPINE_FACTORS], once[9], twice[9], head[9], along[9];
    const double *e0 = place + 3 * spines->head[k], *e1 = place + 3 * spines->tail[k];
    arap_joint_spine_bend(spines, place, pose, k, bend);
    arap_spine_factors(bend, arap_spine_parameter(e0, e1, pivot), f);
    cross_matrices(bend, once, twice);
    for (int i = 0; i < 9; i++) {
        head[i] = f[0] * once[i] + f[1] * twice[i]; /* I - R */
        along[i] = f[2] * (i % 4 == 0) + f[3] * once[i] + f[4] * twice[i];
    }
    double turned[9];
    multiply(above, 4, head, 0, turned);
    for (int i = 0; i < 9; i++) joint_blocks[0].m[i] -= turned[i];
    joint_blocks[1].joint = spines->head[k];
    joint_blocks[2].joint = spines->tail[k];
    multiply(above, 4, along, 0, joint_blocks[2].m);
    for (int i = 0; i < 9; i++) joint_blocks[1].m[i] = turned[i] - joint_blocks[2].m[i];
}

/* The joint blocks of the columns of spine k. */
static void bend_joint_blocks(const arap_joint_system *s, int pose, int k,
                              joint_block *joint_blocks) {
    const arap_joint_spines *spines = s->spines;
    size_t bone = (size_t)spines->posed.spines.bone[k];
    const double *base = s->transform + 12 * ((size_t)pose * (size_t)s->joints->deforming + bone);
    double bend[ARAP_BEND], none[9] = {0}, power[3][9];
    arap_joint_spine_bend(spines, s->joints->place, pose, k, bend);
    multiply(base, 4, none, 1, power[0]);
    double once[9], twice[9];
    cross_matrices(bend, once, twice);
    multiply(base, 4, once, 0, power[1]);
    multiply(base, 4, twice, 0, power[2]);
    for (int m = 0; m < ARAP_SPINE_FACTORS; m++) {
        joint_block *own = joint_blocks + JOINT_BLOCKS * m;
        const double *matrix = power[m < 2 ? m + 1 : m - 2];
        own[0].joint = spines->head[k];
        memcpy(own[0].m, matrix, sizeof own[0].m);
        if (m < 2) continue;
        own[1].joint = spines->tail[k];
        memcpy(own[1].m, matrix, sizeof own[1].m);
        for (int i = 0; i < 9; i++) own[0].m[i] = -matrix[i];
    }
}

/* L of a pose, (columns, JOINT_BLOCKS). */
static void make_joint_blocks(const arap_joint_system *s, int pose, joint_block *joint_blocks) {
    int deforming = s->joints->deforming;
    for (int c = 0; c < JOINT_BLOCKS * s->spines->columns; c++) joint_blocks[c].joint = -1;
    for (int d = 0; d < deforming; d++)
        hang_joint_blocks(s, pose, d, joint_blocks + JOINT_BLOCKS * d);
    for (int k = 0; k < s->spines->count; k++)
        bend_joint_blocks(s, pose, k,
                          joint_blocks + JOINT_BLOCKS * (deforming + ARAP_SPINE_FACTORS * k));
}

arap_status arap_joint_spine_system_create(arap_context *context, arap_joint_system *system) {
    size_t columns = (size_t)system->spines->columns,
           count = (size_t)system->joints->component_count;
    system->joint_blocks = ARAP_TAKE(&system->arena, JOINT_BLOCKS * columns, joint_block);
    system->columns_joined =
        ARAP_TAKE(&system->arena, (size_t)system->poses * count * columns, double);
    system->columns_work =
        ARAP_TAKE(&system->arena, 6 * columns + 3 * count + (size_t)system->size, double);
    return arap_arena_status(&system->arena, &context->error, "the joint system");
}

/* P^T N of a pose, (components, columns), and N becomes N - N P X P^T N. */
static void free_components(const arap_joint_system *s, double *joined, double *n) {
    const arap_joints *joints = s->joints;
    size_t columns = (size_t)s->spines->columns;
    int count = joints->component_count;
    memset(joined, 0, (size_t)count * columns * sizeof *joined);
    for (int d = 0; d < joints->deforming; d++)
        for (size_t c = 0; c < columns; c++)
            joined[(size_t)joints->component[d] * columns + c] += n[(size_t)d * columns + c];
    for (int k = 0; count > 1 && k < count; k++)
        for (int l = 0; l < count; l++) {
            const double *left = joined + (size_t)k * columns,
                         *right = joined + (size_t)l * columns;
            for (size_t b = 0; b < columns; b++) {
                double x = s->inverse[k * count + l] * left[b];
                for (size_t c = 0; x != 0 && c < columns; c++) n[b * columns + c] -= x * right[c];
            }
        }
}

/* N becomes B^T N B; row: (columns). */
static void pull_through_chains(const arap_joint_system *s, double *n, double *row) {
    size_t columns = (size_t)s->spines->columns, deforming = (size_t)s->joints->deforming;
    for (size_t b = 0; b < columns; b++) {
        memset(row, 0, deforming * sizeof *row);
        for (size_t d = 0; d < deforming; d++) {
            double x = n[b * columns + d];
            for (size_t a = 0; x != 0 && a < deforming; a++)
                row[a] += x * s->chain[d * deforming + a];
        }
        memcpy(n + b * columns, row, deforming * sizeof *row);
    }
    for (size_t c = 0; c < columns; c++) {
        memset(row, 0, deforming * sizeof *row);
        for (size_t d = 0; d < deforming; d++) {
            double x = n[d * columns + c];
            for (size_t a = 0; x != 0 && a < deforming; a++)
                row[a] += x * s->chain[d * deforming + a];
        }
        for (size_t a = 0; a < deforming; a++) n[a * columns + c] = row[a];
    }
}

/* matrix += number left^T right at the blocks of both joints. */
static void add_joint_blocks(const arap_joint_system *s, double number, const joint_block *left,
                             const joint_block *right, double *matrix) {
    for (int a = 0; a < JOINT_BLOCKS; a++)
        for (int b = 0; b < JOINT_BLOCKS; b++) {
            if (left[a].joint < 0 || right[b].joint < 0) continue;
            const double *x = left[a].m, *y = right[b].m;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    matrix[(size_t)(3 * left[a].joint + r) * (size_t)s->size +
                           (size_t)(3 * right[b].joint + c)] +=
                        number * (x[r] * y[c] + x[3 + r] * y[3 + c] + x[6 + r] * y[6 + c]);
        }
}

typedef struct data_task {
    const arap_joint_system *system;
    double *curvature;
    joint_block *joint_blocks; /* (BLOCKS, columns, JOINT_BLOCKS) */
    double *row;               /* (BLOCKS, columns) */
    double *matrix;            /* (BLOCKS, size, size) */
} data_task;

static void sum_block(void *data, int block, int worker) {
    (void)worker;
    const data_task *task = data;
    const arap_joint_system *s = task->system;
    int columns = s->spines->columns;
    size_t size = (size_t)s->size * (size_t)s->size, wide = (size_t)columns;
    size_t joined = (size_t)s->joints->component_count * wide;
    joint_block *joint_blocks = task->joint_blocks + (size_t)block * JOINT_BLOCKS * wide;
    double *matrix = task->matrix + (size_t)block * size;
    for (int p = s->poses * block / BLOCKS; p < s->poses * (block + 1) / BLOCKS; p++) {
        double *n = task->curvature + wide * wide * (size_t)p;
        free_components(s, s->columns_joined + joined * (size_t)p, n);
        pull_through_chains(s, n, task->row + (size_t)block * wide);
        make_joint_blocks(s, p, joint_blocks);
        double w = arap_joint_pose_weight(s, (size_t)p);
        for (int b = 0; b < columns; b++)
            for (int c = 0; c < columns; c++) {
                double number = w * n[(size_t)b * wide + (size_t)c];
                if (number != 0)
                    add_joint_blocks(s, number, joint_blocks + JOINT_BLOCKS * b,
                                     joint_blocks + JOINT_BLOCKS * c, matrix);
            }
    }
}

arap_status arap_joint_spine_data(arap_context *context, arap_joint_system *system,
                                  double *curvature) {
    arap_arena arena = {0};
    size_t size = (size_t)system->size * (size_t)system->size,
           columns = (size_t)system->spines->columns;
    data_task task = {.system = system,
                      .curvature = curvature,
                      .joint_blocks =
                          ARAP_TAKE(&arena, BLOCKS * JOINT_BLOCKS * columns, joint_block),
                      .row = ARAP_TAKE(&arena, BLOCKS * columns, double),
                      .matrix = ARAP_TAKE_ZERO(&arena, BLOCKS * size, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the joint system");
    if (status) goto done;
    status = arap_parallel(context, BLOCKS, sum_block, &task);
    if (status) goto done;
    memset(system->matrix, 0, size * sizeof(double));
    for (size_t k = 0; k < BLOCKS * size; k++) system->matrix[k % size] += task.matrix[k];

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_joint_spine_right_side(const arap_joint_system *system, const double *force,
                                 double *right) {
    const arap_joints *joints = system->joints;
    size_t columns = (size_t)system->spines->columns, deforming = (size_t)joints->deforming;
    int count = joints->component_count;
    double *left = system->columns_work, *pushed = left + 3 * columns, *pull = pushed + 3 * columns;
    memset(right, 0, (size_t)system->size * sizeof *right);
    for (size_t p = 0; p < (size_t)system->poses; p++) {
        const double *joined = system->columns_joined + p * (size_t)count * columns;
        memcpy(left, force + 3 * columns * p, 3 * columns * sizeof *left);
        memset(pull, 0, 3 * (size_t)count * sizeof *pull);
        for (size_t d = 0; d < deforming; d++)
            for (size_t r = 0; r < 3; r++)
                pull[3 * (size_t)joints->component[d] + r] += left[3 * d + r];
        for (int k = 0; count > 1 && k < count; k++)
            for (int r = 0; r < 3; r++) {
                double x = arap_joint_answer(system, k, pull, r);
                for (size_t c = 0; c < columns; c++)
                    left[3 * c + (size_t)r] -= joined[(size_t)k * columns + c] * x;
            }
        for (size_t c = 0; system->pose_weight && c < 3 * columns; c++)
            left[c] *= system->pose_weight[p];
        memcpy(pushed, left, 3 * columns * sizeof *pushed);
        arap_joint_push_down(system, left, pushed);
        make_joint_blocks(system, (int)p, system->joint_blocks);
        for (size_t c = 0; c < JOINT_BLOCKS * columns; c++) {
            const joint_block *l = system->joint_blocks + c;
            const double *x = pushed + 3 * (c / JOINT_BLOCKS);
            for (int r = 0; l->joint >= 0 && r < 3; r++)
                right[3 * l->joint + r] += l->m[r] * x[0] + l->m[3 + r] * x[1] + l->m[6 + r] * x[2];
        }
    }
}

/* The position to which bone `up`, without its base, moves the head of its child. */
static void hang_point(const arap_joint_system *s, const double *places, int pose, int d,
                       double *out) {
    const double *pivot = places + 3 * s->joints->pivot[d];
    int k = spine_above(s, d);
    memcpy(out, pivot, 3 * sizeof *out);
    if (k < 0) return;
    const double *e0 = places + 3 * s->spines->head[k], *e1 = places + 3 * s->spines->tail[k];
    double bend[ARAP_BEND], own[12];
    arap_joint_spine_bend(s->spines, places, pose, k, bend);
    arap_spine_transform(e0, e1, bend, arap_spine_parameter(e0, e1, pivot), own, NULL);
    for (int r = 0; r < 3; r++) out[r] = arap_dot(own + 4 * r, pivot) + own[4 * r + 3];
}

/* Remove displacements of components from x: exactly for translations, linearly for the rest. */
static void move_columns(const arap_joint_system *s, int pose, const double *moves,
                         const double *there, double *relative, double *x) {
    const arap_joints *joints = s->joints;
    size_t deforming = (size_t)joints->deforming;
    memset(x, 0, 3 * (size_t)s->spines->columns * sizeof *x);
    memset(relative, 0, 3 * deforming * sizeof *relative);
    for (int d = 0; d < joints->deforming; d++) {
        int up = joints->up[d];
        if (up < 0) continue;
        const double *own =
            s->transform + 12 * ((size_t)pose * (size_t)joints->deforming + (size_t)d);
        const double *above = own + 12 * (up - d);
        double now[3], then[3], moved[3];
        hang_point(s, joints->place, pose, d, now);
        hang_point(s, there, pose, d, then);
        arap_sub(then, now, moved);
        for (int r = 0; r < 3; r++)
            relative[3 * d + r] = arap_dot(above + 4 * r, moved) -
                                  arap_dot(own + 4 * r, moves + 3 * joints->pivot[d]);
    }
    arap_joint_carry_down(s, relative, x);
    for (int k = 0; k < s->spines->count; k++) {
        size_t first = deforming + ARAP_SPINE_FACTORS * (size_t)k;
        bend_joint_blocks(s, pose, k, s->joint_blocks);
        for (size_t c = 0; c < ARAP_SPINE_FACTORS; c++)
            for (size_t l = 0; l < (c < 2 ? 1 : 2); l++) {
                const joint_block *one = s->joint_blocks + JOINT_BLOCKS * c + l;
                for (size_t r = 0; r < 3; r++)
                    x[3 * (first + c) + r] += arap_dot(one->m + 3 * r, moves + 3 * one->joint);
            }
    }
}

void arap_joint_spine_transforms(const arap_joint_system *system, const double *moves,
                                 const double *force, const double *before, double *transforms) {
    const arap_joints *joints = system->joints;
    size_t columns = (size_t)system->spines->columns, deforming = (size_t)joints->deforming;
    int count = joints->component_count;
    double *x = system->columns_work, *relative = x + 3 * columns, *pull = relative + 3 * columns;
    double *there = pull + 3 * count;
    for (int k = 0; k < system->size; k++) there[k] = joints->place[k] + moves[k];
    memcpy(transforms, before, 12 * deforming * (size_t)system->poses * sizeof *transforms);
    for (size_t p = 0; p < (size_t)system->poses; p++) {
        const double *joined = system->columns_joined + p * (size_t)count * columns;
        move_columns(system, (int)p, moves, there, relative, x);
        memset(pull, 0, 3 * (size_t)count * sizeof *pull);
        for (size_t d = 0; d < deforming; d++)
            for (size_t r = 0; r < 3; r++)
                pull[3 * (size_t)joints->component[d] + r] += force[3 * (columns * p + d) + r];
        for (size_t k = 0; k < (size_t)count; k++)
            for (size_t c = 0; c < 3 * columns; c++)
                pull[3 * k + c % 3] -= joined[k * columns + c / 3] * x[c];
        for (size_t d = 0; d < deforming; d++)
            for (int r = 0; r < 3; r++) {
                double *t = transforms + 12 * (deforming * p + d) + 4 * r + 3;
                *t += x[3 * d + (size_t)r];
                if (count > 1) *t += arap_joint_answer(system, joints->component[d], pull, r);
            }
    }
}
