/* Baking: finds weights and, on request, bones with which linear blending best approximates given
 * frames.
 *
 * After Kavan et al. 2010 and Le and Deng 2012, "Smooth Skinning Decomposition with Rigid Bones".
 */
#ifndef ARAP_BAKE_H
#define ARAP_BAKE_H

#include "arap.h"
#include "base/memory.h"
#include "base/settings.h"
#include "mesh/mesh.h"

#define ARAP_FRAME_BLOCK 16 /* number of frames read at a time */

/* Frames, read on demand. read: writes the vertex positions (vertices, 3) of frame `index`. */
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

/* Its arrays belong to the arena, which records a lack of memory. */
arap_frame_block arap_frame_block_make(arap_arena *arena, int vertices, double scale);

/* Read the frames from `first` on. Returns ARAP_BAD_VALUE, with the location, for numbers that are
 * not finite or too large. */
arap_status arap_read_frames(arap_context *context, const arap_frames *frames, int first,
                             arap_frame_block *block);

typedef struct arap_bake_settings {
#define ARAP_SETTINGS_BAKE
#include "settings.def"
} arap_bake_settings;

extern const arap_setting_table arap_bake_settings_table; /* of arap_bake_settings */

/* Missing arrays are NULL. */
typedef struct arap_bake_problem {
    arap_geometry geometry; /* at rest; triangles and edges for smoothness alone */
    arap_frames frames;
    int bone_count;              /* given bones */
    const double *transforms;    /* (frames, bone_count, 3, 4) rest to posed */
    arap_sparse_weights weights; /* of the given bones: the start, and the values that locks
                                    preserve */
    const char *locked_vertices; /* (vertices) */
    const char *locked_bones;    /* (bone_count) */
    const char *candidates;      /* (vertices, bone_count) 0: this bone may not move this vertex */
} arap_bake_problem;

typedef struct arap_baked {
    int vertices, bones, frames; /* bones: the given ones, then the new ones */
    arap_influences weights;     /* sum 1, except where locked weights have a larger sum */
    double *transforms;          /* (frames, bones, 3, 4), the caller's units */
    double *centers;             /* (bones, 3) rest position of the vertices of each bone */
    double *vertex_error;        /* (vertices) root mean square distance over the frames */
    double rms, max;             /* distances over all vertices and frames */
    int worst_frame, worst_vertex;
    double size; /* diagonal of the bounding box at rest */
    int iterations;
    double *history;  /* (iterations) rms after each */
    arap_arena arena; /* of the arrays */
} arap_baked;

/* Reads every frame once per iteration and clustering round, and once at the end. At most 16 frames
 * are kept in memory. Release `out` with arap_baked_clear. */
arap_status arap_bake(arap_context *context, const arap_bake_problem *problem,
                      const arap_bake_settings *settings, arap_baked *out);
void arap_baked_clear(arap_baked *baked);

#endif
