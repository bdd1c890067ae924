/* Supernodal Cholesky on all threads: see supernodes.h.
 *
 * The left-looking method of CHOLMOD (Chen, Davis, Hager & Rajamanickam 2008): a supernode begins
 * with its columns of the matrix, what earlier ones add to it is subtracted, a dense product each,
 * and its dense block is factorized. Products and the order in which they are subtracted are those
 * of CHOLMOD's own loop over all supernodes, which goes by linked lists: the plan goes through
 * these once. So all bits are CHOLMOD's, whatever runs side by side.
 *
 * What does so: in the elimination tree a supernode waits for those below it, and nothing else.
 * Subtrees with a PARTS-th of the work, at most, are done as they are, small neighbors together;
 * the supernodes above them one by one, as soon as all below are done. O(n^1.5) flops for a surface
 * mesh; memory is the factor, a map of n numbers and a block for each thread. Fails without memory
 * or when it is cancelled. */
#include "linalg/supernodes.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "linalg/blas.h"

#define PARTS 64      /* of the work: subtrees are not larger */
#define LEAST 1e6     /* flops of a task: a fraction of a millisecond */
#define OVERHEAD 2000 /* flops in the time that a product takes to begin */
#define WAIT 0.02     /* seconds until the thread that listens looks again */

/* Rows of supernode `from`, from number `place` of them on, add to another. */
typedef struct update {
    int from, place;
} update;

/* Whole subtrees, supernodes first to last - 1, or a single one above them. */
typedef struct task {
    int first, last;
} task;

struct arap_supernode_plan {
    int *of;                /* (size) supernode of a column */
    int *place;             /* (size) column of the factor that a column of the matrix is */
    int *parent;            /* (count) in the elimination tree, or -1 */
    size_t *update_start;   /* (count + 1) */
    update *updates;        /* in the order in which they are subtracted */
    double *own, *work;     /* (count) flops of a supernode, and with all below it */
    int task_count, leaves; /* tasks that wait for none come first */
    task *tasks;
    int *task_of; /* (count) of a single supernode, else -1 */
    int *waits;   /* (count) children of a single supernode */
    int most_rows;
    double total, path; /* flops of all, and of the longest way through the tree */
};

void arap_supernodes_plan_free(arap_supernode_plan *p) {
    if (!p) return;
    arap_free(p->of);
    arap_free(p->place);
    arap_free(p->parent);
    arap_free(p->update_start);
    arap_free(p->updates);
    arap_free(p->own);
    arap_free(p->work);
    arap_free(p->tasks);
    arap_free(p->task_of);
    arap_free(p->waits);
    arap_free(p);
}

static int columns_of(const arap_supernodes *l, int s) { return l->first[s + 1] - l->first[s]; }

static int rows_of(const arap_supernodes *l, int s) {
    return l->row_start[s + 1] - l->row_start[s];
}

/* How many rows of d from number `place` on are columns of s. */
static int shared_rows(const arap_supernodes *l, int d, int place, int s) {
    const int *row = l->row + l->row_start[d];
    int end = place, rows = rows_of(l, d);
    while (end < rows && row[end] < l->first[s + 1]) end++;
    return end - place;
}

/* The updates of all supernodes in CHOLMOD's order, each first into the list of its next one.
 * head, next, place: (count) scratch. */
