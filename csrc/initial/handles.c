/* Handles of bones: see handles.h.
 *
 * In a volume, the handles are the vertices on a bone (for surfaces, see surface_handles.c). Few
 * meshes have vertices on bones, so points are placed on each bone, one edge length apart. If such
 * a point is inside the volume and has no handle within an edge, the vertex nearest to the point
 * becomes a handle, unless another bone is nearer to that vertex. A vertex that is equally near to
 * several bones is a handle of all of them. A bone inside the volume without a handle takes the
 * vertex nearest to one of its points, which it shares with any bone that already has this handle.
 * In a part of the mesh without handles, the vertex nearest to a bone becomes a handle. A bone
 * outside the volume may therefore have no handle. Given handles, such as single points, replace
 * all others of their bones.
 *
 * Takes O(tets log tets + points (log tets + handles)). The points are those placed on bones and
 * the vertices on bones. Fails on out-of-memory only. */
#include "initial/handles.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/embed.h"
#include "mesh/rings.h"

#define MAX_SAMPLES 1000 /* points on a bone */
#define INSIDE 1e-9      /* points closer to a tet are inside it */

/* Make a vertex a handle of the bones nearest to it. */
static arap_status claim(arap_context *context, const arap_visibility *visibility, int vertex,
                         arap_handles *list) {
    arap_status status = ARAP_OK;
    for (int s = 0; s < visibility->nearest_count[vertex] && !status; s++)
        status = arap_add_handle(context, list, vertex,
                                 visibility->nearest[(size_t)vertex * ARAP_MAX_SHARED + (size_t)s]);
    return status;
}

static double vertex_distance(const void *data, int index, const double *p) {
    return arap_distance2(p, ((const arap_mesh *)data)->v + 3 * (size_t)index);
}

static double mean_edge(const arap_mesh *mesh) {
    double sum = 0;
    for (int i = 0; i < mesh->count; i++)
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++)
            sum += sqrt(
                arap_distance2(mesh->v + 3 * (size_t)i, mesh->v + 3 * (size_t)mesh->neighbor[r]));
    return mesh->ring[mesh->count] ? sum / (double)mesh->ring[mesh->count] : 1;
}

/* Whether the bone has a handle within this distance of p. */
static int has_handle_near(const arap_mesh *mesh, const arap_handles *list, int bone,
                           const double *p, double distance) {
    for (int h = 0; h < list->count; h++)
        if (list->handle[h].bone == bone &&
            arap_distance2(mesh->v + 3 * (size_t)list->handle[h].vertex, p) <= distance * distance)
            return 1;
    return 0;
}

/* Find the handles of one bone from points along it. */
static arap_status sample_bone(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const arap_visibility *visibility,
                               const arap_tet_set *tets, const arap_bvh *vertices, double step,
                               int bone, arap_handles *list) {
    const double *head = skeleton->heads + 3 * (size_t)skeleton->deform_bone[bone],
                 *tail = skeleton->tails + 3 * (size_t)skeleton->deform_bone[bone];
    double wanted = ceil(sqrt(arap_distance2(head, tail)) / step), bary[4], distance;
    int count = wanted < 1 ? 1 : wanted > MAX_SAMPLES ? MAX_SAMPLES : (int)wanted, inner = -1;
    arap_status status = ARAP_OK;
    for (int k = 0; k < count && !status; k++) {
        double p[3], share = (k + 0.5) / count, d2 = INFINITY;
        for (int c = 0; c < 3; c++) p[c] = head[c] + share * (tail[c] - head[c]);
        arap_locate(tets, p, bary, &distance);
        if (distance > INSIDE) continue;
        int vertex = arap_bvh_nearest(vertices, p, -1, vertex_distance, mesh, &d2);
        if (visibility->on_bone[vertex] && !list->bones[vertex] &&
            !has_handle_near(mesh, list, bone, p, step))
            status = claim(context, visibility, vertex, list);
        if (inner < 0 || k <= count / 2) inner = vertex;
    }
    if (status || inner < 0) return status;
    return has_handle_near(mesh, list, bone, mesh->v, INFINITY)
               ? ARAP_OK
               : arap_add_handle(context, list, inner, bone);
}

