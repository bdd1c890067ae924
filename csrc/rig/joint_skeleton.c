/* A skeleton from joints: see joint_skeleton.h.
 *
 * A joint is the head of a bone, about which the bone turns. The skin of a bone lies around the
 * straight lines from its joint to the joints of all its children. A pelvis, for example, reaches
 * to both thighs and to the spine. In this file, a bone is therefore a list of segments (`ways` in
 * the code), and the tail only gives the axis about which the bone turns.
 *
 *   1. A root whose joint is outside the skin (|winding number| <= ARAP_INSIDE) moves no skin, and
 * its children become roots. A root whose children are all leaves is the body.
 *   2. Some segments do not count. These are segments to a child without deforming bones below it,
 *      and segments to a joint at which a shorter segment ends, such as those of finger helpers
 *      whose parent is the root. In some rigs, the parents of bones are far away (such as the root
 *      for
 *      the feet of rigs with inverse kinematics), so a segment runs through the air. Each vertex
 *      votes on its nearest segment, weighted by its area and by the cosine between its normal and
 *      the direction from the segment. A segment in front of the skin counts as outside. An outside
 *      segment is omitted if it starts at a root, or if other segments of its bone are inside. A
 *      segment that counts as outside stays if it continues a chain, because chains of cloth lie
 *      next to their sheets. A segment from a root to a joint outside the skin does not count
 *      either.
 *   3. The axis of a bone with segments is the segment nearest to their mean direction. If the
 *      segments point apart (a pelvis, |mean| <= APART), the axis is the segment to the child with
 *      the most bones below it.
 *   4. A leaf ends at twice the distance to the middle of the skin beyond its joint (feet, jaws and
 *      hands do not continue in the direction of their parents). This skin is nearer to the joint
 *      than to any segment, including the end of the segment that leads to the joint, and does not
 *      belong to another limb (joint_sight.c). If another joint without a segment to it lies in
 *      this direction, the leaf ends at that joint. An example is a shin whose foot is a child of
 *      the root.
 *
 * If the directions of the tails are right and only the lengths are meaningless (bone_tails.h), a
 * bone keeps its direction. The bone then extends as far as the child at which it points, or
 * otherwise as far as its nearest child. A leaf, or a root that points at no child, extends as far
 * as its skin.
 *
 * joint_ways.c finds the segments, joint_leaves.c the ends of leaves. Takes O(vertices log bones)
 * for the nearest segments, which are searched again if segments are omitted or added. Takes
 * O(triangles) for each root, O(vertices) for each leaf, and one ray for each vertex next to a
 * leaf. A leaf without its own skin continues its parent by half of the parent's length. A leaf
 * that lies apart, outside the skin, such as the pole of a limb, is a stub. Meshes without
 * triangles have no inside, so no root and no segment counts as outside. Rotating, moving, scaling
 * or mirroring the scene does not change the result. Fails on out-of-memory, for a bad mesh or
 * bones, or when cancelled. */
#include "rig/joint_skeleton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "rig/joint_ways.h"
#include "rig/skeleton.h"

#define APART 0.5     /* length of a mean direction */
#define POINTS_AT 0.9 /* cosine of the direction of a tail to the child that it points at */

/* Find the child whose segment defines the axis of each bone with segments; -1 without one. means:
 * (count, 4) scratch */
static void choose_children(const arap_joint_study *t, double *means, int *child) {
    for (int b = 0; b < t->count; b++) child[b] = -1;
    for (int b = 0; b < 4 * t->count; b++) means[b] = 0;
    for (int k = 0; k < t->way_count; k++) { /* the child with most bones below it */
        const arap_joint_way *w = &t->way[k];
        double along[3], *mean = means + 4 * w->from;
        if (w->to < 0) continue;
        arap_sub(w->b, w->a, along);
        double length = sqrt(arap_dot(along, along));
        for (int c = 0; c < 3; c++) mean[c] += along[c] / length / t->children[w->from];
        int *largest = &child[w->from];
        if (*largest < 0 || t->below[w->to] > t->below[*largest]) *largest = w->to;
    }
    for (int k = 0; k < t->way_count; k++) { /* or the one nearest to the mean */
        const arap_joint_way *w = &t->way[k];
        double along[3], *mean = means + 4 * w->from;
        if (w->to < 0 || !(arap_dot(mean, mean) > APART * APART)) continue;
        arap_sub(w->b, w->a, along);
        double cosine = 2 + arap_dot(along, mean) / sqrt(arap_dot(along, along));
        if (!(cosine > mean[3] * (1 + 1e-9))) continue;
        mean[3] = cosine;
        child[w->from] = w->to;
    }
}

/* Continue from the parent, half as far, or hardly at all if no segment of the parent leads
 * there. */
static void continue_parent(const arap_joint_study *t, int b, double *tail) {
    int up = t->parents[b];
    double step[3] = {0, 0, 1}, share = 0.5;
    if (up >= 0) arap_sub(t->head + 3 * b, t->head + 3 * up, step);
    double length = sqrt(arap_dot(step, step));
    if (!t->ways[b]) share = length > 0 ? ARAP_SHORTEST * t->mesh->size / length : 0;
    for (int c = 0; c < 3; c++) tail[c] = t->head[3 * b + c] + share * step[c];
}

