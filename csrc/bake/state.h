/* The state of baking. Coordinates are in units of the mesh size and relative to the center of the
 * mesh or, in a frame, to the center of that frame. */
#ifndef ARAP_BAKE_STATE_H
#define ARAP_BAKE_STATE_H

#include "bake/bake.h"

/* Weights: `room` slots for each vertex, of which the first count[i] are used, in ascending order
 * of bones. */
typedef struct arap_bake_weights {
    int room;
    int *count;     /* (vertices) */
    int *bone;      /* (vertices, room) */
    double *weight; /* (vertices, room) */
} arap_bake_weights;

typedef struct arap_bake_state {
    const arap_bake_problem *problem;
    const arap_bake_settings *settings;
    int n, bones, given, frames;
    double size, center[3];
    double *v;         /* (n, 4) at rest, and 1 */
    double *transform; /* (frames, bones, 3, 4) */
    char *moves;       /* (bones) whether its transforms must be found */
    int has_moving;
    arap_bake_weights weights, start; /* start: the caller's weights; room is 0 without them */
    arap_frame_block block;
    int *same;  /* (n) the vertex whose row each vertex shares, see seams.h; itself: none */
    int shared; /* whether vertices may share rows */
    int *ring_start, *ring; /* neighbors along edges, of vertices with rows of their own; NULL
                               without smoothness */
    /* Sums over the frames. */
    double *gram;   /* (4 bones, 4 bones) of [b, c] T_b^T T_c */
    double *moment; /* (n, bones) of T_b v . x */
    double *square; /* (n) of x . x */
    /* Progress. */
    arap_context *context;
    double done, planned; /* passes over the frames */
} arap_bake_state;

static inline const int *arap_bake_bones(const arap_bake_weights *w, int vertex) {
    return w->bone + (size_t)vertex * (size_t)w->room;
}
static inline double *arap_bake_values(const arap_bake_weights *w, int vertex) {
    return w->weight + (size_t)vertex * (size_t)w->room;
}

/* Progress of the current pass, 0 to 1. */
static inline arap_status arap_bake_progress(arap_bake_state *state, const char *stage,
                                             double fraction) {
    double share = (state->done + fraction) / state->planned;
    return arap_progress(state->context, stage, share < 1 ? share : 1);
}

#endif
