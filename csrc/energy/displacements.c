/* Displacements of components: see displacements.h.
 *
 * Random poses rotate every root about its own head. Such poses tear the mesh apart between two
 * components of the skeleton, which no animator would do. Let W_ic be the sum of w_ib over the
 * bones b of component c. With fixed weights w and rotations R, the translations t_c of the
 * components in a pose change the energy by
 *     sum_cd S_cd t_c . t_d - 2 sum_c g_c . t_c,
 *     Q_cb = sum_ik a_ik (W_kc - W_ic) (w_kb v_k - w_ib v_i)     (v homogeneous)
 *     S_cd = sum of the last numbers of Q_cb over the bones b of d
 *     g_c  = sum_i R_i sum_k a_ik (W_kc - W_ic) e_ik - sum_b T_b Q_cb,
 * with each spring counted as an edge to its anchor. The minimum is t = S^-1 g for each pose, and S
 * is the same for all poses, regardless of their weights. Alternating the local step with these
 * translations never raises the energy. S does not determine displacements that stretch nothing,
 * such as a displacement of the whole skeleton. A small stiffness, as in JointSolver, keeps such
 * displacements at 0.
 *
 * A component without weights is torn from nothing, so only those with weights count. A round takes
 * a local step in double precision plus O(p b c) for c components with weights of b bones and p
 * poses. All sums poll for cancellation. Fails on out-of-memory and when cancelled, in which case
 * nothing has changed. */
#include "energy/displacements.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "energy/local_step.h"
#include "linalg/blas.h"

#define STIFFNESS 1e-6 /* share of the rest energy of a pose */
#define ROUNDS 10
#define PANEL 32 /* number of columns of an inverse that are solved together */

arap_status arap_displacements_create(arap_context *context, const arap_skeleton *skeleton,
                                      const arap_poses *poses, int random,
                                      arap_displacements *displacements) {
    *displacements = (arap_displacements){0};
    if (!random || poses->spines.count || poses->stretches.count) return ARAP_OK;
    displacements->component = ARAP_NEW(int, poses->columns);
    if (!displacements->component) return arap_fail_memory(&context->error, "the components");
    arap_status status = arap_skeleton_components(context, skeleton, displacements->component,
                                                  &displacements->count);
    if (status || displacements->count < 2) {
        arap_displacements_clear(displacements);
        return status;
    }
    const arap_bendy *bendy = &poses->bendy;
    for (int k = 0; k < bendy->count; k++)
        for (int j = 0; j < bendy->segments[k]; j++)
            displacements->component[bendy->further[k] + j] =
                displacements->component[bendy->bone[k]];
    displacements->poses = random;
    displacements->moved = ARAP_NEW_ZERO(double, 3 * (size_t)random * (size_t)displacements->count);
    if (displacements->moved) return ARAP_OK;
    arap_displacements_clear(displacements);
    return arap_fail_memory(&context->error, "the components");
}

void arap_displacements_clear(arap_displacements *displacements) {
    arap_free(displacements->component);
    arap_free(displacements->moved);
    *displacements = (arap_displacements){0};
}

/* Sums over the mesh. */
typedef struct sums {
    arap_context *context;
    int count, columns;
    int *number;         /* (columns) of the column's component among those with weights, or -1 */
    int *component;      /* (count) of all components */
    double *carried;     /* (count, columns, 4) Q */
    double *inverse;     /* (count, count) of S */
    double *work;        /* (count, count) */
    double *share;       /* (count) W_kc - W_ic of an edge, 0 between edges */
    char *is_shared;     /* (count) whether it is one of these: */
    int *shared, shares; /* components of this edge */
    int *start, *column; /* (count + 1) columns whose Q is not 0: components far apart share
                            no edges */
} sums;

static void add_share(sums *s, int column, double share) {
    int c = s->number[column];
    if (!s->is_shared[c]) s->shared[s->shares++] = c;
    s->is_shared[c] = 1;
    s->share[c] += share;
}

static void clear_shares(sums *s) {
    for (int k = 0; k < s->shares; k++) s->share[s->shared[k]] = s->is_shared[s->shared[k]] = 0;
    s->shares = 0;
}

