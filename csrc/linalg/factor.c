/* Sparse Cholesky by CHOLMOD: see factor.h.
 *
 *   A = P' L L' P,  x = P' L'^-1 L^-1 P b
 *
 * where P is the postorder of the given order. CHOLMOD chooses between the supernodal (BLAS) and
 * the simplicial factorization by flops per non-zero. The n unknowns of a surface mesh take
 * O(n^1.5) flops and O(n log n) memory. The work arrays of the solve are kept, so an iteration
 * allocates nothing.
 *
 * The engine itself computes the numbers of a supernodal factor (supernodes.h), on all threads and
 * with polls for cancellation. A simplicial factor takes little work, so CHOLMOD computes it.
 *
 * In single precision, a factor takes half the time and memory, and a solve with it has an error of
 * eps times the condition number. The factor serves as a preconditioner for conjugate gradients on
 * A in double precision. One step is enough, or a few if A is close to singular. If conjugate
 * gradients need too many steps, or if a pivot in single precision is not positive, the matrix is
 * factorized again in double precision. All later factorizations also use double precision
 * (docs/decisions/019).
 *
 * Each factor has its own CHOLMOD common object, so factors share no state and may be used from
 * different threads. A matrix that is not positive definite gives ARAP_NOT_FACTORED. The caller may
 * try again with more damping. Also fails on out-of-memory. */
#include "linalg/factor.h"

#include <cholmod.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/pcg.h"
#include "linalg/supernodes.h"

/* Shares of a solution that another solve would change: */
#define EXACT 1e-3 /* finished: no significant error remains */
#define SURE 1e-4  /* if the second step changes no more, this factor needs only one */
#define MAX_STEPS 12

struct arap_factor {
    cholmod_common common;
    cholmod_factor *factor;
    arap_supernode_plan *plan; /* of a supernodal factor, otherwise NULL */
    cholmod_dense *x, *y, *e;  /* work of cholmod_solve2 */
    double flops;
    int single; /* its numbers are in `value`, those of the scaled matrix */
    int sure;   /* solves with it need no refinement */
    float *value, *work;
    double *scale; /* (size) */
    double *rest;  /* (4, size) until it is sure */
};

void arap_matrix_clear(arap_matrix *matrix) {
    arap_free(matrix->start);
    arap_free(matrix->row);
    arap_free(matrix->value);
    *matrix = (arap_matrix){0};
}

static arap_status translate(arap_error *error, const cholmod_common *common, const char *doing,
                             size_t minor, size_t size) {
    switch (common->status) {
    case CHOLMOD_OK:
    case CHOLMOD_DSMALL:
        return ARAP_OK;
    case CHOLMOD_OUT_OF_MEMORY:
        return arap_fail(error, ARAP_NO_MEMORY, "not enough memory for %s (%zu unknowns)", doing,
                         size);
    case CHOLMOD_TOO_LARGE:
        return arap_fail(error, ARAP_NO_MEMORY, "%zu unknowns are too many for %s", size, doing);
    case CHOLMOD_NOT_POSDEF:
        return arap_fail(error, ARAP_NOT_FACTORED,
                         "%s: the matrix is not positive definite at unknown %zu of %zu", doing,
                         minor, size);
    default:
        return arap_fail(error, ARAP_NOT_FACTORED, "%s failed with CHOLMOD status %d", doing,
                         common->status);
    }
}

