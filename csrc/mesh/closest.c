/* Nearest points of a surface: see nearest.h.
 *
 * The search uses the same hierarchy of faces as match.c in transfer/. A search takes O(log
 * triangles), and a part that does not count is skipped as whole branches of the hierarchy.
 * Building the hierarchy takes O(triangles log triangles). Without points, no hierarchy is built,
 * and only the parts are found. The vertex normals, interpolated linearly in the triangle,
 * determine the side of a point, because triangle normals are ambiguous beyond an edge. On a sheet,
 * the orientation of the faces determines the side. Triangles that collapsed during welding are
 * omitted. Fails on out-of-memory, for meshes that arap_mesh_create refuses, and for owners that
 * are not vertices. */
#include "mesh/nearest.h"

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

#define CHUNK 256
#define FARTHEST 1e100 /* coordinate of a point, in diagonals; squares of larger ones overflow */

typedef struct search {
    const arap_mesh *mesh;
    const arap_bvh *faces;
    const double *normals; /* (vertices, 3) */
    int count;
    const double *points;
    const int *owner;
    const double *radius;
    const arap_closest *out;
} search;

/* Whether p is behind triangle t, whose nearest point to p has these coordinates. */
static int is_behind(const search *s, const int *tri, const double *p, const double *bary) {
    double side = 0;
    for (int c = 0; c < 3; c++) {
        double normal = 0, at = 0;
        for (int k = 0; k < 3; k++) {
            normal += bary[k] * s->normals[3 * (size_t)tri[k] + (size_t)c];
            at += bary[k] * s->mesh->v[3 * (size_t)tri[k] + (size_t)c];
        }
        side += normal * (p[c] - at);
    }
    return side < 0;
}

static void search_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const search *s = data;
    const arap_mesh *mesh = s->mesh;
    int end = arap_chunk_end(chunk, CHUNK, s->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        int skip = s->owner && s->owner[i] >= 0 ? mesh->part[mesh->weld[s->owner[i]]] : -1;
        int *corner = s->out->corner + 3 * (size_t)i, t = -1;
        double *bary = s->out->bary + 3 * (size_t)i, p[3], d2 = INFINITY;
        for (int c = 0; c < 3; c++)
            p[c] = (s->points[3 * (size_t)i + (size_t)c] - mesh->center[c]) / mesh->diagonal;
        if (s->radius) {
            double max = s->radius[i] / mesh->diagonal;
            d2 = max > 0 ? max * max : 0; /* NaN: nothing is found */
        }
        int is_near = fabs(p[0]) < FARTHEST && fabs(p[1]) < FARTHEST && fabs(p[2]) < FARTHEST;
        if (is_near) t = arap_bvh_nearest(s->faces, p, skip, arap_face_distance, mesh, &d2);
        for (int c = 0; c < 3; c++) {
            corner[c] = -1;
            bary[c] = 0;
        }
        s->out->height[i] = INFINITY;
        if (t < 0) continue;
        const int *tri = mesh->triangles + 3 * (size_t)t;
        double distance = sqrt(arap_nearest_on_face(mesh, t, p, bary)) * mesh->diagonal;
        s->out->height[i] = is_behind(s, tri, p, bary) ? -distance : distance;
        for (int c = 0; c < 3; c++) {
            corner[c] = mesh->first[tri[c]];
            bary[c] = fmax(bary[c], 0); /* against rounding */
        }
    }
}

static arap_status check_owners(arap_error *error, int count, const int *owner, int vertices) {
    for (int i = 0; i < count && owner; i++)
        if (owner[i] < -1 || owner[i] >= vertices)
            return arap_fail(error, ARAP_BAD_VALUE, "owners[%d] is %d, but there are %d vertices",
                             i, owner[i], vertices);
    return ARAP_OK;
}

arap_status arap_closest_points(arap_context *context, const arap_geometry *geometry, int count,
                                const double *points, const int *owner, const double *radius,
                                int *part, const arap_closest *out) {
    arap_mesh mesh = {0};
    arap_bvh *faces = NULL;
    double *normals = NULL;
    int *tags = NULL;
    arap_status status = check_owners(&context->error, count, owner, geometry->vertex_count);
    for (int i = 0; i < count && radius && !status; i++)
        if (isnan(radius[i]))
            status = arap_fail(&context->error, ARAP_BAD_VALUE, "radius[%d] is %g: not a distance",
                               i, radius[i]);
    if (!status) status = arap_progress(context, "nearest points", 0);
    if (!status) status = arap_mesh_create(context, geometry, NULL, ARAP_WELD_TOLERANCE, &mesh);
    if (status) return status;
    normals = ARAP_NEW(double, 3 * (size_t)mesh.count);
    tags = ARAP_NEW(int, mesh.part_count);
    if (!normals || !tags) {
        status = arap_fail_memory(&context->error, "the nearest points");
        goto done;
    }
    for (int k = 0; k < mesh.part_count; k++) tags[k] = k;
    arap_vertex_normals(&mesh, normals);
    if (count) status = arap_face_bvh(context, &mesh, tags, &faces);
    if (status) goto done;
    search task = {&mesh, faces, normals, count, points, owner, radius, out};
    status = arap_parallel(context, arap_chunks(count, CHUNK), search_chunk, &task);
    for (int i = 0; i < mesh.input_count && part && !status; i++) part[i] = mesh.part[mesh.weld[i]];

done:
    arap_bvh_free(faces);
    arap_free(normals);
    arap_free(tags);
    arap_mesh_clear(&mesh);
    return status;
}
