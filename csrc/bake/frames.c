/* Reads frames in blocks: see bake.h. Each frame takes O(vertices). Fails on out-of-memory, if
 * reading fails, and for numbers that are not finite or too large to be squared. */
#include "bake/bake.h"

#include <math.h>

#include "base/memory.h"

arap_frame_block arap_frame_block_make(arap_arena *arena, int vertices, double scale) {
    size_t points = 3 * (size_t)ARAP_FRAME_BLOCK * (size_t)vertices;
    return (arap_frame_block){.vertices = vertices,
                              .scale = scale,
                              .points = ARAP_TAKE(arena, points, double),
                              .center = arap_take(arena, ARAP_FRAME_BLOCK, 3 * sizeof(double))};
}

static void center(const arap_frame_block *block, double *points, double *out) {
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (int i = 0; i < block->vertices; i++)
        for (int c = 0; c < 3; c++) out[c] += points[3 * (size_t)i + (size_t)c];
    for (int c = 0; c < 3; c++) out[c] /= block->vertices;
    for (int i = 0; i < block->vertices; i++)
        for (int c = 0; c < 3; c++) {
            double *x = points + 3 * (size_t)i + c;
            *x = (*x - out[c]) * block->scale;
        }
}

arap_status arap_read_frames(arap_context *context, const arap_frames *frames, int first,
                             arap_frame_block *block) {
    size_t size = 3 * (size_t)block->vertices;
    block->first = first;
    block->count =
        frames->count - first < ARAP_FRAME_BLOCK ? frames->count - first : ARAP_FRAME_BLOCK;
    for (int f = 0; f < block->count; f++) {
        double *points = block->points + size * (size_t)f;
        arap_status status = frames->read(frames->data, &context->error, first + f, points);
        if (status) return status;
        for (size_t k = 0; k < size; k++) {
            if (!isfinite(points[k]))
                return arap_fail(&context->error, ARAP_BAD_VALUE,
                                 "frames[%d] contains %g at vertex %zu: not finite", first + f,
                                 points[k], k / 3);
            if (!(fabs(points[k]) * block->scale < ARAP_FARTHEST))
                return arap_fail(
                    &context->error, ARAP_BAD_VALUE,
                    "frames[%d] contains %g at vertex %zu: too far away for a mesh of size %g",
                    first + f, points[k], k / 3, 1 / block->scale);
        }
        center(block, points, block->center[f]);
    }
    return ARAP_OK;
}
