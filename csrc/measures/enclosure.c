/* Enclosed volume: see enclosure.h.
 *
 *     V = sum over triangles (p - o) . (q - o) x (r - o) / 6
 * for any point o. In this file, o is a corner of the mesh, so no precision is lost far from the
 * origin. In a closed part, half of the directed edges start at their end with the lower index, and
 * the other half are the reverses of these edges. Among the edges with the same lower end, each
 * other end occurs once in either direction.
 *
 * Creation takes O(triangles), and so does each pose. Groups of poses are processed in parallel.
 * Creation needs 24 bytes per triangle. Fails on out-of-memory. */
#include "measures/enclosure.h"

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "measures/pose_lanes.h"

#define FORTH 1
#define BACK 2

/* Join the vertices of triangles, and mark in `open` (n) the roots of parts with an edge that does
 * not belong to two consistently oriented triangles. Scratch: ends (3 triangle_count), start (n +
 * 2) and met (n) of zeros. */
static void find_parts(int n, const int *triangles, size_t triangle_count, int *part, char *open,
                       unsigned *ends, size_t *start, char *met) {
    /* The edges from each corner to the next, and from the last one to the first. */
    for (size_t t = 0; t < triangle_count; t++) {
        const int *tri = triangles + 3 * t;
        arap_unite(part, tri[0], tri[1]);
        arap_unite(part, tri[1], tri[2]);
        for (int k = 0; k < 3; k++) {
            int from = tri[k], to = tri[k < 2 ? k + 1 : 0];
            start[(size_t)(from < to ? from : to) + 2]++;
        }
    }
    for (size_t i = 2; i < (size_t)n + 2; i++) start[i] += start[i - 1];
    for (size_t t = 0; t < triangle_count; t++) {
        const int *tri = triangles + 3 * t;
        for (int k = 0; k < 3; k++) {
            int from = tri[k], to = tri[k < 2 ? k + 1 : 0];
            unsigned forth = from < to, end = (unsigned)(forth ? to : from) << 1 | forth;
            ends[start[(size_t)(forth ? from : to) + 1]++] = end;
        }
    }
    for (size_t i = 0; i < (size_t)n; i++) {
        int twice = 0, alone = 0;
        for (size_t e = start[i]; e < start[i + 1]; e++) {
            char way = ends[e] & 1 ? FORTH : BACK, *other = met + (ends[e] >> 1);
            twice |= *other & way;
            *other |= way;
        }
        for (size_t e = start[i]; e < start[i + 1]; e++)
            alone |= met[ends[e] >> 1] != (FORTH | BACK);
        for (size_t e = start[i]; e < start[i + 1]; e++) met[ends[e] >> 1] = 0;
        if (twice || alone) open[arap_find_root(part, (int)i)] = 1;
    }
}

static double signed_volume(const int *corner, const double *points, const double *origin) {
    double p[3], q[3], r[3], cross[3];
    arap_sub(points + 3 * (size_t)corner[0], origin, p);
    arap_sub(points + 3 * (size_t)corner[1], origin, q);
    arap_sub(points + 3 * (size_t)corner[2], origin, r);
    arap_cross(q, r, cross);
    return arap_dot(p, cross) / 6;
}

arap_status arap_enclosure_create(arap_context *context, int n, const double *vertices,
                                  const int *triangles, size_t triangle_count,
                                  arap_enclosure *enclosure) {
    arap_arena arena = {0};
    int *part = ARAP_TAKE(&arena, n, int);
    char *open = ARAP_TAKE_ZERO(&arena, n, char);
    double *volume = ARAP_TAKE_ZERO(&arena, n, double);
    unsigned *ends = ARAP_TAKE(&arena, 3 * triangle_count, unsigned);
    size_t *start = ARAP_TAKE_ZERO(&arena, (size_t)n + 2, size_t);
    char *met = ARAP_TAKE_ZERO(&arena, n, char);
    *enclosure = (arap_enclosure){.vertices = n, .corner = ARAP_NEW(int, 3 * triangle_count)};
    arap_status status = enclosure->corner
                             ? arap_arena_status(&arena, &context->error, "the closed parts")
                             : arap_fail_memory(&context->error, "the closed parts");
    if (status) goto done;
    for (int i = 0; i < n; i++) part[i] = i;
    find_parts(n, triangles, triangle_count, part, open, ends, start, met);
    for (size_t t = 0; t < triangle_count; t++) {
        int root = arap_find_root(part, triangles[3 * t]);
        if (!open[root])
            volume[root] += signed_volume(triangles + 3 * t, vertices, vertices + 3 * (size_t)root);
    }
    for (int i = 0; i < n; i++) {
        enclosure->parts += part[i] == i && !open[i] && volume[i] != 0;
        enclosure->volume += fabs(volume[i]);
    }
    for (size_t t = 0; t < triangle_count; t++) {
        double own = volume[arap_find_root(part, triangles[3 * t])];
        if (own == 0) continue;
        int *corner = enclosure->corner + 3 * enclosure->count++;
        for (size_t k = 0; k < 3; k++) corner[k] = triangles[3 * t + (own < 0 ? 2 - k : k)];
    }

done:
    arap_arena_clear(&arena);
    if (status) arap_enclosure_clear(enclosure);
    return status;
}

void arap_enclosure_clear(arap_enclosure *enclosure) {
    arap_free(enclosure->corner);
    *enclosure = (arap_enclosure){0};
}

typedef struct volume_task {
    const arap_enclosure *enclosure;
    const double *points;
    double *out;
} volume_task;

/* p . q x r of the corners of a triangle relative to the origin, in the poses of a group. */
ARAP_WIDE_PART arap_v4 volume_of(const arap_v4_at *corner_p, const arap_v4_at *corner_q,
                                 const arap_v4_at *corner_r, const arap_v4_at *origin) {
    arap_v4 p[3], q[3], r[3];
    for (int c = 0; c < 3; c++) {
        p[c] = corner_p[c] - origin[c];
        q[c] = corner_q[c] - origin[c];
        r[c] = corner_r[c] - origin[c];
    }
    return p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
           p[2] * (q[0] * r[1] - q[1] * r[0]);
}

ARAP_WIDE_PART void sum_group_plain(void *data, int group, int worker) {
    (void)worker;
    const volume_task *task = data;
    const arap_enclosure *enclosure = task->enclosure;
    const double *points = task->points + arap_group_stride(enclosure->vertices) * (size_t)group;
    arap_v4 sum = {0};
    for (size_t t = 0; t < enclosure->count; t++) {
        const arap_v4_at *corner[3];
        for (size_t k = 0; k < 3; k++)
            corner[k] =
                (const arap_v4_at *)(points + arap_group_stride(enclosure->corner[3 * t + k]));
        sum += volume_of(corner[0], corner[1], corner[2],
                         (const arap_v4_at *)(points + arap_group_stride(enclosure->corner[0])));
    }
    for (int l = 0; l < ARAP_POSE_LANES; l++) task->out[group * ARAP_POSE_LANES + l] = sum[l] / 6;
}
ARAP_WIDE_TASK(sum_group)

arap_status arap_enclosed_volume(arap_context *context, const arap_enclosure *enclosure, int poses,
                                 const double *points, double *out) {
    volume_task task = {enclosure, points, out};
    return arap_parallel(context, arap_pose_groups(poses), sum_group, &task);
}