/* Give a handle to parts of the mesh without one. */
static arap_status reach_islands(arap_context *context, const arap_mesh *mesh,
                                 const arap_visibility *visibility, arap_handles *list) {
    arap_arena arena = {0};
    int n = mesh->count;
    int *island = ARAP_TAKE(&arena, n, int), *nearest = ARAP_TAKE(&arena, n, int);
    char *has = ARAP_TAKE_ZERO(&arena, n, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the handles of bones");
    if (status) goto done;
    int count = arap_find_islands(mesh, island, nearest);
    for (int k = 0; k < count; k++) nearest[k] = -1;
    for (int i = 0; i < n; i++) {
        int *best = &nearest[island[i]];
        has[island[i]] |= list->bones[i] > 0;
        if (*best < 0 || visibility->distance[i] < visibility->distance[*best]) *best = i;
    }
    for (int k = 0; k < count && !status; k++)
        if (!has[k]) status = claim(context, visibility, nearest[k], list);

done:
    arap_arena_clear(&arena);
    return status;
}

/* Find the handles of a volume, except those for islands without any. */
static arap_status find_inside(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const arap_visibility *visibility,
                               arap_handles *list) {
    int n = mesh->count;
    double *boxes = ARAP_NEW(double, 6 * (size_t)n), step = mean_edge(mesh);
    arap_bvh *vertices = NULL;
    arap_tet_set tets = {0};
    arap_status status = ARAP_OK;
    if (!boxes) return arap_fail_memory(&context->error, "the handles of bones");
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 6; c++)
            boxes[6 * (size_t)i + (size_t)c] = mesh->v[3 * (size_t)i + (size_t)(c % 3)];
    status = arap_bvh_build(context, &vertices, (size_t)n, boxes, NULL);
    if (!status) status = arap_tet_set_create(context, mesh->v, mesh->tets, mesh->tet_count, &tets);
    for (int i = 0; i < n && !status; i++)
        if (visibility->on_bone[i] && visibility->distance[i] <= ARAP_ON_BONE)
            status = claim(context, visibility, i, list);
    for (int b = 0; b < skeleton->deform_count && !status; b++)
        status = sample_bone(context, mesh, skeleton, visibility, &tets, vertices, step, b, list);
    arap_free(boxes);
    arap_bvh_free(vertices);
    arap_tet_set_clear(&tets);
    return status;
}

/* Replace the handles of the bones with given ones, and those at the given vertices. */
static arap_status replace(arap_context *context, const arap_skeleton *skeleton,
                           const arap_handles *given, arap_handles *list) {
    char *has_given = ARAP_NEW_ZERO(char, skeleton->deform_count);
    int kept = 0;
    arap_status status = ARAP_OK;
    if (!has_given) return arap_fail_memory(&context->error, "the handles of bones");
    for (int h = 0; h < given->count; h++) has_given[given->handle[h].bone] = 1;
    for (int h = 0; h < list->count; h++) {
        struct arap_handle found = list->handle[h];
        if (has_given[found.bone] || given->bones[found.vertex])
            list->bones[found.vertex]--;
        else
            list->handle[kept++] = found;
    }
    list->count = kept;
    for (int h = 0; h < given->count && !status; h++)
        status = arap_add_handle(context, list, given->handle[h].vertex, given->handle[h].bone);
    arap_free(has_given);
    return status;
}

arap_status arap_find_handles(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const arap_handles *given, arap_handles *out) {
    out->bones = ARAP_NEW_ZERO(int, mesh->count);
    if (!out->bones) return arap_fail_memory(&context->error, "the handles of bones");
    arap_status status = mesh->tet_count
                             ? find_inside(context, mesh, skeleton, visibility, out)
                             : arap_find_cores(context, mesh, skeleton, visibility, out);
    if (!status && given) status = replace(context, skeleton, given, out);
    return status ? status : reach_islands(context, mesh, visibility, out);
}
