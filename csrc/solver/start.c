/* The start of a problem: heat or biharmonic weights, or the caller's, with what is locked.
 *
 * A locked weight is a constant of the solve: a locked bone keeps its column (of its set of
 * vertices), a locked vertex its row, made to sum to 1 for the solve as Blender does when it
 * deforms; a locked vertex without any weight is solved like the others and handed back empty.
 * What is locked for one of several welded vertices is locked for all, and the lowest of them
 * that has it locked says what it is. Free weights share what the locked ones leave. */
#include <math.h>
#include <string.h>

#include "initial/bbw.h"
#include "solver/levels.h"
#include "base/memory.h"
#include "solver/solver.h"
#include "supports/truss.h"

#define MOST_WEIGHT 1e30 /* far from overflow when they are summed */

arap_status arap_check_rows(arap_error *error, const arap_rows *rows, int vertices, int bones) {
    for (int i = 0; i < vertices; i++)
        for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (rows->bone[e] < 0 || rows->bone[e] >= bones)
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "weights of vertex %d name bone %d: no bone of the %d there are",
                                 i, rows->bone[e], bones);
            if (!(rows->weight[e] >= 0 && rows->weight[e] < MOST_WEIGHT))
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "the weight of vertex %d for bone %d is %g: not a weight", i,
                                 rows->bone[e], rows->weight[e]);
            for (long long f = rows->start[i]; f < e; f++)
                if (rows->bone[f] == rows->bone[e])
                    return arap_fail(error, ARAP_BAD_VALUE,
                                     "weights of vertex %d name bone %d twice", i, rows->bone[e]);
        }
    return ARAP_OK;
}

/* Keep a copy of the caller's rows and locks. */
static arap_status copy_locks(arap_job *job, arap_solver *s, const arap_problem *problem) {
    const arap_rows *rows = problem->weights;
    if (!problem->locked_vertices && !problem->locked_bones) return ARAP_OK;
    if (!rows)
        return arap_fail(&job->error, ARAP_BAD_VALUE,
                         "vertices or bones are locked, but there are no weights to keep");
    size_t n = (size_t)problem->geometry.vertex_count, entries = (size_t)rows->start[n];
    int sets = problem->set_count > 0 ? problem->set_count : 1, bones = s->skeleton.deform_count;
    s->locked_start = ARAP_NEW(long long, n + 1);
    s->locked_bone = ARAP_NEW(int, entries);
    s->locked_weight = ARAP_NEW(double, entries);
    s->locked_vertex = ARAP_NEW_ZERO(char, n);
    s->vertex_set = ARAP_NEW_ZERO(int, n);
    s->locked_column = ARAP_NEW_ZERO(char, sets *bones);
    if (!s->locked_start || !s->locked_bone || !s->locked_weight || !s->locked_vertex ||
        !s->vertex_set || !s->locked_column)
        return arap_fail_memory(&job->error, "the locked weights");
    memcpy(s->locked_start, rows->start, (n + 1) * sizeof *rows->start);
    memcpy(s->locked_bone, rows->bone, entries * sizeof *rows->bone);
    memcpy(s->locked_weight, rows->weight, entries * sizeof *rows->weight);
    if (problem->locked_vertices) memcpy(s->locked_vertex, problem->locked_vertices, n);
    for (size_t i = 0; i < n && problem->vertex_set; i++) {
        s->vertex_set[i] = problem->vertex_set[i];
        if (s->vertex_set[i] < 0 || s->vertex_set[i] >= sets)
            return arap_fail(&job->error, ARAP_BAD_VALUE,
                             "vertex_sets[%zu] is %d: no row of the %d in locked_bones", i,
                             s->vertex_set[i], sets);
    }
    for (int k = 0; k < sets && problem->locked_bones; k++)
        for (int d = 0; d < bones; d++)
            s->locked_column[k * bones + d] =
                problem->locked_bones[k * problem->bones.count + s->skeleton.deform_bone[d]];
    size_t open = 0;
    for (size_t i = 0; i < n && !open; i++)
        for (int d = 0; d < bones; d++)
            open += !s->locked_vertex[i] && !s->locked_column[s->vertex_set[i] * bones + d];
    if (!open)
        return arap_fail(&job->error, ARAP_BAD_VALUE,
                         "nothing is free: every deforming bone or every vertex is locked");
    return ARAP_OK;
}

