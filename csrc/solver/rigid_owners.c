/* Assigns balls in joints, and parts of bones that have lost their part: see rigid_candidates.h.
 *
 * Joints. The ball in the elbow of a mannequin fits the upper arm as well as the forearm. Chance
 * would therefore determine which of them the ball follows, possibly differently on the left and on
 * the right. A ball is a part of more than ARAP_BOX vertices that are all about equally far from
 * its center. A ball of radius r sits in a joint if the head of a bone is nearer to the center
 * of the ball than CENTERED r. In addition, the parent's line must end in the ball, and both bones
 * must be longer than r / SMALL. A head is therefore not a ball in the joint of its jaw. An artist
 * assigns all balls of a figure to the bones that start in them (three of seven figures), or to the
 * bones that end in them (the other four). All balls are assigned to the bones that end in them
 * only if the share CUSTOM of the balls already follows such bones. If several children of one
 * parent start in the ball, as in a wrist, the ball follows the parent. If the ball contains one
 * bone, which starts in its middle, and the parent ends elsewhere, the ball follows that bone.
 *
 * Orphans. The energy may assign a plate to the bone of a neighboring plate instead of its own
 * bone, because neither bone stretches the plate. A bone without a part, and without a weight of
 * MUCH at any vertex, therefore gets back rigid parts whose bone no other rule has chosen. Such a
 * part must be near the bone relative to its size, and the bone must clearly be the nearest of all
 * bones by mean distance. The bone that loses the part must keep at least one other part.
 *
 * Takes O(parts x bones), plus O(vertices of rigid parts x bones) for bones without parts. Fails on
 * out-of-memory, or when cancelled. */
#include "solver/rigid_candidates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

/* mean distances from the center; the maximum, and its inverse as the minimum */
#define ROUND 1.25
#define CENTERED 0.35
#define CUSTOM 0.6
#define SMALL 0.6
#define MUCH 0.5     /* a bone with a smaller share of every soft vertex has lost its skin */
#define NEAR 1.5     /* maximum distance of a part's bone, in radii of the part */
#define CLEARLY 1.01 /* farther is every other bone */

static const double *place(const arap_rigid_search *s, const arap_candidate *c, int k) {
    return s->solver->mesh.v + 3 * (size_t)s->vertices[c->first + k];
}

/* The radius of a ball, or 0. */
static double measure_ball(const arap_rigid_search *s, const arap_candidate *c, double *center) {
    double low = INFINITY, high = 0, sum = 0;
    memset(center, 0, 3 * sizeof *center);
    if (c->size <= ARAP_BOX) return 0;
    for (int k = 0; k < c->size; k++) {
        double area = s->solver->mesh.area[s->vertices[c->first + k]];
        for (int x = 0; x < 3; x++) center[x] += area / c->area * place(s, c, k)[x];
    }
    for (int k = 0; k < c->size; k++) {
        double d = sqrt(arap_distance2(place(s, c, k), center));
        low = fmin(low, d);
        high = fmax(high, d);
        sum += d;
    }
    double mean = sum / c->size;
    return high <= ROUND * mean && low >= mean / ROUND ? mean : 0;
}

/* The distance from the point to the start or end of the nearest line of the bone that is at least
 * `min_length` long. */
static double nearest_end(const arap_bone_lines *lines, int bone, const double *point,
                          double min_length, int is_tail) {
    double min = INFINITY;
    for (int l = lines->start[bone]; l < lines->start[bone + 1]; l++) {
        const arap_bone_line *line = &lines->line[l];
        double end[3], along = is_tail ? line->length : 0;
        for (int c = 0; c < 3; c++) end[c] = line->head[c] + along * line->along[c];
        if (line->length >= min_length) min = fmin(min, sqrt(arap_distance2(end, point)));
    }
    return min;
}

