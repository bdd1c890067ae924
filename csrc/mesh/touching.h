/* Finds which of the given parts of a mesh touch each other (see touching.c). */
#ifndef ARAP_TOUCHING_H
#define ARAP_TOUCHING_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"

typedef struct arap_touching {
    const arap_mesh *mesh;
    const char *chosen; /* (parts) the caller's */
    size_t *face;       /* (count) faces of the chosen parts */
    int *part;          /* (count) their parts */
    size_t count;
    arap_bvh *tree; /* hierarchy of these faces */
    int *parent;    /* the caller's sets, while they are being merged */
    int now;        /* part whose edges are being traversed */
    arap_arena arena;
} arap_touching;

/* chosen: (parts), referenced until arap_touching_clear(), which must be called even after a
 * failure. */
arap_status arap_touching_create(arap_context *context, const arap_mesh *mesh, const char *chosen,
                                 arap_touching *out);

/* Merge in `parent` (parts) (base/sets.h) chosen parts whose surfaces cross, or of which one has a
 * vertex nearer to the other than reach[part]. */
arap_status arap_touching_unite(arap_context *context, arap_touching *touching, const double *reach,
                                int *parent);

/* Find the chosen part, other than `skip`, nearest to vertex i within sqrt(*distance2), and set
 * *distance2 to its squared distance. Returns -1 if no part is that near. */
int arap_touching_nearest(const arap_touching *touching, int i, int skip, double *distance2);

void arap_touching_clear(arap_touching *touching);

#endif
