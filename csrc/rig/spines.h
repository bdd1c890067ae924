/* Parametrized bones: spines, and stretchable-twistable bones (STBs, Jacobson & Sorkine 2011),
 * which are spines that turn about themselves (paper section 1.2), and the positions of points that
 * they move. */
#ifndef ARAP_SPINES_H
#define ARAP_SPINES_H

#include "arap.h"
#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"

/* [R | t] (3, 4) of the point at parameter u of the spine from `head` to `tail`, before the base
 * transform (paper Eq. 3, 4), and, unless NULL, its derivative by u. */
void arap_spine_transform(const double *head, const double *tail, const double *bend, double u,
                          double *transform, double *slope);

/* The effect of the ends of a spine on the point at u: with K v = bend x v, its transform there is
 *     (f0 K + f1 K^2) e0 + (f2 + f3 K + f4 K^2) (e1 - e0) + R(u) p. */
#define ARAP_SPINE_FACTORS 5
void arap_spine_factors(const double *bend, double u, double *factors);

/* Parameter of a point: its position along the bone, from 0 at the head to 1 at the tail. */
double arap_spine_parameter(const double *head, const double *tail, const double *point);

/* Write the parameters of the vertices for one of the caller's bones to every stride-th number of
 * `out`. These are the parameters of the caller (vertices, bones) or, if they are NaN or NULL, the
 * positions along the bone. Errors name the vertex and the bone. */
arap_status arap_bone_parameters(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_mesh *mesh, int bone, const double *parameters,
                                 double *out, int stride);

/* out = a b for affine maps (3, 4); not in place. */
void arap_compose(const double *a, const double *b, double *out);

/* The STBs and spines of a problem in its poses. */
typedef struct arap_spines {
    int count;         /* 0: no spines, and no other member is set */
    int *place;        /* (columns) index of a bone among the spines, or -1 */
    int *bone;         /* (count) */
    double *head;      /* (count, 3) units of arap_mesh.v */
    double *tail;      /* (count, 3) */
    double *bend;      /* (poses, count, 4) */
    double *parameter; /* (vertices, count) u */
    double *gradient;  /* (vertices, count, 3) gradient of u, along the bone */
    double *point;     /* (vertices, count, poses, 3) position to which the spine alone moves the
                          vertex */
    arap_arena arena;  /* of the arrays */
} arap_spines;

/* Allocate memory for the bends of the poses, which the caller fills in. Nothing is allocated
 * without spines. columns: number of transforms per pose, which begin with those of the skeleton's
 * deforming bones. */
arap_status arap_spines_create(arap_context *context, const arap_skeleton *skeleton, int columns,
                               int poses, arap_spines *spines);

/* Check the caller's bends (poses, bones of the caller, 4), and copy those of the spines to the
 * poses from `first` on. NULL: no bone is bent. Errors name the pose and the bone. */
arap_status arap_spines_take_bends(arap_error *error, const arap_skeleton *skeleton, int first,
                                   int count, const double *bends, arap_spines *spines);

/* Compute the parameters, their gradients and the points from the poses' transforms (poses,
 * columns, 3, 4). parameters: (vertices, bones) of the caller; NaN or NULL: the position along the
 * bone. */
arap_status arap_spines_place(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, const double *parameters, int columns,
                              int poses, const double *transform, arap_spines *spines);
/* Update the parameters, gradients and points for other ends, bends or transforms. kept (vertices,
 * count): parameters that remain unchanged. */
arap_status arap_spines_replace(arap_context *context, const arap_mesh *mesh, const char *kept,
                                int columns, int poses, const double *transform,
                                arap_spines *spines);
arap_status arap_spines_copy(arap_context *context, const arap_spines *in, int columns,
                             int vertices, int poses, arap_spines *out);
/* Copy all numbers from other spines for the same bones, vertices and poses. */
void arap_spines_assign(const arap_spines *from, int vertices, int poses, arap_spines *to);
void arap_spines_clear(arap_spines *spines);

/* Index of the bone among the spines, or -1. */
static inline int arap_spine_of(const arap_spines *spines, int bone) {
    return spines->count ? spines->place[bone] : -1;
}

/* The points (poses, 3) of a vertex. */
static inline const double *arap_spine_points(const arap_spines *spines, int poses, int vertex,
                                              int spine) {
    return spines->point +
           3 * (size_t)poses * ((size_t)vertex * (size_t)spines->count + (size_t)spine);
}

/* Jacobian (3, 3) of a spine with base transform `base` at a vertex (paper Eq. A.1) in a pose, and
 * unless NULL its rotation there. */
void arap_spine_jacobian(const arap_spines *spines, const arap_mesh *mesh, int pose, int vertex,
                         int spine, const double *base, double *jacobian, double *rotation);

#endif
