/* Mixed finite elements. Computes the stretches, points and multipliers for given rotations, their
 * energy, and its gradient with respect to the rotations. */
#ifndef ARAP_MIXED_STATE_H
#define ARAP_MIXED_STATE_H

#include "base/memory.h"
#include "elastic/hold.h"
#include "linalg/factor.h"
#include "mesh/mesh.h"

/* Sample points spread evenly over a mesh, and smooth functions that interpolate between them. */
typedef struct arap_samples {
    int count;
    int *vertex;    /* (count) of the mesh, in the order in which they were found */
    double *weight; /* (mesh.count, count) biharmonic, rows with sum 1; 0 for vertices outside the
                       Laplacian */
    arap_arena arena;
} arap_samples;

/* Find at least `wanted` samples if there are as many vertices, and at least one for each island.
 * Returns ARAP_NOT_FACTORED if the Laplacian is too ill-conditioned. */
arap_status arap_samples_create(arap_context *context, const arap_mesh *mesh, int wanted,
                                arap_samples *samples);
void arap_samples_clear(arap_samples *samples);

/* An element of either kind: triangles first, then tets. */
typedef struct arap_mixed_element {
    int corners, dimension; /* 3 and 2, 4 and 3 */
    const int *corner;
    const double *slope; /* (corners, dimension) */
    double size;
    double rest[9]; /* columns: the axes of its plane and its normal, or those of space */
} arap_mixed_element;

typedef struct arap_mixed {
    const arap_body *body;
    const arap_bone_hold *hold;
    arap_samples samples;
    size_t count;
    arap_mixed_element *element;
    int *place;       /* (vertices) in elimination order */
    int *row_start;   /* (vertices + 1) pattern of the lower triangle, vertex by vertex */
    int *row;         /* (row_start[vertices]) */
    double turn_pull; /* strength of the pull of a sample's rotation toward that of its bone */
    arap_arena arena; /* of these arrays */
} arap_mixed;

/* turn_pull: as a share of the area of the body. Returns ARAP_BAD_VALUE for meshes of more than
 * ARAP_MAX_MIXED vertices. */
#define ARAP_MAX_MIXED 5000
arap_status arap_mixed_create(arap_context *context, const arap_body *body,
                              const arap_bone_hold *hold, int samples, double turn_pull,
                              arap_mixed *mixed);
void arap_mixed_clear(arap_mixed *mixed);

/* Work space of one thread. */
typedef struct arap_mixed_work {
    arap_matrix matrix;
    arap_factor *factor;
    double *turn;     /* (vertices, 3) rotation vectors */
    double *slope;    /* (vertices, 3) derivatives with respect to these */
    double *rotation; /* (elements, 9) */
    double *x, *z;    /* (3 vertices) in elimination order */
    double *pull;     /* (3 vertices) */
    arap_arena arena; /* of the matrix and these arrays */
} arap_mixed_work;

arap_status arap_mixed_work_create(arap_context *context, const arap_mixed *mixed,
                                   arap_mixed_work *work);
void arap_mixed_work_clear(arap_mixed_work *work);

/* A pose: the positions to which the bones move the vertices, and the turns of the samples. */
typedef struct arap_mixed_pose {
    double *target;    /* (vertices, 3) */
    double *bone_turn; /* (samples, 9) rotations */
    double mean[9];    /* the rotation to which the rotation vectors are relative */
    arap_arena arena;  /* of these arrays */
} arap_mixed_pose;

/* Create the pose, and compute the turns (samples, 3) of its bones. transforms: (bones, 3, 4), in
 * units of the mesh. */
arap_status arap_mixed_pose_create(arap_context *context, const arap_mixed *mixed,
                                   const double *transforms, arap_mixed_pose *pose, double *turns);
void arap_mixed_pose_clear(arap_mixed_pose *pose);

/* The energy of the turns (samples, 3), rotation vectors relative to the mean of the pose; its
 * gradient (samples, 3), the points x (vertices, 3) and, unless it is NULL, the stretches S
 * (elements, 9; of triangles the first 2 x 2). */
arap_status arap_mixed_evaluate(arap_context *context, const arap_mixed *mixed,
                                const arap_mixed_pose *pose, const double *turns,
                                arap_mixed_work *work, double *energy, double *gradient, double *x,
                                double *stretches);

#endif