/* Add `sign` times the weights of vertex i to the shares of components. */
static void add_shares(sums *s, const arap_influences *in, int i, double sign) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        add_share(s, in->bone[e], sign * in->weight[e]);
}

/* Q_cb += factor share_c w (v, 1) for all components c. */
static void add_point(const sums *s, int column, double factor, const double *v) {
    for (int at = 0; at < s->shares; at++) {
        int c = s->shared[at];
        double x = factor * s->share[c];
        if (x == 0) continue;
        double *q = s->carried + 4 * ((size_t)c * (size_t)s->columns + (size_t)column);
        for (int k = 0; k < 3; k++) q[k] += x * v[k];
        q[3] += x;
    }
}

static void add_row(const sums *s, const arap_mesh *mesh, const arap_influences *in, int i,
                    double factor) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        add_point(s, in->bone[e], factor * in->weight[e], mesh->v + 3 * (size_t)i);
}

/* Q, of weights of columns. */
static arap_status sum_up(sums *s, const arap_mesh *mesh, const arap_influences *in) {
    arap_status status = ARAP_OK;
    for (int i = 0; i < mesh->count && !status; i++) {
        status = arap_poll_cancel(s->context);
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
            int k = mesh->neighbor[r];
            clear_shares(s);
            add_shares(s, in, k, 1);
            add_shares(s, in, i, -1);
            add_row(s, mesh, in, k, mesh->edge_weight[r]);
            add_row(s, mesh, in, i, -mesh->edge_weight[r]);
        }
        const arap_spring *spring;
        for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++) {
            clear_shares(s);
            add_shares(s, in, i, -1);
            for (int k = 0; k < 2 && spring->share[k] > 0; k++)
                add_share(s, spring->column[k], spring->share[k]);
            for (int k = 0; k < 2 && spring->share[k] > 0; k++)
                add_point(s, spring->column[k], spring->weight * spring->share[k], spring->point);
            add_row(s, mesh, in, i, -spring->weight);
        }
    }
    return status;
}

static arap_status list_columns(arap_arena *arena, sums *s) {
    int count = s->count, total = 0;
    for (int pass = 0; pass < 2; pass++) {
        total = 0;
        for (int c = 0; c < count; c++) {
            s->start[c] = total;
            for (int b = 0; b < s->columns; b++) {
                const double *q = s->carried + 4 * ((size_t)c * (size_t)s->columns + (size_t)b);
                if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) continue;
                if (pass) s->column[total] = b;
                total++;
            }
        }
        s->start[count] = total;
        if (!pass) s->column = ARAP_TAKE(arena, total, int);
        if (!s->column) break;
    }
    return arap_arena_status(arena, &s->context->error, "the components");
}

/* Compute the inverse of S, one panel of columns after another; definite: 0 if S is singular. */
static arap_status invert(const sums *s, double stiffness, int *definite) {
    int count = s->count;
    size_t n = (size_t)count;
    arap_status status = arap_poll_cancel(s->context);
    memset(s->work, 0, n * n * sizeof(double));
    memset(s->inverse, 0, n * n * sizeof(double));
    *definite = stiffness > 0;
    for (size_t c = 0; c < n && !status; c++) {
        const double *q = s->carried + 4 * c * (size_t)s->columns;
        for (int b = 0; b < s->columns; b++)
            if (s->number[b] >= 0) s->work[c * n + (size_t)s->number[b]] += q[4 * b + 3];
        for (size_t k = 0; k < c; k++) /* it is symmetric except for rounding */
            s->work[c * n + k] = s->work[k * n + c];
        s->work[c * n + c] += stiffness;
        s->inverse[c * n + c] = 1;
        status = arap_poll_cancel(s->context);
    }
    if (!status && *definite) status = arap_long_cholesky(s->context, count, s->work, definite);
    for (int c = 0; c < count && *definite && !status; c += PANEL) {
        int width = count - c < PANEL ? count - c : PANEL;
        arap_cholesky_solve(count, s->work, width, s->inverse + (size_t)c * n);
        status = arap_poll_cancel(s->context);
    }
    for (size_t c = 0; c < n; c++) /* its columns in rows */
        for (size_t k = 0; k < c; k++) {
            double swapped = s->inverse[c * n + k];
            s->inverse[c * n + k] = s->inverse[k * n + c];
            s->inverse[k * n + c] = swapped;
        }
    return status;
}

