/* Edits of influence patterns: see edits.h.
 *
 * The m marks are sorted once in O(m log m), so a mark is found in O(log m). All marks are applied
 * in one pass over marks and patterns, which takes O(entries + m + bones of a vertex). Fails on
 * out-of-memory and for invalid vertices, bones and targets. */
#include "edits/edits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "weights/rows.h"

static arap_status check_pairs(arap_error *error, const char *what, int count, const int *vertex,
                               const int *bone, int vertices, int bones) {
    for (int k = 0; k < count; k++) {
        if (vertex[k] < 0 || vertex[k] >= vertices)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "%s %d refers to vertex %d, but there are %d vertices", what, k,
                             vertex[k], vertices);
        if (bone[k] < 0 || bone[k] >= bones)
            return arap_fail(error, ARAP_BAD_VALUE,
                             "%s %d refers to bone %d, but there are %d bones", what, k, bone[k],
                             bones);
    }
    return ARAP_OK;
}

arap_status arap_check_edits(arap_error *error, const arap_edits *edits, int vertices, int bones) {
    arap_status status =
        check_pairs(error, "constraint", edits->constraint_count, edits->constraint_vertex,
                    edits->constraint_bone, vertices, bones);
    if (!status)
        status = check_pairs(error, "influence", edits->influence_count, edits->influence_vertex,
                             edits->influence_bone, vertices, bones);
    if (!status)
        status = check_pairs(error, "released", edits->release_count, edits->release_vertex,
                             edits->release_bone, vertices, bones);
    for (int k = 0; k < edits->smooth_count && !status; k++) {
        if (edits->smooth_vertex[k] < 0 || edits->smooth_vertex[k] >= vertices)
            status = arap_fail(error, ARAP_BAD_VALUE,
                               "smoothed %d refers to vertex %d, but there are %d vertices", k,
                               edits->smooth_vertex[k], vertices);
        else if (!(edits->smooth_strength[k] >= 0 && edits->smooth_strength[k] <= 1))
            status =
                arap_fail(error, ARAP_BAD_VALUE, "smoothed %d has strength %g: must be from 0 to 1",
                          k, edits->smooth_strength[k]);
    }
    for (int c = 0; c < edits->constraint_count && !status; c++)
        if (!isfinite(edits->constraint_target[c]))
            status = arap_fail(error, ARAP_BAD_VALUE, "constraint %d has the target %g", c,
                               edits->constraint_target[c]);
    for (int i = 0; i < vertices && edits->rigid_parts && !status; i++)
        if (edits->rigid_parts[i] < -1)
            status = arap_fail(error, ARAP_BAD_VALUE,
                               "rigid_parts[%d] is %d: must be -1 or the number of a part", i,
                               edits->rigid_parts[i]);
    return status;
}

static int by_pair(const void *a, const void *b) {
    const arap_mark *x = a, *y = b;
    if (x->vertex != y->vertex) return x->vertex < y->vertex ? -1 : 1;
    return (x->bone > y->bone) - (x->bone < y->bone);
}

static void add_mark(arap_marks *marks, const arap_mesh *mesh, const arap_skeleton *skeleton,
                     const arap_symmetry *symmetry, int vertex, int bone, int what) {
    int v = mesh->weld[vertex], d = arap_deforming(skeleton, bone);
    if (d < 0) return;
    marks->marks[marks->count++] = (arap_mark){v, d, what};
    if (symmetry->vertex && symmetry->vertex[v] >= 0 && symmetry->bone[d] >= 0)
        marks->marks[marks->count++] = (arap_mark){symmetry->vertex[v], symmetry->bone[d], what};
}

arap_status arap_marks_create(arap_context *context, const arap_edits *edits, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_symmetry *symmetry,
                              const arap_rigid_parts *parts, arap_marks *marks) {
    size_t max = 2 * ((size_t)edits->influence_count + (size_t)edits->release_count);
    *marks = (arap_marks){0};
    if (!max) return ARAP_OK;
    marks->marks = ARAP_NEW(arap_mark, max);
    if (!marks->marks) return arap_fail_memory(&context->error, "the edits");
    for (int k = 0; k < edits->influence_count; k++)
        add_mark(marks, mesh, skeleton, symmetry, edits->influence_vertex[k],
                 edits->influence_bone[k],
                 edits->influence_allowed[k] ? ARAP_ALLOWED : ARAP_EXCLUDED);
    for (int k = 0; k < edits->release_count; k++)
        add_mark(marks, mesh, skeleton, symmetry, edits->release_vertex[k], edits->release_bone[k],
                 ARAP_RELEASED);
    arap_marks_lead(marks, parts);
    return ARAP_OK;
}

void arap_marks_lead(arap_marks *marks, const arap_rigid_parts *parts) {
    int joined = 0;
    if (!marks->count) return;
    for (int k = 0; k < marks->count; k++)
        marks->marks[k].vertex = arap_lead(parts, marks->marks[k].vertex);
    qsort(marks->marks, (size_t)marks->count, sizeof *marks->marks, by_pair);
    for (int k = 0; k < marks->count; k++) {
        if (joined && !by_pair(&marks->marks[joined - 1], &marks->marks[k]))
            marks->marks[joined - 1].what |= marks->marks[k].what;
        else
            marks->marks[joined++] = marks->marks[k];
    }
    marks->count = joined;
}