/* The caller's row of an input vertex as a dense one; NAN: no entry. */
static void read_row(const arap_solver *s, const arap_rows *rows, int input, double *row) {
    for (int d = 0; d < s->skeleton.deform_count; d++) row[d] = NAN;
    for (long long e = rows->start[input]; e < rows->start[input + 1]; e++) {
        int d = arap_deforming(&s->skeleton, rows->bone[e]);
        if (d >= 0) row[d] = rows->weight[e];
    }
}

/* Locked entries of one vertex. */
typedef struct lock_row {
    double *weight; /* (bones) NAN where nothing is locked; 0: locked without weight */
    double *own;    /* (bones) scratch */
    int whole;      /* the whole row is locked */
} lock_row;

/* An arap_closed_fn: is the bone in this lock_row? */
static int is_in_lock(const void *lock, int vertex, int bone) {
    (void)vertex;
    return !isnan(((const lock_row *)lock)->weight[bone]);
}

/* The given rows as influences. A locked vertex may have none: it is solved like the others. */
static arap_status influences_of_rows(arap_job *job, const arap_solver *s, const arap_rows *rows,
                                      arap_influences *out) {
    int n = s->mesh.count, bones = s->skeleton.deform_count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    double *row = ARAP_NEW(double, bones);
    arap_status status = ARAP_OK;
    if (!sizes || !row) {
        status = arap_fail_memory(&job->error, "the initial weights");
        goto done;
    }
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int i = 0; i < n; i++) {
            int input = s->mesh.first[i], empty = 1;
            read_row(s, rows, input, row);
            for (int d = 0; d < bones && empty; d++) empty = isnan(row[d]);
            if (empty && s->locked_vertex && s->locked_vertex[input])
                row[arap_nearest_bone(&s->mesh, &s->skeleton, i, NULL, NULL)] = 1;
            size_t at = fill ? out->start[i] : 0;
            for (int d = 0; d < bones; d++) {
                if (isnan(row[d])) continue;
                if (!fill) {
                    sizes[i]++;
                } else {
                    out->bone[at] = d;
                    out->weight[at++] = row[d];
                }
            }
            if (!sizes[i]) {
                status = arap_fail(&job->error, ARAP_BAD_VALUE,
                                   "vertex %d has no weight to start from", s->mesh.first[i]);
                goto done;
            }
        }
        if (!fill) status = arap_influences_create(job, n, sizes, out);
    }

done:
    arap_free(sizes);
    arap_free(row);
    return status;
}

/* What input vertex `input` locks, added to what lower ones of the same welded vertex do. */
static void collect_locks(const arap_solver *s, const arap_rows *rows, int input, lock_row *lock) {
    int bones = s->skeleton.deform_count;
    const char *columns = s->locked_column + s->vertex_set[input] * bones;
    double sum = 0;
    if (lock->whole) return;
    read_row(s, rows, input, lock->own);
    for (int d = 0; d < bones; d++) sum += isnan(lock->own[d]) ? 0 : lock->own[d];
    lock->whole = s->locked_vertex[input] && sum > 0;
    for (int d = 0; d < bones; d++) {
        double w = isnan(lock->own[d]) ? 0 : lock->own[d];
        if (lock->whole)
            lock->weight[d] = w / sum;
        else if (columns[d] && isnan(lock->weight[d]))
            lock->weight[d] = w;
    }
}

/* Put the locked entries into a dense row (NAN: no entry) of free ones; given[d] marks them. */
static void apply_lock(const arap_solver *s, int i, const lock_row *lock, double *row,
                       char *given) {
    int bones = s->skeleton.deform_count, locked = 0, open = 0;
    double sum = 0;
    for (int d = 0; d < bones; d++) {
        given[d] = lock->weight[d] > 0;
        if (given[d]) sum += lock->weight[d];
        if (!isnan(lock->weight[d])) {
            locked++;
            row[d] = NAN;
        }
    }
    int full = lock->whole || sum >= 1 || (locked == bones && sum > 0);
    for (int d = 0; d < bones; d++) {
        if (given[d]) row[d] = full ? lock->weight[d] / sum : lock->weight[d];
        if (full && !given[d]) row[d] = NAN;
        open += !given[d] && !isnan(row[d]);
    }
    if (!full && !open) {
        int nearest = arap_nearest_bone(&s->mesh, &s->skeleton, i, is_in_lock, lock);
        row[nearest < 0 ? 0 : nearest] = 1;
    }
}

