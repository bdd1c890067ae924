/* Bendy bones: see bendy.h.
 *
 * A bendy bone of S segments has S + 1 joints with a transform M_j each. A vertex at position u
 * along the bone lies between the joints j = floor(u S) and j + 1 (the last two at u = 1), and
 * follows
 *     T_ib = (1 - s) M_j + s M_j+1,   s = u S - j
 * as in Blender (BKE_pchan_bbone_deform_clamp_segment_index). Therefore, w_ib is divided between
 * two columns of transforms at the fixed ratio (1 - s) : s, and all sums over poses that exist for
 * rigid bones (Gram matrix, moments: docs/energy.md 4) become sums for columns. No vertex is
 * visited per pose, but a pair of bendy bones takes up to four times as many products as a pair of
 * rigid bones.
 *
 * Random poses bend the bone as a spine (spines.h) with u_j = j / S, the many-bones form of
 * docs/energy.md 2. If the spine is stretched by sigma, joints scale along the bone as well. With e
 * = E / |E|,
 *     M_j p = T (c(u_j) + R(u_j) D (p - e0 - u_j E)),   D = I + (sigma - 1) e e'
 * M_j therefore moves points next to u_j as the spine does and continues along the tangent of the
 * spine, and stretch.h takes the stretch into account. All M_j of a straight bone are equal to D
 * about the head. Between the ends (0 < u < 1), the result equals that of the spine, but the
 * stretch also continues beyond the ends.
 *
 * This file takes O(vertices x bendy bones) time and memory. Sums over poses take O(columns^2),
 * because the Gram matrix has 16 numbers per pair of columns. For example, 100 bones of 31 segments
 * have 3200 columns and take 1.3 GB. Fails on out-of-memory and for invalid parameters. */
#include "rig/bendy.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "rig/spines.h"

static inline int is_bendy(const arap_skeleton *s, int deforming) {
    return s->kinds[s->deform_bone[deforming]] == ARAP_BONE_BENDY;
}

int arap_joint_count(const arap_bones *bones) {
    int joints = 0;
    for (int b = 0; b < bones->count && bones->kinds && bones->segments; b++) {
        int deforms = !bones->deform || bones->deform[b], segments = bones->segments[b];
        int valid = segments >= 1 && segments <= ARAP_MAX_SEGMENTS; /* or an error later on */
        if (bones->kinds[b] == ARAP_BONE_BENDY && deforms && valid) joints += segments + 1;
    }
    return joints;
}

int arap_bendy_columns(const arap_skeleton *skeleton) {
    int columns = 0;
    for (int d = 0; d < skeleton->deform_count; d++)
        if (is_bendy(skeleton, d)) columns += skeleton->bendy_segments[skeleton->deform_bone[d]];
    return columns;
}

arap_status arap_bendy_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, int bones, const double *parameters,
                              arap_bendy *bendy) {
    *bendy = (arap_bendy){0};
    for (int d = 0; d < skeleton->deform_count; d++) bendy->count += is_bendy(skeleton, d);
    if (!bendy->count) return ARAP_OK;
    bendy->place = ARAP_TAKE(&bendy->arena, bones, int);
    bendy->bone = ARAP_TAKE(&bendy->arena, bendy->count, int);
    bendy->segments = ARAP_TAKE(&bendy->arena, bendy->count, int);
    bendy->further = ARAP_TAKE(&bendy->arena, bendy->count, int);
    bendy->parameter = ARAP_TAKE(&bendy->arena, (size_t)mesh->count * (size_t)bendy->count, double);
    arap_status status = arap_arena_status(&bendy->arena, &context->error, "the bendy bones");
    if (status) goto done;
    for (int d = 0, k = 0, column = bones; d < bones; d++) {
        bendy->place[d] = -1;
        if (d >= skeleton->deform_count || !is_bendy(skeleton, d)) continue;
        bendy->place[d] = k;
        bendy->bone[k] = d;
        bendy->segments[k] = skeleton->bendy_segments[skeleton->deform_bone[d]];
        bendy->further[k] = column;
        column += bendy->segments[k++];
    }
    for (int k = 0; k < bendy->count && !status; k++)
        status = arap_bone_parameters(&context->error, skeleton, mesh,
                                      skeleton->deform_bone[bendy->bone[k]], parameters,
                                      bendy->parameter + k, bendy->count);

done:
    if (status) arap_bendy_clear(bendy);
    return status;
}

