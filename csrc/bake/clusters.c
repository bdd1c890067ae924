/* Clusters of rigid motions: see state.h.
 *
 * Applies the vector quantization of Linde, Buzo and Gray to motions, as in Le and Deng 2012. In
 * each round, every vertex joins the bone whose motion fits it best, and then every moving bone
 * takes the best motion for its vertices. After some rounds, the clusters with the largest error
 * are split, until every bone has a cluster. The two steps are those of motion.c and sums.c, so
 * each round takes one pass over the frames. Locked weights stay: a bone moves a vertex with the
 * share that they leave, and a vertex without such a share joins no cluster. A cluster is split at
 * the vertex whose error times its distance from the center is largest. The vertices nearer to this
 * vertex than to the center join a new bone. Then, bones that are hardly needed, because other
 * bones move their vertices nearly as well, are assigned to the worst clusters.
 *
 * Takes O(log(bones)) passes over the frames, and fails if a pass fails. */
#include "bake/state.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define CHUNK 256
#define ROUNDS 3           /* after every split */
#define MOVES 4            /* rounds in which bones move to worse clusters */
#define HARDLY_MISSED 0.25 /* as a share of the error that it may save elsewhere */
#define MIN_VERTICES 4     /* minimum number of vertices of a cluster that is split */
#define NO_ERROR 1e-18     /* mean squared error of a cluster that counts as exact */

typedef struct clusters {
    arap_bake_state *state;
    char *active;    /* (bones) has a meaningful transform */
    int *bone;       /* (n) the bone that each vertex joined; -1: none, as its weights are locked */
    double *error;   /* (n) error of each vertex with its bone */
    double *total;   /* (bones) */
    int *second;     /* (n) the second-best bone of each vertex; -1: none */
    double *missing; /* (n) and its error in excess of that of the best bone */
    double *missed;  /* (bones) increase of the error without the bone */
    double *center;  /* (bones, 3) */
    int *size;       /* (bones) */
    int *farthest;   /* (bones) the vertex at which to split */
    double *penalty; /* (bones) its error times distance */
} clusters;

static int splits(const arap_bake_state *state) {
    int count = 2, reached = state->given > 1 ? state->given : 1;
    for (; reached < state->bones; reached *= 2) count++;
    return count;
}

int arap_cluster_passes(const arap_bake_state *state) {
    return state->bones > state->given ? 1 + ROUNDS * (splits(state) + MOVES) : 0;
}

/* Give the open share of a vertex to a bone that may move it. */
static void join(clusters *of, int vertex, int bone) {
    arap_bake_state *state = of->state;
    arap_bake_weights *w = &state->weights;
    double share = arap_bake_share(state, vertex);
    int count = w->count[vertex];
    w->count[vertex] = 0;
    for (int k = 0; k < count; k++) /* in place: no more are added than were read */
        if (arap_bake_locks_bone(state, arap_bake_bones(w, vertex)[k]))
            arap_bake_add(w, vertex, arap_bake_bones(w, vertex)[k], arap_bake_values(w, vertex)[k]);
    arap_bake_add(w, vertex, bone, share);
    of->bone[vertex] = bone;
}

static void assign_chunk(void *data, int chunk, int worker) {
    (void)worker;
    clusters *of = data;
    arap_bake_state *state = of->state;
    int end = arap_chunk_end(chunk, CHUNK, state->n);
    for (int i = chunk * CHUNK; i < end; i++) {
        double min = INFINITY, next = INFINITY;
        int best = -1, second = -1, open = arap_bake_share(state, i) > 0;
        for (int b = 0; b < state->bones && open; b++) {
            if (!of->active[b] || !arap_bake_may_move(state, i, b)) continue;
            join(of, i, b);
            double error = arap_bake_error(state, i);
            if (error < min) {
                second = best;
                next = min;
                best = b;
                min = error;
            } else if (error < next) {
                second = b;
                next = error;
            }
        }
        if (best < 0) continue;
        join(of, i, best);
        of->second[i] = second;
        of->missing[i] = next - min;
        of->error[i] = min > 0 ? min : 0;
    }
}

/* Assign every vertex to its best bone, and update the clusters. */
static arap_status assign(clusters *of) {
    arap_bake_state *state = of->state;
    size_t m = (size_t)state->bones;
    arap_status status =
        arap_parallel(state->context, arap_chunks(state->n, CHUNK), assign_chunk, of);
    if (status) return status;
    memset(of->total, 0, m * sizeof *of->total);
    memset(of->center, 0, 3 * m * sizeof *of->center);
    memset(of->missed, 0, m * sizeof *of->missed);
    memset(of->size, 0, m * sizeof *of->size);
    for (int i = 0; i < state->n; i++) {
        int b = of->bone[i];
        if (b < 0) continue;
        of->total[b] += of->error[i];
        of->missed[b] += of->missing[i];
        of->size[b]++;
        for (int c = 0; c < 3; c++) of->center[3 * b + c] += state->v[4 * (size_t)i + (size_t)c];
    }
    for (size_t b = 0; b < m; b++) {
        of->farthest[b] = -1;
        for (size_t c = 0; c < 3 && of->size[b]; c++) of->center[3 * b + c] /= of->size[b];
    }
    for (int i = 0; i < state->n; i++) {
        int b = of->bone[i];
        if (b < 0) continue;
        double worth = of->error[i] *
                       sqrt(arap_distance2(state->v + 4 * (size_t)i, of->center + 3 * (size_t)b));
        if (of->farthest[b] >= 0 && worth <= of->penalty[b]) continue;
        of->farthest[b] = i;
        of->penalty[b] = worth;
    }
    return status;
}