arap_status arap_apply_locks(arap_job *job, const arap_solver *s, arap_influences *in) {
    if (!s->locked_vertex) return ARAP_OK;
    int n = s->mesh.count, bones = s->skeleton.deform_count;
    arap_rows rows = {.start = s->locked_start, .bone = s->locked_bone, .weight = s->locked_weight};
    arap_influences out = {0};
    int *sizes = ARAP_NEW_ZERO(int, n);
    double *row = ARAP_NEW(double, 3 * bones);
    char *given = ARAP_NEW(char, bones);
    arap_status status = ARAP_OK;
    if (!sizes || !row || !given) {
        status = arap_fail_memory(&job->error, "the locked weights");
        goto done;
    }
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int i = 0; i < n; i++) {
            lock_row lock = {.weight = row + bones, .own = row + 2 * bones};
            for (int d = 0; d < 2 * bones; d++) row[d] = NAN;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
                row[in->bone[e]] = in->weight[e];
            for (int input = s->mesh.first[i]; input >= 0; input = s->mesh.next[input])
                collect_locks(s, &rows, input, &lock);
            apply_lock(s, i, &lock, row, given);
            size_t at = fill ? out.start[i] : 0;
            for (int d = 0; d < bones; d++) {
                if (isnan(row[d])) continue;
                if (!fill) {
                    sizes[i]++;
                    continue;
                }
                out.bone[at] = d;
                out.weight[at] = row[d];
                out.given[at++] = given[d];
            }
        }
        if (!fill) status = arap_influences_create(job, n, sizes, &out);
    }
    if (status) goto done;
    arap_influences_clear(in);
    *in = out;
    arap_influences_normalise(in);

done:
    arap_free(sizes);
    arap_free(row);
    arap_free(given);
    return status;
}

static arap_status look(arap_job *job, arap_solver *s) {
    arap_bvh *faces = NULL;
    double since = arap_seconds();
    arap_status status = arap_face_bvh(job, &s->mesh, NULL, &faces);
    if (!status) status = arap_progress(job, "visibility", 0);
    if (!status) status = arap_sight_create(job, &s->mesh, &s->skeleton, faces, &s->sight);
    arap_bvh_free(faces);
    s->has_sight = !status;
    arap_lap(s, ARAP_TIME_SIGHT, &since);
    return status;
}

/* The truss does it better. */
static int wants_holds(const arap_solver *s) {
    return s->settings.hold > 0 && !s->mesh.spoke_start;
}

/* Rows that keep bones useful where these weights, of all bones, are largest. */
static arap_status hold_bones(arap_job *job, arap_solver *s, const arap_influences *weights) {
    arap_status status = ARAP_OK;
    if (wants_holds(s))
        status = arap_find_holds(job, &s->mesh, &s->sight, weights, &s->skeleton,
                                 s->settings.hold * s->mesh.size * s->mesh.size, &s->rows);
    s->report.hold_rows = s->rows.count;
    return status;
}

static arap_status fresh_start(arap_job *job, arap_solver *s) {
    arap_influences initial = {0};
    arap_status status = look(job, s);
    if (status) return status;
    double since = arap_seconds();
    if (s->settings.initial == ARAP_INITIAL_BBW)
        status = arap_bbw(job, &s->mesh, &s->skeleton, &s->sight, s->settings.heat_floor, &initial);
    else
        status = arap_heat_weights(job, &s->mesh, &s->skeleton, &s->sight, s->order,
                                   s->settings.heat_floor, &initial, &s->heat_report);
    if (!status) status = hold_bones(job, s, &initial);
    if (!status && s->settings.attach)
        status = arap_find_attachments(job, &s->mesh, &s->sight, &initial, s->settings.strength,
                                       &s->rows);
    s->report.attach_rows = s->rows.count - s->report.hold_rows;
    if (!status)
        status = arap_choose_supports(job, &s->mesh, &s->skeleton, &initial, &s->settings.pruning,
                                      &s->influences);
    arap_influences_clear(&initial);
    arap_lap(s, ARAP_TIME_HEAT, &since);
    return status;
}

