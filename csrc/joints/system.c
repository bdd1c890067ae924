/* The quadratic of a joint step: see joints/system.h.
 *
 * The translations of a pose p change by dt_p = C D_p dJ + P dc_p (joints.h). D_p contains A_up -
 * A_d at the joint about which d turns, C the sums along the chains minus their mean over the
 * component (the paper's Eq. 11: dc is the mean displacement of a component, including its bones
 * and virtual segments), and P the members of each component. C and P consist of numbers that are
 * the same for all poses and coordinates. With S from joints/energy.h and the force g_p, E changes
 * by
 *     sum_p dt_p^T S dt_p - 2 g_p^T dt_p + stiffness |dc_p|^2.
 * The best dc_p = X (P^T g_p - P^T S C D_p dJ), X = (P^T S P + stiffness)^-1, leaves
 *     A_J = sum_p D_p^T K D_p,   K = C^T (S - S P X P^T S) C,
 *     B_J = sum_p D_p^T C^T (g_p - S P X P^T g_p).
 * K contains one number per pair of bones, so A_J is K times, block by block, the 3x3 blocks of
 * sum_p D_p^T D_p. This sum is one product of matrices for all poses, so neither the mesh nor the
 * poses are visited for A_J. If a pose has the weight w_p, its terms in both sums are multiplied by
 * w_p, but dc_p stays the same. A single component could move freely (S P = 0), so it stays in
 * place.
 *
 * The step penalty of a joint is s |(eps1 + eps2 / l sum_b b b^T / |b|) dJ|^2 over its deforming
 * bones, as in the paper except for the scale. Here, s is the mean of the diagonal of the joint's
 * own block of A_J, and l is the mean length of the joint's bones. The penalty therefore has the
 * same effect on a hip as on a finger. On a symmetric skeleton, the minimum is sought over the
 * displacements Pi dJ with Pi = (1 + Sigma) / 2, where Sigma exchanges both sides. joints/anchors.c
 * computes the part that springs add to B_J because their anchors move with the joints. The dense
 * Cholesky factorization takes O(joints^3), and the sums take O(poses bones^2).
 * joints/spine_system.c handles spines. Fails on out-of-memory, and if the matrix is not positive
 * definite. */
#include "joints/system.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/blas.h"

#define RIDGE 1e-12  /* as a share of the unit: for joints that nothing holds */
#define MIN_OWN 1e-6 /* stiffness of joints that have none, as a share of the stiffest joint */
/* stiffness between components that move freely together, as a share */
#define MIN_STIFFNESS 1e-9

/* `joined` and `inverse`, and S in `squeezed` becomes S - S P X P^T S; 0: no inverse. */
static int free_components(arap_joint_system *s, double stiffness, double *inner,
                           double *squeezed) {
    const arap_joints *joints = s->joints;
    int n = joints->deforming, count = joints->component_count;
    double largest = 0;
    memset(s->joined, 0, (size_t)count * (size_t)n * sizeof(double));
    memset(s->inverse, 0, (size_t)count * (size_t)count * sizeof(double));
    if (count < 2) return 1;
    memset(inner, 0, (size_t)count * (size_t)count * sizeof(double));
    for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++) s->joined[joints->component[b] * n + c] += squeezed[b * n + c];
    for (int k = 0; k < count; k++)
        for (int c = 0; c < n; c++) inner[k * count + joints->component[c]] += s->joined[k * n + c];
    for (int k = 0; k < count; k++) largest = fmax(largest, inner[k * count + k]);
    for (int k = 0; k < count; k++) {
        inner[k * count + k] += stiffness + MIN_STIFFNESS * largest + 1e-300;
        s->inverse[k * count + k] = 1;
    }
    if (!arap_cholesky(count, inner)) return 0;
    arap_cholesky_solve(count, inner, count, s->inverse);
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++) {
            double x = s->inverse[k * count + l];
            for (int b = 0; b < n; b++)
                for (int c = 0; c < n; c++)
                    squeezed[b * n + c] -= s->joined[k * n + b] * x * s->joined[l * n + c];
        }
    return 1;
}

