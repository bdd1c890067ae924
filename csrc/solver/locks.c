/* Locked weights: see locks.h.
 *
 * A locked weight is a constant in the solve. A locked bone keeps its column (for its set of
 * vertices). A locked vertex keeps its row, scaled to sum to 1 for the solve, as Blender does when
 * it deforms. A locked vertex without any weight is solved like the others and returned empty. If
 * one of several welded vertices is locked, all of them are locked to the value of the lowest
 * locked one. Free weights share the remainder that the locked weights leave. If the remainder is
 * only a rounding error of sums of floats, no bone gets an influence to supply it.
 *
 * Takes O(vertices x bones). Fails if there are no weights to keep, if no weight is free, and on
 * out-of-memory. */
#include "solver/locks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "weights/rows.h"

#define ROUNDING 5e-7

arap_status arap_locks_create(arap_context *context, const arap_problem *problem,
                              const arap_skeleton *skeleton, arap_locks *locks) {
    const arap_sparse_weights *rows = problem->weights;
    if (!problem->locked_vertices && !problem->locked_bones) return ARAP_OK;
    if (!rows)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "vertices or bones are locked, but there are no weights to keep");
    size_t n = (size_t)problem->geometry.vertex_count, entries = (size_t)rows->start[n];
    int sets = problem->set_count > 0 ? problem->set_count : 1, bones = skeleton->deform_count;
    locks->bones = bones;
    locks->start = ARAP_TAKE(&locks->arena, n + 1, long long);
    locks->bone = ARAP_TAKE(&locks->arena, entries, int);
    locks->weight = ARAP_TAKE(&locks->arena, entries, double);
    locks->vertex = ARAP_TAKE_ZERO(&locks->arena, n, char);
    locks->set = ARAP_TAKE_ZERO(&locks->arena, n, int);
    locks->column = ARAP_TAKE_ZERO(&locks->arena, sets * bones, char);
    arap_status status = arap_arena_status(&locks->arena, &context->error, "the locked weights");
    if (status) return status;
    memcpy(locks->start, rows->start, (n + 1) * sizeof *rows->start);
    memcpy(locks->bone, rows->bone, entries * sizeof *rows->bone);
    memcpy(locks->weight, rows->weight, entries * sizeof *rows->weight);
    if (problem->locked_vertices) memcpy(locks->vertex, problem->locked_vertices, n);
    for (size_t i = 0; i < n && problem->vertex_set; i++) {
        locks->set[i] = problem->vertex_set[i];
        if (locks->set[i] < 0 || locks->set[i] >= sets)
            return arap_fail(&context->error, ARAP_BAD_VALUE,
                             "vertex_sets[%zu] is %d, but locked_bones has %d rows", i,
                             locks->set[i], sets);
    }
    for (int k = 0; k < sets && problem->locked_bones; k++)
        for (int d = 0; d < bones; d++)
            locks->column[k * bones + d] =
                problem->locked_bones[k * problem->bones.count + skeleton->deform_bone[d]];
    size_t open = 0;
    for (size_t i = 0; i < n && !open; i++)
        for (int d = 0; d < bones; d++)
            open += !locks->vertex[i] && !locks->column[locks->set[i] * bones + d];
    if (!open)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "nothing is free: every deforming bone or every vertex is locked");
    return ARAP_OK;
}

void arap_dense_row(const arap_skeleton *skeleton, const arap_sparse_weights *rows, int input,
                    double *row) {
    for (int d = 0; d < skeleton->deform_count; d++) row[d] = NAN;
    for (long long e = rows->start[input]; e < rows->start[input + 1]; e++) {
        int d = arap_deforming(skeleton, rows->bone[e]);
        if (d >= 0) row[d] = rows->weight[e];
    }
}

/* The weight of deforming bone d at input vertex i, or 0 if the caller's row lacks it. */
static double given_weight(const arap_locks *l, const arap_skeleton *skeleton, int i, int d) {
    for (long long e = l->start[i]; e < l->start[i + 1]; e++)
        if (arap_deforming(skeleton, l->bone[e]) == d) return l->weight[e];
    return 0;
}

int arap_same_locks(const arap_locks *locks, const arap_skeleton *skeleton, int i, int j) {
    if (!locks->vertex) return 1;
    if (locks->vertex[i] || locks->vertex[j]) return 0;
    for (int d = 0; d < locks->bones; d++) {
        int locked = arap_is_locked(locks, i, d);
        if (locked != arap_is_locked(locks, j, d)) return 0;
        if (locked && given_weight(locks, skeleton, i, d) != given_weight(locks, skeleton, j, d))
            return 0;
    }
    return 1;
}

