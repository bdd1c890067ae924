/* Matching: see pair.h.
 *
 * A vertex of the target matches if the nearest point of the source is no farther than a share of
 * the source's diagonal and the normals of both agree up to an angle (Abdrashitov et al. 2023,
 * "Robust skin weights transfer via weight inpainting", section 3.1). In that paper, the share
 * refers to the target, which leaves a button on a coat without a match. Vertex normals are
 * area-weighted sums over the triangles of a vertex, interpolated linearly in a triangle. If these
 * normals cancel, the normal of the triangle is used. Without a triangle, as on wires, only the
 * distance decides. If the caller specifies the distance `near`, only the distance matters for
 * nearer points. The rim of a belt, for example, must follow the skin regardless of the direction
 * in which the rim faces.
 *
 * With the hierarchy of faces, each vertex takes O(log triangles). Building the hierarchy takes
 * O(triangles log triangles). Fails on out-of-memory and when cancelled. */
#include "transfer/pair.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

#define CHUNK 256
#define SLICE 64 /* chunks between two reports of progress */
#define FLAT                                                                                       \
    1e-12 /* normals cancel if the mixed one is below this share of those it is mixed from */
/* in sizes of the source; rounding dominates comparisons of larger squared distances */
#define FAR 1e6

typedef struct matching {
    const arap_mesh *source, *target;
    const arap_bvh *faces;
    const double *source_normals, *target_normals;
    const arap_transfer_settings *settings;
    arap_match *out;
} matching;

void arap_unit_normals(const arap_mesh *mesh, double *normals) {
    arap_vertex_normals(mesh, normals);
    for (int i = 0; i < mesh->count; i++) {
        double *n = normals + 3 * (size_t)i, length = sqrt(arap_dot(n, n));
        for (int c = 0; c < 3; c++) n[c] = length > 0 ? n[c] / length : 0;
    }
}

void arap_normal_at(const arap_mesh *mesh, const double *normals, int t, const double *bary,
                    double *out) {
    const int *tri = mesh->triangles + 3 * (size_t)t;
    for (int c = 0; c < 3; c++) {
        out[c] = 0;
        for (int k = 0; k < 3; k++) out[c] += bary[k] * normals[3 * (size_t)tri[k] + (size_t)c];
    }
    if (arap_dot(out, out) < FLAT) arap_triangle_normal(mesh, (size_t)t, out);
}

static double angle_between(const double *a, const double *b) {
    double n[3];
    arap_cross(a, b, n);
    return atan2(sqrt(arap_dot(n, n)), arap_dot(a, b)); /* 0 where one of them is 0 */
}

double arap_match_place(const arap_mesh *source, const arap_mesh *target, int i, double *p) {
    double farthest = 0;
    for (int c = 0; c < 3; c++) {
        p[c] = target->v[3 * (size_t)i + (size_t)c] * target->diagonal + target->center[c] -
               source->center[c];
        farthest = fmax(farthest, fabs(p[c]));
    }
    double share = farthest / FAR > source->diagonal ? source->diagonal / (farthest / FAR) : 1;
    for (int c = 0; c < 3; c++) p[c] = share * p[c] / source->diagonal;
    return share;
}

static void match_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const matching *m = data;
    arap_match *out = m->out;
    const arap_mesh *from = m->source, *to = m->target;
    int end = arap_chunk_end(chunk, CHUNK, to->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        double p[3], normal[3], d2 = INFINITY;
        double share = arap_match_place(from, to, i, p);
        int t = arap_bvh_nearest(m->faces, p, -1, arap_face_distance, from, &d2);
        double *bary = out->bary + 3 * (size_t)i, distance = INFINITY, angle = 0;
        out->triangle[i] = t;
        bary[0] = bary[1] = bary[2] = 0;
        if (t >= 0) {
            distance = sqrt(arap_nearest_on_face(from, t, p, bary)) / share;
            arap_normal_at(from, m->source_normals, t, bary, normal);
            angle = angle_between(m->target_normals + 3 * (size_t)i, normal);
        }
        if (m->settings->two_sided) angle = fmin(angle, acos(-1) - angle);
        out->distance[i] = distance * from->diagonal;
        out->angle[i] = angle;
        out->matched[i] = distance <= m->settings->distance &&
                          (angle <= m->settings->angle || distance <= m->settings->near);
    }
}

arap_status arap_match_find(arap_context *context, const arap_mesh *source, const arap_mesh *target,
                            const arap_transfer_settings *settings, arap_match *out) {
    arap_arena arena = {0};
    size_t n = (size_t)target->count;
    double *normals = ARAP_TAKE(&arena, 3 * (size_t)source->count, double);
    double *target_normals = ARAP_TAKE(&arena, 3 * n, double);
    arap_bvh *faces = NULL;
    *out = (arap_match){0};
    out->triangle = ARAP_TAKE(&out->arena, n, int);
    out->bary = ARAP_TAKE(&out->arena, 3 * n, double);
    out->distance = ARAP_TAKE(&out->arena, n, double);
    out->angle = ARAP_TAKE(&out->arena, n, double);
    out->matched = ARAP_TAKE(&out->arena, n, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the matches");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the matches");
    if (status) goto done;
    arap_unit_normals(source, normals);
    arap_unit_normals(target, target_normals);
    status = arap_face_bvh(context, source, NULL, &faces);
    if (status) goto done;
    matching task = {.source = source,
                     .target = target,
                     .faces = faces,
                     .source_normals = normals,
                     .target_normals = target_normals,
                     .settings = settings,
                     .out = out};
    status = arap_parallel_slices(context, "matching", arap_chunks(target->count, CHUNK), SLICE,
                                  match_chunk, &task);

done:
    arap_bvh_free(faces);
    arap_arena_clear(&arena);
    if (status) arap_match_clear(out);
    return status;
}

void arap_match_clear(arap_match *match) {
    arap_arena_clear(&match->arena);
    *match = (arap_match){0};
}