/* Subtract the contribution of a pose's transforms from the slope of component c. */
static void add_carried(const sums *s, int c, const double *transforms, double *slope) {
    for (int e = s->start[c]; e < s->start[c + 1]; e++) {
        int b = s->column[e];
        const double *q = s->carried + 4 * ((size_t)c * (size_t)s->columns + (size_t)b);
        const double *t = transforms + 12 * b;
        for (int r = 0; r < 3; r++) slope[r] -= arap_dot(t + 4 * r, q) + t[4 * r + 3] * q[3];
    }
}

/* Move the components of one pose, whose rotations have left `pull`; adds to the gain. */
static arap_status move_pose(const sums *s, const double *pull, size_t lanes, size_t pose,
                             double share, double *slope, double *moved, double *transforms,
                             double *gain) {
    arap_status status = ARAP_OK;
    int count = s->count;
    double own = 0, *move = slope + 3 * count;
    memset(slope, 0, 6 * (size_t)count * sizeof(double));
    for (int b = 0; b < s->columns; b++)
        for (int r = 0; r < 3 && s->number[b] >= 0; r++)
            slope[3 * s->number[b] + r] += pull[(size_t)(3 * b + r) * lanes + pose];
    for (int c = 0; c < count && !status; c++) {
        add_carried(s, c, transforms, slope + 3 * c);
        status = arap_poll_cancel(s->context);
    }
    for (int k = 0; k < count && !status; k++) { /* by columns, which the compiler vectorizes */
        const double *column = s->inverse + (size_t)k * (size_t)count, *own_slope = slope + 3 * k;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < count; c++) move[r * count + c] += column[c] * own_slope[r];
        status = arap_poll_cancel(s->context);
    }
    for (int c = 0; c < count && !status; c++)
        for (int r = 0; r < 3; r++) {
            own += move[r * count + c] * slope[3 * c + r];
            moved[3 * s->component[c] + r] += move[r * count + c];
        }
    for (int b = 0; b < s->columns && !status; b++)
        for (int r = 0; r < 3 && s->number[b] >= 0; r++)
            transforms[12 * b + 4 * r + 3] += move[r * count + s->number[b]];
    *gain += share * own;
    return status;
}

/* Number the components that have weights, or to which springs are anchored. */
static void number_components(sums *s, const arap_mesh *mesh, const arap_influences *in,
                              const arap_displacements *d) {
    int *number = s->component; /* of all components, until the columns have theirs */
    for (int c = 0; c < d->count; c++) number[c] = -1;
    for (int i = 0; i < mesh->count; i++) {
        const arap_spring *spring;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            number[d->component[in->bone[e]]] = 0;
        for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++)
            for (int k = 0; k < 2 && spring->share[k] > 0; k++)
                number[d->component[spring->column[k]]] = 0;
    }
    for (int c = 0; c < d->count; c++)
        if (!number[c]) number[c] = s->count++;
    for (int b = 0; b < s->columns; b++) s->number[b] = number[d->component[b]];
    for (int c = 0; c < d->count; c++)
        if (number[c] >= 0) s->component[number[c]] = c; /* not after c */
}

/* The arrays of the numbered components. */
static void take_sums(arap_arena *arena, sums *s) {
    size_t count = (size_t)s->count;
    s->carried = ARAP_TAKE_ZERO(arena, 4 * count * (size_t)s->columns, double);
    s->inverse = ARAP_TAKE(arena, count * count, double);
    s->work = ARAP_TAKE(arena, count * count, double);
    s->share = ARAP_TAKE_ZERO(arena, count, double);
    s->is_shared = ARAP_TAKE_ZERO(arena, count, char);
    s->shared = ARAP_TAKE(arena, count, int);
    s->start = ARAP_TAKE(arena, count + 1, int);
}

