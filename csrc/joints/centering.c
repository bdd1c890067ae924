/* The centering term: see joints/state.h.
 *
 * If the parts of a model move rigidly about a joint, no edge is stretched, regardless of the
 * position of the joint. A_J is then zero for this joint, and the joint stays in place. In this
 * case, the best estimate is the middle of the limb. The middle is the mean of the surface near the
 * joint, in a slab across the mean direction of its bones (a Gaussian of a fifth of their mean
 * length). Vertices are weighted by area and by their weights for these bones. The pull acts only
 * across the bones, because a limb has no middle along them. Takes O(vertices x joints) once. It
 * cannot fail.
 */
#include "joints/state.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"

#define SLAB 0.2 /* as a share of the mean length of the bones */

/* Unit direction of the deforming bones that meet at the joint; 0 without bones or if they
 * cancel. */
static int find_direction(const arap_skeleton *skeleton, const arap_joints *joints, int joint,
                          double *direction) {
    memset(direction, 0, 3 * sizeof(double));
    for (int d = 0; d < joints->deforming; d++) {
        int b = skeleton->deform_bone[d], head = joints->head[b], tail = joints->tail[b];
        double bone[3];
        if (head != joint && tail != joint) continue;
        arap_sub(joints->rest + 3 * tail, joints->rest + 3 * head, bone);
        double length = sqrt(arap_dot(bone, bone));
        for (int c = 0; length > 0 && c < 3; c++) direction[c] += bone[c] / length;
    }
    double length = sqrt(arap_dot(direction, direction));
    for (int c = 0; length > 0 && c < 3; c++) direction[c] /= length;
    return length > 0.1;
}

/* Share of the weights of vertex i that belongs to the bones meeting at the joint. */
static double share_at(const arap_skeleton *skeleton, const arap_influences *in,
                       const arap_joints *joints, int joint, int i) {
    double sum = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int d = in->bone[e], b = skeleton->deform_bone[d], up = joints->up[d];
        int above = up >= 0 && joints->pivot[d] == joint;
        int below = 0;
        for (int c = 0; c < joints->deforming && !above && !below; c++)
            below = joints->up[c] == d && joints->pivot[c] == joint;
        if (above || below || joints->head[b] == joint || joints->tail[b] == joint)
            sum += in->weight[e];
    }
    return sum;
}

void arap_find_centers(const arap_mesh *mesh, const arap_skeleton *skeleton,
                       const arap_influences *influences, const arap_joints *joints,
                       const double *matrix, double unit, double strength, double *center,
                       double *block) {
    size_t size = 3 * (size_t)joints->count;
    memset(block, 0, 3 * size * sizeof(double));
    for (int d = 0; d < joints->deforming; d++) {
        int j = joints->pivot[d];
        double y[3], sum[3] = {0, 0, 0}, total = 0, own = 0;
        if (j < 0 || joints->pinned[j] || !find_direction(skeleton, joints, j, y)) continue;
        for (int r = 0; r < 3; r++) {
            const double *row = matrix + size * (size_t)(3 * j + r) + 3 * (size_t)j;
            own += row[r] - y[r] * arap_dot(row, y);
        }
        double lacking = strength - 0.5 * fmax(own, 0) / unit;
        double slab = SLAB * arap_joint_bone_length(joints, j);
        if (lacking <= 0 || !(slab > 0)) continue;
        for (int i = 0; i < mesh->count; i++) {
            double from[3];
            arap_sub(mesh->v + 3 * (size_t)i, joints->rest + 3 * j, from);
            double along = arap_dot(from, y) / slab;
            if (fabs(along) > 3) continue;
            double share = mesh->area[i] * exp(-0.5 * along * along) *
                           share_at(skeleton, influences, joints, j, i);
            for (int c = 0; c < 3; c++) sum[c] += share * from[c];
            total += share;
        }
        if (!(total > 0)) continue;
        double along = arap_dot(sum, y) / total;
        for (int c = 0; c < 3; c++)
            center[3 * j + c] = joints->rest[3 * j + c] + sum[c] / total - along * y[c];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                block[9 * j + 3 * r + c] = lacking * ((r == c) - y[r] * y[c]);
    }
}