/* The direction of a tail as a unit vector, or 0. */
static void point(const arap_bones *bones, int b, double *direction) {
    arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, direction);
    double length = sqrt(arap_dot(direction, direction));
    for (int c = 0; c < 3; c++) direction[c] = length > 0 ? direction[c] / length : 0;
}

/* Compute the lengths of bones in these directions (count, 3): up to the child at which each
 * points, otherwise the distance of the nearest child; 0 for bones without children and for roots
 * that point at none. */
static void measure_lengths(const arap_joint_study *t, const double *directions, double *length) {
    for (int b = 0; b < t->count; b++) length[b] = 0;
    for (int b = 0; b < t->count; b++) {
        double step[3];
        if (t->next[b] < 0) continue;
        arap_sub(t->head + 3 * t->next[b], t->head + 3 * b, step);
        length[b] = arap_dot(step, directions + 3 * b);
    }
    for (int round = 0; round < 2; round++) /* the nearest child, then the child at which it
                                               points */
        for (int b = 0; b < t->count; b++) {
            int up = t->parents[b];
            double step[3];
            if (up < 0) continue;
            arap_sub(t->head + 3 * b, t->head + 3 * up, step);
            double way = sqrt(arap_dot(step, step));
            double along = arap_dot(step, directions + 3 * up);
            if (!(way > ARAP_NO_WAY * t->mesh->size)) continue;
            int is_root = t->parents[up] < 0 || t->owner[t->parents[up]] < 0;
            if (!round && !is_root)
                length[up] = length[up] > 0 ? fmin(length[up], way) : way;
            else if (round && along > POINTS_AT * way)
                length[up] = along;
        }
}

/* Compute the tails in the caller's units; child: see choose_children; NULL: in the directions of
 * the given tails. */
static void end_bones(const arap_joint_study *t, const arap_bones *bones, const int *child,
                      const double *directions, double *lengths, double *scratch, double *tails) {
    const arap_mesh *mesh = t->mesh;
    if (directions) measure_lengths(t, directions, lengths);
    for (int b = 0; b < t->count; b++) {
        double tail[3];
        if (directions) {
            double length = lengths[b], step[3];
            arap_sub(bones->tails + 3 * b, bones->heads + 3 * b, step);
            double given = sqrt(arap_dot(step, step)) / mesh->diagonal;
            int deforms = !bones->deform || bones->deform[b];
            if (!(length > 0) && t->deform[b] && t->children[b]) /* a root next to its children */
                length = arap_reach_of_skin(t, b, directions + 3 * b, scratch);
            if (deforms && !t->deform[b]) {
                length = ARAP_SHORTEST * mesh->size; /* a root outside the skin */
            } else if (!(length > 0)) {
                continue_parent(t, b, tail);
                length = fmin(given, sqrt(arap_distance2(tail, t->head + 3 * b)));
            }
            for (int c = 0; c < 3; c++)
                tail[c] = t->head[3 * b + c] + length * directions[3 * b + c];
        } else if (child[b] >= 0) {
            memcpy(tail, t->head + 3 * child[b], sizeof tail);
        } else if (!t->deform[b] && bones->tails) {
            memcpy(tails + 3 * b, bones->tails + 3 * b, sizeof tail);
            continue;
        } else
            continue_parent(t, b, tail);
        for (int c = 0; c < 3; c++) tails[3 * b + c] = mesh->center[c] + mesh->diagonal * tail[c];
    }
    for (int k = 0; k < t->way_count; k++) {
        double tail[3];
        int b = t->way[k].from;
        if (t->way[k].to >= 0) continue;
        if (!arap_end_leaf(t, k, directions ? directions + 3 * b : NULL, scratch, tail)) continue;
        for (int c = 0; c < 3; c++) tails[3 * b + c] = mesh->center[c] + mesh->diagonal * tail[c];
    }
}

static arap_status allocate(arap_context *context, arap_joint_study *t, arap_joint_skeleton *out) {
    size_t n = (size_t)t->mesh->count, m = (size_t)t->count;
    t->head = ARAP_TAKE(&t->arena, 3 * m, double);
    t->order = ARAP_TAKE(&t->arena, m, int);
    t->below = ARAP_TAKE(&t->arena, m, int);
    t->owner = ARAP_TAKE(&t->arena, m, int);
    t->next = ARAP_TAKE(&t->arena, m, int);
    t->children = ARAP_TAKE(&t->arena, m, int);
    t->way = ARAP_TAKE(&t->arena, 2 * m, arap_joint_way);
    t->area = ARAP_TAKE(&t->arena, n, double);
    t->normal = ARAP_TAKE(&t->arena, 3 * n, double);
    t->near = ARAP_TAKE(&t->arena, n, int);
    t->at_end = ARAP_TAKE(&t->arena, n, char);
    t->strange = ARAP_TAKE_ZERO(&t->arena, n, char);
    t->deform = out->deform = ARAP_TAKE(&out->arena, m, char);
    t->ways = out->ways = ARAP_TAKE(&out->arena, m, char);
    out->tails = ARAP_TAKE(&out->arena, 3 * m, double);
    arap_status status = arap_arena_status(&t->arena, &context->error, "the joints");
    return status ? status : arap_arena_status(&out->arena, &context->error, "the joints");
}