/* K = C^T squeezed C, in place of `squeezed`. */
static arap_status pull_through_chains(arap_context *context, const arap_joint_system *s,
                                       double *squeezed, double *work) {
    arap_status status = ARAP_OK;
    int n = s->joints->deforming;
    memset(work, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int b = 0; b < n && !status; b++) {
        for (int c = 0; c < n; c++)
            for (int a = 0; squeezed[b * n + c] != 0 && a < n; a++)
                work[b * n + a] += squeezed[b * n + c] * s->chain[c * n + a];
        status = arap_poll_cancel(context);
    }
    memset(squeezed, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int b = 0; b < n && !status; b++) {
        for (int a = 0; a < n; a++)
            for (int c = 0; s->chain[b * n + a] != 0 && c < n; c++)
                squeezed[a * n + c] += s->chain[b * n + a] * work[b * n + c];
        status = arap_poll_cancel(context);
    }
    return status;
}

static void take_turns(arap_joint_system *s, const double *transforms) {
    const arap_joints *joints = s->joints;
    size_t n = (size_t)joints->deforming;
    for (size_t p = 0; p < (size_t)s->poses; p++)
        for (size_t d = 0; d < n; d++) {
            int up = joints->up[d];
            const double *own = transforms + 12 * (p * n + d);
            const double *above = up < 0 ? own : transforms + 12 * (p * n + (size_t)up);
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++)
                    s->turns[(3 * p + r) * 3 * n + 3 * d + c] = above[4 * r + c] - own[4 * r + c];
        }
}

/* sum_p w_p D_p^T D_p */
static arap_status multiply_turns(arap_context *context, const arap_joint_system *s, double *gram) {
    size_t n = (size_t)s->joints->deforming, size = 9 * n,
           all = s->pose_weight ? (size_t)s->poses : 0;
    double *scaled = ARAP_NEW(double, size * all);
    if (!scaled) return arap_fail_memory(&context->error, "the joint system");
    for (size_t k = 0; k < size * all; k++)
        scaled[k] = sqrt(arap_joint_pose_weight(s, k / size)) * s->turns[k];
    arap_gram(3 * s->poses, 3 * (int)n, s->pose_weight ? scaled : s->turns, gram);
    arap_free(scaled);
    return ARAP_OK;
}

static void add_data(arap_joint_system *s, const double *chained, const double *gram) {
    const arap_joints *joints = s->joints;
    int n = joints->deforming;
    memset(s->matrix, 0, (size_t)s->size * (size_t)s->size * sizeof(double));
    for (int d = 0; d < n; d++)
        for (int e = 0; e < n; e++) {
            int j = joints->pivot[d], k = joints->pivot[e];
            if (j < 0 || k < 0) continue;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    s->matrix[(size_t)(3 * j + r) * (size_t)s->size + (size_t)(3 * k + c)] +=
                        chained[d * n + e] *
                        gram[(size_t)(3 * d + r) * (size_t)(3 * n) + (size_t)(3 * e + c)];
        }
}

double arap_joint_own(const arap_joint_system *system, int joint) {
    size_t at = 3 * (size_t)joint * ((size_t)system->size + 1);
    double sum = 0;
    for (size_t c = 0; c < 3; c++) sum += system->matrix[at + c * ((size_t)system->size + 1)];
    return fmax(sum / 3, 0);
}

