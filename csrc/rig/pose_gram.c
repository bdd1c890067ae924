/* The Gram matrix of poses: see poses.h.
 *
 * Let A_b consist of the rows sqrt(w_p) T_b,r of all poses p and r = 0, 1, 2, with 4 numbers for
 * each column b. Then
 *     G_bc = sum_p w_p T_b^T T_c = A_b^T A_c,   A_b (3 poses, 4).
 * The matrix is computed in tiles of columns. Each tile is one BLAS product in a buffer that stays
 * in the cache, and is then laid out in blocks of 4 x 4. The matrix is symmetric, so the product
 * also fills the transposed tile. Up to ONE_TILE columns form a single tile, which is computed at
 * the start. More columns are divided into tiles of TILE columns, or of one bone with all of its
 * joints. Each tile is computed when weights first need it. The film rig BlenRig has 4,200 columns,
 * most of them joints of small bendy bones. The matrix of these columns would take 2.2 GB, of which
 * the skin needs a tenth. The memory of the other tiles is never touched.
 *
 * Each computed pair of columns takes O(poses) time, in parallel. Finding the required pairs takes
 * O(vertices x bones of a one-ring ^ 2). The matrix reserves address space for 16 columns^2
 * numbers, and each worker needs one tile. Fails on out-of-memory, or when cancelled. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "rig/poses.h"

#define ONE_TILE 256 /* columns: 8 MB of buffer */
#define TILE 16      /* columns of one of many */

enum { UNASKED, ASKED, MADE };

typedef struct gram_task {
    const arap_poses *poses;
    int *pair;      /* (tile, other) pairs to compute, with the smaller number first */
    char *in_stack; /* (tiles) bool */
    double *stack;  /* tile after tile: (3 poses, 4 columns of the tile) */
    double *buffer; /* (workers, room) */
    size_t room;    /* of the largest product */
} gram_task;

static int tile_size(const arap_gram_tiles *t, int tile) {
    return t->start[tile + 1] - t->start[tile];
}

static double *tile_stack(const gram_task *task, int tile) {
    size_t first = (size_t)task->poses->tiles.start[tile];
    return task->stack + first * 12 * (size_t)task->poses->count;
}

static void fill_stack(void *data, int tile, int worker) {
    (void)worker;
    const gram_task *task = data;
    const arap_poses *poses = task->poses;
    const int *column = poses->tiles.column + poses->tiles.start[tile];
    if (!task->in_stack[tile]) return;
    int size = tile_size(&poses->tiles, tile);
    double *to = tile_stack(task, tile);
    for (int p = 0; p < poses->count; p++) {
        double root = sqrt(arap_pose_weight(poses, p));
        const double *from = poses->transform + 12 * (size_t)p * (size_t)poses->columns;
        for (int r = 0; r < 3; r++)
            for (int b = 0; b < size; b++, to += 4) {
                memcpy(to, from + 12 * (size_t)column[b] + 4 * r, 4 * sizeof *to);
                for (int k = 0; root != 1 && k < 4; k++) to[k] *= root;
            }
    }
}

/* Store G_bc and G_cb of columns b of one tile and c of another from their product. */
static void lay_out(const arap_poses *poses, int tile, int other, const double *product) {
    const arap_gram_tiles *t = &poses->tiles;
    int rows = tile_size(t, tile), width = tile_size(t, other);
    const int *row = t->column + t->start[tile], *column = t->column + t->start[other];
    size_t columns = (size_t)poses->columns, stride = 4 * (size_t)width;
    for (int b = 0; b < rows; b++)
        for (int c = 0; c < width; c++)
            for (int i = 0; i < 4; i++)
                memcpy(poses->gram + 16 * ((size_t)row[b] * columns + (size_t)column[c]) + 4 * i,
                       product + (size_t)(4 * b + i) * stride + 4 * c, 4 * sizeof(double));
    for (int c = 0; c < width && tile != other; c++)
        for (int b = 0; b < rows; b++) {
            double *to = poses->gram + 16 * ((size_t)column[c] * columns + (size_t)row[b]);
            for (int i = 0; i < 16; i++)
                to[i] = product[(size_t)(4 * b + i % 4) * stride + (size_t)(4 * c + i / 4)];
        }
}

static void multiply_tiles(void *data, int index, int worker) {
    const gram_task *task = data;
    const arap_gram_tiles *t = &task->poses->tiles;
    int tile = task->pair[2 * index], other = task->pair[2 * index + 1];
    int rows = 3 * task->poses->count, size = 4 * tile_size(t, tile);
    double *product = task->buffer + (size_t)worker * task->room;
    if (tile == other)
        arap_gram(rows, size, tile_stack(task, tile), product);
    else
        arap_gram_between(rows, size, tile_stack(task, tile), 4 * tile_size(t, other),
                          tile_stack(task, other), product);
    lay_out(task->poses, tile, other, product);
}

static char *state_of(const arap_gram_tiles *t, int tile, int other) {
    return t->state + (size_t)tile * (size_t)t->count + (size_t)other;
}