static arap_status list_updates(arap_context *context, const arap_supernodes *l,
                                arap_supernode_plan *p, int *head, int *next, int *place) {
    size_t fill = 0, room = 0;
    for (int s = 0; s < l->count; s++) head[s] = -1;
    for (int s = 0; s < l->count; s++) {
        double columns = columns_of(l, s), rows = rows_of(l, s);
        p->update_start[s] = fill;
        p->own[s] = columns * columns * rows + OVERHEAD;
        for (int d = head[s], after; d >= 0; d = after) {
            int shared = shared_rows(l, d, place[d], s), left = rows_of(l, d) - place[d];
            if (fill == room) {
                update *grown = arap_realloc(p->updates, room = 2 * room + 1024, sizeof *grown);
                if (!grown) return arap_fail_memory(&context->error, "the factorization");
                p->updates = grown;
            }
            p->updates[fill++] = (update){d, place[d]};
            p->own[s] += 2.0 * columns_of(l, d) * shared * left + OVERHEAD;
            after = next[d];
            place[d] += shared;
            if (place[d] == rows_of(l, d)) continue;
            int above = p->of[l->row[l->row_start[d] + place[d]]];
            next[d] = head[above];
            head[above] = d;
        }
        p->total += p->own[s];
        p->parent[s] = -1;
        if (rows > p->most_rows) p->most_rows = (int)rows;
        if (columns == rows) continue;
        place[s] = columns_of(l, s);
        int above = p->parent[s] = p->of[l->row[l->row_start[s] + place[s]]];
        next[s] = head[above];
        head[above] = s;
    }
    p->update_start[l->count] = fill;
    return ARAP_OK;
}

/* Subtrees and single supernodes as tasks. */
static void divide(const arap_supernodes *l, arap_supernode_plan *p) {
    double part = p->total / PARTS > LEAST ? p->total / PARTS : LEAST, sum = 0;
    int first = 0;
    memcpy(p->work, p->own, (size_t)l->count * sizeof *p->work);
    for (int s = 0; s < l->count; s++)
        if (p->parent[s] >= 0) p->work[p->parent[s]] += p->work[s];
    for (int s = 0; s < l->count; s++) {
        int above = p->parent[s], single = p->work[s] > part;
        p->task_of[s] = -1;
        p->waits[s] = 0;
        if (!single && above >= 0 && p->work[above] <= part) continue; /* within a subtree */
        if (!single) sum += p->work[s];
        if (!single && sum < part / 2 && s + 1 < l->count) continue; /* with the next one */
        int last = single ? s : s + 1;
        if (first < last) p->tasks[p->task_count++] = (task){first, last};
        first = s + 1;
        sum = 0;
    }
    p->leaves = p->task_count;
    for (int s = 0; s < l->count; s++) {
        int above = p->parent[s];
        if (p->work[s] > part) {
            p->task_of[s] = p->task_count;
            p->tasks[p->task_count++] = (task){s, s + 1};
        }
        if (above >= 0 && p->work[above] > part) p->waits[above]++;
    }
}

/* The flops of tasks of which each waits for the one before, at most. below: (count) scratch */
static void find_path(const arap_supernodes *l, arap_supernode_plan *p, double *below) {
    for (int s = 0; s < l->count; s++) below[s] = 0;
    for (const task *t = p->tasks; t < p->tasks + p->task_count; t++) {
        double length = 0;
        for (int s = t->first; s < t->last; s++) length += p->own[s];
        if (t >= p->tasks + p->leaves) length += below[t->first];
        if (length > p->path) p->path = length;
        for (int s = t->first; s < t->last; s++) {
            int above = p->parent[s];
            if (above >= 0 && length > below[above]) below[above] = length;
        }
    }
}

arap_status arap_supernodes_plan(arap_context *context, const arap_supernodes *l,
                                 arap_supernode_plan **out) {
    arap_status status = ARAP_OK;
    size_t n = (size_t)l->size, count = (size_t)l->count;
    int *scratch = ARAP_NEW(int, 3 * count);
    arap_supernode_plan *p = *out = ARAP_NEW_ZERO(arap_supernode_plan, 1);
    if (!p || !scratch) goto no_memory;
    p->of = ARAP_NEW(int, n);
    p->place = ARAP_NEW(int, n);
    p->parent = ARAP_NEW(int, count);
    p->update_start = ARAP_NEW(size_t, count + 1);
    p->own = ARAP_NEW(double, count);
    p->work = ARAP_NEW(double, count);
    p->tasks = ARAP_NEW(task, count);
    p->task_of = ARAP_NEW(int, count);
    p->waits = ARAP_NEW(int, count);
    if (!p->of || !p->place || !p->parent || !p->update_start || !p->own || !p->work || !p->tasks ||
        !p->task_of || !p->waits)
        goto no_memory;
    for (int s = 0; s < l->count; s++)
        for (int k = l->first[s]; k < l->first[s + 1]; k++) p->of[k] = s;
    for (int k = 0; k < l->size; k++) p->place[l->order[k]] = k;
    status = list_updates(context, l, p, scratch, scratch + count, scratch + 2 * count);
    if (!status) {
        divide(l, p);
        find_path(l, p, p->work);
    }
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the factorization");
done:
    arap_free(scratch);
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
    const double *scale; /* (size) of rows and columns; NULL: in double, as they are */
    void *value;
    int *map, *relative; /* (workers, size) and (workers, most_rows) */
    char *block;         /* (workers, most_block) numbers */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    int next_leaf, finished, ready_count, stopped;
    int *ready; /* tasks above the subtrees that wait for none anymore */
    int *waits; /* (count) children that are not done */
    int minor;
    arap_status status; /* of listening */
    double unheard;     /* flops since */
} factorization;

