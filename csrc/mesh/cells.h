/* Points in cells of equal size, to find those that are nearer than a cell. */
#ifndef ARAP_CELLS_H
#define ARAP_CELLS_H

#include "base/context.h"

typedef struct arap_cells {
    const double *points;  /* (count, 3) */
    double size, per_unit; /* of a cell, and how many make a unit */
    int count, bits;
    int *first; /* (2 ^ bits) a point of the cells of this hash, or -1 */
    int *next;  /* (points) another one, or -1 */
} arap_cells;

/* size > 0; the points must stay where they are. */
arap_status arap_cells_create(arap_context *context, int count, const double *points, double size,
                              arap_cells *out);
void arap_cells_clear(arap_cells *cells);

enum { ARAP_CELLS_NONE = -1, ARAP_CELLS_CROWDED = -2 };

/* Point nearest to p, or ARAP_CELLS_NONE if none is nearer than `radius`, at most the size of a
 * cell; ARAP_CELLS_CROWDED if the search would take long. Ties are resolved as in
 * arap_bvh_nearest. */
int arap_cells_nearest(const arap_cells *cells, const double *p, double radius);

#endif
