/* The volume that a mesh encloses. */
#ifndef ARAP_ENCLOSURE_H
#define ARAP_ENCLOSURE_H

#include "base/context.h"

#include <stddef.h>

/* The closed parts of a mesh: components, connected by vertices, whose every edge is one of two
 * triangles that turn the same way. Parts that are inside out count as if their faces were flipped.
 */
typedef struct arap_enclosure {
    int vertices;  /* of the caller */
    size_t count;  /* triangles of closed parts */
    int parts;     /* closed ones */
    int *corner;   /* (count, 3) turned outwards */
    double volume; /* at rest; 0: there are no closed parts */
} arap_enclosure;

/* vertices (n, 3), triangles (triangle_count, 3), checked already. */
arap_status arap_enclosure_create(arap_context *context, int n, const double *vertices,
                                  const int *triangles, size_t triangle_count,
                                  arap_enclosure *enclosure);
void arap_enclosure_clear(arap_enclosure *enclosure);

/* Their volume in each of these poses, points in lanes of poses, into out (whole groups). */
arap_status arap_enclosed_volume(arap_context *context, const arap_enclosure *enclosure, int poses,
                                 const double *points, double *out);

#endif