/* s E_J^T E_J of each joint. */
static void add_penalties(arap_joint_system *s, const int *deform_bone) {
    const arap_joints *joints = s->joints;
    double min = 1e-300; /* joints that do not affect the energy do not move */
    for (int j = 0; j < joints->count; j++) min = fmax(min, MIN_OWN * arap_joint_own(s, j));
    for (int j = 0; j < joints->count; j++) {
        double e[9] = {0}, *out = s->penalty + 9 * j;
        double own = fmax(arap_joint_own(s, j), min), length = arap_joint_bone_length(joints, j);
        for (int c = 0; c < 9; c += 4) e[c] = joints->joint_stiffness[j];
        for (int d = 0; d < joints->deforming; d++) {
            int head = joints->head[deform_bone[d]], tail = joints->tail[deform_bone[d]];
            double b[3];
            if (head != j && tail != j) continue;
            arap_sub(joints->rest + 3 * tail, joints->rest + 3 * head, b);
            double unit = length * sqrt(arap_dot(b, b));
            for (int k = 0; unit > 0 && k < 9; k++)
                e[k] += joints->tangential[j] * b[k / 3] * b[k % 3] / unit;
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                out[3 * r + c] = own * (e[r] * e[c] + e[3 + r] * e[3 + c] + e[6 + r] * e[6 + c]);
    }
}

/* Curvatures of all vertices: those near spines, and S for the others. */
static arap_status find_curvature(arap_context *context, const arap_joint_energy *energy,
                                  double *curvature) {
    size_t n = (size_t)energy->spines->deforming, columns = (size_t)energy->spines->columns;
    arap_status status = arap_joint_spines_curvature(context, energy->spines, energy->mesh,
                                                     energy->influences, curvature);
    for (size_t p = 0; !status && p < (size_t)energy->poses->count; p++)
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n; c++)
                curvature[columns * (columns * p + b) + c] +=
                    arap_joint_stiffness(energy, (int)b, (int)c);
    return status;
}

arap_status arap_joint_system_create(arap_context *context, const arap_joints *joints,
                                     const arap_symmetry *symmetry, const arap_skeleton *skeleton,
                                     const arap_joint_energy *energy, double stiffness,
                                     arap_joint_system *system) {
    arap_arena arena = {0};
    size_t n = (size_t)joints->deforming, count = (size_t)joints->component_count;
    size_t size = 3 * (size_t)joints->count;
    double *squeezed = ARAP_TAKE(&arena, n * n, double), *work = ARAP_TAKE(&arena, n * n, double);
    double *inner = ARAP_TAKE(&arena, count * count, double),
           *gram = ARAP_TAKE(&arena, 9 * n * n, double);
    const arap_joint_spines *spines = energy->spines->count ? energy->spines : NULL;
    size_t columns = spines ? (size_t)spines->columns : 0;
    double *curvature = ARAP_TAKE(&arena, columns * columns * (size_t)energy->poses->count, double);
    *system = (arap_joint_system){.joints = joints,
                                  .symmetry = symmetry,
                                  .poses = energy->poses->count,
                                  .size = (int)size,
                                  .pose_weight = energy->poses->weight,
                                  .spines = spines,
                                  .transform = energy->poses->transform};
    system->turns = ARAP_TAKE(&system->arena, 9 * n * (size_t)energy->poses->count, double);
    system->chain = ARAP_TAKE(&system->arena, n * n, double);
    system->joined = ARAP_TAKE(&system->arena, count * n, double);
    system->inverse = ARAP_TAKE(&system->arena, count * count, double);
    system->matrix = ARAP_TAKE(&system->arena, size * size, double);
    system->penalty = ARAP_TAKE(&system->arena, 3 * size, double);
    system->work =
        ARAP_TAKE(&system->arena, 2 * size * size + 2 * size + 9 * n + 3 * count, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the joint system");
    if (!status) status = arap_arena_status(&system->arena, &context->error, "the joint system");
    if (status) goto done;
    arap_joint_chains(system);
    if (spines) {
        status = arap_joint_spine_system_create(context, system);
        if (!status) status = find_curvature(context, energy, curvature);
        if (status) goto done;
    } else {
        take_turns(system, energy->poses->transform);
    }
    for (size_t b = 0; b < n; b++)
        for (size_t c = 0; c < n; c++)
            squeezed[b * n + c] = spines ? curvature[b * columns + c] /* the same in all poses */
                                         : arap_joint_stiffness(energy, (int)b, (int)c);
    if (!free_components(system, stiffness, inner, squeezed)) {
        status = arap_fail(&context->error, ARAP_NOT_FACTORED,
                           "the components of the skeleton cannot be placed");
        goto done;
    }
    if (spines) {
        status = arap_joint_spine_data(context, system, curvature);
        if (status) goto done;
    } else {
        status = pull_through_chains(context, system, squeezed, work);
        if (!status) status = multiply_turns(context, system, gram);
        if (status) goto done;
        add_data(system, squeezed, gram);
    }
    add_penalties(system, skeleton->deform_bone);

done:
    arap_arena_clear(&arena);
    if (status) arap_joint_system_clear(system);
    return status;
}

void arap_joint_system_clear(arap_joint_system *system) {
    arap_arena_clear(&system->arena);
    *system = (arap_joint_system){0};
}

void arap_joint_right_side(const arap_joint_system *system, const double *force, double *right) {
    if (system->spines) {
        arap_joint_spine_right_side(system, force, right);
        return;
    }
    const arap_joints *joints = system->joints;
    size_t n = (size_t)joints->deforming;
    int count = joints->component_count;
    double *left = system->work, *pull = left + 3 * n, *pushed = pull + 3 * (size_t)count;
    memset(right, 0, (size_t)system->size * sizeof(double));
    for (size_t p = 0; p < (size_t)system->poses; p++) {
        memcpy(left, force + 3 * n * p, 3 * n * sizeof(double));
        memset(pull, 0, 3 * (size_t)count * sizeof(double));
        for (size_t d = 0; d < n; d++)
            for (int r = 0; r < 3; r++)
                pull[3 * joints->component[d] + r] += left[3 * d + (size_t)r];
        for (int k = 0; count > 1 && k < count; k++)
            for (int r = 0; r < 3; r++) {
                double x = arap_joint_answer(system, k, pull, r);
                for (size_t d = 0; d < n; d++)
                    left[3 * d + (size_t)r] -= system->joined[(size_t)k * n + d] * x;
            }
        for (size_t k = 0; system->pose_weight && k < 3 * n; k++) left[k] *= system->pose_weight[p];
        arap_joint_push_down(system, left, pushed);
        for (size_t d = 0; d < n; d++) {
            if (joints->pivot[d] < 0) continue;
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++)
                    right[3 * (size_t)joints->pivot[d] + c] +=
                        system->turns[(3 * p + r) * 3 * n + 3 * d + c] * pushed[3 * d + r];
        }
    }
}