/* The only bone in a ball, if it starts in its middle, or -1. */
static int find_alone(const arap_rigid_search *s, const arap_bone_lines *lines,
                      const double *center, double r) {
    int found = -1;
    for (int l = 0; l < lines->count; l++) {
        double place, point[3];
        int b = lines->line[l].bone;
        if (b == found || arap_line_distance(&lines->line[l], center, &place, point) > r) continue;
        if (found >= 0 || nearest_end(lines, b, center, r / SMALL, 0) > CENTERED * r) return -1;
        found = b;
    }
    return found >= 0 && s->solver->skeleton.deform_parent[found] >= 0 ? found : -1;
}

/* Find the bone that ends in the joint in which a ball sits, or -1, and the bone that starts in
 * this joint, or -1 if several do. */
static int find_joint(const arap_rigid_search *s, const arap_bone_lines *lines,
                      const double *center, double r, int *below) {
    const int *parent = s->solver->skeleton.deform_parent;
    int above = -1, count = 0;
    *below = -1;
    for (int b = 0; b < s->solver->skeleton.deform_count; b++) {
        if (parent[b] < 0 || nearest_end(lines, b, center, 0, 0) > r ||
            nearest_end(lines, parent[b], center, r / SMALL, 1) > r)
            continue;
        if (above >= 0 && above != parent[b]) return -1;
        above = parent[b];
        if (nearest_end(lines, b, center, r / SMALL, 0) <= CENTERED * r) *below = b;
        count++;
    }
    if (!count) return find_alone(s, lines, center, r);
    if (count > 1) *below = -1;
    return count > 1 || *below >= 0 ? above : -1;
}

int arap_owner_of_part(const arap_rigid_search *search, int part) {
    if (!search->parts[part].blends) return search->parts[part].bone;
    int best = -1;
    double max = 0;
    for (size_t e = search->rows.start[part]; e < search->rows.start[part + 1]; e++)
        if (search->rows.weight[e] > max) max = search->rows.weight[e], best = search->rows.bone[e];
    return best;
}

typedef struct joint { /* of a part */
    int above, below;  /* above -1: it is not a ball in a joint; below -1: several bones start in
                        * the joint */
} joint;

/* The balls among the parts. */
static arap_status find_balls(arap_context *context, const arap_rigid_search *s, joint *joints) {
    const arap_mesh *mesh = &s->solver->mesh;
    arap_bone_lines lines = {0};
    arap_status status = arap_bone_lines_create(context, &s->solver->skeleton, &lines);
    for (int p = 0; p < mesh->part_count && !status; p++) {
        double center[3], r = s->is_candidate[p] ? measure_ball(s, &s->parts[p], center) : 0;
        joints[p].above = r > 0 ? find_joint(s, &lines, center, r, &joints[p].below) : -1;
    }
    arap_bone_lines_clear(&lines);
    return status;
}

/* Whether balls with one bone below follow that bone (1), or most follow the one above (-1). */
static int find_custom(const arap_rigid_search *s, const joint *joints) {
    int down = 0, up = 0;
    for (int p = 0; p < s->solver->mesh.part_count; p++) {
        if (joints[p].above < 0 || joints[p].below < 0 || !s->parts[p].is_rigid) continue;
        down += arap_owner_of_part(s, p) == joints[p].below;
        up += arap_owner_of_part(s, p) == joints[p].above;
    }
    return down + up > 0 && up >= CUSTOM * (down + up) ? -1 : 1;
}

arap_status arap_hold_joints(arap_context *context, arap_rigid_search *search, int *changes) {
    const arap_solver *solver = search->solver;
    joint *joints = ARAP_NEW(joint, solver->mesh.part_count);
    if (!joints) return arap_fail_memory(&context->error, "the balls among the parts");
    arap_status status = find_balls(context, search, joints);
    int custom = status ? 1 : find_custom(search, joints);
    for (int p = 0; p < solver->mesh.part_count && !status; p++) {
        const arap_candidate *c = &search->parts[p];
        int bone = joints[p].below < 0 || custom < 0 ? joints[p].above : joints[p].below;
        if (joints[p].above < 0 ||
            (arap_candidate_is_own_image(search, c) && solver->symmetry.bone[bone] != bone))
            continue;
        int same = c->is_rigid && !c->blends && c->second_weight <= 0 && c->bone == bone;
        *changes |= arap_candidate_follow(search, p, bone) && !same;
    }
    arap_free(joints);
    return status;
}

