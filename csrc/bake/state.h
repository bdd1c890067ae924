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
    arap_bake_weights weights, start; /* start: the caller's weights; room is 0 without them. Rows
                                         sum to 1, except where only locked weights are given */
    arap_bake_weights next;           /* work space of fit.c */
    arap_frame_block block;
    int *same;  /* (n) the vertex whose row each vertex shares, see seams.c; itself: none */
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
    arap_arena arena;     /* of all arrays */
} arap_bake_state;

static inline const int *arap_bake_bones(const arap_bake_weights *w, int vertex) {
    return w->bone + (size_t)vertex * (size_t)w->room;
}
static inline double *arap_bake_values(const arap_bake_weights *w, int vertex) {
    return w->weight + (size_t)vertex * (size_t)w->room;
}

/* Add a weight to a row. */
static inline void arap_bake_add(arap_bake_weights *w, int vertex, int bone, double value) {
    int *bones = w->bone + (size_t)vertex * (size_t)w->room, at = w->count[vertex]++;
    double *weight = arap_bake_values(w, vertex);
    for (; at > 0 && bones[at - 1] > bone; at--) {
        bones[at] = bones[at - 1];
        weight[at] = weight[at - 1];
    }
    bones[at] = bone;
    weight[at] = value;
}

/* Locks. Without iterations, weights are measured, not changed, so nothing is locked. */
static inline int arap_bake_locks_vertex(const arap_bake_state *state, int vertex) {
    const char *locked = state->settings->iterations ? state->problem->locked_vertices : NULL;
    return locked && locked[vertex];
}
static inline int arap_bake_locks_bone(const arap_bake_state *state, int bone) {
    const char *locked = state->settings->iterations ? state->problem->locked_bones : NULL;
    return locked && bone < state->given && locked[bone];
}
static inline int arap_bake_may_move(const arap_bake_state *state, int vertex, int bone) {
    const char *candidates = state->problem->candidates;
    if (bone >= state->given) return 1;
    if (arap_bake_locks_bone(state, bone)) return 0;
    return !candidates || candidates[(size_t)vertex * (size_t)state->given + (size_t)bone];
}

/* The share that the locked weights of a vertex leave for other bones. */
static inline double arap_bake_share(const arap_bake_state *state, int vertex) {
    const arap_bake_weights *w = &state->weights;
    double share = !arap_bake_locks_vertex(state, vertex);
    for (int k = 0; k < w->count[vertex]; k++)
        if (arap_bake_locks_bone(state, arap_bake_bones(w, vertex)[k]))
            share -= arap_bake_values(w, vertex)[k];
    return share > 1e-12 ? share : 0;
}

/* Whether no given bone may take this share. */
static inline int arap_bake_lacks_bone(const arap_bake_state *state, int vertex) {
    int lacks = arap_bake_share(state, vertex) > 0;
    for (int b = 0; b < state->given && lacks; b++) lacks = !arap_bake_may_move(state, vertex, b);
    return lacks;
}

/* Progress of the current pass, 0 to 1. */
static inline arap_status arap_bake_progress(arap_bake_state *state, const char *stage,
                                             double fraction) {
    double share = (state->done + fraction) / state->planned;
    return arap_progress(state->context, stage, share < 1 ? share : 1);
}

/* clusters.c: maximum number of passes over the frames. */
int arap_cluster_passes(const arap_bake_state *state);

/* Cluster vertices that move in the same way: set the transforms of the new bones, and give what
 * the locked weights of each vertex leave to the bone that moves it best. */
arap_status arap_place_bones(arap_bake_state *state);

/* Find the neighbors of all vertices along the edges of the mesh. */
arap_status arap_bake_rings(arap_bake_state *state);

/* Replace the weights of all vertices that are not locked by those that best fit the sums over the
 * frames. fresh: whether to use the best weights
 * found. Otherwise, the existing weights are improved. rms: as computed from the sums, accurate to
 * half of the digits. objective: the sum of squared distances over vertices and frames, in
 * which vertices that share a row count once, including the pulls toward neighbors and given
 * weights, which never rises except for rounding. */
arap_status arap_fit_weights(arap_bake_state *state, int fresh, double *rms, double *objective);

/* Squared distances of a vertex over the frames, from the sums. Slightly negative by rounding. */
double arap_bake_error(const arap_bake_state *state, int vertex);

/* Sums over the weights, the same for every frame, for motion.c. */
typedef struct arap_motion {
    double *pair;     /* (bones, bones, 4, 4) sums of w_b w_c v v^T, with homogeneous v */
    int *start;       /* (bones + 1) the bones that share vertices with each bone: */
    int *neighbor;    /* excluding the bone itself */
    double *target;   /* (ARAP_FRAME_BLOCK, bones, 3, 4) work space */
    arap_arena arena; /* of the arrays */
} arap_motion;

arap_status arap_motion_create(arap_bake_state *state, arap_motion *out);
void arap_motion_clear(arap_motion *motion);

/* Improve the transforms of the moving bones in the frames of the block. No transform gets
 * worse. */
arap_status arap_improve_motion(arap_bake_state *state, arap_motion *motion);

/* Find the vertices that share a row of weights, so that seams stay closed: set state->same from
 * the positions at rest. The weights at the start must be set. */
arap_status arap_seams_find(arap_bake_state *state);

/* Separate the vertices that come apart in the frames of the block. */
arap_status arap_seams_split(arap_bake_state *state);

/* Set gram, moment and square in one pass over all frames. If `improve` is set, first improve the
 * transforms of the moving bones for the current weights, frame by frame. rms: error of the weights
 * and transforms before this improvement; NULL: not needed. */
arap_status arap_sum_frames(arap_bake_state *state, int improve, double *rms);

/* Compute the errors of the result from the weights and transforms of the state. */
arap_status arap_measure_frames(arap_bake_state *state, arap_baked *out);

#endif
