/* Biharmonic weights: see biharmonic.h.
 *
 *   min w_b' Q w_b,  Q = L M^-1 L,  for each bone b,
 *   w_b = 1 at the handles of b, 0 at those of other bones:    Q_xx w_x = -Q_xh w_h
 *
 * L is the Laplacian of triangles or tets, with springs for wires and links, and M contains the
 * areas or volumes of cells (two_rings.c). The index h denotes the handles (handles.c), and x the
 * vertices without a handle. Bones that share a handle have equal parts of it. In the lecture cited
 * in boneglow.c, each bone has a single vertex of a surface as its handle. In this file, it has
 * many. Without bounds, the weights of all bones sum to 1 but leave the range 0..1. They overshoot
 * beyond a handle, and distant bones get some weight. Negative weights are clipped here because
 * rows may not contain them, and the remaining weights are scaled to sum to 1.
 *
 * Handles around a limb split Q_xx into independent blocks. Each block has its own factor, and is
 * solved only for the bones of the handles next to it. The weights of all other bones are 0 in the
 * block. A block without such a handle, which consists of faces without area, takes the weights of
 * the nearest bones. Q couples two-rings. On a surface of n vertices in one block, the factor has
 * some 40 n log n entries. For a volume, the factor has some n^(4/3) entries, because handles
 * inside a volume do not split the volume. Fails on out-of-memory, for more than MAX_VERTICES, if Q
 * cannot be factorized, and for weights that are not finite. */
#include "initial/biharmonic.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "initial/entries.h"
#include "initial/handles.h"
#include "mesh/two_rings.h"

#define MAX_VERTICES 200000
/* Number of columns that are solved together, on any number of threads. bbw.c uses one penalty for
 * all of them. */
#define COLUMNS (4 * ARAP_RIGHT_SIDES)

typedef struct problem {
    const arap_mesh *mesh;
    int bones;
    arap_handles handles;
    int *handle_start, *handle_bone; /* (count + 1) of each vertex, bones ascending */
    arap_two_rings q;
    int block_count;
    int *first;       /* (block_count + 1) of each in member */
    int *member;      /* (vertices without handle) block after block, each in elimination order */
    int *place;       /* (count) index in its block; -1: a handle */
    char *near;       /* (bones) whether the bone has a handle next to the block */
    arap_arena arena; /* of these arrays */
} problem;

static arap_status sort_handles(arap_context *context, problem *p) {
    int n = p->mesh->count, *start;
    start = p->handle_start = ARAP_TAKE_ZERO(&p->arena, n + 1, int);
    p->handle_bone = ARAP_TAKE(&p->arena, p->handles.count, int);
    p->near = ARAP_TAKE(&p->arena, p->bones, char);
    arap_status status = arap_arena_status(&p->arena, &context->error, "the handles of bones");
    if (status) return status;
    for (int i = 0; i < n; i++) start[i + 1] = start[i] + p->handles.bones[i];
    for (int h = 0; h < p->handles.count; h++) p->handle_bone[h] = -1;
    for (int h = 0; h < p->handles.count; h++) {
        int i = p->handles.handle[h].vertex, bone = p->handles.handle[h].bone, at = start[i];
        while (p->handle_bone[at] >= 0) at++;
        for (; at > start[i] && p->handle_bone[at - 1] > bone; at--)
            p->handle_bone[at] = p->handle_bone[at - 1];
        p->handle_bone[at] = bone;
    }
    return ARAP_OK;
}

/* Number the blocks: label (count), -1 for handles; stack (count) scratch. */
static int label_blocks(const problem *p, int *label, int *stack) {
    int count = 0;
    for (int i = 0; i < p->mesh->count; i++) label[i] = -1;
    for (int i = 0; i < p->mesh->count; i++) {
        if (label[i] >= 0 || p->handles.bones[i]) continue;
        int depth = 0;
        label[i] = count;
        stack[depth++] = i;
        while (depth) {
            int v = stack[--depth];
            for (size_t r = p->q.ring[v]; r < p->q.ring[v + 1]; r++) {
                int k = p->q.neighbor[r];
                if (label[k] >= 0 || p->handles.bones[k] || p->q.edge[r] == 0) continue;
                label[k] = count;
                stack[depth++] = k;
            }
        }
        count++;
    }
    return count;
}

