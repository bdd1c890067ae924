/* Reads frames on demand, in blocks. */
#ifndef ARAP_FRAMES_H
#define ARAP_FRAMES_H

#include "mesh/mesh.h"

#define ARAP_FRAME_BLOCK 16

/* read: writes the vertex positions (vertices, 3) of frame `index`. */
typedef struct arap_frames {
    int count;
    arap_status (*read)(void *data, arap_error *error, int index, double *out);
    void *data;
} arap_frames;

/* A block of frames, each relative to its own center. This keeps the summed numbers small and does
 * not change weights with sum 1. */
typedef struct arap_frame_block {
    int first, count, vertices;
    double scale;        /* applied to the values read: 1 / size of the mesh */
    double *points;      /* (ARAP_FRAME_BLOCK, vertices, 3) */
    double (*center)[3]; /* (ARAP_FRAME_BLOCK), the caller's units */
} arap_frame_block;

arap_status arap_frame_block_create(arap_context *context, int vertices, double scale,
                                    arap_frame_block *out);
void arap_frame_block_clear(arap_frame_block *block);

/* Read the frames from `first` on. Returns ARAP_BAD_VALUE, with the location, for numbers that are
 * not finite or too large. */
arap_status arap_read_frames(arap_context *context, const arap_frames *frames, int first,
                             arap_frame_block *block);

#endif
