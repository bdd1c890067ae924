/* Finds partners in a nearly symmetric mesh: see pair_growth.h.
 *
 * A sculpted or scanned body deviates from symmetry by some thousandths of its size, which is about
 * the length of its edges. The vertex nearest to an image is therefore often a neighbor of the
 * partner, or no vertex is near. However, the deviation is smooth, so edges are still images of
 * each other:
 *
 *   x_l - x_j = S (x_k - x_i)   for partners i, j and their neighbors k, l,
 *
 * within half the length of the edge, where the distance from l to the image of k is at most 2 % of
 * the mesh size. In each part, the largest set of partners found by position and connected by edges
 * that are images within a tenth of their length is trusted. Other pairs may be wrong by one
 * vertex. From this set, partners grow along edges, and the pairs that fit best come first
 * (pair_growth.h). Fails on out-of-memory.
 * */

#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "rig/pair_growth.h"

#define EXACT 1e-5 /* images closer than this share of the size are exact */
#define LEVELS 3

/* Allowed deviation of an edge's image, as a share of its length, from the first to the last round
 * of growth. */
static const double along[LEVELS] = {0.1, 0.25, 0.5};

static double off_image(const arap_mesh *mesh, const arap_symmetry *symmetry, int i, int j) {
    double image[3];
    arap_reflect(symmetry, mesh->v + 3 * (size_t)i, symmetry->offset, image);
    return sqrt(arap_distance2(image, mesh->v + 3 * (size_t)j));
}

int arap_is_nearly_symmetric(const arap_mesh *mesh, const arap_symmetry *symmetry) {
    int exact = 0;
    for (int i = 0; i < mesh->count; i++) {
        int j = symmetry->vertex[i];
        exact += mesh->main[i] && j >= 0 && off_image(mesh, symmetry, i, j) <= EXACT * mesh->size;
    }
    return 2 * exact < mesh->main_count;
}

static int count_pairs(const arap_mesh *mesh, const arap_symmetry *symmetry) {
    int count = 0;
    for (int i = 0; i < mesh->count; i++) count += symmetry->vertex[i] >= i;
    return count;
}

/* Whether edge e of vertex i, between two vertices with partners, is the image of the edge between
 * the partners. */
static int fits(const arap_mesh *mesh, const arap_symmetry *symmetry, int i, size_t e) {
    double edge[3], image[3], other[3];
    int j = symmetry->vertex[i], l = symmetry->vertex[mesh->neighbor[e]];
    arap_mesh_edge(mesh, i, e, edge);
    arap_reflect(symmetry, edge, 0, image);
    arap_sub(mesh->v + 3 * (size_t)l, mesh->v + 3 * (size_t)j, other);
    return arap_distance2(image, other) <= along[0] * along[0] * arap_dot(edge, edge);
}

/* Remove the partners outside the largest set of each part. A set consists of connected vertices
 * and their partners. size, set, largest: (vertices, vertices, parts). */
static void keep_largest(const arap_mesh *mesh, arap_symmetry *symmetry, int *set, int *size,
                         int *largest) {
    for (int i = 0; i < mesh->count; i++) set[i] = i, size[i] = 0;
    for (int p = 0; p < mesh->part_count; p++) largest[p] = -1;
    for (int i = 0; i < mesh->count; i++) {
        int j = symmetry->vertex[i];
        if (j < 0) continue;
        arap_unite(set, i, j);
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            if (symmetry->vertex[mesh->neighbor[e]] >= 0 && !arap_mesh_is_link(mesh, e) &&
                fits(mesh, symmetry, i, e))
                arap_unite(set, i, mesh->neighbor[e]);
    }
    for (int i = 0; i < mesh->count; i++)
        if (symmetry->vertex[i] >= 0) size[arap_find_root(set, i)]++;
    for (int i = 0; i < mesh->count; i++) {
        int *best = &largest[mesh->part[i]], own = arap_find_root(set, i);
        if (symmetry->vertex[i] >= 0 && (*best < 0 || size[own] > size[*best])) *best = own;
    }
    for (int i = 0; i < mesh->count; i++)
        if (symmetry->vertex[i] >= 0 && largest[mesh->part[i]] != arap_find_root(set, i)) {
            symmetry->vertex[symmetry->vertex[i]] = -1;
            symmetry->vertex[i] = -1;
        }
}

arap_status arap_grow_partners(arap_context *context, const arap_mesh *mesh,
                               arap_symmetry *symmetry) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count;
    int *before = ARAP_TAKE(&arena, n, int), *queue = ARAP_TAKE(&arena, n, int),
        *set = ARAP_TAKE(&arena, n, int);
    int *largest = ARAP_TAKE(&arena, (size_t)mesh->part_count, int), max;
    arap_status status = arap_arena_status(&arena, &context->error, "the symmetry map");
    if (status) goto done;
    memcpy(before, symmetry->vertex, n * sizeof *before);
    max = count_pairs(mesh, symmetry);
    keep_largest(mesh, symmetry, set, queue, largest);
    for (int level = 0; level < LEVELS; level++) {
        status = arap_grow_pairs(context, mesh, ARAP_GROWTH_EDGES, along[level], symmetry);
        if (status) goto done;
    }
    if (count_pairs(mesh, symmetry) < max) memcpy(symmetry->vertex, before, n * sizeof *before);

done:
    arap_arena_clear(&arena);
    return status;
}