static arap_status find_blocks(arap_context *context, problem *p) {
    arap_arena arena = {0};
    int n = p->mesh->count;
    int *label = ARAP_TAKE(&arena, n, int), *order = ARAP_TAKE(&arena, n, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the biharmonic weights");
    if (status) goto done;
    p->block_count = label_blocks(p, label, order);
    p->first = ARAP_TAKE(&p->arena, p->block_count + 1, int);
    p->member = ARAP_TAKE(&p->arena, n, int);
    p->place = ARAP_TAKE(&p->arena, n, int);
    status = arap_arena_status(&p->arena, &context->error, "the biharmonic weights");
    if (!status) status = arap_fill_reducing_order(context, n, p->q.ring, p->q.neighbor, order);
    if (status) goto done;
    arap_group(n, label, order, p->block_count, p->first, p->member);
    for (int i = 0; i < n; i++) p->place[i] = -1;
    for (int b = 0; b < p->block_count; b++)
        for (int k = p->first[b]; k < p->first[b + 1]; k++)
            p->place[p->member[k]] = k - p->first[b];

done:
    arap_arena_clear(&arena);
    return status;
}

/* Collect the bones with handles next to a block in ascending order. Returns their number. */
static int list_bones(const problem *p, int size, const int *member, int *bone) {
    int count = 0;
    memset(p->near, 0, (size_t)p->bones);
    for (int j = 0; j < size; j++)
        for (size_t r = p->q.ring[member[j]]; r < p->q.ring[member[j] + 1]; r++) {
            int k = p->q.neighbor[r];
            for (int h = p->handle_start[k]; h < p->handle_start[k + 1] && p->q.edge[r] != 0; h++)
                p->near[p->handle_bone[h]] = 1;
        }
    for (int b = 0; b < p->bones; b++)
        if (p->near[b]) bone[count++] = b;
    return count;
}

/* Compute -Q_h w_h for these bones, out (columns, size). Column (bones) is scratch. */
static void pull_columns(const problem *p, int size, const int *member, int columns,
                         const int *bone, int *column, double *out) {
    memset(out, 0, (size_t)columns * (size_t)size * sizeof *out);
    for (int b = 0; b < p->bones; b++) column[b] = -1;
    for (int c = 0; c < columns; c++) column[bone[c]] = c;
    for (int j = 0; j < size; j++)
        for (size_t r = p->q.ring[member[j]]; r < p->q.ring[member[j] + 1]; r++) {
            int k = p->q.neighbor[r];
            for (int h = p->handle_start[k]; h < p->handle_start[k + 1]; h++) {
                int c = column[p->handle_bone[h]];
                if (c >= 0)
                    out[(size_t)c * (size_t)size + (size_t)j] -= p->q.edge[r] / p->handles.bones[k];
            }
        }
}

/* Solve one block for all its bones and list the weights above `floor`. */
static arap_status solve_block(arap_context *context, problem *p, int block,
                               arap_biharmonic_fn bound, double floor, arap_entries *list) {
    arap_arena arena = {0};
    const int *member = p->member + p->first[block];
    int size = p->first[block + 1] - p->first[block], max = COLUMNS;
    double done = (double)p->first[block] / p->first[p->block_count],
           share = (double)size / p->first[p->block_count];
    int *bone = ARAP_TAKE(&arena, p->bones, int), *column = ARAP_TAKE(&arena, p->bones, int);
    double *own = ARAP_TAKE(&arena, size, double), *pull = NULL, *w = NULL;
    arap_matrix matrix = {0};
    arap_factor *factor = NULL;
    arap_status status = arap_arena_status(&arena, &context->error, "the biharmonic weights");
    if (status) goto done;
    int bones = list_bones(p, size, member, bone);
    if (max > bones) max = bones;
    pull = ARAP_TAKE(&arena, (size_t)max * (size_t)size, double);
    w = ARAP_TAKE(&arena, (size_t)max * (size_t)size, double);
    status = arap_arena_status(&arena, &context->error, "the biharmonic weights");
    if (status) goto done;
    for (int j = 0; j < size; j++) own[j] = p->q.own[member[j]];
    if (bones) status = arap_two_rings_matrix(context, &p->q, size, member, p->place, &matrix);
    for (int from = 0; from < bones && !status; from += max) {
        int columns = bones - from < max ? bones - from : max;
        arap_biharmonic_block part = {.size = size,
                                      .columns = columns,
                                      .pull = pull,
                                      .matrix = &matrix,
                                      .own = own,
                                      .progress = done + share * from / bones,
                                      .part = share * columns / bones};
        pull_columns(p, size, member, columns, bone + from, column, pull);
        memcpy(w, pull, (size_t)columns * (size_t)size * sizeof *w);
        status = arap_two_rings_factor(context, &matrix, own, 1, &factor);
        if (!status) status = arap_factor_solve_all(context, factor, columns, w);
        part.factor = factor;
        if (!status && bound) status = bound(context, &part, w);
        if (!status)
            status = arap_progress(context, "biharmonic weights", part.progress + part.part);
        for (size_t k = 0; k < (size_t)columns * (size_t)size && !status; k++) {
            int i = member[k % (size_t)size];
            if (!isfinite(w[k]))
                status =
                    arap_fail(&context->error, ARAP_NOT_FINITE,
                              "the biharmonic weight of vertex %d is %g", p->mesh->first[i], w[k]);
            else if (w[k] > floor)
                status =
                    arap_entries_add(context, list, i, bone[from + (int)(k / (size_t)size)], w[k]);
        }
    }

done:
    arap_factor_free(factor);
    arap_matrix_clear(&matrix);
    arap_arena_clear(&arena);
    return status;
}

/* Build the rows from the list and from the handles, which come first. */
static arap_status gather(arap_context *context, const problem *p,
                          const arap_visibility *visibility, const arap_entries *list,
                          arap_influences *out) {
    int *alone = ARAP_NEW(int, p->mesh->count);
    if (!alone) return arap_fail_memory(&context->error, "the biharmonic weights");
    for (int i = 0; i < p->mesh->count; i++)
        alone[i] = visibility->nearest[(size_t)i * ARAP_MAX_SHARED];
    arap_status status = arap_entries_rows(context, list, p->mesh->count, alone, out);
    if (!status) arap_influences_normalize(out);
    arap_free(alone);
    return status;
}

arap_status arap_biharmonic_solve(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  const arap_handles *given, arap_biharmonic_fn bound, double floor,
                                  arap_influences *out) {
    problem p = {.mesh = mesh, .bones = skeleton->deform_count};
    arap_entries list = {0};
    if (mesh->count > MAX_VERTICES)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the mesh has %d vertices: too many for biharmonic weights, at most %d",
                         mesh->count, MAX_VERTICES);
    arap_status status = arap_progress(context, "biharmonic weights", 0);
    if (!status) status = arap_find_handles(context, mesh, skeleton, visibility, given, &p.handles);
    if (!status) status = sort_handles(context, &p);
    if (!status) status = arap_bilaplacian(context, mesh, &p.q);
    if (!status) status = find_blocks(context, &p);
    for (int i = 0; i < mesh->count && !status; i++)
        for (int h = p.handle_start[i]; h < p.handle_start[i + 1] && !status; h++)
            status = arap_entries_add(context, &list, i, p.handle_bone[h], 1);
    for (int b = 0; b < p.block_count && !status; b++)
        status = solve_block(context, &p, b, bound, floor, &list);
    if (!status) status = gather(context, &p, visibility, &list, out);
    arap_handles_clear(&p.handles);
    arap_two_rings_clear(&p.q);
    arap_entries_clear(&list);
    arap_arena_clear(&p.arena);
    return status;
}

arap_status arap_biharmonic_weights(arap_context *context, const arap_mesh *mesh,
                                    const arap_skeleton *skeleton,
                                    const arap_visibility *visibility, const arap_handles *given,
                                    double floor, arap_influences *out) {
    return arap_biharmonic_solve(context, mesh, skeleton, visibility, given, NULL, floor, out);
}
