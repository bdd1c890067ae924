/* Poses laid out for the local step: see packed_poses.h. O(poses x columns) time and
 * memory; fails without memory. */
#include "energy/packed_poses.h"

#include "base/memory.h"
#include "energy/local_kernels.h"

/* Number `at` of a laid out array. */
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
                                  .source = poses,
                                  .transform = arap_alloc_zero(count, size)};
    if (!packed->transform) return arap_fail_memory(&context->error, "the poses");
    const arap_stretches *stretches = &poses->stretches;
    if (stretches->count) {
        packed->stretch =
            arap_alloc_zero((size_t)stretches->count * ARAP_SYMMETRIC * (size_t)padded, size);
        if (!packed->stretch) {
            arap_packed_poses_clear(packed);
            return arap_fail_memory(&context->error, "the poses");
        }
    }
    if (poses->weight) {
        packed->weight = arap_alloc_zero((size_t)padded, size);
        if (!packed->weight) {
            arap_packed_poses_clear(packed);
            return arap_fail_memory(&context->error, "the poses");
        }
        for (size_t p = 0; p < (size_t)poses->count; p++)
            put(precision, packed->weight, p, poses->weight[p]);
    }
    arap_packed_poses_fill(poses, packed);
    return ARAP_OK;
}

void arap_packed_poses_fill(const arap_poses *poses, arap_packed_poses *packed) {
    int padded = packed->lanes;
    packed->filled++;
    for (int p = 0; p < poses->count; p++) {
        const double *pose = poses->transform + 12 * (size_t)p * (size_t)poses->columns;
        double shift[12] = {0};
        for (int b = 0; b < poses->columns; b++)
            for (int i = 3; i < 12; i += 4) shift[i] += pose[12 * b + i] / poses->columns;
        for (int b = 0; b < poses->columns; b++)
            for (int i = 0; i < 12; i++) {
                size_t at = ((size_t)b * 12 + (size_t)i) * (size_t)padded + (size_t)p;
                put(packed->precision, packed->transform, at, pose[12 * b + i] - shift[i]);
            }
    }
    for (size_t s = 0; s < (size_t)poses->stretches.count; s++)
        for (size_t p = 0; p < (size_t)poses->count; p++)
            for (size_t i = 0; i < ARAP_SYMMETRIC; i++) {
                double x =
                    poses->stretches.tensor[(s * (size_t)poses->count + p) * ARAP_SYMMETRIC + i];
                size_t at = (s * ARAP_SYMMETRIC + i) * (size_t)padded + p;
                put(packed->precision, packed->stretch, at, x);
            }
}

void arap_packed_poses_clear(arap_packed_poses *packed) {
    arap_free(packed->transform);
    arap_free(packed->stretch);
    arap_free(packed->weight);
    *packed = (arap_packed_poses){0};
}
