/* Sorts points into cells of equal size to find neighbors within the size of a cell. */
#ifndef ARAP_CELLS_H
#define ARAP_CELLS_H

#include "base/context.h"

typedef struct arap_cells {
    const double *points;  /* (count, 3) */
    double size, per_unit; /* size of a cell, and number of cells per unit */
    int count, bits;
    int *first; /* (2 ^ bits) a point in the cells with this hash, or -1 */
    int *next;  /* (points) another point with the same hash, or -1 */
} arap_cells;

/* size > 0; the array of points must stay valid. */
arap_status arap_cells_create(arap_context *context, int count, const double *points, double size,
                              arap_cells *out);
void arap_cells_clear(arap_cells *cells);

enum { ARAP_CELLS_NONE = -1, ARAP_CELLS_CROWDED = -2 };

/* Find the point nearest to p. Returns ARAP_CELLS_NONE if none is nearer than `radius`, which is at
 * most the size of a cell, and ARAP_CELLS_CROWDED if the search would take too long. Ties are
 * resolved as in arap_bvh_nearest. */
int arap_cells_nearest(const arap_cells *cells, const double *p, double radius);

#endif
