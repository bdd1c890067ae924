/* Shares results between the halves of a symmetric character: see mirror_reuse.h.
 *
 * In each pair of random poses, the second is the mirror image of the first (poses.h). Let vertex j
 * be the partner of i. Suppose that the one-ring of j, with its rows and springs, is the image of
 * the one-ring of i. The result of the local step for j, summed over all poses, is then the image
 * of the result for i. The same applies to F w. The right-hand side of a vertex depends on its own
 * ring and those of its neighbors, so all of these rings must be images. The right-hand side of j
 * is then copied from i, the entry (j, b') from the entry (i, b). A ring on which only copied
 * vertices depend is not visited.
 *
 * Results are computed for the half on the positive side of the plane, so only the rings along the
 * border are visited on both sides. Two one-rings match if their edges and weights agree to ALIKE,
 * which allows for meshes saved in single precision. Poses match if the bones at rest are close
 * enough to be partners. The second half of the mesh is then treated as if it had exactly the shape
 * of the first half.
 *
 * Matching the rings takes O(edges log ring) once per mesh, and matching patterns takes O(edges +
 * influences). Both run in parallel. Fails on out-of-memory and when cancelled. */
#include "energy/mirror_reuse.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"

#define ALIKE 1e-2 /* relative tolerance for edges and their weights */
#define OFF 2e-3   /* tolerance for the image of an axis under a bone, for a mesh of size 1 */
#define CHUNK 256

static int are_close(double a, double b) { return fabs(a - b) <= ALIKE * fmax(fabs(a), fabs(b)); }

/* Whether, in every pair of poses, column b and its partner move in the second pose as mirror
 * images of each other's motion in the first. */
static int is_mirrored(const arap_symmetry *symmetry, const arap_poses *poses, int b) {
    int other = symmetry->bone[b];
    size_t stride = 12 * (size_t)poses->columns;
    if (other < 0) return 0;
    for (int p = 0; p < poses->count; p++) {
        const double *t = poses->transform + stride * (size_t)p + 12 * (size_t)b;
        const double *u = poses->transform + stride * (size_t)(p ^ 1) + 12 * (size_t)other;
        /* The transformed image of an axis and of the origin, and the image of the result. */
        for (int axis = -1; axis < 3; axis++) {
            double x[3] = {axis == 0, axis == 1, axis == 2}, image[3], y[3];
            arap_reflect(symmetry, x, symmetry->offset, image);
            for (int r = 0; r < 3; r++) y[r] = arap_dot(t + 4 * r, image) + t[4 * r + 3];
            arap_reflect(symmetry, y, symmetry->offset, image);
            for (int r = 0; r < 3; r++) {
                double posed = u[4 * r + 3] + (axis < 0 ? 0 : u[4 * r + axis]);
                if (!(fabs(posed - image[r]) <= OFF)) return 0;
            }
        }
        if (arap_pose_weight(poses, p) != arap_pose_weight(poses, p ^ 1)) return 0;
    }
    return 1;
}

/* Whether |x - y| is small compared with a length whose square is given. */
static int is_near(const double *x, const double *y, double length2) {
    return arap_distance2(x, y) <= ALIKE * ALIKE * length2;
}

/* Whether the ring of vertex i, without its springs, is the image of its partner's ring. */
static int rings_alike(const arap_mesh *mesh, const arap_symmetry *symmetry, int i) {
    int j = symmetry->vertex[i];
    double longest2 = 0, image[3], e[3], f[3];
    if (j < 0 || mesh->ring[i + 1] - mesh->ring[i] != mesh->ring[j + 1] - mesh->ring[j]) return 0;
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int l = symmetry->vertex[mesh->neighbor[r]];
        if (l < 0) return 0;
        size_t q = arap_mesh_find_edge(mesh, j, l);
        if (q >= mesh->ring[j + 1] || mesh->neighbor[q] != l || mesh->kind[r] != mesh->kind[q])
            return 0;
        arap_mesh_edge(mesh, i, r, e);
        arap_mesh_edge(mesh, j, q, f);
        arap_reflect(symmetry, e, 0, image);
        double length2 = arap_dot(e, e);
        if (!is_near(image, f, length2) || !are_close(mesh->edge_weight[r], mesh->edge_weight[q]) ||
            !are_close(mesh->edge_weight_sym[r], mesh->edge_weight_sym[q]))
            return 0;
        if (length2 > longest2) longest2 = length2;
    }
    arap_reflect(symmetry, mesh->v + 3 * (size_t)i, symmetry->offset, image);
    return is_near(image, mesh->v + 3 * (size_t)j, longest2);
}

