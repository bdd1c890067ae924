/* Enclosed volume: see enclosure.h.
 *
 *     V = sum over triangles (p - o) . (q - o) x (r - o) / 6
 * for any point o; it is a corner of the mesh, so that nothing is lost far from the origin. In half
 * of the directed edges of a closed part the tail has the lower index, and the other half are their
 * reverses: sorted by both ends, into buckets by the lower one first, they come in pairs.
 *
 * O(triangles log ring), then O(triangles) for a pose, groups of poses in parallel; 40 bytes
 * for a triangle while it is made. Fails without memory. */
#include "measures/enclosure.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "measures/pose_lanes.h"

#define INSERTED 32 /* keys of a vertex: more are sorted by qsort */

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The edge of a triangle from its corner k: both ends, the lower one first, then its direction. */
static uint64_t edge_key(const int *triangle, int k) {
    uint64_t from = (uint64_t)triangle[k], to = (uint64_t)triangle[(k + 1) % 3];
    return from < to ? from << 33 | to << 1 : to << 33 | from << 1 | 1;
}

/* Ascending; most vertices have few edges. */
static void sort_keys(uint64_t *keys, size_t count) {
    if (count > INSERTED) {
        qsort(keys, count, sizeof *keys, compare);
        return;
    }
    for (size_t k = 1; k < count; k++) {
        uint64_t key = keys[k];
        size_t at = k;
        for (; at && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Join the vertices of triangles, and mark in `open` (n) the roots of parts with an edge that is
 * not of two triangles that turn the same way. Scratch: keys (3 triangle_count), start (n + 2) of
 * zeros. */
static void find_parts(int n, const int *triangles, size_t triangle_count, int *part, char *open,
                       uint64_t *keys, size_t *start) {
    for (size_t e = 0; e < 3 * triangle_count; e++) {
        const int *t = triangles + e - e % 3;
        arap_unite(part, t[e % 3], t[(e + 1) % 3]);
        start[(edge_key(t, (int)(e % 3)) >> 33) + 2]++;
    }
    for (size_t i = 2; i < (size_t)n + 2; i++) start[i] += start[i - 1];
    for (size_t e = 0; e < 3 * triangle_count; e++) {
        uint64_t key = edge_key(triangles + e - e % 3, (int)(e % 3));
        keys[start[(key >> 33) + 1]++] = key;
    }
    for (size_t i = 0; i < (size_t)n; i++) sort_keys(keys + start[i], start[i + 1] - start[i]);
    for (size_t e = 0; e < 3 * triangle_count;) {
        size_t end = e;
        while (end < 3 * triangle_count && keys[end] >> 1 == keys[e] >> 1) end++;
        if (end - e != 2 || keys[e] == keys[e + 1])
            open[arap_find_root(part, (int)(keys[e] >> 33))] = 1;
        e = end;
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
    int *part = ARAP_NEW(int, n);
    char *open = ARAP_NEW_ZERO(char, n);
    double *volume = ARAP_NEW_ZERO(double, n);
    uint64_t *keys = ARAP_NEW(uint64_t, 3 * triangle_count);
    size_t *start = ARAP_NEW_ZERO(size_t, (size_t)n + 2);
    arap_status status = ARAP_OK;
    *enclosure = (arap_enclosure){.vertices = n, .corner = ARAP_NEW(int, 3 * triangle_count)};
    if (!part || !open || !volume || !keys || !start || !enclosure->corner) {
        arap_enclosure_clear(enclosure);
        status = arap_fail_memory(&context->error, "the closed parts");
        goto done;
    }
    for (int i = 0; i < n; i++) part[i] = i;
    find_parts(n, triangles, triangle_count, part, open, keys, start);
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
    arap_free(part);
    arap_free(open);
    arap_free(volume);
    arap_free(keys);
    arap_free(start);
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

/* p . q x r of the corners of a triangle less those of the origin, in the poses of a group. */
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
