/* Matches the vertices of a mesh to the nearest points of a surface. */
#ifndef ARAP_MATCH_H
#define ARAP_MATCH_H

#include "mesh/mesh.h"
#include "transfer/transfer.h"

/* Matches of the target's vertices, after welding. */
typedef struct arap_match {
    int *triangle;            /* (count) of the source */
    double *bary;             /* (count, 3) the nearest point there */
    double *distance, *angle; /* (count) in the caller's units, and radians */
    char *matched;            /* (count) within the limits */
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

#endif
