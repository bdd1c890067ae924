/* Vertices that share a row of weights: see state.h.
 *
 * Files store a vertex once for each side of a seam of textures or normals. Smoothing along edges
 * would give the two sides different weights, which tears the surface. Vertices that are welded at
 * rest (mesh.h) therefore share a row if their distance is at most APART in every frame, and if
 * they have the same candidates and the same weights of locked bones. Vertices that come apart in a
 * frame, such as lips, are regrouped with those that move like them.
 *
 * The row of a group is that of its root: its lowest locked vertex with weights or, without one,
 * its lowest vertex. A locked vertex keeps its own row. A group is split in rounds. Each round
 * moves the vertices that do not fit their root to a new root, the lowest of them. A group rarely
 * has more than two pieces, so after ROUNDS rounds the remaining vertices stay alone.
 *
 * Takes O(vertices x rounds) for each frame, in addition to welding. Fails on out-of-memory and for
 * geometry that cannot be welded. */
#include "bake/state.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define APART 1e-3 /* share of the mesh size: a gap that is hardly visible */
#define SAME 1e-6  /* difference of two weights that is attributed to rounding */
#define ROUNDS 16

/* The weight of bone b at the start; 0: none. */
static double start_weight(const arap_bake_state *state, int vertex, int b) {
    const int *bone = arap_bake_bones(&state->start, vertex);
    for (int k = 0; k < state->start.count[vertex]; k++)
        if (bone[k] == b) return arap_bake_values(&state->start, vertex)[k];
    return 0;
}

/* Whether vertex i may have the row of `root`: in a frame, or at rest, where points is NULL. */
static int fits(const arap_bake_state *state, const double *points, int i, int root) {
    const arap_bake_problem *p = state->problem;
    size_t given = (size_t)state->given;
    if (points)
        return arap_distance2(points + 3 * (size_t)i, points + 3 * (size_t)root) <= APART * APART;
    if (p->candidates &&
        memcmp(p->candidates + (size_t)i * given, p->candidates + (size_t)root * given, given) != 0)
        return 0;
    for (int b = 0; b < state->given; b++) {
        if (!arap_bake_locks_bone(state, b)) continue;
        double weight = start_weight(state, i, b), target = start_weight(state, root, b);
        if ((weight > 0) != (target > 0) || fabs(weight - target) > SAME) return 0;
    }
    return 1;
}

/* moved (n): scratch. */
static void split(const arap_bake_state *state, const double *points, int *moved) {
    int *same = state->same, any = 1;
    for (int round = 0; any && round <= ROUNDS; round++) {
        any = 0;
        for (int i = 0; i < state->n; i++) moved[i] = -1;
        for (int i = 0; i < state->n; i++) {
            int root = same[i];
            if (root == i || fits(state, points, i, root)) continue;
            if (moved[root] < 0 || round == ROUNDS) moved[root] = i;
            same[i] = moved[root];
            any = 1;
        }
    }
}

static int leads(const arap_bake_state *state, int vertex) {
    return arap_bake_locks_vertex(state, vertex) && state->start.count[vertex];
}

arap_status arap_seams_find(arap_bake_state *state) {
    arap_mesh mesh;
    arap_status status = arap_mesh_create(state->context, &state->problem->geometry, NULL,
                                          ARAP_WELD_TOLERANCE, &mesh);
    if (status) return status;
    for (int v = 0; v < mesh.count; v++) {
        int root = mesh.first[v];
        for (int i = root; i >= 0 && !leads(state, root); i = mesh.next[i])
            if (leads(state, i) || arap_bake_locks_vertex(state, root)) root = i;
        for (int i = mesh.first[v]; i >= 0; i = mesh.next[i])
            state->same[i] = arap_bake_locks_vertex(state, i) ? i : root;
        state->shared |= mesh.next[mesh.first[v]] >= 0;
    }
    if (state->shared) split(state, NULL, mesh.next);
    arap_mesh_clear(&mesh);
    return ARAP_OK;
}

arap_status arap_seams_split(arap_bake_state *state) {
    if (!state->shared) return ARAP_OK;
    int *moved = ARAP_NEW(int, state->n);
    if (!moved) return arap_fail_memory(&state->context->error, "the seams");
    for (int f = 0; f < state->block.count; f++)
        split(state, state->block.points + 3 * (size_t)state->n * (size_t)f, moved);
    arap_free(moved);
    return ARAP_OK;
}
