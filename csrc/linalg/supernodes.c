/* Supernodal Cholesky on all threads: see supernodes.h.
 *
 * Uses the left-looking method of CHOLMOD (Chen, Davis, Hager & Rajamanickam 2008). A supernode
 * starts as its columns of the matrix. The products of earlier supernodes, one dense product each,
 * are subtracted from these columns, and then the dense block of the supernode is factorized. The
 * products and the order in which they are subtracted are the same as in CHOLMOD's own loop over
 * all supernodes. CHOLMOD's loop follows linked lists. The plan in this file follows these lists
 * once. Therefore, all bits equal those of CHOLMOD, in any parallel order.
 *
 * Supernodes are processed in parallel. In the elimination tree, a supernode waits only for the
 * supernodes below it (base/forest.h). Subtrees with at most 1 / PARTS of the work are processed as
 * a whole. A surface mesh takes O(n^1.5) flops. The memory consists of the factor, a map of n
 * numbers, and a block for each thread. Fails on out-of-memory or when cancelled. */
#include "linalg/supernodes.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/forest.h"
#include "base/memory.h"
#include "linalg/blas.h"

#define PARTS 64      /* number of parts of the work; a subtree contains at most one */
#define MINIMUM 1e6   /* flops of a task: a fraction of a millisecond */
#define OVERHEAD 2000 /* flops equivalent to the startup time of a product */
#define LONG 1e9      /* flops above which dense work is divided into pieces: about 50 ms */
#define PIECE 1e8     /* flops of a piece */
#define PANEL 256     /* columns of one */
#define TILE 64       /* the number of rows is a multiple of this */
#define POLL_ABOVE 32 /* columns of a supernode between two polls for cancellation */

/* The rows of supernode `from`, beginning with number `place`, update another one. */
typedef struct update {
    int from, place;
} update;

struct arap_supernode_plan {
    int *of;              /* (size) supernode of a column */
    int *place;           /* (size) column of the factor for each column of the matrix */
    size_t *update_start; /* (count + 1) */
    update *updates;      /* in order of subtraction */
    arap_forest forest;
    int max_rows;
    arap_arena arena; /* of these arrays but `updates` */
};

void arap_supernodes_plan_free(arap_supernode_plan *plan) {
    if (!plan) return;
    arap_arena_clear(&plan->arena);
    arap_free(plan->updates);
    arap_forest_clear(&plan->forest);
    arap_free(plan);
}

static int columns_of(const arap_supernodes *l, int s) { return l->first[s + 1] - l->first[s]; }

static int rows_of(const arap_supernodes *l, int s) {
    return l->row_start[s + 1] - l->row_start[s];
}

/* The number of rows of d, beginning with number `place`, that are columns of s. */
static int shared_rows(const arap_supernodes *l, int d, int place, int s) {
    const int *row = l->row + l->row_start[d];
    int end = place, rows = rows_of(l, d);
    while (end < rows && row[end] < l->first[s + 1]) end++;
    return end - place;
}

/* List the updates of all supernodes in CHOLMOD's order. Each supernode is first inserted into the
 * list of the next one that it updates. parent, own: (count) the elimination tree, and flops; head,
 * next, place: (count) scratch. */
static arap_status list_updates(arap_context *context, const arap_supernodes *l,
                                arap_supernode_plan *p, int *parent, double *own, int *head,
                                int *next, int *place) {
    size_t fill = 0, room = 0;
    for (int s = 0; s < l->count; s++) head[s] = -1;
    for (int s = 0; s < l->count; s++) {
        double columns = columns_of(l, s), rows = rows_of(l, s);
        p->update_start[s] = fill;
        own[s] = columns * columns * rows + OVERHEAD;
        for (int d = head[s], after; d >= 0; d = after) {
            int shared = shared_rows(l, d, place[d], s), left = rows_of(l, d) - place[d];
            if (fill == room) {
                update *grown = arap_realloc(p->updates, room = 2 * room + 1024, sizeof *grown);
                if (!grown) return arap_fail_memory(&context->error, "the factorization");
                p->updates = grown;
            }
            p->updates[fill++] = (update){d, place[d]};
            own[s] += 2.0 * columns_of(l, d) * shared * left + OVERHEAD;
            after = next[d];
            place[d] += shared;
            if (place[d] == rows_of(l, d)) continue;
            int above = p->of[l->row[l->row_start[d] + place[d]]];
            next[d] = head[above];
            head[above] = d;
        }
        parent[s] = -1;
        if (rows > p->max_rows) p->max_rows = (int)rows;
        if (columns == rows) continue;
        place[s] = columns_of(l, s);
        int above = parent[s] = p->of[l->row[l->row_start[s] + place[s]]];
        next[s] = head[above];
        head[above] = s;
    }
    p->update_start[l->count] = fill;
    return ARAP_OK;
}