/* Copy the joints, in units of the mesh. */
static arap_status copy_joints(arap_error *error, const arap_bones *bones, arap_joint_study *t) {
    const arap_mesh *mesh = t->mesh;
    for (int i = 0; i < 3 * t->count; i++) {
        t->head[i] = (bones->heads[i] - mesh->center[i % 3]) / mesh->diagonal;
        if (!(fabs(t->head[i]) < ARAP_FARTHEST))
            return arap_fail(error, ARAP_BAD_VALUE,
                             "bone_heads[%d, %d] is %g: too far away for a mesh of size %g", i / 3,
                             i % 3, bones->heads[i], mesh->diagonal);
    }
    for (int b = 0; b < t->count; b++) {
        t->deform[b] = !bones->deform || bones->deform[b];
        t->next[b] = -1;
    }
    return ARAP_OK;
}

/* Find the nearest segment of each vertex, and let the vertices vote. */
static arap_status rank_and_vote(arap_context *context, arap_joint_study *t) {
    arap_status status = arap_rank_joint_ways(context, t);
    if (!status) arap_vote_joint_ways(t);
    return status;
}

/* Find the segments that count. inside: (bones) scratch */
static arap_status find_ways(arap_context *context, arap_joint_study *t, int *inside) {
    arap_sort_joints(t);
    arap_find_joint_owners(t);
    arap_status status = arap_drop_joint_roots(context, t);
    if (status) return status;
    arap_mark_joint_ways(t, inside);
    status = arap_drop_leaving_ways(context, t);
    if (status) return status;
    arap_weigh_skin(t->mesh, t->area);
    arap_vertex_normals(t->mesh, t->normal);
    status = rank_and_vote(context, t);
    if (!status && t->mesh->triangle_count && arap_drop_joint_ways(t, inside))
        status = rank_and_vote(context, t);
    return status ? status : arap_look_from_leaves(context, t);
}

arap_status arap_joint_skeleton_create(arap_context *context, const arap_geometry *geometry,
                                       const arap_bones *bones, arap_tails are,
                                       arap_joint_skeleton *out) {
    arap_mesh mesh = {0};
    arap_joint_study t = {.mesh = &mesh, .parents = bones->parents, .count = bones->count};
    double *scratch = NULL, *means = NULL, *directions = NULL;
    int *child = NULL;
    *out = (arap_joint_skeleton){.along = are == ARAP_TAILS_AXES};
    arap_status status = arap_check_bones(&context->error, bones);
    if (!status) status = arap_check_parents(&context->error, bones->count, bones->parents);
    if (!status) status = arap_progress(context, "joints", 0);
    if (!status) status = arap_mesh_create(context, geometry, bones, ARAP_WELD_TOLERANCE, &mesh);
    if (status) goto done;
    child = ARAP_TAKE(&t.arena, t.count, int);
    means = ARAP_TAKE(&t.arena, 4 * (size_t)t.count, double);
    scratch = ARAP_TAKE(&t.arena, mesh.count, double);
    status = allocate(context, &t, out);
    if (!status) status = copy_joints(&context->error, bones, &t);
    if (!status) status = find_ways(context, &t, child);
    if (status) goto done;
    if (out->along) directions = means;
    for (int b = 0; b < t.count && directions; b++) point(bones, b, directions + 3 * b);
    if (arap_lead_leaves_on(&t, directions, scratch)) {
        status = arap_rank_joint_ways(context, &t);
        if (!status) status = arap_look_from_leaves(context, &t);
        if (status) goto done;
        arap_vote_joint_ways(&t);
    }
    if (!directions) choose_children(&t, means, child);
    end_bones(&t, bones, child, directions, means + 3 * t.count, scratch, out->tails);

done:
    arap_bvh_free(t.tree);
    arap_bvh_free(t.faces);
    arap_arena_clear(&t.arena);
    arap_mesh_clear(&mesh);
    if (status) arap_joint_skeleton_clear(out);
    return status;
}

void arap_joint_skeleton_clear(arap_joint_skeleton *skeleton) {
    arap_arena_clear(&skeleton->arena);
    *skeleton = (arap_joint_skeleton){0};
}

arap_status arap_complete_bones(arap_context *context, const arap_geometry *geometry,
                                arap_bones *bones, arap_joint_skeleton *made) {
    *made = (arap_joint_skeleton){0};
    if (bones->tails) return ARAP_OK;
    arap_status status = arap_joint_skeleton_create(context, geometry, bones, ARAP_TAILS_ANY, made);
    if (status) return status;
    bones->tails = made->tails;
    bones->ways = made->ways;
    bones->deform = made->deform;
    return ARAP_OK;
}
