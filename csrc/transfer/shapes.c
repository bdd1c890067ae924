/* Transfer of shapes: see transfer.h.
 *
 * If a vertex p of the target matches (match.c), and q is its nearest point of the source, p moves
 * to q' + R (p - q). q' is the position to which the shape moves q. R is the rotation of the
 * surface at q, which is the rotation nearest to the interpolated rotations of the corners. The
 * rotation of a vertex is the one nearest to sum a_ik e'_ik e_ik^T over its edges, as in the
 * energy. Islands in which nothing matches follow their nearest points without rotation. At such
 * distances, rotation would move them too far. At all other vertices, the displacements are
 * continued over the target (inpaint.c), with one factorization for all shapes, and limited to the
 * length of the longest known displacement. Then vertices are kept above the surface (clearance.c).
 *
 * Vertices that a shape does not move keep their position, bit for bit. Both meshes are welded. The
 * first of several coincident vertices of the source is used.
 *
 * In addition to the matches and the factor, each shape that moves anything near the target takes
 * O(n). If a vertex may end up below the surface, it takes O(f log f). Takes 24 bytes of memory for
 * each vertex of the target and each such shape. Fails on out-of-memory, if nothing matches, for a
 * shape whose faces overflow, and when cancelled. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "linalg/rotation.h"
#include "mesh/rings.h"
#include "transfer/pair.h"
#include "transfer/transfer.h"

#define CHUNK 256
#define FARTHEST 1e6 /* in sizes of the source; rounding dominates the squares beyond it */

typedef struct following {
    arap_pair pair;
    char *known;   /* (target vertices) */
    double *skin;  /* (source vertices, 3) in the current shape, units of the source */
    char *moves;   /* (source vertices) the vertex or a neighbor has moved */
    double *place; /* columns x, y, z (target vertices) of the current shape */
} following;

/* Set skin and displacements; *some: whether a vertex of a face has moved. */
static arap_status bend(arap_context *context, following *f, const arap_geometry *source,
                        const double *shape, int number, int *some) {
    const arap_mesh *mesh = &f->pair.source;
    *some = 0;
    for (int v = 0; v < mesh->count; v++) {
        const double *to = shape + 3 * (size_t)mesh->first[v],
                     *from = source->vertices + 3 * (size_t)mesh->first[v];
        f->moves[v] = 0;
        for (int c = 0; c < 3; c++) {
            double off = (to[c] - from[c]) / mesh->diagonal;
            f->skin[3 * (size_t)v + (size_t)c] = mesh->v[3 * (size_t)v + (size_t)c] + off;
            f->moves[v] |= off != 0;
        }
    }
    for (size_t k = 0; k < 3 * mesh->triangle_count; k++) {
        int v = mesh->triangles[k];
        if (!f->moves[v]) continue;
        *some = 1;
        for (int c = 0; c < 3; c++)
            if (!(fabs(f->skin[3 * (size_t)v + (size_t)c]) < FARTHEST))
                return arap_fail(&context->error, ARAP_BAD_VALUE,
                                 "shape %d moves vertex %d to %g: more than %g sizes away", number,
                                 mesh->first[v], shape[3 * (size_t)mesh->first[v] + (size_t)c],
                                 FARTHEST);
    }
    /* 2: a neighbor has moved. */
    for (int v = 0; v < mesh->count; v++)
        for (size_t e = mesh->ring[v]; e < mesh->ring[v + 1] && !f->moves[v]; e++)
            if (f->moves[mesh->neighbor[e]] == 1) f->moves[v] = 2;
    return ARAP_OK;
}

/* Whether a known vertex of the target is above a moving face. */
static int takes_part(const following *f) {
    for (int i = 0; i < f->pair.target.count; i++) {
        const int *tri = f->pair.source.triangles + 3 * (size_t)f->pair.match.triangle[i];
        if (f->known[i] && (f->moves[tri[0]] || f->moves[tri[1]] || f->moves[tri[2]])) return 1;
    }
    return 0;
}

