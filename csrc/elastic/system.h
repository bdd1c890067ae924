/* The global step of an elastic body that is tied to its bones, with one factorization for all
 * poses. */
#ifndef ARAP_ELASTIC_SYSTEM_H
#define ARAP_ELASTIC_SYSTEM_H

#include "elastic/body.h"
#include "elastic/hold.h"
#include "linalg/factor.h"

typedef struct arap_elastic_system {
    int size;    /* vertices of the mesh */
    int *vertex; /* (size) in elimination order */
    int *place;  /* (size) position of each vertex in that order */
    arap_factor *factor;
    double *response;   /* (limbs, size) K^-1 C^T */
    double *compliance; /* (limbs, limbs) Cholesky factor of 1/g + C K^-1 C^T */
} arap_elastic_system;

/* Returns ARAP_NOT_FACTORED if the pulls are too weak to hold the body. */
arap_status arap_elastic_system_create(arap_context *context, const arap_body *body,
                                       const arap_bone_hold *hold, arap_elastic_system *system);
void arap_elastic_system_clear(arap_elastic_system *system);

/* Convert b (size, 3) of the vertices to three columns (3, size) in elimination order. */
void arap_elastic_gather(const arap_elastic_system *system, const double *b, double *columns);

/* Convert columns (3, size), solved with the factor, to the points x (size, 3). The limbs' centers
 * are pulled toward aim (limbs, 3). scratch: (3, limbs) */
void arap_elastic_finish(const arap_elastic_system *system, const arap_bone_hold *hold,
                         const double *aim, double *columns, double *x, double *scratch);

#endif
