/* Nearest points of one surface for the vertices of another mesh. */
#ifndef ARAP_MATCH_H
#define ARAP_MATCH_H

#include "mesh/mesh.h"
#include "transfer/transfer.h"

/* Matches of the target's vertices, after welding. */
typedef struct arap_match {
    int *triangle;            /* (count) of the source */
    double *bary;             /* (count, 3) the nearest point there */
    double *distance, *angle; /* (count) caller's units, radians */
    char *matched;            /* (count) within the limits */
} arap_match;

/* The source has at least one triangle. */
arap_status arap_match_find(arap_context *context, const arap_mesh *source, const arap_mesh *target,
                            const arap_transfer_settings *settings, arap_match *out);

/* Vertex i of the target in the units of the source. If it is too far away, it is pulled back along
 * its ray from the center; the result is the share of its distance that is left. */
double arap_match_place(const arap_mesh *source, const arap_mesh *target, int i, double *p);

/* Unit normals of the vertices (count, 3), 0 where they cancel; and mixed of them, of any length,
 * at the point of face t with these coordinates. */
void arap_unit_normals(const arap_mesh *mesh, double *normals);
void arap_normal_at(const arap_mesh *mesh, const double *normals, int t, const double *bary,
                    double *out);

void arap_match_clear(arap_match *match);

#endif