/* Add share times the rotation of vertex v. */
static void add_rotation(const following *f, int v, double share, double *out) {
    const arap_mesh *mesh = &f->pair.source;
    double sum[9] = {0}, rotation[9];
    for (size_t e = mesh->ring[v]; e < mesh->ring[v + 1]; e++) {
        double from[3], to[3];
        arap_mesh_edge(mesh, v, e, from);
        arap_sub(f->skin + 3 * (size_t)mesh->neighbor[e], f->skin + 3 * (size_t)v, to);
        for (int k = 0; k < 9; k++) sum[k] += mesh->edge_weight_sym[e] * to[k / 3] * from[k % 3];
    }
    arap_nearest_rotation(sum, rotation);
    for (int k = 0; k < 9; k++) out[k] += share * rotation[k];
}

/* The displacement of the known vertex i. */
static void follow(const following *f, int i, double *out) {
    const arap_mesh *from = &f->pair.source;
    const int *tri = from->triangles + 3 * (size_t)f->pair.match.triangle[i];
    const double *bary = f->pair.match.bary + 3 * (size_t)i;
    double mixed[9] = {0}, rotation[9], off[3];
    int moves = 0;
    arap_match_place(from, &f->pair.target, i, off);
    for (int c = 0; c < 3; c++) out[c] = 0;
    for (int c = 0; c < 3; c++) {
        const double *rest = from->v + 3 * (size_t)tri[c], *now = f->skin + 3 * (size_t)tri[c];
        moves |= f->moves[tri[c]];
        for (int k = 0; k < 3; k++) {
            out[k] += bary[c] * (now[k] - rest[k]);
            off[k] -= bary[c] * rest[k];
        }
    }
    if (!moves || !f->pair.match.matched[i]) return;
    for (int c = 0; c < 3; c++)
        if (bary[c] > 0) add_rotation(f, tri[c], bary[c], mixed);
    arap_nearest_rotation(mixed, rotation);
    for (int k = 0; k < 3; k++) out[k] += arap_dot(rotation + 3 * (size_t)k, off) - off[k];
}

static void follow_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const following *f = data;
    size_t n = (size_t)f->pair.target.count, end = (size_t)(chunk + 1) * CHUNK;
    for (size_t i = (size_t)chunk * CHUNK; i < end && i < n; i++) {
        double move[3];
        if (!f->known[i]) continue;
        follow(f, (int)i, move);
        for (int c = 0; c < 3; c++) f->place[(size_t)c * n + i] = move[c];
    }
}

/* Convert columns (3, n) to displacements (n, 3). Filled-in ones are limited to the length of the
 * longest known one. */
static void take_moves(const double *columns, const char *known, int count, double *move) {
    double longest = 0;
    size_t n = (size_t)count;
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < 3; c++) move[3 * i + c] = columns[c * n + i];
        if (known[i]) longest = fmax(longest, arap_dot(move + 3 * i, move + 3 * i));
    }
    longest = sqrt(longest);
    for (size_t i = 0; i < n; i++) {
        double length = sqrt(arap_dot(move + 3 * i, move + 3 * i));
        for (size_t c = 0; c < 3 && length > longest; c++) move[3 * i + c] *= longest / length;
    }
}

static void write(const following *f, const arap_geometry *target, const double *move,
                  double *out) {
    for (int i = 0; i < f->pair.target.input_count; i++)
        for (int c = 0; c < 3; c++) {
            size_t at = 3 * (size_t)i + (size_t)c;
            out[at] = target->vertices[at] + move[3 * (size_t)f->pair.target.weld[i] + (size_t)c] *
                                                 f->pair.source.diagonal;
        }
}

/* column (count): the first of the three columns of each participating shape, otherwise -1. Returns
 * their number in *parts. */
static arap_status number_columns(arap_context *context, following *f, const arap_geometry *source,
                                  const arap_shapes *shapes, int *column, int *parts) {
    arap_status status = ARAP_OK;
    *parts = 0;
    for (int k = 0; k < shapes->count && !status; k++) {
        int some;
        const double *shape = shapes->vertices + 3 * (size_t)source->vertex_count * (size_t)k;
        status = bend(context, f, source, shape, k, &some);
        if (!status) status = arap_poll_cancel(context);
        column[k] = !status && some && takes_part(f) ? 3 * (*parts)++ : -1;
    }
    return status;
}

