/* Tetrahedra: see tets.h.
 *
 * The surface consists of the faces that belong to an odd number of tets. These faces are the
 * boundary of a proper tet mesh. For a coarse mesh, whose tets are images of finer tets and may
 * coincide, they are the image of the finer boundary (the boundary of a chain modulo 2). The sign
 * of a tet's volume, which may be negative, determines the outward direction of its faces. The
 * faces are found by sorting, which takes O(tets log tets) time and 144 bytes per tet.
 *
 * Tets are weighted by volume, triangles that are not a face of a tet by area, and wires by the
 * element to which they are attached. So that these weights can be added, triangles count as sheets
 * of thickness V / A, the volume divided by the area of its surface. A body that consists only of
 * triangles has the thickness 1.
 *
 * The Laplacian is that of linear finite elements, given by the cotangent formula for tets. With
 * the outward area vector n_i of the face opposite corner i, the gradient of the hat function of
 * corner i is -n_i / (3 V), so a tet adds n_i . n_j / (9 V) to L_ij. Tets with obtuse angles have
 * edges of the opposite sign. L stays positive semidefinite, but solutions may leave the range of
 * their data. Slivers are scaled down as a whole, and tets without volume contribute nothing. Fails
 * on out-of-memory only. */
#include "mesh/tets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define MAX_COTANGENT 1e4

/* Corners of the face opposite each corner, oriented outward for a positive volume. */
static const int faces_of[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

double arap_tet_volume(const double *a, const double *b, const double *c, const double *d) {
    double u[3], v[3], w[3], n[3];
    arap_sub(b, a, u);
    arap_sub(c, a, v);
    arap_sub(d, a, w);
    arap_cross(u, v, n);
    return arap_dot(n, w) / 6;
}

double arap_mesh_tet_volume(const arap_mesh *mesh, size_t t) {
    const int *tet = mesh->tets + 4 * t;
    return arap_tet_volume(mesh->v + 3 * (size_t)tet[0], mesh->v + 3 * (size_t)tet[1],
                           mesh->v + 3 * (size_t)tet[2], mesh->v + 3 * (size_t)tet[3]);
}

typedef struct tet_face {
    int corner[3]; /* ascending */
    int side;      /* which of the tet */
    size_t tet;    /* or the triangle, if it is not a face of a tet */
} tet_face;

static void sort_corners(int *corner) {
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < 2 - pass; c++)
            if (corner[c] > corner[c + 1]) {
                int swapped = corner[c];
                corner[c] = corner[c + 1];
                corner[c + 1] = swapped;
            }
}

static int compare_corners(const void *a, const void *b) {
    const int *x = ((const tet_face *)a)->corner, *y = ((const tet_face *)b)->corner;
    for (int c = 0; c < 3; c++)
        if (x[c] != y[c]) return x[c] < y[c] ? -1 : 1;
    return 0;
}

/* Sort faces with the same corners in the order of their tets. */
static int compare_faces(const void *a, const void *b) {
    const tet_face *x = a, *y = b;
    int order = compare_corners(a, b);
    return order ? order : x->tet < y->tet ? -1 : x->tet > y->tet;
}

static void outward_face(const arap_mesh *mesh, const tet_face *face, int *out) {
    const int *tet = mesh->tets + 4 * face->tet;
    int inverted = arap_mesh_tet_volume(mesh, face->tet) < 0;
    for (int c = 0; c < 3; c++) out[c] = tet[faces_of[face->side][inverted && c ? 3 - c : c]];
}

arap_status arap_tets_surface(arap_context *context, arap_mesh *mesh) {
    size_t count = 4 * mesh->tet_count, own = mesh->triangle_count, fill = 0;
    double volume = 0, area = 0;
    mesh->thickness = 1;
    if (!count) return ARAP_OK;
    arap_arena arena = {0};
    tet_face *faces = ARAP_TAKE(&arena, count, tet_face),
             *others = ARAP_TAKE(&arena, own, tet_face);
    int *triangles = ARAP_TAKE(&mesh->arena, 3 * (count + own), int);
    arap_status status = arap_arena_status(&arena, &context->error, "the surface of the tets");
    if (!status)
        status = arap_arena_status(&mesh->arena, &context->error, "the surface of the tets");
    if (status) goto done;
    for (size_t f = 0; f < count; f++) {
        faces[f].tet = f / 4;
        faces[f].side = (int)(f % 4);
        for (int c = 0; c < 3; c++)
            faces[f].corner[c] = mesh->tets[f / 4 * 4 + (size_t)faces_of[f % 4][c]];
        sort_corners(faces[f].corner);
    }
    qsort(faces, count, sizeof *faces, compare_faces);
    for (size_t f = 0, next; f < count; f = next) {
        for (next = f + 1; next < count && !compare_corners(faces + f, faces + next);) next++;
        if ((next - f) % 2 == 0) continue;
        int *out = triangles + 3 * fill++;
        outward_face(mesh, faces + f, out);
        area += arap_triangle_area(mesh->v + 3 * (size_t)out[0], mesh->v + 3 * (size_t)out[1],
                                   mesh->v + 3 * (size_t)out[2]);
    }
    mesh->surface_count = fill;
    for (size_t t = 0; t < own; t++) {
        int *corner = others[t].corner;
        others[t].tet = t;
        memcpy(corner, mesh->triangles + 3 * t, 3 * sizeof(int));
        sort_corners(corner);
    }
    qsort(others, own, sizeof *others, compare_faces);
    for (size_t t = 0; t < own; t++) {
        if ((t && !compare_corners(others + t - 1, others + t)) ||
            bsearch(others + t, faces, count, sizeof *faces, compare_corners))
            continue;
        memcpy(triangles + 3 * fill++, mesh->triangles + 3 * others[t].tet, 3 * sizeof(int));
    }
    for (size_t t = 0; t < mesh->tet_count; t++) volume += fabs(arap_mesh_tet_volume(mesh, t));
    if (volume > 0 && area > 0) mesh->thickness = volume / area;
    mesh->triangles = triangles;
    mesh->triangle_count = fill;

done:
    arap_arena_clear(&arena);
    return status;
}

void arap_add_tet_cotangents(const arap_mesh *mesh, double *edges) {
    for (size_t t = 0; t < mesh->tet_count; t++) {
        const int *tet = mesh->tets + 4 * t;
        double volume = arap_mesh_tet_volume(mesh, t), normal[4][3], value[4][4];
        double longest2 = 0, largest = 0;
        if (volume == 0) continue;
        for (int i = 0; i < 4; i++) {
            const double *a = mesh->v + 3 * (size_t)tet[faces_of[i][0]];
            double u[3], v[3];
            arap_sub(mesh->v + 3 * (size_t)tet[faces_of[i][1]], a, u);
            arap_sub(mesh->v + 3 * (size_t)tet[faces_of[i][2]], a, v);
            arap_cross(u, v, normal[i]);
        }
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++) {
                /* The cross products are twice the area vectors. */
                value[i][j] = -arap_dot(normal[i], normal[j]) / (36 * fabs(volume));
                largest = fmax(largest, fabs(value[i][j]));
                longest2 = fmax(longest2, arap_distance2(mesh->v + 3 * (size_t)tet[i],
                                                         mesh->v + 3 * (size_t)tet[j]));
            }
        double max = MAX_COTANGENT * sqrt(longest2), scale = largest > max ? max / largest : 1;
        if (!isfinite(largest)) continue;
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++) {
                size_t e = arap_mesh_find_edge(mesh, tet[i], tet[j]);
                edges[e] += scale * value[i][j];
                edges[mesh->reverse[e]] += scale * value[i][j];
            }
    }
}
