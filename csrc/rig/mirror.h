/* The mirror map of a symmetric character: which bone and which vertex is the image of which, and
 * weights that are the same on both sides, to the last bit. */
#ifndef ARAP_MIRROR_H
#define ARAP_MIRROR_H

#include "arap.h"
#include "base/vec3.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* All zero: nothing is mirrored. */
typedef struct arap_mirror {
    double normal[3]; /* of length 1 */
    double offset;    /* the plane is normal . x = offset, units of arap_mesh.v */
    int bone_count;   /* deforming bones with a partner */
    int *bone;        /* (deforming bones) partner or -1 */
    int vertices;     /* those of the mesh */
    int *vertex;      /* (vertices) partner or -1 */
    char *symmetric;  /* (vertices) the present rows of it and its partner are images */
} arap_mirror;

/* The plane and the partners of the deforming bones. Errors name the bone whose partner is out of
 * range, has another partner, or does not deform as it does, and a plane without a normal. */
arap_status arap_mirror_bones(arap_job *job, const arap_reflection *reflection,
                              const arap_skeleton *skeleton, const arap_mesh *mesh,
                              arap_mirror *mirror);

/* The partners of the vertices; those on the plane, if `plane` is 0, are given none. */
arap_status arap_mirror_vertices(arap_job *job, const arap_mesh *mesh, int plane,
                                 arap_mirror *mirror);
void arap_mirror_clear(arap_mirror *mirror);

/* The image of a point, or of a direction with an offset of 0; not in place. */
static inline void arap_reflect(const arap_mirror *mirror, const double *x, double offset,
                                double *out) {
    double twice = 2 * (arap_dot(mirror->normal, x) - offset);
    for (int c = 0; c < 3; c++) out[c] = x[c] - twice * mirror->normal[c];
}

/* The image of the rotation `in` (3, 3); not in place. */
void arap_mirror_rotation(const arap_mirror *mirror, const double *in, double *out);
/* The rotation vector of the image of the rotation with the vector `in` (3); not in place. */
void arap_mirror_rotation_vector(const arap_mirror *mirror, const double *in, double *out);

/* Join the rows of each vertex and its partner, with the mean of their weights, and note which
 * vertices are now symmetric: those without given weights, whose bones all have partners, none of
 * them closed to the other side. The rows of other vertices stay. `in` is replaced. */
arap_status arap_mirror_maps(arap_job *job, arap_mirror *mirror, int bones, arap_closed_fn closed,
                             const void *data, arap_influences *in);

/* The weights of symmetric vertices become the mean of both sides. Those that are equal stay. */
void arap_mirror_weights(const arap_mirror *mirror, arap_influences *in);

/* The vertex with the mirrored row of vertex i, itself on the plane, or -1. */
static inline int arap_mirror_image(const arap_mirror *mirror, int i) {
    return mirror->symmetric && mirror->symmetric[i] ? mirror->vertex[i] : -1;
}

#endif
