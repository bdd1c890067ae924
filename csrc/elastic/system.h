/* The global step of an elastic body that is held on its bones, one factorization for all poses. */
#ifndef ARAP_ELASTIC_SYSTEM_H
#define ARAP_ELASTIC_SYSTEM_H

#include "elastic/body.h"
#include "elastic/hold.h"
#include "linalg/factor.h"

typedef struct arap_elastic_system {
    int size;    /* vertices of the mesh */
    int *vertex; /* (size) in the order of elimination */
    int *place;  /* (size) of each vertex in that order */
    arap_factor *factor;
    double *response;   /* (limbs, size) K^-1 C^T */
    double *compliance; /* (limbs, limbs) Cholesky factor of 1/g + C K^-1 C^T */
} arap_elastic_system;

/* ARAP_NOT_FACTORED where the pulls are too weak to hold the body. */
arap_status arap_elastic_system_create(arap_context *context, const arap_body *body,
                                       const arap_hold *hold, arap_elastic_system *system);
void arap_elastic_system_clear(arap_elastic_system *system);

/* b (size, 3) of the vertices as three columns (3, size) in the order of elimination. */
void arap_elastic_gather(const arap_elastic_system *system, const double *b, double *columns);

/* From columns (3, size), which the factor has solved for, to the points x (size, 3): the limbs'
 * centers are drawn to aim (limbs, 3). scratch: (3, limbs) */
void arap_elastic_finish(const arap_elastic_system *system, const arap_hold *hold,
                         const double *aim, double *columns, double *x, double *scratch);

#endif
