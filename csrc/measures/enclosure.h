/* Measures the volume enclosed by a mesh. */
#ifndef ARAP_ENCLOSURE_H
#define ARAP_ENCLOSURE_H

#include "base/context.h"

#include <stddef.h>

/* The closed parts of a mesh: components connected by vertices in which every edge belongs to two
 * consistently oriented triangles. Parts that are inside out are treated as if their faces were
 * flipped. */
typedef struct arap_enclosure {
    int vertices;  /* of the caller */
    size_t count;  /* triangles of closed parts */
    int parts;     /* number of closed parts */
    int *corner;   /* (count, 3) oriented outward */
    double volume; /* at rest; 0 if there are no closed parts */
} arap_enclosure;

/* vertices (n, 3), triangles (triangle_count, 3), already checked. */
arap_status arap_enclosure_create(arap_context *context, int n, const double *vertices,
                                  const int *triangles, size_t triangle_count,
                                  arap_enclosure *enclosure);
void arap_enclosure_clear(arap_enclosure *enclosure);

/* Compute the volume of the closed parts in each of these poses, given as points in pose lanes,
 * into out (whole groups). */
arap_status arap_enclosed_volume(arap_context *context, const arap_enclosure *enclosure, int poses,
                                 const double *points, double *out);

#endif