/* For the thread that listens; the others see that it has stopped. */
static void listen(factorization *f) {
    arap_status status = arap_listen(f->context);
    if (!status) return;
    pthread_mutex_lock(&f->lock);
    f->status = status;
    f->stopped = 1;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Of worker 0, which listens every LEAST flops: is it to stop? */
static int must_stop(factorization *f, int worker, double flops) {
    if (worker) return 0;
    f->unheard += flops;
    if (f->unheard > LEAST) {
        f->unheard = 0;
        listen(f);
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

/* Returns 0 where it is not positive definite, or has stopped. */
static int factorize_one(factorization *f, int s, int worker) {
    const arap_supernodes *l = f->l;
    size_t number = f->scale ? sizeof(float) : sizeof(double);
    int *map = f->map + (size_t)worker * (size_t)l->size;
    int *relative = f->relative + (size_t)worker * (size_t)f->plan->most_rows;
    char *block = f->block + (size_t)worker * l->most_block * number;
    int info = f->scale ? factorize_supernode_single(f, s, worker, map, relative, block)
                        : factorize_supernode(f, s, worker, map, relative, block);
    if (info <= 0) return !info;
    int minor = l->first[s] + info - 1;
    pthread_mutex_lock(&f->lock);
    if (minor < f->minor) f->minor = minor;
    pthread_mutex_unlock(&f->lock);
    return 0;
}

/* Let others change something; the lock is held. */
static void wait_for_change(factorization *f, int worker) {
    if (worker) {
        pthread_cond_wait(&f->changed, &f->lock);
        return;
    }
    arap_wait_for(&f->changed, &f->lock, WAIT);
    pthread_mutex_unlock(&f->lock);
    listen(f);
    pthread_mutex_lock(&f->lock);
}

/* The next task that waits for none, or -1: all are done, or it has stopped. */
static int take_task(factorization *f, int worker) {
    int task = -1;
    pthread_mutex_lock(&f->lock);
    while (!f->stopped && f->finished < f->plan->task_count) {
        if (f->ready_count)
            task = f->ready[--f->ready_count];
        else if (f->next_leaf < f->plan->leaves)
            task = f->next_leaf++;
        if (task >= 0) break;
        wait_for_change(f, worker);
    }
    /* What is after a column that is not positive definite is of no use. */
    int needless = task >= 0 && f->l->first[f->plan->tasks[task].first] > f->minor;
    pthread_mutex_unlock(&f->lock);
    return needless ? -2 - task : task;
}

static void finish_task(factorization *f, int number) {
    const arap_supernode_plan *p = f->plan;
    const task *t = &p->tasks[number];
    pthread_mutex_lock(&f->lock);
    f->finished++;
    for (int s = t->first; s < t->last; s++) {
        int above = p->parent[s] < 0 ? -1 : p->task_of[p->parent[s]];
        if (above >= 0 && !--f->waits[p->parent[s]]) f->ready[f->ready_count++] = above;
    }
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void run_tasks(void *data, int chunk, int worker) {
    factorization *f = data;
    (void)chunk;
    for (int number; (number = take_task(f, worker)) != -1;) {
        int needed = number >= 0;
        if (!needed) number = -2 - number;
        const task *t = &f->plan->tasks[number];
        for (int s = t->first; s < t->last && needed; s++) needed = factorize_one(f, s, worker);
        finish_task(f, number);
    }
}

arap_status arap_supernodes_factorize(arap_context *context, const arap_supernodes *l,
                                      const arap_supernode_plan *p, const arap_matrix *matrix,
                                      const double *scale, void *value, int *minor) {
    size_t workers = (size_t)context->threads, number = scale ? sizeof(float) : sizeof(double);
    if ((size_t)p->leaves < workers) workers = p->leaves ? (size_t)p->leaves : 1;
    factorization f = {.context = context,
                       .l = l,
                       .plan = p,
                       .matrix = matrix,
                       .scale = scale,
                       .value = value,
                       .map = ARAP_NEW(int, workers * (size_t)l->size),
                       .relative = ARAP_NEW(int, workers * (size_t)p->most_rows),
                       .block = ARAP_NEW(char, workers * l->most_block * number),
                       .ready = ARAP_NEW(int, l->count),
                       .waits = ARAP_NEW(int, l->count),
                       .lock = PTHREAD_MUTEX_INITIALIZER,
                       .changed = PTHREAD_COND_INITIALIZER,
                       .minor = l->size};
    arap_status status = ARAP_OK;
    *minor = l->size;
    if (!f.map || !f.relative || !f.block || !f.ready || !f.waits) {
        status = arap_fail_memory(&context->error, "the factorization");
        goto done;
    }
    memcpy(f.waits, p->waits, (size_t)l->count * sizeof *f.waits);
    double begin = arap_seconds();
    status = arap_parallel(context, (int)workers, run_tasks, &f);
    if (workers == 1 && p->leaves > 1)
        arap_note_shared(context, arap_seconds() - begin, p->path / p->total);
    if (f.status) status = f.status;
    *minor = f.minor;

done:
    pthread_cond_destroy(&f.changed);
    pthread_mutex_destroy(&f.lock);
    arap_free(f.map);
    arap_free(f.relative);
    arap_free(f.block);
    arap_free(f.ready);
    arap_free(f.waits);
    return status;
}

/* x in the order of the factor, `work` of as many numbers as a supernode has rows at most. */
static void solve_lower(const arap_supernodes *l, const float *all, float *x, float *work) {
    for (int s = 0; s < l->count; s++) {
        int columns = columns_of(l, s), below = rows_of(l, s) - columns;
        const float *value = all + l->start[s];
        const int *row = l->row + l->row_start[s] + columns;
        float *own = x + l->first[s];
        arap_solve_vector_single('N', columns, value, columns + below, own);
        if (!below) continue;
        memset(work, 0, (size_t)below * sizeof *work);
        arap_subtract_product_single('N', below, columns, value + columns, columns + below, own,
                                     work);
        for (int i = 0; i < below; i++) x[row[i]] += work[i];
    }
}

static void solve_upper(const arap_supernodes *l, const float *all, float *x, float *work) {
    for (int s = l->count - 1; s >= 0; s--) {
        int columns = columns_of(l, s), below = rows_of(l, s) - columns;
        const float *value = all + l->start[s];
        const int *row = l->row + l->row_start[s] + columns;
        float *own = x + l->first[s];
        for (int i = 0; i < below; i++) work[i] = x[row[i]];
        if (below)
            arap_subtract_product_single('T', below, columns, value + columns, columns + below,
                                         work, own);
        arap_solve_vector_single('T', columns, value, columns + below, own);
    }
}

void arap_supernodes_solve(const arap_supernodes *l, const double *scale, const float *value,
                           float *work, double *x) {
    float *ordered = work, *rest = work + l->size;
    for (int k = 0; k < l->size; k++) ordered[k] = (float)(x[l->order[k]] * scale[l->order[k]]);
    solve_lower(l, value, ordered, rest);
    solve_upper(l, value, ordered, rest);
    for (int k = 0; k < l->size; k++) x[l->order[k]] = ordered[k] * scale[l->order[k]];
}