arap_status arap_displace(arap_context *context, const arap_mesh *mesh, const arap_poses *poses,
                          const arap_influences *influences, double tolerance,
                          arap_displacements *displacements, double *transforms) {
    arap_arena arena = {0};
    size_t columns = (size_t)poses->columns;
    size_t moves = 3 * (size_t)displacements->count * (size_t)displacements->poses;
    arap_poses random = *poses;
    arap_influences expanded = {0};
    arap_packed_poses packed = {0};
    arap_local_step *local_step = NULL;
    sums s = {.context = context,
              .columns = poses->columns,
              .number = ARAP_TAKE(&arena, columns, int),
              .component = ARAP_TAKE(&arena, displacements->count, int)};
    double *slope = NULL, *moved = ARAP_TAKE(&arena, moves, double);
    double *alignment = ARAP_TAKE(&arena, mesh->count, double), *pull = NULL, total = 0;
    arap_status status = arap_arena_status(&arena, &context->error, "the components");
    int definite;
    if (status) goto done;
    number_components(&s, mesh, influences, displacements);
    take_sums(&arena, &s);
    slope = ARAP_TAKE(&arena, 6 * (size_t)s.count, double);
    status = arap_arena_status(&arena, &context->error, "the components");
    if (status) goto done;
    memcpy(transforms, poses->transform, 12 * columns * (size_t)poses->count * sizeof *transforms);
    memcpy(moved, displacements->moved, moves * sizeof *moved);
    random.count = displacements->poses;
    random.transform = transforms;
    status = arap_packed_poses_create(context, &random, ARAP_DOUBLE, &packed);
    if (!status)
        status =
            arap_local_step_create(context, mesh, &packed, influences, NULL, NULL, &local_step);
    if (!status && poses->bendy.count)
        status = arap_bendy_expand(context, &poses->bendy, influences, &expanded);
    if (status) goto done;
    pull = ARAP_TAKE(&arena, ARAP_PULL_BLOCKS * 3 * columns * (size_t)packed.lanes, double);
    status = arap_arena_status(&arena, &context->error, "the components");
    if (!status) status = sum_up(&s, mesh, poses->bendy.count ? &expanded : influences);
    if (!status) status = list_columns(&arena, &s);
    if (!status) status = invert(&s, STIFFNESS * mesh->rest_energy, &definite);
    if (status || !definite) goto done; /* nothing has any size */
    for (int p = 0; p < displacements->poses; p++) total += arap_pose_weight(poses, p);
    for (int round = 0; round < ROUNDS; round++) {
        double gain = 0;
        status = arap_progress(context, "components", (double)round / ROUNDS);
        if (status) goto done;
        status = arap_packed_poses_fill(context, &random, &packed);
        if (!status)
            status = arap_local_step_pull(context, local_step, pull, alignment, NULL, NULL);
        for (size_t p = 0; p < (size_t)displacements->poses && !status; p++)
            status = move_pose(&s, pull, (size_t)packed.lanes, p, arap_pose_weight(poses, (int)p),
                               slope, moved + 3 * (size_t)displacements->count * p,
                               transforms + 12 * columns * p, &gain);
        if (status) goto done;
        if (!(gain > tolerance * total * mesh->rest_energy)) break;
    }
    memcpy(displacements->moved, moved, moves * sizeof *moved);

done:
    arap_local_step_free(local_step);
    arap_packed_poses_clear(&packed);
    arap_influences_clear(&expanded);
    arap_arena_clear(&arena);
    return status;
}

void arap_displacements_inherit(const arap_displacements *from, double scale,
                                arap_displacements *displacements, arap_poses *poses) {
    for (size_t p = 0; p < (size_t)displacements->poses; p++) {
        const double *other = from->moved + 3 * p * (size_t)displacements->count;
        double *own = displacements->moved + 3 * p * (size_t)displacements->count;
        for (int k = 0; k < 3 * displacements->count; k++) own[k] += scale * other[k];
        for (int b = 0; b < poses->columns; b++) {
            double *t = poses->transform + 12 * (p * (size_t)poses->columns + (size_t)b);
            for (int r = 0; r < 3; r++)
                t[4 * r + 3] += scale * other[3 * displacements->component[b] + r];
        }
    }
}
