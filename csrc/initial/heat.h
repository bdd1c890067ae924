/* Heat weights (paper Eq. 6, Baran & Popovic 2007): the initial guess and the widest supports. */
#ifndef ARAP_HEAT_H
#define ARAP_HEAT_H

#include "mesh/bvh.h"
#include "weights/influences.h"
#include "rig/skeleton.h"

/* A vertex nearer than this to a bone, in units of mesh.v, is on it. */
#define ARAP_ON_BONE 1e-4

/* Most bones that share one nearest point; further ones are passed over. */
#define ARAP_MOST_SHARED 8

/* Where the skeleton is, seen from each vertex. */
typedef struct arap_sight {
    double *distance;    /* (count) to the nearest bone or virtual segment, units of mesh.v */
    char *visible;       /* (count) no face between the vertex and that point */
    char *on_bone;       /* (count) that point is on a deforming bone, not on a virtual segment */
    char *bone_inside;   /* (deform_count) the bone is inside the mesh, as most vertices see it */
    char *nearest_count; /* (count) how many bones are equally near (within 1e-9) */
    int *nearest;        /* (count, ARAP_MOST_SHARED) these bones, ascending */
} arap_sight;

/* Hierarchy of the faces of a mesh; tags (part_count) or NULL: the tag of each part's faces. */
arap_status arap_face_bvh(arap_job *job, const arap_mesh *mesh, const int *tags, arap_bvh **out);

arap_status arap_sight_create(arap_job *job, const arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_bvh *faces, arap_sight *sight);
void arap_sight_clear(arap_sight *sight);

/* Label the island of each vertex, island (vertices), in the order of their first vertices; returns
 * their number. stack (vertices): scratch. */
int arap_find_islands(const arap_mesh *mesh, int *island, int *stack);

typedef struct arap_heat_report {
    int unseen_count;    /* islands of which no vertex sees a bone */
    arap_island *unseen; /* (unseen_count) */
} arap_heat_report;

/* Add half the cotangents opposite to each directed edge (ring[count]), over its faces: minus the
 * off-diagonal of the cotangent Laplacian; for tets, that of tets.c. Those of a sliver are scaled
 * down as a whole, a face without area has none. */
void arap_add_cotangents(const arap_mesh *mesh, double *edges);

/* Conductance of every directed edge of the one-rings, minus the off-diagonal of L: cotangents, and
 * springs for wires and links. */
void arap_conductances(const arap_mesh *mesh, double *out);

/* Weights of all deforming bones, clamped at 0 and normalised; entries below `floor` are left
 * out (0 keeps all). `order` is a fill-reducing order of the mesh. */
arap_status arap_heat_weights(arap_job *job, const arap_mesh *mesh, const arap_skeleton *skeleton,
                              const arap_sight *sight, const int *order, double floor,
                              arap_influences *out, arap_heat_report *report);
void arap_heat_report_clear(arap_heat_report *report);

#endif
