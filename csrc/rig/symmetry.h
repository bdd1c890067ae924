/* The symmetry map of a symmetric character: pairs of bones and vertices that are images of each
 * other, and weights that are equal on both sides, to the last bit. */
#ifndef ARAP_SYMMETRY_H
#define ARAP_SYMMETRY_H

#include "arap.h"
#include "base/vec3.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* All zero: nothing is mirrored. */
typedef struct arap_symmetry {
    double normal[3]; /* of length 1 */
    double offset;    /* the plane is normal . x = offset, units of arap_mesh.v */
    int bone_count;   /* deforming bones with a partner */
    int *bone;        /* (deforming bones) partner or -1 */
    int vertices;     /* those of the mesh */
    int *vertex;      /* (vertices) partner or -1 */
    char *symmetric;  /* (vertices) the present rows of it and its partner are images */
} arap_symmetry;

/* The plane and the partners of the deforming bones. Errors name the bone whose partner is out of
 * range, has another partner, or does not deform as it does, and a plane without a normal. */
arap_status arap_symmetry_bones(arap_context *context, const arap_reflection *reflection,
                                const arap_skeleton *skeleton, const arap_mesh *mesh,
                                arap_symmetry *symmetry);

/* The partners of the vertices; those on the plane, if `plane` is 0, are given none. */
arap_status arap_symmetry_vertices(arap_context *context, const arap_mesh *mesh, int plane,
                                   arap_symmetry *symmetry);
void arap_symmetry_clear(arap_symmetry *symmetry);

/* The image of a point, or of a direction with an offset of 0; not in place. */
static inline void arap_reflect(const arap_symmetry *symmetry, const double *x, double offset,
                                double *out) {
    double twice = 2 * (arap_dot(symmetry->normal, x) - offset);
    for (int c = 0; c < 3; c++) out[c] = x[c] - twice * symmetry->normal[c];
}

/* The image of the rotation `in` (3, 3); not in place. */
void arap_reflect_rotation(const arap_symmetry *symmetry, const double *in, double *out);
/* The rotation vector of the image of the rotation with the vector `in` (3); not in place. */
void arap_reflect_rotation_vector(const arap_symmetry *symmetry, const double *in, double *out);

/* Join the rows of each vertex and its partner, with the mean of their weights, and note which
 * vertices are now symmetric: those without locked weights, whose bones all have partners, none of
 * them excluded from the other side. The rows of other vertices stay. `in` is replaced. */
arap_status arap_symmetry_patterns(arap_context *context, arap_symmetry *symmetry, int bones,
                                   arap_excluded_fn excluded, const void *data,
                                   arap_influences *in);

/* Do the rows of vertices i and j have the same bones, mirrored? Of bones that have partners. */
int arap_are_images(const arap_symmetry *symmetry, const arap_influences *in, int i, int j);

/* The weights of symmetric vertices become the mean of both sides. Equal weights stay: after
 * ARAP_CANCELLED it can begin again. */
arap_status arap_symmetry_weights(arap_context *context, const arap_symmetry *symmetry,
                                  arap_influences *in);

/* Of vertex i and its partner j, is i the one that decides for both? That on the positive side of
 * the plane, independent of their numbers, or, if they are equally far from it, the lower one. */
static inline int arap_symmetry_leads(const arap_symmetry *symmetry, const arap_mesh *mesh, int i,
                                      int j) {
    double side = arap_dot(symmetry->normal, mesh->v + 3 * (size_t)i);
    double other = arap_dot(symmetry->normal, mesh->v + 3 * (size_t)j);
    return side != other ? side > other : i <= j;
}

/* The vertex with the mirrored row of vertex i, itself on the plane, or -1. */
static inline int arap_symmetry_image(const arap_symmetry *symmetry, int i) {
    return symmetry->symmetric && symmetry->symmetric[i] ? symmetry->vertex[i] : -1;
}

#endif
