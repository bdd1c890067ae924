/* Rigid parts: see rigid_parts.h.
 *
 * The weights of all vertices are w = P c, where c contains one row for each part, and P copies
 * this row to the vertices of the part. The energy w'Fw - 2 b'w is therefore c'(P'FP)c - 2 (P'b)'c,
 * so blocks and right-hand sides are summed over the vertices of a part (system.c, reduce.c). A
 * step of c adds equal numbers to equal weights at all vertices of a part, so the weights stay
 * bitwise identical.
 *
 * Parts that share a vertex, such as welded ones, are merged. On a symmetric mesh, the image of a
 * part is a part. If a part and its image share a vertex, they are merged. The lead of a part is a
 * vertex with an image, and this image is the lead of the image of the part. If the rows of two
 * leads are images, the rows of their parts are therefore also images.
 *
 * Creating the parts takes O(labels log labels), and all other functions take O(entries). Fails
 * only on out-of-memory. */
#include "rig/rigid_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "weights/rows.h"

typedef struct labelled {
    int label, vertex;
} labelled;

static int by_label(const void *a, const void *b) {
    const labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* The partner of vertex i that may belong to a part; -1: none. */
static int partner_of(const arap_symmetry *symmetry, const char *kept_out, int i) {
    int image = symmetry->vertex ? symmetry->vertex[i] : -1;
    return image >= 0 && kept_out && kept_out[image] ? -1 : image;
}

/* Join the vertices of each label, and their images. */
static void join_labels(const arap_symmetry *symmetry, const char *kept_out, const labelled *all,
                        size_t count, int *parent) {
    int image = -1;
    for (size_t k = 0; k < count; k++) {
        int first = !k || all[k].label != all[k - 1].label;
        if (first) image = -1;
        if (!first) arap_unite(parent, all[k - 1].vertex, all[k].vertex);
        int own = partner_of(symmetry, kept_out, all[k].vertex);
        if (own < 0) continue;
        if (image >= 0) arap_unite(parent, image, own);
        image = own;
    }
}

/* Build leads and lists from the trees. */
static void list_parts(const arap_mesh *mesh, const arap_symmetry *symmetry, const char *kept_out,
                       int *parent, arap_rigid_parts *parts) {
    int n = mesh->count;
    for (int i = 0; i < n; i++) {
        parts->lead[i] = -1; /* of the part with this root */
        parts->number[i] = parts->next[i] = -1;
        parent[i] = arap_find_root(parent, i);
    }
    for (int pass = 0; pass < 2; pass++) /* parts with an image first */
        for (int i = 0; i < n; i++) {
            int root = parent[i], image = partner_of(symmetry, kept_out, i);
            if (parts->lead[root] >= 0 || (!pass && image < 0)) continue;
            parts->lead[root] = i;
            int other = image < 0 ? root : parent[image];
            if (parts->lead[other] < 0) parts->lead[other] = image;
        }
    for (int i = n - 1; i >= 0; i--) {
        int lead = parts->lead[parent[i]];
        if (lead == i) continue;
        parts->next[i] = parts->next[lead];
        parts->next[lead] = i;
    }
    for (int i = 0; i < n; i++) {
        int root = parent[i], lead = parts->lead[root];
        if (parts->next[lead] < 0) continue;
        if (i == root) parts->number[i] = parts->count++;
        parts->number[i] = parts->number[root];
    }
    /* A root is the first vertex of its tree, so when iterating from the last vertex, its lead has
     * not yet been overwritten. */
    for (int i = n - 1; i >= 0; i--) parts->lead[i] = parts->lead[parent[i]];
}

arap_status arap_rigid_parts_create(arap_context *context, const arap_mesh *mesh,
                                    const arap_symmetry *symmetry, const int *label,
                                    const char *kept_out, arap_rigid_parts *parts) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count, count = 0;
    *parts = (arap_rigid_parts){0};
    for (int i = 0; i < mesh->input_count && label; i++)
        count += label[i] >= 0 && !(kept_out && kept_out[mesh->weld[i]]);
    if (!count) return ARAP_OK;
    labelled *all = ARAP_TAKE(&arena, count, labelled);
    int *parent = ARAP_TAKE(&arena, n, int);
    parts->number = ARAP_TAKE(&parts->arena, n, int);
    parts->lead = ARAP_TAKE(&parts->arena, n, int);
    parts->next = ARAP_TAKE(&parts->arena, n, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the rigid parts");
    if (!status) status = arap_arena_status(&parts->arena, &context->error, "the rigid parts");
    if (status) goto done;
    for (int i = 0, fill = 0; i < mesh->input_count; i++)
        if (label[i] >= 0 && !(kept_out && kept_out[mesh->weld[i]]))
            all[fill++] = (labelled){label[i], mesh->weld[i]};
    qsort(all, count, sizeof *all, by_label);
    for (size_t i = 0; i < n; i++) parent[i] = (int)i;
    join_labels(symmetry, kept_out, all, count, parent);
    list_parts(mesh, symmetry, kept_out, parent, parts);

done:
    arap_arena_clear(&arena);
    if (status || !parts->count) arap_rigid_parts_clear(parts);
    return status;
}

void arap_rigid_parts_clear(arap_rigid_parts *parts) {
    arap_arena_clear(&parts->arena);
    *parts = (arap_rigid_parts){0};
}

/* Whether the bone is excluded from a vertex of this lead's part. */
static int is_excluded(const arap_rigid_parts *parts, arap_excluded_fn excluded, const void *data,
                       int lead, int bone) {
    for (int i = lead; i >= 0 && excluded; i = parts->next[i])
        if (excluded(data, i, bone)) return 1;
    return 0;
}

/* Scale the free weights of a dense row (NAN: no entry), all >= 0, to share what the locked ones
 * leave. */
static void share_rest(int bones, double *row, const char *locked) {
    double rest = 1, open = 0;
    int first = -1;
    for (int b = 0; b < bones; b++) {
        if (isnan(row[b])) continue;
        if (locked[b]) {
            rest -= row[b];
            continue;
        }
        row[b] = fmax(row[b], 0);
        open += row[b];
        if (first < 0) first = b;
    }
    for (int b = 0; b < bones && open > 0; b++)
        if (!isnan(row[b]) && !locked[b]) row[b] *= fmax(rest, 0) / open;
    if (!(open > 0) && first >= 0) row[first] = fmax(rest, 0);
}

/* Build the row of a part as a dense one (NAN: no entry); locked[b]: of its lead. */
static void join_rows(const arap_rigid_parts *parts, const arap_mesh *mesh, int bones,
                      arap_excluded_fn excluded, const void *data, const arap_influences *in,
                      int lead, double *row, char *locked) {
    double area = 0;
    int left = 0, dropped = 0;
    for (int b = 0; b < bones; b++) {
        row[b] = NAN;
        locked[b] = 0;
    }
    for (int i = lead; i >= 0; i = parts->next[i]) {
        area += mesh->area[i];
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            int b = in->bone[e];
            row[b] = (isnan(row[b]) ? 0 : row[b]) + mesh->area[i] * in->weight[e];
        }
    }
    for (int b = 0; b < bones; b++)
        if (!isnan(row[b])) row[b] = area > 0 ? row[b] / area : 0;
    for (size_t e = in->start[lead]; e < in->start[lead + 1]; e++) {
        locked[in->bone[e]] = in->locked[e];
        if (in->locked[e] || !(area > 0)) row[in->bone[e]] = in->weight[e];
    }
    for (int b = 0; b < bones; b++)
        left += !isnan(row[b]) && (locked[b] || !is_excluded(parts, excluded, data, lead, b));
    for (int b = 0; b < bones && left; b++)
        if (!locked[b] && !isnan(row[b]) && is_excluded(parts, excluded, data, lead, b)) {
            row[b] = NAN;
            dropped++;
        }
    if (dropped) share_rest(bones, row, locked);
}