/* Find the cluster with the largest error that can be split; -1: none. */
static int worst(const clusters *of) {
    int best = -1;
    for (int b = 0; b < of->state->bones; b++)
        if (of->size[b] >= MIN_VERTICES && of->farthest[b] >= 0 &&
            of->total[b] > NO_ERROR * of->state->frames * of->size[b] &&
            (best < 0 || of->total[b] > of->total[best]))
            best = b;
    return best;
}

static void split(clusters *of, int cluster, int bone) {
    arap_bake_state *state = of->state;
    const double *seed = state->v + 4 * (size_t)of->farthest[cluster];
    for (int i = 0; i < state->n; i++) {
        const double *v = state->v + 4 * (size_t)i;
        if (of->bone[i] == cluster &&
            arap_distance2(v, seed) < arap_distance2(v, of->center + 3 * (size_t)cluster))
            join(of, i, bone);
    }
    for (int p = 0; p < state->frames; p++) {
        double *t = state->transform + 12 * (size_t)state->bones * (size_t)p;
        memcpy(t + 12 * (size_t)bone, t + 12 * (size_t)cluster, 12 * sizeof *t);
    }
    of->active[bone] = 1;
    of->farthest[cluster] = -1;
}

/* Give clusters to new bones without one. Returns the number of clusters assigned. */
static int split_worst(clusters *of) {
    const arap_bake_state *state = of->state;
    int count = 0;
    for (int b = state->given; b < state->bones; b++) {
        if (of->active[b] && of->size[b]) continue;
        int cluster = worst(of);
        if (cluster < 0) break;
        split(of, cluster, b);
        count++;
    }
    return count;
}

/* Move new bones that are hardly needed to the worst clusters. Returns their number. */
static int move_to_worst(clusters *of) {
    arap_bake_state *state = of->state;
    int count = 0, max = 1 + (state->bones - state->given) / 8;
    for (; count < max; count++) {
        int cluster = worst(of), idle = -1;
        for (int b = state->given; b < state->bones; b++)
            if (of->active[b] && of->farthest[b] >= 0 && b != cluster &&
                (idle < 0 || of->missed[b] < of->missed[idle]))
                idle = b;
        if (cluster < 0 || idle < 0 || !(of->missed[idle] < HARDLY_MISSED * of->total[cluster]))
            break;
        for (int i = 0; i < state->n; i++)
            if (of->bone[i] == idle && of->second[i] >= 0) join(of, i, of->second[i]);
        split(of, cluster, idle);
        of->farthest[idle] = -1;
    }
    return count;
}

static arap_status settle(clusters *of) {
    arap_status status = ARAP_OK;
    for (int round = 0; round < ROUNDS && !status; round++) {
        status = arap_sum_frames(of->state, 1, NULL);
        of->state->done++;
        if (!status) status = assign(of);
    }
    return status;
}

/* Let the first new bone move the vertices that no given bone may move. Returns whether there are
 * any. */
static int start_first(clusters *of) {
    arap_bake_state *state = of->state;
    for (int i = 0; i < state->n; i++) {
        of->bone[i] = -1;
        if (!arap_bake_lacks_bone(state, i)) continue;
        join(of, i, state->given);
        of->active[state->given] = 1;
    }
    return of->active[state->given];
}

arap_status arap_place_bones(arap_bake_state *state) {
    arap_arena arena = {0};
    size_t m = (size_t)state->bones;
    clusters of = {.state = state,
                   .active = ARAP_TAKE_ZERO(&arena, m, char),
                   .bone = ARAP_TAKE(&arena, state->n, int),
                   .error = ARAP_TAKE(&arena, state->n, double),
                   .total = ARAP_TAKE(&arena, m, double),
                   .second = ARAP_TAKE(&arena, state->n, int),
                   .missing = ARAP_TAKE(&arena, state->n, double),
                   .missed = ARAP_TAKE(&arena, m, double),
                   .center = ARAP_TAKE(&arena, 3 * m, double),
                   .size = ARAP_TAKE(&arena, m, int),
                   .farthest = ARAP_TAKE(&arena, m, int),
                   .penalty = ARAP_TAKE(&arena, m, double)};
    arap_status status = arap_arena_status(&arena, &state->context->error, "the clusters");
    if (!status) {
        memset(of.active, 1, (size_t)state->given);
        status = arap_sum_frames(state, start_first(&of), NULL);
        state->done++;
    }
    if (!status) status = assign(&of);
    for (int k = splits(state); k > 0 && !status && split_worst(&of); k--) status = settle(&of);
    for (int k = 0; k < MOVES && !status && move_to_worst(&of); k++) status = settle(&of);
    arap_arena_clear(&arena);
    return status;
}