/* Compute the requested tiles. */
static arap_status make_asked(arap_context *context, const arap_poses *poses) {
    arap_arena arena = {0};
    const arap_gram_tiles *t = &poses->tiles;
    int count = 0, widest = 0;
    for (int a = 0; a < t->count; a++) {
        for (int b = a; b < t->count; b++) count += *state_of(t, a, b) == ASKED;
        widest = tile_size(t, a) > widest ? tile_size(t, a) : widest;
    }
    if (!count) return ARAP_OK;
    gram_task task = {.poses = poses, .room = 16 * (size_t)widest * (size_t)widest};
    task.pair = ARAP_TAKE(&arena, 2 * (size_t)count, int);
    task.in_stack = ARAP_TAKE_ZERO(&arena, t->count, char);
    task.stack = ARAP_TAKE(&arena, 12 * (size_t)poses->count * (size_t)poses->columns, double);
    task.buffer = ARAP_TAKE(&arena, (size_t)context->threads * task.room, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the pose matrix");
    if (status) goto done;
    int *pair = task.pair;
    for (int a = 0; a < t->count; a++)
        for (int b = a; b < t->count; b++) {
            if (*state_of(t, a, b) != ASKED) continue;
            task.in_stack[a] = task.in_stack[b] = 1;
            *pair++ = a;
            *pair++ = b;
        }
    status = arap_parallel(context, t->count, fill_stack, &task);
    if (!status) status = arap_parallel(context, count, multiply_tiles, &task);
    for (int k = 0; k < count && !status; k++)
        *state_of(t, task.pair[2 * k], task.pair[2 * k + 1]) = MADE;

done:
    arap_arena_clear(&arena);
    return status;
}

/* Assign columns to tiles: bone after bone, each with its additional joints. */
static arap_status make_tiles(arap_context *context, const arap_poses *poses, arap_gram_tiles *t) {
    const arap_bendy *bendy = &poses->bendy;
    int bones = poses->columns, fill = 0;
    for (int k = 0; k < bendy->count; k++) bones -= bendy->segments[k];
    t->tile = ARAP_TAKE(&t->arena, bones, int);
    t->column = ARAP_TAKE(&t->arena, poses->columns, int);
    t->start = ARAP_TAKE(&t->arena, bones + 1, int);
    arap_status status = arap_arena_status(&t->arena, &context->error, "the pose matrix");
    if (status) return status;
    int max = poses->columns <= ONE_TILE ? ONE_TILE : TILE;
    t->start[0] = 0;
    for (int d = 0; d < bones; d++) {
        int k = bendy->count ? bendy->place[d] : -1, more = k < 0 ? 0 : bendy->segments[k];
        if (fill > t->start[t->count] && fill + 1 + more - t->start[t->count] > max)
            t->start[++t->count] = fill;
        t->tile[d] = t->count;
        t->column[fill++] = d;
        for (int j = 0; j < more; j++) t->column[fill++] = bendy->further[k] + j;
    }
    t->start[++t->count] = fill;
    t->state = ARAP_TAKE(&t->arena, (size_t)t->count * (size_t)t->count, char);
    return arap_arena_status(&t->arena, &context->error, "the pose matrix");
}

void arap_gram_tiles_clear(arap_gram_tiles *tiles) {
    arap_arena_clear(&tiles->arena);
    *tiles = (arap_gram_tiles){0};
}

arap_status arap_poses_gram(arap_context *context, arap_poses *poses) {
    arap_gram_tiles *t = &poses->tiles;
    arap_status status = t->state ? ARAP_OK : make_tiles(context, poses, t);
    if (status) {
        arap_gram_tiles_clear(t);
        return status;
    }
    memset(t->state, t->count > 1 ? UNASKED : ASKED, (size_t)t->count * (size_t)t->count);
    return make_asked(context, poses);
}

/* Add a tile to `found` unless `seen` (tiles) already contains it. Returns the new number of
 * tiles. */
static int find(int tile, char *seen, int *found, int count) {
    if (!seen[tile]) found[count++] = tile;
    seen[tile] = 1;
    return count;
}

/* Collect in `found`, with marks in `seen`, the tiles of the bones that a vertex, its one-ring and
 * its springs follow. Returns their number. */
static int tiles_around(const arap_mesh *mesh, const int *tile, const arap_influences *in, int i,
                        char *seen, int *found) {
    int count = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        count = find(tile[in->bone[e]], seen, found, count);
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
            count = find(tile[in->bone[e]], seen, found, count);
    }
    const arap_spring *spring;
    int springs = arap_mesh_springs(mesh, i, &spring);
    for (int j = 0; j < springs; j++) count = find(tile[spring[j].bone], seen, found, count);
    return count;
}

arap_status arap_poses_gram_of(arap_context *context, const arap_mesh *mesh,
                               const arap_poses *poses, const arap_influences *weights) {
    arap_arena arena = {0};
    const arap_gram_tiles *t = &poses->tiles;
    if (t->count == 1) return ARAP_OK;
    char *seen = ARAP_TAKE_ZERO(&arena, t->count, char);
    int *found = ARAP_TAKE(&arena, t->count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the pose matrix");
    if (status) goto done;
    for (int i = 0; i < mesh->count; i++) {
        int count = tiles_around(mesh, t->tile, weights, i, seen, found);
        for (int a = 0; a < count; a++) {
            seen[found[a]] = 0;
            for (int b = 0; b < count; b++) {
                char *state = state_of(t, found[a], found[b]);
                if (found[a] <= found[b] && *state == UNASKED) *state = ASKED;
            }
        }
    }
    status = make_asked(context, poses);

done:
    arap_arena_clear(&arena);
    return status;
}
