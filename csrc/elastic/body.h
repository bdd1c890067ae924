/* An elastic body: the caller's mesh as elements with known rest shapes. */
#ifndef ARAP_BODY_H
#define ARAP_BODY_H

#include "base/memory.h"
#include "mesh/mesh.h"

/* The deformation gradient of a triangle, in its rest plane, is F = sum_k x_k slope_k^T (3, 2). */
typedef struct arap_membrane {
    int corner[3];
    double size; /* area */
    double slope[3][2];
} arap_membrane;

/* The deformation gradient of a tet is F = sum_k x_k slope_k^T (3, 3). */
typedef struct arap_solid {
    int corner[4];
    double size; /* volume over the thickness of the mesh (tets.c): an area */
    double slope[4][3];
} arap_solid;

typedef struct arap_body {
    arap_mesh mesh; /* welded, linked, connected; units of the mesh */
    size_t triangle_count, tet_count;
    arap_membrane *triangle; /* of the caller, without those that surface_strain.h excludes */
    arap_solid *tet;
    double *cell;     /* (ring[count]) c_ik of the cells */
    double *size;     /* (count) share of the area that belongs to the vertex, > 0 */
    arap_arena arena; /* of the arrays */
} arap_body;

/* bending: strength of the cells of faces and tets, see body.c. Errors name the problem with the
 * geometry. */
arap_status arap_body_create(arap_context *context, const arap_geometry *geometry, double bending,
                             arap_body *body);
void arap_body_clear(arap_body *body);

/* Points on the bones to which the vertex cells extend, see body.c. */
typedef struct arap_anchors {
    const double *weight;       /* (count) >= 0 */
    const double *rest, *posed; /* (count, 3) */
} arap_anchors;

/* The energy of the points x (count, 3) with the best rotations. The right-hand side for these
 * rotations is added to b (count, 3). */
double arap_body_local_step(const arap_body *body, const arap_anchors *anchors, const double *x,
                            double *b);

/* The matrix K of the quadratic form x^T K x of the energy with fixed rotations. The matrix is
 * added to own (count) and edge (ring[count]) of the one-rings. anchor: (count) weights of the
 * anchors. */
void arap_body_stiffness(const arap_body *body, const double *anchor, double *own, double *edge);

/* The polar factor of a matrix with columns a, b, as orthonormal columns r0, r1. Returns the sum of
 * its singular values. */
double arap_polar(const double *a, const double *b, double *r0, double *r1);

#endif