arap_status arap_supernodes_plan(arap_context *context, const arap_supernodes *supernodes,
                                 arap_supernode_plan **out) {
    arap_arena arena = {0};
    size_t n = (size_t)supernodes->size, count = (size_t)supernodes->count;
    arap_supernode_plan *p = *out = ARAP_NEW_ZERO(arap_supernode_plan, 1);
    if (!p) return arap_fail_memory(&context->error, "the factorization");
    int *scratch = ARAP_TAKE(&arena, 4 * count, int), *parent = scratch;
    double *own = ARAP_TAKE(&arena, count, double), total = 0;
    p->of = ARAP_TAKE(&p->arena, n, int);
    p->place = ARAP_TAKE(&p->arena, n, int);
    p->update_start = ARAP_TAKE(&p->arena, count + 1, size_t);
    arap_status status = arap_arena_status(&arena, &context->error, "the factorization");
    if (!status) status = arap_arena_status(&p->arena, &context->error, "the factorization");
    if (status) goto done;
    for (int s = 0; s < supernodes->count; s++)
        for (int k = supernodes->first[s]; k < supernodes->first[s + 1]; k++) p->of[k] = s;
    for (int k = 0; k < supernodes->size; k++) p->place[supernodes->order[k]] = k;
    status = list_updates(context, supernodes, p, parent, own, scratch + count, scratch + 2 * count,
                          scratch + 3 * count);
    if (status) goto done;
    for (int s = 0; s < supernodes->count; s++) total += own[s];
    status = arap_forest_divide(context, supernodes->count, parent, own,
                                fmax(total / PARTS, MINIMUM), &p->forest);

done:
    arap_arena_clear(&arena);
    if (!status) return status;
    arap_supernodes_plan_free(p);
    *out = NULL;
    return status;
}

/* A factorization that runs. */
typedef struct factorization {
    arap_context *context;
    const arap_supernodes *l;
    const arap_supernode_plan *plan;
    const arap_matrix *matrix;
    const double *scale; /* (size) of rows and columns; NULL: in double, not scaled */
    void *value;
    int *map, *relative; /* (workers, size) and (workers, max_rows) */
    char *block;         /* (workers, max_block) numbers */

    atomic_int minor;   /* the first column that shows that it is not positive definite */
    arap_status status; /* the status that worker 0 received when polling */
    atomic_int stopped; /* whether a task was to stop */
    double unpolled;    /* its flops since then */
} factorization;

/* Whether to stop. Worker 0 polls every MINIMUM flops. The other workers look at the status of
 * worker 0 if their work is long. */
static int has_stopped(factorization *f, int worker, double flops) {
    if (worker) return flops > MINIMUM && atomic_load(&f->stopped);
    f->unpolled += flops;
    if (f->unpolled > MINIMUM) {
        f->unpolled = 0;
        f->status = arap_poll_cancel(f->context);
        if (f->status) atomic_store(&f->stopped, 1);
    }
    return f->status != ARAP_OK;
}

#define REAL double
#define OF(name) name
#include "linalg/supernode_numbers.h"
#undef REAL
#undef OF
#define REAL float
#define OF(name) name##_single
#include "linalg/supernode_numbers.h"