/* The input of the tasks: the symmetry, the patterns, and marks of vertices. */
typedef struct halving {
    const arap_mesh *mesh;
    const arap_influences *in;
    arap_mirror_reuse *mirror_reuse;
    char *rows, *rings; /* (vertices) first: images of their partners, like all neighbors; later:
                           copied */
} halving;

static arap_status for_all(arap_context *context, arap_task task, halving *h) {
    return arap_parallel_short(context, arap_chunks(h->mesh->count, CHUNK), task, h);
}

/* The lower of two partners decides for both. */
static void alike_chunk(void *data, int chunk, int worker) {
    const halving *h = data;
    const arap_symmetry *symmetry = h->mirror_reuse->symmetry;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, h->mesh->count); i++) {
        int j = symmetry->vertex[i];
        if (j >= i)
            h->mirror_reuse->alike[i] = h->mirror_reuse->alike[j] =
                (char)rings_alike(h->mesh, symmetry, i);
    }
}

arap_status arap_mirror_reuse_create(arap_context *context, const arap_mesh *mesh,
                                     const arap_symmetry *symmetry, const arap_poses *poses,
                                     arap_mirror_reuse *mirror_reuse) {
    size_t n = (size_t)mesh->count;
    int any = 0;
    *mirror_reuse = (arap_mirror_reuse){.symmetry = symmetry};
    if (!symmetry->vertex || poses->count % 2 || poses->spines.count || poses->bendy.count ||
        poses->stretches.count)
        return ARAP_OK;
    mirror_reuse->bones = ARAP_TAKE(&mirror_reuse->arena, poses->columns, char);
    mirror_reuse->alike = ARAP_TAKE_ZERO(&mirror_reuse->arena, n, char);
    mirror_reuse->of = ARAP_TAKE(&mirror_reuse->arena, n, int);
    mirror_reuse->unvisited = ARAP_TAKE(&mirror_reuse->arena, n, char);
    arap_status status =
        arap_arena_status(&mirror_reuse->arena, &context->error, "the halves of the mesh");
    for (int b = 0; b < poses->columns && !status; b++)
        any |= mirror_reuse->bones[b] = (char)is_mirrored(symmetry, poses, b);
    halving h = {.mesh = mesh, .mirror_reuse = mirror_reuse};
    if (any) status = for_all(context, alike_chunk, &h);
    if (status) arap_mirror_reuse_clear(mirror_reuse);
    return status;
}

void arap_mirror_reuse_clear(arap_mirror_reuse *mirror_reuse) {
    arap_arena_clear(&mirror_reuse->arena);
    arap_free(mirror_reuse->from);
    *mirror_reuse = (arap_mirror_reuse){0};
}

/* Whether the springs of vertex i are images of its partner's springs, in the same order. */
static int springs_alike(const arap_mirror_reuse *mirror_reuse, const arap_mesh *mesh, int i) {
    const arap_symmetry *symmetry = mirror_reuse->symmetry;
    const arap_spring *own, *other;
    int count = arap_mesh_springs(mesh, i, &own);
    double image[3], edge[3];
    if (arap_mesh_springs(mesh, symmetry->vertex[i], &other) != count) return 0;
    for (int s = 0; s < count; s++, own++, other++) {
        for (int k = 0; k < 2; k++) {
            if (own->share[k] != other->share[k]) return 0;
            if (own->share[k] > 0 && (!mirror_reuse->bones[own->column[k]] ||
                                      symmetry->bone[own->column[k]] != other->column[k]))
                return 0;
        }
        arap_reflect(symmetry, own->point, symmetry->offset, image);
        arap_sub(own->point, mesh->v + 3 * (size_t)i, edge);
        if (!are_close(own->weight, other->weight) ||
            !is_near(image, other->point, arap_dot(edge, edge)))
            return 0;
    }
    return 1;
}