/* A view of our matrix. Nothing is copied. */
static cholmod_sparse view(const arap_matrix *matrix) {
    size_t n = (size_t)matrix->size;
    return (cholmod_sparse){.nrow = n,
                            .ncol = n,
                            .nzmax = (size_t)matrix->start[n],
                            .p = matrix->start,
                            .i = matrix->row,
                            .x = matrix->value,
                            .stype = -1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static void start_common(cholmod_common *common) {
    cholmod_start(common);
    common->print = 0;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_NATURAL;
    common->postorder = 1;
}

static arap_supernodes supernodes_of(const cholmod_factor *l) {
    return (arap_supernodes){.size = (int)l->n,
                             .count = (int)l->nsuper,
                             .first = l->super,
                             .row_start = l->pi,
                             .start = l->px,
                             .row = l->s,
                             .order = l->Perm,
                             .max_block = l->maxcsize};
}

arap_status arap_factor_analyze(arap_context *context, const arap_matrix *pattern, int single,
                                arap_factor **out) {
    arap_factor *f = *out = ARAP_NEW_ZERO(arap_factor, 1);
    if (!f) return arap_fail_memory(&context->error, "the factorization");
    start_common(&f->common);
    cholmod_sparse a = view(pattern);
    f->factor = cholmod_analyze(&a, &f->common);
    arap_status status = translate(&context->error, &f->common, "the symbolic factorization", 0,
                                   (size_t)pattern->size);
    f->flops = f->common.fl;
    cholmod_free_work(&f->common);
    if (!status && f->factor->is_super) {
        arap_supernodes supernodes = supernodes_of(f->factor);
        status = arap_supernodes_plan(context, &supernodes, &f->plan);
        f->single = single && arap_blas_has_single();
    }
    if (status) {
        arap_factor_free(f);
        *out = NULL;
    }
    return status;
}

arap_status arap_factor_create(arap_context *context, const arap_matrix *matrix,
                               arap_factor **out) {
    arap_status status = arap_factor_analyze(context, matrix, 0, out);
    if (!status) status = arap_factor_update(context, *out, matrix);
    if (status) {
        arap_factor_free(*out);
        *out = NULL;
    }
    return status;
}

/* Switch to double precision permanently. */
static void leave_single(arap_factor *f) {
    arap_free(f->value);
    arap_free(f->work);
    arap_free(f->scale);
    arap_free(f->rest);
    f->value = f->work = NULL;
    f->scale = f->rest = NULL;
    f->single = 0;
}

/* Compute the factor of S A S in single precision, where S holds powers of two that bring the
 * diagonal near 1, so no value leaves the range of a float. */
static arap_status update_single(arap_context *context, arap_factor *f, const arap_matrix *matrix) {
    int n = matrix->size, minor;
    if (!f->value) {
        f->value = ARAP_NEW(float, f->factor->xsize);
        f->work = ARAP_NEW(float, 2 * (size_t)n);
        f->scale = ARAP_NEW(double, n);
        if (!f->value || !f->work || !f->scale)
            return arap_fail_memory(&context->error, "the factorization");
    }
    for (int j = 0; j < n; j++) {
        int exponent = 0;
        frexp(matrix->value[matrix->start[j]], &exponent);
        f->scale[j] = ldexp(1, -exponent / 2);
    }
    arap_supernodes supernodes = supernodes_of(f->factor);
    arap_status status = arap_supernodes_factorize(context, &supernodes, f->plan, matrix, f->scale,
                                                   f->value, &minor);
    f->sure = 0;
    if (!status && minor < n) leave_single(f);
    return status;
}

arap_status arap_factor_update(arap_context *context, arap_factor *factor,
                               const arap_matrix *matrix) {
    if (factor->single) {
        arap_status status = update_single(context, factor, matrix);
        if (status || factor->single) return status;
    }
    cholmod_sparse a = view(matrix);
    if (!factor->plan) {
        cholmod_factorize(&a, factor->factor, &factor->common);
    } else {
        int minor, started = factor->factor->xtype != CHOLMOD_PATTERN ||
                             cholmod_change_factor(CHOLMOD_REAL, 1, 1, 1, 1, factor->factor,
                                                   &factor->common);
        if (started) {
            arap_supernodes supernodes = supernodes_of(factor->factor);
            arap_status status = arap_supernodes_factorize(context, &supernodes, factor->plan,
                                                           matrix, NULL, factor->factor->x, &minor);
            if (status) return status;
            factor->factor->is_ll = 1;
            factor->factor->minor = (size_t)minor;
            factor->common.status = minor < matrix->size ? CHOLMOD_NOT_POSDEF : CHOLMOD_OK;
        }
    }
    return translate(&context->error, &factor->common, "the factorization", factor->factor->minor,
                     (size_t)matrix->size);
}

/* A view of `columns` right-hand sides. */
static cholmod_dense right_sides(size_t size, int columns, double *x) {
    return (cholmod_dense){.nrow = size,
                           .ncol = (size_t)columns,
                           .nzmax = size * (size_t)columns,
                           .d = size,
                           .x = x,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
}

arap_status arap_factor_solve(arap_context *context, arap_factor *factor, double *x) {
    size_t n = factor->factor->n;
    if (factor->single) {
        arap_supernodes supernodes = supernodes_of(factor->factor);
        return arap_supernodes_solve(context, &supernodes, factor->scale, factor->value,
                                     factor->work, x);
    }
    cholmod_dense b = right_sides(n, 1, x);
    if (!cholmod_solve2(CHOLMOD_A, factor->factor, &b, NULL, &factor->x, NULL, &factor->y,
                        &factor->e, &factor->common))
        return translate(&context->error, &factor->common, "the solve", 0, n);
    memcpy(x, factor->x->x, n * sizeof(double));
    return ARAP_OK;
}

/* y = A x */
static void multiply(const arap_matrix *a, const double *x, double *y) {
    memset(y, 0, (size_t)a->size * sizeof *y);
    for (int j = 0; j < a->size; j++) {
        double sum = a->value[a->start[j]] * x[j];
        for (int e = a->start[j] + 1; e < a->start[j + 1]; e++) {
            sum += a->value[e] * x[a->row[e]];
            y[a->row[e]] += a->value[e] * x[j];
        }
        y[j] += sum;
    }
}

typedef struct refinement {
    arap_factor *factor;
    const arap_matrix *matrix;
    int done;
} refinement;

static arap_status refine_product(arap_context *context, void *data, const double *p, double *out) {
    (void)context;
    multiply(((refinement *)data)->matrix, p, out);
    return ARAP_OK;
}

static arap_status refine_solve(arap_context *context, void *data, double *z) {
    arap_status status = arap_factor_solve(context, ((refinement *)data)->factor, z);
    return status ? status : arap_poll_cancel(context);
}

static int refined_enough(void *data, int step, double left, const double *z, double *x) {
    refinement *task = data;
    int n = (int)task->factor->factor->n;
    if (!(left >= 0) || step == MAX_STEPS) return 1;                  /* not a number, too */
    double share = sqrt(arap_dot_of(n, z, z) / arap_dot_of(n, x, x)); /* no number at first */
    task->done = left == 0 || share <= EXACT;
    if (!task->done) return 0;
    for (int i = 0; i < n; i++) x[i] += z[i];
    task->factor->sure = step == 1 && share <= SURE;
    return 1;
}

arap_status arap_factor_solve_refined(arap_context *context, arap_factor *factor,
                                      const arap_matrix *matrix, double *x) {
    size_t n = factor->factor->n;
    if (!factor->single || factor->sure) return arap_factor_solve(context, factor, x);
    if (!factor->rest) factor->rest = ARAP_NEW(double, 4 * n);
    if (!factor->rest) return arap_fail_memory(&context->error, "the solve");
    refinement task = {factor, matrix, 0};
    arap_pcg pcg = {(int)n, &task, refine_product, refine_solve, refined_enough};
    arap_status status = arap_pcg_solve(context, &pcg, factor->rest, x);
    if (status) return status;
    if (task.done) {
        if (!factor->sure) return ARAP_OK;
        arap_free(factor->rest);
        factor->rest = NULL;
        return ARAP_OK;
    }
    double *residual = factor->rest, *product = residual + n;
    multiply(matrix, x, product);
    for (size_t i = 0; i < n; i++) x[i] = residual[i] + product[i];
    leave_single(factor);
    status = arap_factor_update(context, factor, matrix);
    return status ? status : arap_factor_solve(context, factor, x);
}

/* Blocks of right-hand sides run in parallel. A solve only reads the factor, and each block has its
 * own common object. */
typedef struct solve_task {
    const arap_factor *factor;
    double *x;
    int columns;
    int *failed; /* (blocks) CHOLMOD status */
} solve_task;

static void solve_block(void *data, int block, int worker) {
    (void)worker;
    const solve_task *task = data;
    size_t n = task->factor->factor->n;
    int first = block * ARAP_RIGHT_SIDES, left = task->columns - first;
    double *x = task->x + (size_t)first * n;
    cholmod_common common;
    start_common(&common);
    cholmod_dense b = right_sides(n, left < ARAP_RIGHT_SIDES ? left : ARAP_RIGHT_SIDES, x);
    cholmod_dense *solution = cholmod_solve(CHOLMOD_A, task->factor->factor, &b, &common);
    if (solution) memcpy(x, solution->x, n * b.ncol * sizeof(double));
    task->failed[block] = solution ? CHOLMOD_OK : common.status;
    cholmod_free_dense(&solution, &common);
    cholmod_finish(&common);
}

arap_status arap_factor_solve_all(arap_context *context, arap_factor *factor, int columns,
                                  double *x) {
    int blocks = (columns + ARAP_RIGHT_SIDES - 1) / ARAP_RIGHT_SIDES;
    int *failed = ARAP_NEW(int, blocks);
    arap_status status = ARAP_OK;
    if (!failed) return arap_fail_memory(&context->error, "the solve");
    status = arap_parallel(context, blocks, solve_block, &(solve_task){factor, x, columns, failed});
    for (int k = 0; k < blocks && !status; k++) {
        factor->common.status = failed[k];
        status = translate(&context->error, &factor->common, "the solve", 0, factor->factor->n);
    }
    arap_free(failed);
    return status;
}

double arap_factor_size(const arap_factor *factor) {
    return factor->factor->is_super ? (double)factor->factor->xsize : (double)factor->factor->nzmax;
}

double arap_factor_bytes(const arap_factor *factor) {
    return arap_factor_size(factor) *
           (double)(factor->single ? sizeof *factor->value : sizeof(double));
}

double arap_factor_flops(const arap_factor *factor) { return factor->flops; }

void arap_factor_free(arap_factor *factor) {
    if (!factor) return;
    arap_supernodes_plan_free(factor->plan);
    leave_single(factor);
    cholmod_free_factor(&factor->factor, &factor->common);
    cholmod_free_dense(&factor->x, &factor->common);
    cholmod_free_dense(&factor->y, &factor->common);
    cholmod_free_dense(&factor->e, &factor->common);
    cholmod_finish(&factor->common);
    arap_free(factor);
}

/* Compute an approximate minimum degree order from the part of a graph below the diagonal. */
static arap_status order_graph(arap_context *context, arap_matrix *graph, int *order) {
    cholmod_common common;
    start_common(&common);
    cholmod_sparse pattern = view(graph);
    pattern.xtype = CHOLMOD_PATTERN;
    pattern.x = NULL;
    cholmod_amd(&pattern, NULL, 0, order, &common);
    arap_status status =
        translate(&context->error, &common, "the elimination order", 0, (size_t)graph->size);
    cholmod_finish(&common);
    return status;
}

static arap_status fail_edges(arap_context *context, size_t edges) {
    return arap_fail(&context->error, ARAP_NO_MEMORY, "the mesh has too many edges (%zu)", edges);
}

arap_status arap_fill_reducing_order(arap_context *context, int count, const size_t *row_start,
                                     const int *neighbor, int *order) {
    if (row_start[count] / 2 > INT_MAX) return fail_edges(context, row_start[count] / 2);
    arap_arena arena = {0};
    arap_matrix graph = {.size = count,
                         .start = ARAP_TAKE(&arena, count + 1, int),
                         .row = ARAP_TAKE(&arena, row_start[count] / 2 + 1, int)};
    arap_status status = arap_arena_status(&arena, &context->error, "the elimination order");
    if (status) goto done;
    int fill = 0;
    for (int j = 0; j < count; j++) {
        graph.start[j] = fill;
        for (size_t e = row_start[j]; e < row_start[j + 1]; e++)
            if (neighbor[e] > j) graph.row[fill++] = neighbor[e];
    }
    graph.start[count] = fill;
    status = order_graph(context, &graph, order);

done:
    arap_arena_clear(&arena);
    return status;
}

/* Count the edges between unknowns. Those of vertex i begin with number first[i]. */
static size_t edges_of_unknowns(int count, const int *first, const size_t *row_start,
                                const int *neighbor) {
    size_t edges = 0;
    for (int j = 0; j < count; j++) {
        size_t own = (size_t)(first[j + 1] - first[j]), others = 0;
        for (size_t e = row_start[j]; e < row_start[j + 1]; e++)
            if (neighbor[e] > j) others += (size_t)(first[neighbor[e] + 1] - first[neighbor[e]]);
        edges += own * others + own * (own - 1) / 2;
    }
    return edges;
}

static void fill_unknowns(int count, const int *first, const size_t *row_start, const int *neighbor,
                          int *of, arap_matrix *graph) {
    int fill = 0;
    for (int j = 0; j < count; j++)
        for (int u = first[j]; u < first[j + 1]; u++) {
            of[u] = j;
            graph->start[u] = fill;
            for (int v = u + 1; v < first[j + 1]; v++) graph->row[fill++] = v;
            for (size_t e = row_start[j]; e < row_start[j + 1]; e++) {
                int k = neighbor[e];
                for (int v = first[k]; v < first[k + 1] && k > j; v++) graph->row[fill++] = v;
            }
        }
    graph->start[first[count]] = fill;
}

arap_status arap_order_of_unknowns(arap_context *context, int count, const int *unknowns,
                                   const size_t *row_start, const int *neighbor, int *order) {
    arap_status status = ARAP_OK;
    arap_arena arena = {0};
    int *first = ARAP_TAKE(&arena, (size_t)count + 1, int);
    if (!first) return arap_fail_memory(&context->error, "the elimination order");
    for (int j = first[0] = 0; j < count; j++) first[j + 1] = first[j] + unknowns[j];
    size_t n = (size_t)first[count], edges = edges_of_unknowns(count, first, row_start, neighbor);
    if (edges > INT_MAX) {
        status = fail_edges(context, edges);
        goto done;
    }
    int *of = ARAP_TAKE(&arena, n, int), *by_unknown = ARAP_TAKE(&arena, n, int);
    arap_matrix graph = {.size = first[count],
                         .start = ARAP_TAKE(&arena, n + 1, int),
                         .row = ARAP_TAKE(&arena, edges + 1, int)};
    status = arap_arena_status(&arena, &context->error, "the elimination order");
    if (status) goto done;
    fill_unknowns(count, first, row_start, neighbor, of, &graph);
    status = order_graph(context, &graph, by_unknown);
    for (int k = 0, fill = 0; k < graph.size && !status; k++) {
        int j = of[by_unknown[k]];
        if (first[j] >= 0) order[fill++] = j;
        first[j] = -1; /* has its place */
    }

done:
    arap_arena_clear(&arena);
    return status;
}
