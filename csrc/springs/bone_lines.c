/* Bones as lines: see bone_lines.h.
 *
 * The nearest point on a line is head + t along, with t = (p - head) . along clamped between 0 and
 * the length. Creating the lines takes O(lines) time and memory. The distances of a point from all
 * lines are computed in one loop without branches over seven arrays, which takes about 1 ns per
 * line. Fails only on out-of-memory. */
#include "springs/bone_lines.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "base/wide.h"

/* a child whose head is closer continues the bone, as a share of the bone's length */
#define SAME_PLACE 0.3

static void find_joints(const arap_skeleton *s, arap_bone_lines *lines) {
    for (int k = 0; k < lines->count; k++)
        lines->line[k].head_joint = s->deform_parent[lines->line[k].bone] >= 0;
    for (int d = 0; d < s->deform_count; d++) {
        int parent = s->deform_parent[d];
        if (parent < 0) continue;
        const double *head = s->heads + 3 * s->deform_bone[d];
        for (int k = s->line_start[parent]; k < s->line_start[parent + 1]; k++) {
            arap_bone_line *l = &lines->line[k];
            double gap2 = arap_distance2(head, s->lines[k].b);
            l->tail_joint |= gap2 < SAME_PLACE * SAME_PLACE * l->length * l->length;
        }
    }
}

arap_status arap_bone_lines_create(arap_context *context, const arap_skeleton *skeleton,
                                   arap_bone_lines *out) {
    size_t count = (size_t)skeleton->line_start[skeleton->deform_count];
    *out = (arap_bone_lines){.count = (int)count,
                             .start = skeleton->line_start,
                             .line = ARAP_NEW_ZERO(arap_bone_line, count),
                             .lanes = ARAP_NEW(double, 7 * count)};
    if (!out->line || !out->lanes) {
        arap_bone_lines_clear(out);
        return arap_fail_memory(&context->error, "the bones as lines");
    }
    for (size_t k = 0; k < count; k++) {
        arap_bone_line *l = &out->line[k];
        l->bone = skeleton->lines[k].owner;
        l->head = skeleton->lines[k].a;
        arap_sub(skeleton->lines[k].b, l->head, l->along);
        l->length = sqrt(arap_dot(l->along, l->along));
        for (size_t c = 0; c < 3; c++) {
            l->along[c] = l->length > 0 ? l->along[c] / l->length : 0;
            out->lanes[c * count + k] = l->head[c];
            out->lanes[(3 + c) * count + k] = l->along[c];
        }
        out->lanes[6 * count + k] = l->length;
    }
    find_joints(skeleton, out);
    return ARAP_OK;
}

void arap_bone_lines_clear(arap_bone_lines *lines) {
    arap_free(lines->line);
    arap_free(lines->lanes);
    *lines = (arap_bone_lines){0};
}

int arap_nearest_line(const arap_bone_lines *lines, int bone, const double *p) {
    double min = INFINITY, place, point[3];
    int best = lines->start[bone];
    if (lines->start[bone + 1] == best + 1) return best;
    for (int k = best; k < lines->start[bone + 1]; k++) {
        double distance = arap_line_distance(&lines->line[k], p, &place, point);
        if (!(distance < min)) continue;
        min = distance;
        best = k;
    }
    return best;
}

double arap_line_distance(const arap_bone_line *line, const double *p, double *place,
                          double *point) {
    double from[3];
    arap_sub(p, line->head, from);
    *place = fmin(fmax(arap_dot(from, line->along), 0), line->length);
    for (int c = 0; c < 3; c++) point[c] = line->head[c] + *place * line->along[c];
    return sqrt(arap_distance2(p, point));
}

ARAP_WIDE_PART void find_distances_plain(const arap_bone_lines *lines, const double *p,
                                         double *restrict out) {
    int count = lines->count;
    const double *hx = lines->lanes, *hy = hx + count, *hz = hy + count;
    const double *ax = hz + count, *ay = ax + count, *az = ay + count, *length = az + count;
    double x = p[0], y = p[1], z = p[2];
    for (int b = 0; b < count; b++) {
        double place = (x - hx[b]) * ax[b] + (y - hy[b]) * ay[b] + (z - hz[b]) * az[b];
        place = place > 0 ? place : 0;
        place = place < length[b] ? place : length[b];
        double dx = x - (hx[b] + place * ax[b]), dy = y - (hy[b] + place * ay[b]);
        double dz = z - (hz[b] + place * az[b]);
        out[b] = sqrt(dx * dx + dy * dy + dz * dz);
    }
}
ARAP_WIDE(find_distances, (const arap_bone_lines *lines, const double *p, double *restrict out),
          (lines, p, out))

void arap_line_distances(const arap_bone_lines *lines, const double *p, double *out) {
    find_distances(lines, p, out);
}
