/* Keeps vertices above a surface: see pair.h.
 *
 * A vertex is above the surface at rest if it lies on the outer side of its nearest point,
 * according to the interpolated vertex normals. The clearance of a vertex is its height at rest,
 * but at most CLEAR. If the moved surface leaves the vertex less than half of its clearance, the
 * vertex is lifted to this clearance above the point that is now nearest. This step is repeated,
 * because the vertex may then be near another part of the surface. If the vertex is still too low
 * after ROUNDS, as in a fold whose sides intersect, the vertex moves out along the sum of the
 * normals found so far. If there is no room in this direction either, the vertex stays in place and
 * is counted if it is below the surface. Near the border of an open surface, no side is the outer
 * one, so vertices stay unchanged.
 *
 * The distance between a vertex and the surface changes by no more than both have moved, so most
 * vertices are skipped without a search. Each remaining vertex takes O(log f), and the hierarchy of
 * a moved surface takes O(f log f). Fails on out-of-memory and when cancelled. */
#include "transfer/pair.h"

#include <math.h>
#include <stddef.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

/* a vertex closer than this share of the source size is neither above nor below */
#define ON 1e-4
#define CLEAR 2e-3         /* sufficient clearance, as a share of the source size */
#define ENOUGH 0.5         /* share of the clearance that may be left */
#define ROUNDS 8           /* maximum number of times that a vertex is lifted */
#define FARTHEST_STEP 0.05 /* distance by which a vertex leaves a fold, as a share of the size */
#define FARTHEST 1e6       /* source sizes: farther vertices are not part of a garment */
#define CHUNK 256
#define TINY 1e-9 /* a vector of this length has no direction */

/* The point of a surface nearest to p. */
typedef struct foot {
    double point[3], up[3]; /* the unit normal */
    double height;          /* height of p above it, negative behind it */
    int sided;              /* 0: the side of p is undetermined */
} foot;

static foot find_foot(const arap_mesh *mesh, const double *normals, const char *border, int t,
                      const double *p) {
    foot f = {.sided = 0};
    double bary[3], off[3];
    int on_border = 1, inside = 1;
    const int *tri = mesh->triangles + 3 * (size_t)t;
    double distance = sqrt(arap_nearest_on_face(mesh, t, p, bary));
    for (int c = 0; c < 3; c++) {
        if (bary[c] > 0)
            on_border &= border[tri[c]];
        else
            inside = 0;
        for (int k = 0; k < 3; k++) f.point[k] += bary[c] * mesh->v[3 * (size_t)tri[c] + (size_t)k];
    }
    arap_normal_at(mesh, normals, t, bary, f.up);
    double length = sqrt(arap_dot(f.up, f.up));
    if (!(length > 0) || (on_border && !inside)) return f;
    for (int k = 0; k < 3; k++) f.up[k] /= length;
    arap_sub(p, f.point, off);
    f.sided = 1;
    f.height = arap_dot(off, f.up) < 0 ? -distance : distance;
    return f;
}

/* Mark vertices of the source with an edge that has only one face. */
static arap_status find_border(arap_context *context, const arap_mesh *mesh, char *border) {
    size_t edges = mesh->ring[mesh->count];
    int *faces = ARAP_NEW_ZERO(int, edges);
    if (!faces) return arap_fail_memory(&context->error, "the border of the source");
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int c = 0; c < 3; c++) {
            int a = mesh->triangles[3 * t + (size_t)c],
                b = mesh->triangles[3 * t + (size_t)(c + 1) % 3];
            faces[arap_mesh_find_edge(mesh, a < b ? a : b, a < b ? b : a)]++;
        }
    for (int i = 0; i < mesh->count; i++)
        for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++)
            if (mesh->neighbor[e] > i && faces[e] == 1) border[i] = border[mesh->neighbor[e]] = 1;
    arap_free(faces);
    return ARAP_OK;
}

arap_status arap_clearance_create(arap_context *context, const arap_pair *pair,
                                  arap_clearance *clearance) {
    const arap_mesh *from = &pair->source;
    int n = pair->target.count;
    *clearance = (arap_clearance){0};
    double *normals = ARAP_TAKE(&clearance->arena, 3 * (size_t)from->count, double);
    clearance->height = ARAP_TAKE_ZERO(&clearance->arena, n, double);
    clearance->border = ARAP_TAKE_ZERO(&clearance->arena, from->count, char);
    arap_status status =
        arap_arena_status(&clearance->arena, &context->error, "the heights of the target");
    if (status) goto done;
    status = find_border(context, from, clearance->border);
    if (status) goto done;
    arap_unit_normals(from, normals);
    for (int i = 0; i < n; i++) {
        double p[3];
        int t = pair->match.triangle[i];
        if (t < 0 || arap_match_place(from, &pair->target, i, p) < 1) continue;
        foot f = find_foot(from, normals, clearance->border, t, p);
        if (f.sided && f.height > ON && f.height < FARTHEST) clearance->height[i] = f.height;
    }

done:
    if (status) arap_clearance_clear(clearance);
    return status;
}

void arap_clearance_clear(arap_clearance *clearance) {
    arap_arena_clear(&clearance->arena);
    *clearance = (arap_clearance){0};
}

typedef struct lifting {
    const arap_pair *pair;
    const arap_clearance *clearance;
    arap_mesh skin; /* the source with other vertices */
    const double *normals;
    const arap_bvh *faces;
    const int *doubtful; /* vertices to look at */
    int count;
    double *move;
    char *state; /* (count) */
} lifting;

enum { FREE, LIFTED, BELOW };