arap_status arap_rigid_patterns(arap_context *context, const arap_rigid_parts *parts,
                                const arap_mesh *mesh, int bones, arap_excluded_fn excluded,
                                const void *data, arap_influences *in) {
    arap_arena arena = {0};
    if (!parts->count) return ARAP_OK;
    int n = in->count;
    arap_rows rows = {0};
    int *made = ARAP_TAKE(&arena, parts->count, int); /* a vertex of each part whose row already
                                                exists, or -1 */
    double *row = ARAP_TAKE(&arena, bones, double);
    char *locked = ARAP_TAKE(&arena, bones, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the rigid parts");
    if (status) goto done;
    for (int k = 0; k < parts->count; k++) made[k] = -1;
    status = arap_rows_create(context, n, &rows);
    for (int i = 0; i < n && !status; i++) {
        int lead = parts->lead[i], part = parts->number[i];
        if (part < 0 || made[part] >= 0) {
            status = arap_rows_copy(context, &rows, part < 0 ? in : &rows.made,
                                    part < 0 ? i : made[part]);
            continue;
        }
        made[part] = i;
        join_rows(parts, mesh, bones, excluded, data, in, lead, row, locked);
        status = arap_rows_next(context, &rows, (size_t)bones);
        for (int b = 0; b < bones && !status; b++)
            if (!isnan(row[b])) arap_rows_add(&rows, b, row[b], locked[b]);
    }
    if (status) goto done;
    arap_influences_clear(in);
    arap_rows_take(&rows, in);

done:
    arap_rows_clear(&rows);
    arap_arena_clear(&arena);
    return status;
}

void arap_rigid_weights(const arap_rigid_parts *parts, arap_influences *in) {
    for (int i = 0; i < in->count && parts->count; i++) {
        int lead = parts->lead[i];
        size_t own = in->start[i + 1] - in->start[i];
        if (lead != i)
            memcpy(in->weight + in->start[i], in->weight + in->start[lead],
                   own * sizeof *in->weight);
    }
}

void arap_rigid_unmirror(const arap_rigid_parts *parts, arap_symmetry *symmetry) {
    for (int i = 0; i < symmetry->vertices && parts->count; i++) {
        int image = symmetry->vertex[i];
        if (parts->number[i] >= 0 && image >= 0 && parts->lead[image] == parts->lead[i])
            symmetry->symmetric[i] = 0;
    }
}
