/* The Gram matrix of poses: see poses.h.
 *
 * With the rows sqrt(w_p) T_b,r of all poses p and r = 0, 1, 2, 4 numbers for each column b,
 *     G_bc = sum_p w_p T_b^T T_c = A_b^T A_c,   A_b (3 poses, 4).
 * It is made in tiles of TILE by TILE columns, each by one product of BLAS in a buffer that stays
 * in the cache and is then laid out in blocks of 4 x 4. The transposed tile is the same numbers.
 *
 * O(poses columns^2) time in parallel, 16 columns^2 numbers, and a tile for each worker. Fails
 * without memory, or cancelled. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "rig/poses.h"

#define TILE 256 /* columns: 8 MB of buffer */

typedef struct gram_task {
    arap_poses *poses;
    double *stack;  /* tile after tile: (3 poses, 4 columns of the tile) */
    double *buffer; /* (workers, room) */
    size_t room;    /* of the largest product */
    int tiles;
} gram_task;

static int tile_size(const arap_poses *poses, int tile) {
    int left = poses->columns - tile * TILE;
    return left < TILE ? left : TILE;
}

static double *tile_stack(const gram_task *task, int tile) {
    return task->stack + (size_t)tile * TILE * 12 * (size_t)task->poses->count;
}

static void fill_stack(void *data, int tile, int worker) {
    (void)worker;
    const gram_task *task = data;
    const arap_poses *poses = task->poses;
    size_t size = (size_t)tile_size(poses, tile);
    double *to = tile_stack(task, tile);
    for (int p = 0; p < poses->count; p++) {
        double root = sqrt(arap_pose_weight(poses, p));
        const double *from =
            poses->transform + 12 * ((size_t)p * (size_t)poses->columns + (size_t)tile * TILE);
        for (size_t r = 0; r < 3; r++)
            for (size_t b = 0; b < size; b++, to += 4) {
                memcpy(to, from + 12 * b + 4 * r, 4 * sizeof *to);
                for (int k = 0; root != 1 && k < 4; k++) to[k] *= root;
            }
    }
}

/* G_bc of columns b of one tile and c of another, and G_cb, of their product. */
static void lay_out(arap_poses *poses, int tile, int other, const double *product) {
    int rows = tile_size(poses, tile), width = tile_size(poses, other);
    size_t columns = (size_t)poses->columns, first = (size_t)tile * TILE,
           second = (size_t)other * TILE, stride = 4 * (size_t)width;
    for (size_t b = 0; b < (size_t)rows; b++)
        for (size_t c = 0; c < (size_t)width; c++)
            for (size_t i = 0; i < 4; i++)
                memcpy(poses->gram + 16 * ((first + b) * columns + second + c) + 4 * i,
                       product + (4 * b + i) * stride + 4 * c, 4 * sizeof(double));
    for (size_t c = 0; c < (size_t)width && tile != other; c++)
        for (size_t b = 0; b < (size_t)rows; b++) {
            double *to = poses->gram + 16 * ((second + c) * columns + first + b);
            for (size_t i = 0; i < 16; i++)
                to[i] = product[(4 * b + i % 4) * stride + 4 * c + i / 4];
        }
}

/* chunk: of the pairs of tiles, row by row of the upper half. */
static void multiply_tiles(void *data, int chunk, int worker) {
    const gram_task *task = data;
    int tile = 0, rows = 3 * task->poses->count;
    for (; chunk >= task->tiles - tile; tile++) chunk -= task->tiles - tile;
    int other = tile + chunk, size = 4 * tile_size(task->poses, tile);
    double *product = task->buffer + (size_t)worker * task->room;
    if (tile == other)
        arap_gram(rows, size, tile_stack(task, tile), product);
    else
        arap_gram_between(rows, size, tile_stack(task, tile), 4 * tile_size(task->poses, other),
                          tile_stack(task, other), product);
    lay_out(task->poses, tile, other, product);
}

arap_status arap_poses_gram(arap_context *context, arap_poses *poses) {
    size_t count = (size_t)poses->count, columns = (size_t)poses->columns;
    size_t widest = columns < TILE ? columns : TILE;
    gram_task task = {
        .poses = poses, .room = 16 * widest * widest, .tiles = (poses->columns + TILE - 1) / TILE};
    task.stack = ARAP_NEW(double, 12 * count * columns);
    task.buffer = ARAP_NEW(double, (size_t)context->threads * task.room);
    arap_status status = ARAP_OK;
    if (!task.stack || !task.buffer) {
        status = arap_fail_memory(&context->error, "the pose matrix");
        goto done;
    }
    status = arap_parallel(context, task.tiles, fill_stack, &task);
    int pairs = task.tiles * (task.tiles + 1) / 2;
    if (!status) status = arap_parallel(context, pairs, multiply_tiles, &task);

done:
    arap_free(task.stack);
    arap_free(task.buffer);
    return status;
}