void arap_joint_transforms(const arap_joint_system *system, const double *moves,
                           const double *force, const double *before, double *transforms) {
    if (system->spines) {
        arap_joint_spine_transforms(system, moves, force, before, transforms);
        return;
    }
    const arap_joints *joints = system->joints;
    size_t n = (size_t)joints->deforming;
    int count = joints->component_count;
    double *turned = system->work, *shift = turned + 3 * n, *pull = shift + 3 * n;
    memcpy(transforms, before, 12 * n * (size_t)system->poses * sizeof(double));
    for (size_t p = 0; p < (size_t)system->poses; p++) {
        memset(turned, 0, 3 * n * sizeof(double));
        memset(pull, 0, 3 * (size_t)count * sizeof(double));
        for (size_t d = 0; d < n; d++)
            for (size_t r = 0; joints->pivot[d] >= 0 && r < 3; r++)
                turned[3 * d + r] = arap_dot(system->turns + (3 * p + r) * 3 * n + 3 * d,
                                             moves + 3 * joints->pivot[d]);
        arap_joint_carry_down(system, turned, shift);
        for (size_t d = 0; count > 1 && d < n; d++)
            for (size_t r = 0; r < 3; r++) {
                pull[3 * (size_t)joints->component[d] + r] += force[3 * (n * p + d) + r];
                for (size_t k = 0; k < (size_t)count; k++)
                    pull[3 * k + r] -= system->joined[k * n + d] * shift[3 * d + r];
            }
        for (size_t d = 0; d < n; d++)
            for (int r = 0; r < 3; r++) {
                double *t = transforms + 12 * (n * p + d) + 4 * r + 3;
                *t += shift[3 * d + (size_t)r];
                if (count > 1) *t += arap_joint_answer(system, joints->component[d], pull, r);
            }
    }
}

