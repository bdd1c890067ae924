/* Determines the position and size of a mesh, ignoring stray vertices and objects far beside it. */
#ifndef ARAP_EXTENT_H
#define ARAP_EXTENT_H

#include "mesh/mesh.h"

typedef struct arap_extent {
    double center[3], diagonal; /* caller's units; diagonal > 0, 1 for a point */
    double box[2][3];    /* of what is connected and dense: it has this center and diagonal */
    double lo[3], hi[3]; /* vertices outside this box are far away; infinite: none are */
    double dense[2][3];  /* a face from the inside of this box to its outside leads to a stray
                          * vertex; infinite: no vertex is stray */
} arap_extent;

/* Coordinates and indices must already be checked, bones need not be. With bones, the extent is
 * that of the object in which most deforming bones start; NULL: of the largest object. Returns
 * ARAP_BAD_VALUE if squares of coordinates overflow. */
arap_status arap_extent_find(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, arap_extent *out);

static inline int arap_is_beyond(const double *lo, const double *hi, const double *point) {
    for (int c = 0; c < 3; c++)
        if (point[c] < lo[c] || point[c] > hi[c]) return 1;
    return 0;
}

#endif