/* The caller's weights; bones keep the places where these are largest. */
static arap_status given_start(arap_job *job, arap_solver *s, const arap_problem *problem) {
    arap_status status = influences_of_rows(job, s, problem->weights, &s->influences);
    if (status) return status;
    arap_influences_normalise(&s->influences);
    if (wants_holds(s)) status = look(job, s);
    return status ? status : hold_bones(job, s, &s->influences);
}

/* A constraint of the user, and its image where there is one. */
static arap_status add_constraint(arap_job *job, arap_solver *s, int vertex, int bone,
                                  double target) {
    arap_row row = {vertex, bone, target, s->settings.strength, 0};
    arap_status status = arap_append_row(job, &s->rows, row);
    if (status || !s->mirror.vertex) return status;
    row.vertex = s->mirror.vertex[vertex];
    row.bone = s->mirror.bone[bone];
    int is_image = row.vertex >= 0 && row.bone >= 0 && (row.vertex != vertex || row.bone != bone);
    return is_image ? arap_append_row(job, &s->rows, row) : status;
}

void arap_release_rows(arap_solver *s) {
    for (int r = 0; r < s->report.hold_rows + s->report.attach_rows; r++) {
        arap_row *row = &s->rows.rows[r];
        row->released = (arap_find_mark(&s->marks, row->vertex, row->bone) & ARAP_RELEASED) != 0;
    }
    if (s->mesh.spoke_start) arap_truss_release(&s->mesh, &s->marks);
}

arap_status arap_take_edits(arap_job *job, arap_solver *s, const arap_edits *edits) {
    arap_marks marks;
    arap_status status = arap_marks_create(job, edits, &s->mesh, &s->skeleton, &s->mirror, &marks);
    if (status) return status;
    arap_marks_clear(&s->marks);
    s->marks = marks;
    s->rows.count = s->report.hold_rows + s->report.attach_rows;
    for (int c = 0; c < edits->constraint_count && !status; c++) {
        int bone = arap_deforming(&s->skeleton, edits->constraint_bone[c]);
        if (bone >= 0)
            status = add_constraint(job, s, s->mesh.weld[edits->constraint_vertex[c]], bone,
                                    edits->constraint_target[c]);
    }
    arap_release_rows(s);
    return status;
}

int arap_is_closed(const void *solver, int vertex, int bone) {
    const arap_solver *s = solver;
    if (arap_find_mark(&s->marks, vertex, bone) & ARAP_FORBIDDEN) return 1;
    for (int i = s->mesh.first[vertex]; i >= 0 && s->locked_vertex; i = s->mesh.next[i])
        if (arap_is_locked(s, i, bone)) return 1;
    return 0;
}

arap_status arap_apply_edits(arap_job *job, const arap_solver *s, const arap_influences *offered,
                             arap_influences *influences) {
    if (!s->marks.count && !offered) return ARAP_OK;
    return arap_edit_influences(job, &s->marks, &s->mesh, &s->skeleton, arap_is_closed, s, offered,
                                influences);
}

arap_status arap_start_weights(arap_job *job, arap_solver *s, const arap_problem *problem) {
    arap_status status = ARAP_OK;
    if (problem->weights)
        status = arap_check_rows(&job->error, problem->weights, problem->geometry.vertex_count,
                                 problem->bones.count);
    if (!status && problem->start_from_weights && !problem->weights)
        status = arap_fail(&job->error, ARAP_BAD_VALUE, "there are no weights to start from");
    if (!status) status = copy_locks(job, s, problem);
    if (status) return status;
    if (problem->start_from_weights) {
        status = given_start(job, s, problem);
    } else if (s->coarse) {
        status = arap_coarse_weights(job, s, &s->influences);
    } else {
        status = fresh_start(job, s);
    }
    if (!status) status = arap_take_edits(job, s, &problem->edits);
    if (!status) status = arap_apply_locks(job, s, &s->influences);
    return status ? status : arap_apply_edits(job, s, NULL, &s->influences);
}