static foot foot_of(const lifting *l, const double *p) {
    double d2 = INFINITY;
    int t = arap_bvh_nearest(l->faces, p, -1, arap_face_distance, &l->skin, &d2);
    return t < 0 ? (foot){0} : find_foot(&l->skin, l->normals, l->clearance->border, t, p);
}

/* Move from `start` along `way` until the clearance is reached. Returns 0 if it is never
 * reached. */
static int leave(const lifting *l, const double *start, const double *way, double clear,
                 double *p) {
    double length = sqrt(arap_dot(way, way));
    for (double step = clear; step < FARTHEST_STEP && length > TINY; step *= 1.5) {
        for (int c = 0; c < 3; c++) p[c] = start[c] + step / length * way[c];
        foot f = foot_of(l, p);
        if (f.sided && f.height >= ENOUGH * clear) return 1;
    }
    return 0;
}

static char lift(const lifting *l, int i, double *move) {
    double rest[3], p[3], start[3], ups[3] = {0};
    double clear = fmin(l->clearance->height[i], CLEAR);
    int was_below = 0, done = 0;
    arap_match_place(&l->pair->source, &l->pair->target, i, rest);
    for (int c = 0; c < 3; c++) p[c] = start[c] = rest[c] + move[c];
    for (int round = 0; round < ROUNDS && !done; round++) {
        foot f = foot_of(l, p);
        done = !f.sided || f.height >= ENOUGH * clear;
        if (done && !round) return FREE;
        if (!round) was_below = f.height < 0;
        for (int c = 0; c < 3 && !done; c++) {
            double up = f.height > TINY ? (p[c] - f.point[c]) / f.height : f.up[c];
            p[c] = f.point[c] + clear * up;
            ups[c] += f.up[c];
        }
    }
    if (!done) done = leave(l, start, ups, clear, p);
    for (int c = 0; c < 3 && done; c++) move[c] = p[c] - rest[c];
    return done ? LIFTED : was_below ? BELOW : FREE;
}

static void lift_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const lifting *l = data;
    int end = arap_chunk_end(chunk, CHUNK, l->count);
    for (int k = chunk * CHUNK; k < end; k++) {
        int i = l->doubtful[k];
        l->state[k] = lift(l, i, l->move + 3 * (size_t)i);
    }
}

/* The largest movement of a vertex with faces, and the bounding box of the vertices that have
 * moved. */
static double find_moved(const arap_mesh *source, const double *skin, double *lo, double *hi) {
    double max = 0;
    for (int c = 0; c < 3; c++) lo[c] = INFINITY, hi[c] = -INFINITY;
    for (size_t k = 0; k < 3 * source->triangle_count; k++) {
        const double *from = source->v + 3 * (size_t)source->triangles[k],
                     *to = skin + 3 * (size_t)source->triangles[k];
        double far2 = arap_distance2(from, to);
        if (!(far2 > 0)) continue;
        max = fmax(max, far2);
        for (int c = 0; c < 3; c++) {
            lo[c] = fmin(lo[c], fmin(from[c], to[c]));
            hi[c] = fmax(hi[c], fmax(from[c], to[c]));
        }
    }
    return sqrt(max);
}

static int find_doubtful(const arap_pair *pair, const arap_clearance *clearance, const double *skin,
                         const double *move, int *doubtful) {
    double lo[3], hi[3], max = find_moved(&pair->source, skin, lo, hi);
    int count = 0;
    for (int i = 0; i < pair->target.count; i++) {
        double p[3], own = sqrt(arap_dot(move + 3 * (size_t)i, move + 3 * (size_t)i));
        int in_box = own > 0;
        if (!(clearance->height[i] > 0) || clearance->height[i] - own - max >= CLEAR) continue;
        if (!in_box) {
            arap_match_place(&pair->source, &pair->target, i, p);
            in_box = 1;
            for (int c = 0; c < 3; c++) in_box &= p[c] >= lo[c] - CLEAR && p[c] <= hi[c] + CLEAR;
        }
        if (in_box) doubtful[count++] = i;
    }
    return count;
}

arap_status arap_clearance_keep(arap_context *context, const arap_pair *pair,
                                const arap_clearance *clearance, const double *skin, double *move,
                                int *lifted, int *below) {
    arap_arena arena = {0};
    arap_bvh *faces = NULL;
    double *normals = NULL;
    int *doubtful = ARAP_TAKE(&arena, pair->target.count, int);
    char *state = ARAP_TAKE_ZERO(&arena, pair->target.count, char);
    lifting task = {.pair = pair, .clearance = clearance, .skin = pair->source, .move = move};
    arap_status status = arap_arena_status(&arena, &context->error, "vertices above the source");
    *lifted = *below = 0;
    if (status) goto done;
    task.count = find_doubtful(pair, clearance, skin, move, doubtful);
    if (!task.count) goto done;
    normals = ARAP_TAKE(&arena, 3 * (size_t)pair->source.count, double);
    status = arap_arena_status(&arena, &context->error, "vertices above the source");
    if (status) goto done;
    task.skin.v = (double *)skin; /* read alone */
    arap_unit_normals(&task.skin, normals);
    status = arap_face_bvh(context, &task.skin, NULL, &faces);
    if (status) goto done;
    task.normals = normals;
    task.faces = faces;
    task.doubtful = doubtful;
    task.state = state;
    status = arap_parallel(context, arap_chunks(task.count, CHUNK), lift_chunk, &task);
    for (int k = 0; k < task.count && !status; k++) {
        *lifted += state[k] == LIFTED;
        *below += state[k] == BELOW;
    }

done:
    arap_bvh_free(faces);
    arap_arena_clear(&arena);
    return status;
}
