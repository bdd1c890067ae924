/* The symmetry map of a symmetric character. It contains pairs of bones and vertices that are
 * mirror images, and makes weights bitwise equal on both sides. */
#ifndef ARAP_SYMMETRY_H
#define ARAP_SYMMETRY_H

#include "arap.h"
#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* All zero: nothing is mirrored. */
typedef struct arap_symmetry {
    double normal[3]; /* of length 1 */
    double offset;    /* the plane is normal . x = offset, units of arap_mesh.v */
    int bone_count;   /* number of deforming bones with a partner */
    int *bone;        /* (deforming bones) partner or -1 */
    int vertices;     /* vertices of the mesh */
    int *vertex;      /* (vertices) partner or -1 */
    char *symmetric;  /* (vertices) the current rows of the vertex and its partner are images */
    arap_arena arena; /* of the arrays */
} arap_symmetry;

/* Set the plane and the partners of the deforming bones. Errors name the bone whose partner is out
 * of range, has another partner, or does not deform in the same way. A plane without a normal is
 * also an error. */
arap_status arap_symmetry_bones(arap_context *context, const arap_reflection *reflection,
                                const arap_skeleton *skeleton, const arap_mesh *mesh,
                                arap_symmetry *symmetry);

/* Find the partners of the vertices. If `plane` is 0, vertices on the plane get none. */
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

/* Merge the rows of each vertex and its partner, with the mean of their weights, and record which
 * vertices are now symmetric. A vertex is symmetric if it has no locked weights and if all of its
 * bones have partners that are not excluded on the other side. The rows of other vertices are
 * unchanged. `in` is replaced. */
arap_status arap_symmetry_patterns(arap_context *context, arap_symmetry *symmetry, int bones,
                                   arap_excluded_fn excluded, const void *data,
                                   arap_influences *in);

/* Whether the rows of vertices i and j have the same bones, mirrored. All bones must have
 * partners. */
int arap_are_images(const arap_symmetry *symmetry, const arap_influences *in, int i, int j);

/* Set the weights of symmetric vertices to the mean of both sides. Equal weights do not change, so
 * the call can be repeated after ARAP_CANCELLED. */
arap_status arap_symmetry_weights(arap_context *context, const arap_symmetry *symmetry,
                                  arap_influences *in);

/* Whether vertex i, and not its partner j, decides for both. The vertex on the positive side of the
 * plane decides, regardless of their numbers. If both are equally far from the plane, the lower
 * vertex decides. */
static inline int arap_symmetry_leads(const arap_symmetry *symmetry, const arap_mesh *mesh, int i,
                                      int j) {
    double side = arap_dot(symmetry->normal, mesh->v + 3 * (size_t)i);
    double other = arap_dot(symmetry->normal, mesh->v + 3 * (size_t)j);
    return side != other ? side > other : i <= j;
}

/* The vertex with the mirrored row of vertex i, which is i itself on the plane, or -1. */
static inline int arap_symmetry_image(const arap_symmetry *symmetry, int i) {
    return symmetry->symmetric && symmetry->symmetric[i] ? symmetry->vertex[i] : -1;
}

#endif