void arap_marks_clear(arap_marks *marks) {
    arap_free(marks->marks);
    *marks = (arap_marks){0};
}

int arap_find_mark(const arap_marks *marks, int vertex, int bone) {
    arap_mark key = {vertex, bone, 0}, *found = NULL;
    if (marks->count)
        found = bsearch(&key, marks->marks, (size_t)marks->count, sizeof key, by_pair);
    return found ? found->what : 0;
}

typedef struct edit_task {
    const arap_marks *marks;
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_influences *in, *offered; /* offered: or NULL */
    arap_excluded_fn excluded;
    const void *data;
} edit_task;

static int is_excluded(const edit_task *task, int i, int bone) {
    return task->excluded && task->excluded(task->data, i, bone);
}

/* Store the bones of vertex i after the edits (the marks first..last-1) in set (bones). */
static void edit_row(const edit_task *task, int first, int last, int i, char *set) {
    const arap_influences *in = task->in, *offered = task->offered;
    int is_open = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        set[in->bone[e]] = 1;
        is_open |= !in->locked[e];
    }
    for (size_t e = offered ? offered->start[i] : 0;
         is_open && offered && e < offered->start[i + 1]; e++)
        set[offered->bone[e]] |= !is_excluded(task, i, offered->bone[e]);
    for (int k = first; k < last; k++) {
        const arap_mark *mark = &task->marks->marks[k];
        ptrdiff_t e = arap_find_influence(in, i, mark->bone);
        if (mark->what & ARAP_EXCLUDED)
            set[mark->bone] = e >= 0 && in->locked[e];
        else if ((mark->what & ARAP_ALLOWED) && e < 0 && is_open)
            set[mark->bone] = !is_excluded(task, i, mark->bone);
    }
}

/* The nearest bone in the set that the marks first..last-1 of vertex i allow, except locked bones,
 * or -1. */
static int nearest_allowed(const edit_task *task, int first, int last, int i, const char *set) {
    const double *v = task->mesh->v + 3 * (size_t)i;
    double min = INFINITY, point[3];
    int best = -1;
    for (int k = first; k < last; k++) {
        const arap_mark *mark = &task->marks->marks[k];
        if (!(mark->what & ARAP_ALLOWED) || !set[mark->bone]) continue;
        ptrdiff_t e = arap_find_influence(task->in, i, mark->bone);
        if (e >= 0 && task->in->locked[e]) continue;
        size_t b = 3 * (size_t)task->skeleton->deform_bone[mark->bone];
        double d2 =
            arap_nearest_on_segment(v, task->skeleton->heads + b, task->skeleton->tails + b, point);
        if (!(d2 < min)) continue;
        min = d2;
        best = mark->bone;
    }
    return best;
}

/* Give this bone the total weight of the bones removed from vertex i. */
static void hand_on(const arap_influences *in, int i, int bone, arap_influences *out) {
    ptrdiff_t to = arap_find_influence(out, i, bone);
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (arap_find_influence(out, i, in->bone[e]) < 0) out->weight[to] += in->weight[e];
}

/* Whether all `count` influences of the set are locked, with a remainder that no bone may take. */
static int leaves_rest(const arap_influences *in, int i, const char *set, int count) {
    double sum = 0;
    int locked = 0, open = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        open |= !in->locked[e];
        if (!set[in->bone[e]] || !in->locked[e]) continue;
        locked++;
        sum += in->weight[e];
    }
    return open && locked == count && sum < 1;
}

arap_status arap_edit_influences(arap_context *context, const arap_marks *marks,
                                 const arap_mesh *mesh, const arap_skeleton *skeleton,
                                 arap_excluded_fn excluded, const void *data,
                                 const arap_influences *offered, arap_influences *in) {
    int n = in->count, bones = skeleton->deform_count;
    edit_task task = {marks, mesh, skeleton, in, offered, excluded, data};
    arap_rows rows = {0};
    char *set = ARAP_NEW_ZERO(char, bones);
    arap_status status = set ? arap_rows_create(context, n, &rows)
                             : arap_fail_memory(&context->error, "the influence patterns");
    for (int i = 0, last = 0; i < n && !status; i++) {
        int first = last, count = 0;
        while (last < marks->count && marks->marks[last].vertex == i) last++;
        edit_row(&task, first, last, i, set);
        for (int d = 0; d < bones; d++) count += set[d];
        if (!count || leaves_rest(in, i, set, count)) {
            int nearest = arap_nearest_bone(mesh, skeleton, i, excluded, data);
            if (nearest >= 0)
                set[nearest] = 1;
            else
                for (size_t e = in->start[i]; e < in->start[i + 1]; e++) set[in->bone[e]] = 1;
        }
        int heir = nearest_allowed(&task, first, last, i, set);
        status = arap_rows_take_set(context, &rows, in, i, 0, bones - 1, set);
        if (heir >= 0 && !status) hand_on(in, i, heir, &rows.made);
    }
    if (status) goto done;
    arap_influences_clear(in);
    arap_rows_take(&rows, in);
    arap_influences_normalize(in);

done:
    arap_rows_clear(&rows);
    arap_free(set);
    return status;
}