/* Sigma of the columns: x (size, size), each row exchanged and reflected. */
static void exchange(const arap_joint_system *s, const double *x, double *out) {
    const arap_joints *joints = s->joints;
    for (int j = 0; j < joints->count; j++) {
        int other = joints->partner[j];
        if (other < 0)
            memcpy(out + 3 * j, x + 3 * j, 3 * sizeof(double));
        else
            arap_reflect(s->symmetry, x + 3 * other, 0, out + 3 * j);
    }
}

/* Pi A Pi + (1 - Pi) unit and Pi b. */
static void make_symmetric(const arap_joint_system *s, double unit, double *matrix, double *right,
                           double *work) {
    size_t size = (size_t)s->size;
    for (int side = 0; side < 2; side++) { /* A becomes Pi A^T, twice */
        for (size_t r = 0; r < size; r++) {
            exchange(s, matrix + size * r, work);
            for (size_t c = 0; c < size; c++)
                matrix[size * r + c] = 0.5 * (matrix[size * r + c] + work[c]);
        }
        for (size_t r = 0; r < size; r++)
            for (size_t c = 0; c < r; c++) {
                double x = matrix[size * r + c];
                matrix[size * r + c] = matrix[size * c + r];
                matrix[size * c + r] = x;
            }
    }
    for (size_t r = 0; r < size; r++) {
        double *row = work + size;
        memset(row, 0, size * sizeof(double));
        row[r] = 1;
        exchange(s, row, work);
        for (size_t c = 0; c < size; c++)
            matrix[size * r + c] += unit * (row[c] - 0.5 * (row[c] + work[c]));
    }
    exchange(s, right, work);
    for (size_t c = 0; c < size; c++) right[c] = 0.5 * (right[c] + work[c]);
}

static arap_status refuse(arap_error *error) {
    return arap_fail(error, ARAP_NOT_FACTORED,
                     "the joint positions could not be computed: increase joint_stiffness");
}

arap_status arap_joint_solve(arap_context *context, const arap_joint_system *system, double unit,
                             const double *extra, const double *right, const char *fixed,
                             double *moves) {
    const arap_joints *joints = system->joints;
    int definite;
    size_t size = (size_t)system->size;
    double *matrix = system->work, *x = matrix + size * size, *scratch = x + size;
    memcpy(matrix, system->matrix, size * size * sizeof(double));
    memcpy(x, right, size * sizeof(double));
    for (int j = 0; j < joints->count; j++)
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double *to = matrix + size * (size_t)(3 * j + r) + (size_t)(3 * j + c);
                *to += system->penalty[9 * j + 3 * r + c] + unit * extra[9 * j + 3 * r + c];
                if (r == c) *to += unit * RIDGE;
            }
    if (system->symmetry) make_symmetric(system, unit, matrix, x, scratch);
    for (size_t k = 0; k < size; k++)
        for (size_t c = 0; fixed[k / 3] && c < size; c++)
            if (!fixed[c / 3]) x[c] -= matrix[size * k + c] * moves[k];
    for (size_t k = 0; k < size; k++) {
        if (!fixed[k / 3]) continue;
        for (size_t c = 0; c < size; c++) matrix[size * k + c] = matrix[size * c + k] = 0;
        matrix[size * k + k] = unit;
        x[k] = unit * moves[k];
    }
    arap_status status = arap_long_cholesky(context, system->size, matrix, &definite);
    if (status) return status;
    if (!definite) return refuse(&context->error);
    arap_cholesky_solve(system->size, matrix, 1, x);
    for (size_t k = 0; k < size; k++) {
        if (!isfinite(x[k])) return refuse(&context->error);
        if (!fixed[k / 3]) moves[k] = x[k];
    }
    if (system->symmetry) arap_joints_symmetrize(joints, system->symmetry, moves);
    return ARAP_OK;
}