void arap_bendy_clear(arap_bendy *bendy) {
    arap_arena_clear(&bendy->arena);
    *bendy = (arap_bendy){0};
}

/* Apply `transform` (3, 4) after the scale along the bone about its position u. */
static void scale_along(const double *head, const double *tail, double u, double stretch,
                        double *transform) {
    double along[3], center[3];
    arap_sub(tail, head, along);
    double length2 = arap_dot(along, along), share = length2 > 0 ? (stretch - 1) / length2 : 0;
    for (int c = 0; c < 3; c++) center[c] = head[c] + u * along[c];
    for (int r = 0; r < 3; r++) {
        double *row = transform + 4 * r, moved = share * arap_dot(row, along);
        for (int c = 0; c < 3; c++) row[c] += moved * along[c];
        row[3] -= moved * arap_dot(along, center);
    }
}

void arap_bendy_bend(const arap_bendy *bendy, const arap_skeleton *skeleton, const double *bends,
                     double *transforms) {
    static const double straight[ARAP_BEND] = {0, 0, 0, 1};
    for (int k = 0; k < bendy->count; k++) {
        int b = skeleton->deform_bone[bendy->bone[k]];
        const double *head = skeleton->heads + 3 * b, *tail = skeleton->tails + 3 * b;
        const double *bend = bends ? bends + ARAP_BEND * b : straight;
        double base[12];
        memcpy(base, transforms + 12 * bendy->bone[k], sizeof base);
        for (int j = 0; j <= bendy->segments[k]; j++) {
            double own[12], u = (double)j / bendy->segments[k];
            int column = j ? bendy->further[k] + j - 1 : bendy->bone[k];
            arap_spine_transform(head, tail, bend, u, own, NULL);
            scale_along(head, tail, u, bend[3], own);
            arap_compose(base, own, transforms + 12 * column);
        }
    }
}

void arap_bendy_take(const arap_bendy *bendy, const double *joints, double *transforms) {
    for (int k = 0; k < bendy->count; k++) {
        memcpy(transforms + 12 * bendy->bone[k], joints, 12 * sizeof(double));
        memcpy(transforms + 12 * bendy->further[k], joints + 12,
               12 * (size_t)bendy->segments[k] * sizeof(double));
        joints += 12 * (bendy->segments[k] + 1);
    }
}

arap_status arap_bendy_expand(arap_context *context, const arap_bendy *bendy,
                              const arap_influences *in, arap_influences *out) {
    int *sizes = ARAP_NEW_ZERO(int, in->count), column[2];
    double share[2];
    if (!sizes) return arap_fail_memory(&context->error, "the bendy bones");
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            sizes[i] += arap_bone_columns(bendy, i, in->bone[e], column, share);
    arap_status status = arap_influences_create(context, in->count, sizes, out);
    arap_free(sizes);
    if (!status) arap_bendy_update(bendy, in, out);
    return status;
}

void arap_bendy_update(const arap_bendy *bendy, const arap_influences *in, arap_influences *out) {
    size_t fill = 0;
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            int column[2];
            double share[2];
            int count = arap_bone_columns(bendy, i, in->bone[e], column, share);
            for (int c = 0; c < count; c++) {
                out->bone[fill] = column[c];
                out->weight[fill++] = share[c] * in->weight[e];
            }
        }
}

void arap_bendy_gather(const arap_bendy *bendy, const arap_influences *in, const double *columns,
                       double *out) {
    for (int i = 0; i < in->count; i++)
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            int column[2];
            double share[2];
            int count = arap_bone_columns(bendy, i, in->bone[e], column, share);
            out[e] = 0;
            for (int c = 0; c < count; c++) out[e] += share[c] * *columns++;
        }
}