/* Locked entries of one vertex. */
typedef struct lock_row {
    double *weight; /* (bones) NAN: not locked; 0: locked without weight */
    double *own;    /* (bones) scratch */
    int whole;      /* the whole row is locked */
} lock_row;

/* An arap_closed_fn: whether the bone is in this lock_row. */
static int is_in_lock(const void *lock, int vertex, int bone) {
    (void)vertex;
    return !isnan(((const lock_row *)lock)->weight[bone]);
}

/* Add the locks of input vertex `input` to those of lower ones of the same welded vertex. */
static void collect_locks(const arap_locks *l, const arap_skeleton *skeleton,
                          const arap_sparse_weights *rows, int input, lock_row *lock) {
    int bones = skeleton->deform_count;
    const char *columns = l->column + l->set[input] * bones;
    double sum = 0;
    if (lock->whole) return;
    arap_dense_row(skeleton, rows, input, lock->own);
    for (int d = 0; d < bones; d++) sum += isnan(lock->own[d]) ? 0 : lock->own[d];
    lock->whole = l->vertex[input] && sum > 0;
    for (int d = 0; d < bones; d++) {
        double w = isnan(lock->own[d]) ? 0 : lock->own[d];
        if (lock->whole)
            lock->weight[d] = w / sum;
        else if (columns[d] && isnan(lock->weight[d]))
            lock->weight[d] = w;
    }
}

/* Insert the locked entries into a dense row (NAN: no entry) of free ones; locked[d] marks them. */
static void apply_lock(const arap_mesh *mesh, const arap_skeleton *skeleton, int i,
                       const lock_row *lock, double *row, char *locked) {
    int bones = skeleton->deform_count, count = 0, open = 0;
    double sum = 0;
    for (int d = 0; d < bones; d++) {
        locked[d] = lock->weight[d] > 0;
        if (locked[d]) sum += lock->weight[d];
        if (!isnan(lock->weight[d])) {
            count++;
            row[d] = NAN;
        }
    }
    int full = lock->whole || sum >= 1 - ROUNDING || (count == bones && sum > 0);
    for (int d = 0; d < bones; d++) {
        if (locked[d]) row[d] = full ? lock->weight[d] / sum : lock->weight[d];
        if (full && !locked[d]) row[d] = NAN;
        open += !locked[d] && !isnan(row[d]);
    }
    if (!full && !open) {
        int nearest = arap_nearest_bone(mesh, skeleton, i, is_in_lock, lock);
        row[nearest < 0 ? 0 : nearest] = 1;
    }
}

arap_status arap_locks_apply(arap_context *context, const arap_locks *locks, const arap_mesh *mesh,
                             const arap_skeleton *skeleton, arap_influences *influences) {
    arap_arena arena = {0};
    if (!locks->vertex) return ARAP_OK;
    int n = mesh->count, bones = skeleton->deform_count;
    arap_sparse_weights rows = {
        .start = locks->start, .bone = locks->bone, .weight = locks->weight};
    arap_rows out = {0};
    double *row = ARAP_TAKE(&arena, 3 * bones, double);
    char *locked = ARAP_TAKE(&arena, bones, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the locked weights");
    if (status) goto done;
    status = arap_rows_create(context, n, &out);
    for (int i = 0; i < n && !status; i++) {
        lock_row lock = {.weight = row + bones, .own = row + 2 * bones};
        for (int d = 0; d < 2 * bones; d++) row[d] = NAN;
        for (size_t e = influences->start[i]; e < influences->start[i + 1]; e++)
            row[influences->bone[e]] = influences->weight[e];
        for (int input = mesh->first[i]; input >= 0; input = mesh->next[input])
            collect_locks(locks, skeleton, &rows, input, &lock);
        apply_lock(mesh, skeleton, i, &lock, row, locked);
        status = arap_rows_next(context, &out, (size_t)bones);
        for (int d = 0; d < bones && !status; d++)
            if (!isnan(row[d])) arap_rows_add(&out, d, row[d], locked[d]);
    }
    if (status) goto done;
    arap_influences_clear(influences);
    arap_rows_take(&out, influences);
    arap_influences_normalize(influences);

done:
    arap_rows_clear(&out);
    arap_arena_clear(&arena);
    return status;
}

void arap_locks_clear(arap_locks *locks) {
    arap_arena_clear(&locks->arena);
    *locks = (arap_locks){0};
}
