/* Poses laid out for the local step: see packed_poses.h. Takes O(poses x columns) time and memory,
 * and processes blocks of poses in parallel. Fails on out-of-memory and when cancelled. */
#include "energy/packed_poses.h"

#include "base/memory.h"
#include "energy/local_kernels.h"

#define BLOCK 16 /* poses, one number of each of which fills entire cache lines */

/* Number `at` of a packed array. */
static void put(arap_precision precision, void *array, size_t at, double x) {
    if (precision == ARAP_SINGLE)
        ((float *)array)[at] = (float)x;
    else
        ((double *)array)[at] = x;
}

arap_status arap_packed_poses_create(arap_context *context, const arap_poses *poses,
                                     arap_precision precision, arap_packed_poses *packed) {
    int padded = (poses->count + ARAP_LANES - 1) / ARAP_LANES * ARAP_LANES;
    size_t count = (size_t)poses->columns * 12 * (size_t)padded;
    size_t size = precision == ARAP_SINGLE ? sizeof(float) : sizeof(double);
    *packed = (arap_packed_poses){.precision = precision,
                                  .poses = poses->count,
                                  .lanes = padded,
                                  .columns = poses->columns,
                                  .source = poses};
    size_t stretches = (size_t)poses->stretches.count * ARAP_SYMMETRIC * (size_t)padded;
    packed->transform = arap_take_zero(&packed->arena, count, size);
    if (stretches) packed->stretch = arap_take_zero(&packed->arena, stretches, size);
    if (poses->weight) packed->weight = arap_take_zero(&packed->arena, (size_t)padded, size);
    arap_status status = arap_arena_status(&packed->arena, &context->error, "the poses");
    for (size_t p = 0; p < (size_t)poses->count && poses->weight && !status; p++)
        put(precision, packed->weight, p, poses->weight[p]);
    if (!status) status = arap_packed_poses_fill(context, poses, packed);
    if (status) arap_packed_poses_clear(packed);
    return status;
}

typedef struct fill_task {
    const arap_poses *poses;
    arap_packed_poses *packed;
} fill_task;

/* Pack the transforms of a block of poses such that equal entries are adjacent. */
static void fill_block(void *data, int block, int worker) {
    const fill_task *task = data;
    const arap_poses *poses = task->poses;
    const arap_packed_poses *packed = task->packed;
    size_t stride = 12 * (size_t)poses->columns;
    int first = block * BLOCK, count = poses->count - first < BLOCK ? poses->count - first : BLOCK;
    const double *from = poses->transform + stride * (size_t)first;
    double shift[BLOCK][12] = {{0}};
    (void)worker;
    for (int p = 0; p < count; p++)
        for (int b = 0; b < poses->columns; b++)
            for (int i = 3; i < 12; i += 4)
                shift[p][i] +=
                    from[stride * (size_t)p + 12 * (size_t)b + (size_t)i] / poses->columns;
    for (size_t b = 0; b < (size_t)poses->columns; b++)
        for (size_t i = 0; i < 12; i++)
            for (int p = 0; p < count; p++) {
                size_t at = (12 * b + i) * (size_t)packed->lanes + (size_t)(first + p);
                double x = from[stride * (size_t)p + 12 * b + i];
                put(packed->precision, packed->transform, at, x - shift[p][i]);
            }
}

arap_status arap_packed_poses_fill(arap_context *context, const arap_poses *poses,
                                   arap_packed_poses *packed) {
    int padded = packed->lanes;
    packed->filled++;
    for (size_t s = 0; s < (size_t)poses->stretches.count; s++)
        for (size_t p = 0; p < (size_t)poses->count; p++)
            for (size_t i = 0; i < ARAP_SYMMETRIC; i++) {
                double x =
                    poses->stretches.tensor[(s * (size_t)poses->count + p) * ARAP_SYMMETRIC + i];
                size_t at = (s * ARAP_SYMMETRIC + i) * (size_t)padded + p;
                put(packed->precision, packed->stretch, at, x);
            }
    return arap_parallel_short(context, arap_chunks(poses->count, BLOCK), fill_block,
                               &(fill_task){poses, packed});
}

void arap_packed_poses_clear(arap_packed_poses *packed) {
    arap_arena_clear(&packed->arena);
    *packed = (arap_packed_poses){0};
}