/* Displacements of the known vertices, in values (columns, target vertices). */
static arap_status follow_all(arap_context *context, following *f, const arap_geometry *source,
                              const arap_shapes *shapes, const int *column, double *values) {
    int n = f->pair.target.count;
    arap_status status = ARAP_OK;
    for (int k = 0; k < shapes->count && !status; k++) {
        int some;
        if (column[k] < 0) continue;
        const double *shape = shapes->vertices + 3 * (size_t)source->vertex_count * (size_t)k;
        f->place = values + (size_t)column[k] * (size_t)n;
        status = arap_progress(context, "following", k / (double)shapes->count);
        if (!status) status = bend(context, f, source, shape, k, &some);
        if (!status) status = arap_parallel(context, arap_chunks(n, CHUNK), follow_chunk, f);
    }
    return status;
}

/* Compute the target in each shape, kept above the source if `above` is given. */
static arap_status write_all(arap_context *context, following *f, const arap_geometry *source,
                             const arap_shapes *shapes, const arap_geometry *target,
                             const int *column, const double *values,
                             const arap_clearance *clearance, const arap_moved_shapes *out) {
    size_t n = (size_t)f->pair.target.count;
    double *move = ARAP_NEW(double, 3 * n);
    arap_status status = ARAP_OK;
    if (!move) return arap_fail_memory(&context->error, "the shapes of the target");
    for (int k = 0; k < shapes->count && !status; k++) {
        int some = column[k] >= 0;
        const double *shape = shapes->vertices + 3 * (size_t)source->vertex_count * (size_t)k;
        out->lifted[k] = out->below[k] = 0;
        if (column[k] < 0)
            memset(move, 0, 3 * n * sizeof *move);
        else
            take_moves(values + (size_t)column[k] * n, f->known, (int)n, move);
        if (clearance) {
            status = arap_progress(context, "lifting", k / (double)shapes->count);
            if (!status) status = bend(context, f, source, shape, k, &some);
            if (!status && some)
                status = arap_clearance_keep(context, &f->pair, clearance, f->skin, move,
                                             out->lifted + k, out->below + k);
        }
        if (!status)
            write(f, target, move,
                  out->vertices + 3 * (size_t)f->pair.target.input_count * (size_t)k);
    }
    arap_free(move);
    return status;
}

arap_status arap_transfer_shapes(arap_context *context, const arap_geometry *source,
                                 const arap_shapes *shapes, const arap_geometry *target,
                                 const arap_transfer_settings *settings, const arap_matches *out,
                                 const arap_moved_shapes *moved) {
    arap_arena arena = {0};
    following f = {0};
    arap_clearance clearance = {0};
    int *column = NULL, parts = 0;
    double *values = NULL;
    arap_status status = arap_pair_match(context, source, target, settings, out, &f.pair);
    if (status) goto done;
    f.known = ARAP_TAKE(&arena, f.pair.target.count, char);
    f.skin = ARAP_TAKE(&arena, 3 * (size_t)f.pair.source.count, double);
    f.moves = ARAP_TAKE(&arena, f.pair.source.count, char);
    column = ARAP_TAKE(&arena, shapes->count, int);
    status = arap_arena_status(&arena, &context->error, "the shapes of the target");
    if (!status) status = arap_pair_known(context, &f.pair, settings, f.known);
    if (!status) status = arap_mesh_connect(context, &f.pair.source, NULL, 0);
    if (!status && settings->keep_above)
        status = arap_clearance_create(context, &f.pair, &clearance);
    if (!status) status = number_columns(context, &f, source, shapes, column, &parts);
    if (status) goto done;
    values = ARAP_TAKE_ZERO(&arena, 3 * (size_t)parts * (size_t)f.pair.target.count, double);
    status = arap_arena_status(&arena, &context->error, "the shapes of the target");
    if (!status) status = follow_all(context, &f, source, shapes, column, values);
    if (!status) status = arap_inpaint(context, &f.pair.target, f.known, 3 * parts, values);
    if (!status)
        status = write_all(context, &f, source, shapes, target, column, values,
                           settings->keep_above ? &clearance : NULL, moved);

done:
    arap_clearance_clear(&clearance);
    arap_pair_clear(&f.pair);
    arap_arena_clear(&arena);
    return status;
}
