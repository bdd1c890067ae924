/* A welded source and target with the matches between them. Every transfer begins with this
 * step. */
#ifndef ARAP_PAIR_H
#define ARAP_PAIR_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "transfer/transfer.h"

/* The points of the source nearest to the target's vertices, after welding. */
typedef struct arap_match {
    int *triangle;            /* (count) of the source */
    double *bary;             /* (count, 3) the nearest point there */
    double *distance, *angle; /* (count) in the caller's units, and radians */
    char *matched;            /* (count) within the limits */
    arap_arena arena;         /* of the arrays */
} arap_match;

/* Find the matches. The source must have at least one triangle. */
arap_status arap_match_find(arap_context *context, const arap_mesh *source, const arap_mesh *target,
                            const arap_transfer_settings *settings, arap_match *out);

/* Convert vertex i of the target to the units of the source. If it is too far away, it is moved
 * back along its ray from the center. Returns the remaining share of its distance. */
double arap_match_place(const arap_mesh *source, const arap_mesh *target, int i, double *p);

/* Unit normals of the vertices (count, 3), 0 where they cancel; and their interpolation, of any
 * length, at the point of face t with these coordinates. */
void arap_unit_normals(const arap_mesh *mesh, double *normals);
void arap_normal_at(const arap_mesh *mesh, const double *normals, int t, const double *bary,
                    double *out);

void arap_match_clear(arap_match *match);

typedef struct arap_pair {
    arap_mesh source, target;
    arap_match match;
} arap_pair;

/* Check the settings, weld and match. The results are stored in *out, whose arrays belong to the
 * caller. Initialize the pair to {0}, and release it with arap_pair_clear even after a failure. */
arap_status arap_pair_match(arap_context *context, const arap_geometry *source,
                            const arap_geometry *target, const arap_transfer_settings *settings,
                            const arap_matches *out, arap_pair *pair);

/* Connect the target, and mark in known (target vertices) the vertices that keep their values from
 * the source: matched ones, and all vertices of an island without a match. Returns ARAP_BAD_VALUE
 * if nothing matches. */
arap_status arap_pair_known(arap_context *context, arap_pair *pair,
                            const arap_transfer_settings *settings, char *known);

void arap_pair_clear(arap_pair *pair);

/* Extends values on some vertices of a mesh smoothly to the others: fills in values (columns,
 * count) of the vertices that are not known (count). The mesh must be connected, and each of its
 * islands must have a known vertex. */
arap_status arap_inpaint(arap_context *context, const arap_mesh *mesh, const char *known,
                         int columns, double *values);

/* Keeps vertices of a garment above a surface when both move. */
typedef struct arap_clearance {
    double *height; /* (target vertices) height above the source at rest, in its units; 0: not above
                       it */
    char *border;   /* (source vertices) whether the vertex is on a border, where the surface has no
                       sides */
    arap_arena arena; /* of these arrays and of scratch space */
} arap_clearance;

/* Create from a pair whose source is connected (mesh/rings.h). Release with
 * arap_clearance_clear. */
arap_status arap_clearance_create(arap_context *context, const arap_pair *pair,
                                  arap_clearance *clearance);
void arap_clearance_clear(arap_clearance *clearance);

/* Lift the vertices of the target that the moved source has passed or approached too closely. skin:
 * the moved vertices of the source; move (target vertices, 3): displacements of the target, changed
 * in place; all in the units of the source. *lifted, *below: number of changed vertices, and number
 * of vertices that are above at rest but remain below. */
arap_status arap_clearance_keep(arap_context *context, const arap_pair *pair,
                                const arap_clearance *clearance, const double *skin, double *move,
                                int *lifted, int *below);

#endif