/* Whether the rows of vertex i and its partner are images, with bones that are images. */
static int rows_alike(const arap_mirror_reuse *mirror_reuse, const arap_influences *in, int i) {
    const arap_symmetry *symmetry = mirror_reuse->symmetry;
    int j = arap_symmetry_image(symmetry, i);
    if (j < 0 || in->start[i + 1] - in->start[i] != in->start[j + 1] - in->start[j]) return 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (!mirror_reuse->bones[in->bone[e]] ||
            arap_find_influence(in, j, symmetry->bone[in->bone[e]]) < 0)
            return 0;
    return 1;
}

/* Whether this applies to vertex i and all of its neighbors. */
static int all_around(const arap_mesh *mesh, const char *holds, int i) {
    if (!holds[i]) return 0;
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++)
        if (!holds[mesh->neighbor[r]]) return 0;
    return 1;
}

static void rows_chunk(void *data, int chunk, int worker) {
    const halving *h = data;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, h->mesh->count); i++) {
        int j = h->mirror_reuse->symmetry->vertex[i];
        if (j >= i) h->rows[i] = h->rows[j] = (char)rows_alike(h->mirror_reuse, h->in, i);
    }
}

static void rings_chunk(void *data, int chunk, int worker) {
    const halving *h = data;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, h->mesh->count); i++) {
        int j = h->mirror_reuse->symmetry->vertex[i];
        if (j >= i)
            h->rings[i] = h->rings[j] =
                (char)(h->mirror_reuse->alike[i] && all_around(h->mesh, h->rows, i) &&
                       springs_alike(h->mirror_reuse, h->mesh, i));
    }
}

static void take_chunk(void *data, int chunk, int worker) {
    const halving *h = data;
    const arap_influences *in = h->in;
    arap_mirror_reuse *mirror_reuse = h->mirror_reuse;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, h->mesh->count); i++) {
        int j = mirror_reuse->symmetry->vertex[i];
        int copied = all_around(h->mesh, h->rings, i) &&
                     !arap_symmetry_leads(mirror_reuse->symmetry, h->mesh, i, j);
        mirror_reuse->of[i] = copied ? j : -1;
        h->rows[i] = (char)copied; /* which is queried from here on */
        for (size_t e = in->start[i]; copied && e < in->start[i + 1]; e++)
            mirror_reuse->from[e] =
                (size_t)arap_find_influence(in, j, mirror_reuse->symmetry->bone[in->bone[e]]);
    }
}

static void unvisited_chunk(void *data, int chunk, int worker) {
    const halving *h = data;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, h->mesh->count); i++)
        h->mirror_reuse->unvisited[i] = (char)all_around(h->mesh, h->rows, i);
}

arap_status arap_mirror_reuse_take(arap_context *context, const arap_mesh *mesh,
                                   const arap_influences *in, arap_mirror_reuse *mirror_reuse) {
    if (!mirror_reuse->of) return ARAP_OK;
    halving h = {.mesh = mesh,
                 .in = in,
                 .mirror_reuse = mirror_reuse,
                 .rows = ARAP_NEW_ZERO(char, mesh->count),
                 .rings = ARAP_NEW_ZERO(char, mesh->count)};
    arap_status status = ARAP_OK;
    arap_free(mirror_reuse->from);
    mirror_reuse->from = ARAP_NEW(size_t, in->start[mesh->count]);
    if (!h.rows || !h.rings || !mirror_reuse->from)
        status = arap_fail_memory(&context->error, "the halves of the mesh");
    if (!status) status = for_all(context, rows_chunk, &h);
    if (!status) status = for_all(context, rings_chunk, &h);
    if (!status) status = for_all(context, take_chunk, &h);
    if (!status) status = for_all(context, unvisited_chunk, &h);
    arap_free(h.rows);
    arap_free(h.rings);
    return status;
}

void arap_mirror_reuse_copy(const arap_mirror_reuse *mirror_reuse, const arap_influences *in,
                            double *numbers) {
    for (int i = 0; i < in->count && mirror_reuse && mirror_reuse->of; i++)
        for (size_t e = in->start[i]; mirror_reuse->of[i] >= 0 && e < in->start[i + 1]; e++)
            numbers[e] = numbers[mirror_reuse->from[e]];
}