void arap_count_owned(const arap_rigid_search *search, int *owned, int *soft) {
    const arap_influences *in = &search->solver->influences;
    for (int p = 0; p < search->solver->mesh.part_count; p++) {
        int bone = search->parts[p].is_rigid ? arap_owner_of_part(search, p) : -1;
        if (bone >= 0) owned[bone]++;
    }
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            if (!search->parts[search->solver->mesh.part[i]].is_rigid && in->weight[e] > MUCH)
                soft[in->bone[e]]++;
}

void arap_part_distances(const arap_rigid_search *search, const arap_bone_lines *lines,
                         const arap_candidate *candidate, double *distance, double *mean) {
    int bones = search->solver->skeleton.deform_count;
    memset(mean, 0, (size_t)bones * sizeof *mean);
    for (int k = 0; k < candidate->size; k++) {
        double area = search->solver->mesh.area[search->vertices[candidate->first + k]];
        arap_line_distances(lines, place(search, candidate, k), distance);
        for (int b = 0; b < bones; b++) {
            double min = INFINITY;
            for (int l = lines->start[b]; l < lines->start[b + 1]; l++)
                min = fmin(min, distance[l]);
            mean[b] += area * min;
        }
    }
}

/* The bone that is near a part and clearly the nearest, or -1. distance: scratch, (lines); s->mean
 * is also scratch. */
static int nearest_bone(const arap_rigid_search *s, const arap_bone_lines *lines,
                        const arap_candidate *c, double *distance) {
    int best = -1, second = -1;
    arap_part_distances(s, lines, c, distance, s->mean);
    for (int b = 0; b < s->solver->skeleton.deform_count; b++) {
        if (best < 0 || s->mean[b] < s->mean[best])
            second = best, best = b;
        else if (second < 0 || s->mean[b] < s->mean[second])
            second = b;
    }
    if (second >= 0 && s->mean[second] < s->mean[best] * CLEARLY) return -1;
    return s->mean[best] <= NEAR * sqrt(c->radius2 * c->area) ? best : -1;
}

arap_status arap_hold_orphans(arap_context *context, arap_rigid_search *search, int *changes) {
    const arap_solver *solver = search->solver;
    int bones = solver->skeleton.deform_count, any = 0;
    arap_arena arena = {0};
    int *owned = ARAP_TAKE_ZERO(&arena, bones, int);
    arap_bone_lines lines = {0};
    arap_status status = arap_arena_status(&arena, &context->error, "the rigid parts");
    if (status) goto done;
    arap_count_owned(search, owned, owned);
    for (int b = 0; b < bones; b++) any |= !owned[b];
    if (!any) goto done;
    status = arap_bone_lines_create(context, &solver->skeleton, &lines);
    if (status) goto done;
    double *distance = ARAP_TAKE(&arena, lines.count, double);
    status = arap_arena_status(&arena, &context->error, "the rigid parts");
    for (int p = 0; p < solver->mesh.part_count && !status; p++) {
        const arap_candidate *c = &search->parts[p];
        int from =
            c->is_rigid && !c->hanging_end && !c->is_decided ? arap_owner_of_part(search, p) : -1;
        if (from < 0 || owned[from] < 2) continue;
        status = arap_poll_cancel(context);
        int to = nearest_bone(search, &lines, c, distance);
        if (to < 0 || owned[to] ||
            (arap_candidate_is_own_image(search, c) && solver->symmetry.bone[to] != to))
            continue;
        if (!arap_candidate_follow(search, p, to)) continue;
        owned[from]--;
        *changes = 1;
    }

done:
    arap_arena_clear(&arena);
    arap_bone_lines_clear(&lines);
    return status;
}