static arap_status factorize_one(void *data, int s, int worker) {
    factorization *f = data;
    const arap_supernodes *l = f->l;
    size_t number = f->scale ? sizeof(float) : sizeof(double);
    int *map = f->map + (size_t)worker * (size_t)l->size;
    int *relative = f->relative + (size_t)worker * (size_t)f->plan->max_rows;
    char *block = f->block + (size_t)worker * l->max_block * number;
    /* Columns after one that is not positive definite are useless. */
    int minor = atomic_load(&f->minor);
    if (l->first[s] > minor) return ARAP_OK;
    int info = f->scale ? factorize_supernode_single(f, s, worker, map, relative, block)
                        : factorize_supernode(f, s, worker, map, relative, block);
    if (info < 0) return worker ? ARAP_OK : f->status;
    int found = l->first[s] + info - 1;
    while (info && found < minor && !atomic_compare_exchange_weak(&f->minor, &minor, found)) {
    }
    return ARAP_OK;
}

arap_status arap_supernodes_factorize(arap_context *context, const arap_supernodes *supernodes,
                                      const arap_supernode_plan *plan, const arap_matrix *matrix,
                                      const double *scale, void *value, int *minor) {
    size_t workers = (size_t)arap_forest_workers(context, &plan->forest);
    size_t number = scale ? sizeof(float) : sizeof(double);
    arap_arena arena = {0};
    factorization f = {.context = context,
                       .l = supernodes,
                       .plan = plan,
                       .matrix = matrix,
                       .scale = scale,
                       .value = value,
                       .map = ARAP_TAKE(&arena, workers * (size_t)supernodes->size, int),
                       .relative = ARAP_TAKE(&arena, workers * (size_t)plan->max_rows, int),
                       .block = ARAP_TAKE(&arena, workers * supernodes->max_block * number, char)};
    atomic_init(&f.minor, supernodes->size);
    atomic_init(&f.stopped, 0);
    arap_status status = arap_arena_status(&arena, &context->error, "the factorization");
    if (!status) status = arap_forest_run(context, &plan->forest, factorize_one, &f);
    *minor = atomic_load(&f.minor);
    arap_arena_clear(&arena);
    return status;
}

/* x is in the order of the factor; `work` has as many numbers as the maximum number of rows of a
 * supernode. */
static arap_status solve_lower(arap_context *context, const arap_supernodes *l, const float *all,
                               float *x, float *work) {
    arap_status status = ARAP_OK;
    for (int s = 0; s < l->count && !status; s++) {
        int columns = columns_of(l, s), below = rows_of(l, s) - columns;
        const float *value = all + l->start[s];
        const int *row = l->row + l->row_start[s] + columns;
        float *own = x + l->first[s];
        arap_solve_vector_single('N', columns, value, columns + below, own);
        if (columns > POLL_ABOVE) status = arap_poll_cancel(context);
        if (!below) continue;
        memset(work, 0, (size_t)below * sizeof *work);
        arap_subtract_product_single('N', below, columns, value + columns, columns + below, own,
                                     work);
        for (int i = 0; i < below; i++) x[row[i]] += work[i];
    }
    return status;
}

static arap_status solve_upper(arap_context *context, const arap_supernodes *l, const float *all,
                               float *x, float *work) {
    arap_status status = ARAP_OK;
    for (int s = l->count - 1; s >= 0 && !status; s--) {
        int columns = columns_of(l, s), below = rows_of(l, s) - columns;
        const float *value = all + l->start[s];
        const int *row = l->row + l->row_start[s] + columns;
        float *own = x + l->first[s];
        for (int i = 0; i < below; i++) work[i] = x[row[i]];
        if (below)
            arap_subtract_product_single('T', below, columns, value + columns, columns + below,
                                         work, own);
        arap_solve_vector_single('T', columns, value, columns + below, own);
        if (columns > POLL_ABOVE) status = arap_poll_cancel(context);
    }
    return status;
}

arap_status arap_supernodes_solve(arap_context *context, const arap_supernodes *supernodes,
                                  const double *scale, const float *value, float *work, double *x) {
    float *ordered = work, *rest = work + supernodes->size;
    for (int k = 0; k < supernodes->size; k++)
        ordered[k] = (float)(x[supernodes->order[k]] * scale[supernodes->order[k]]);
    arap_status status = solve_lower(context, supernodes, value, ordered, rest);
    if (!status) status = solve_upper(context, supernodes, value, ordered, rest);
    for (int k = 0; k < supernodes->size; k++)
        x[supernodes->order[k]] = ordered[k] * scale[supernodes->order[k]];
    return status;
}
