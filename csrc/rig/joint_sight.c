/* Detects skin of other limbs next to leaves: see joint_ways.h.
 *
 * The skin of a leaf is nearer to the leaf's joint than to any segment. Skin of another limb can be
 * equally near, such as the underside of a head above the joint of a foreleg. However, the vertices
 * next to a leaf form pieces connected by edges, and skin of another limb is a separate piece. The
 * skin around a joint is visible from the joint, from the inside. The skin of other limbs is hidden
 * or visible from the outside. Therefore, a piece belongs to another limb if less than SEEN of its
 * area is visible from the joint, and if the piece mostly turns its outside to the joint. This is
 * the case if the area whose outside faces the joint exceeds FACING times the area whose inside
 * faces the joint. Areas are weighted by the cosines between their normals and the directions from
 * the joint. A whole loose part, such as hair around a head, does not belong to another limb.
 *
 * Each vertex next to a leaf takes one ray, which costs O(triangles). Fails on out-of-memory, or
 * when cancelled. */
#include "rig/joint_ways.h"

#include <math.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "mesh/sight.h"

#define CHUNK 256
#define SEEN 0.1
#define FACING 2 /* ratio by which more of a piece has its outside toward the joint */
/* a face this close to an end of a ray, as a share of its length, is not between its ends */
#define BETWEEN 1e-6

/* The leaf next to a vertex, or -1. */
static int leaf_of(const arap_joint_study *t, int i) {
    const arap_joint_way *w = &t->way[t->near[i]];
    if (w->to < 0) return w->from;
    return t->at_end[i] && !t->children[w->to] ? w->to : -1;
}

/* Set `strange` to a preliminary value: whether a face is between the vertex and the joint of its
 * leaf. */
static void look(void *data, int chunk, int worker) {
    (void)worker;
    const arap_joint_study *t = data;
    int end = arap_chunk_end(chunk, CHUNK, t->mesh->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        int leaf = leaf_of(t, i);
        t->strange[i] =
            leaf >= 0 && arap_bvh_crossed(t->faces, t->head + 3 * leaf, t->mesh->v + 3 * (size_t)i,
                                          arap_face_between, &(arap_sight){t->mesh, i, BETWEEN});
    }
}

/* Find the pieces next to each leaf, by their roots in `set`. leads_on: the piece continues
 * beyond. */
static void find_pieces(const arap_joint_study *t, int *set, char *leads_on) {
    const int *tri = t->mesh->triangles;
    for (int i = 0; i < t->mesh->count; i++) set[i] = i, leads_on[i] = 0;
    for (size_t k = 0; k < 3 * t->mesh->triangle_count; k++) {
        int a = tri[k], b = tri[k % 3 == 2 ? k - 2 : k + 1];
        if (leaf_of(t, a) == leaf_of(t, b)) arap_unite(set, a, b);
    }
    for (size_t k = 0; k < 3 * t->mesh->triangle_count; k++) {
        int a = tri[k], b = tri[k % 3 == 2 ? k - 2 : k + 1];
        if (leaf_of(t, a) == leaf_of(t, b)) continue;
        leads_on[arap_find_root(set, a)] = leads_on[arap_find_root(set, b)] = 1;
    }
}

/* The cosine between the normal of a vertex and the direction from a point. */
static double turned(const arap_joint_study *t, int i, const double *point) {
    double from[3];
    const double *normal = t->normal + 3 * (size_t)i;
    arap_sub(t->mesh->v + 3 * (size_t)i, point, from);
    double long2 = arap_dot(from, from) * arap_dot(normal, normal);
    return long2 > 0 ? arap_dot(from, normal) / sqrt(long2) : 0;
}

/* Return 1 if normals point outward, away from the segments in the mesh, otherwise -1. */
static double side_of_normals(const arap_joint_study *t) {
    double sum = 0, point[3];
    for (int i = 0; i < t->mesh->count; i++) {
        const arap_joint_way *w = &t->way[t->near[i]];
        arap_nearest_on_segment(t->mesh->v + 3 * (size_t)i, w->a, w->b, point);
        sum += t->area[i] * turned(t, i, point);
    }
    return sum < 0 ? -1 : 1;
}

/* Areas of a piece: all of it, the visible part, and the parts whose inside or outside faces the
 * joint. */
typedef struct leaf_piece {
    double all, seen, in, out;
} leaf_piece;

/* Extend the marks from hidden vertices to whole pieces. piece: (vertices) by their roots. */
static void judge_pieces(const arap_joint_study *t, int *set, const char *leads_on,
                         leaf_piece *piece) {
    int count = t->mesh->count;
    for (int i = 0; i < count; i++) piece[i] = (leaf_piece){0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        leaf_piece *p = &piece[arap_find_root(set, i)];
        int leaf = leaf_of(t, i);
        if (leaf < 0) continue;
        double cosine = t->side * turned(t, i, t->head + 3 * leaf);
        p->all += t->area[i];
        p->in += t->area[i] * fmax(cosine, 0);
        p->out += t->area[i] * fmax(-cosine, 0);
        if (!t->strange[i]) p->seen += t->area[i];
    }
    for (int i = 0; i < count; i++) {
        int root = arap_find_root(set, i), leaf = leaf_of(t, i);
        const leaf_piece *p = &piece[root];
        t->strange[i] =
            leaf >= 0 && leads_on[root] && !(p->seen > SEEN * p->all) && p->out > FACING * p->in;
    }
}

arap_status arap_look_from_leaves(arap_context *context, arap_joint_study *t) {
    arap_arena arena = {0};
    int count = t->mesh->count;
    t->side = side_of_normals(t);
    if (!t->mesh->triangle_count) return ARAP_OK;
    int *set = ARAP_TAKE(&arena, count, int);
    leaf_piece *piece = ARAP_TAKE(&arena, count, leaf_piece);
    char *leads_on = ARAP_TAKE(&arena, count, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the joints");
    if (!status && !t->faces) status = arap_face_bvh(context, t->mesh, NULL, &t->faces);
    if (!status) status = arap_parallel(context, arap_chunks(count, CHUNK), look, t);
    if (!status) {
        find_pieces(t, set, leads_on);
        judge_pieces(t, set, leads_on, piece);
    }
    arap_arena_clear(&arena);
    return status;
}
