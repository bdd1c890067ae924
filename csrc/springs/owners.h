/* Determines the bone that owns each vertex of the skin. */
#ifndef ARAP_OWNERS_H
#define ARAP_OWNERS_H

#include "base/memory.h"
#include "mesh/bvh.h"
#include "rig/skeleton.h"
#include "springs/bone_lines.h"
#include "springs/containment.h"

/* The surface of a mesh, with its two sides. */
typedef struct arap_inside {
    const arap_mesh *mesh;
    const arap_bvh *faces;
    double *normal; /* (vertices, 3) area-weighted, outward */
    char *inward;   /* (parts) whether the faces of the part point inward */
    arap_arena arena;
} arap_inside;

/* Keeps references to the mesh and its faces. */
arap_status arap_inside_create(arap_context *context, const arap_mesh *mesh, const arap_bvh *faces,
                               arap_inside *out);
void arap_inside_clear(arap_inside *inside);

/* Share of the segment from vertex i to the point that lies outside the mesh, 0 to 1. */
double arap_outside_share(const arap_inside *inside, int i, const double *point);

/* The skin of a part that one line of a bone (bone_lines.h) owns. */
typedef struct arap_patch {
    int part, line;
    double area, distance; /* area-weighted mean, in units of mesh.v: the radius of the limb */
    int open;              /* whether the bone may own skin of the part */
} arap_patch;

typedef struct arap_owners {
    arap_arena arena;
    arap_bone_lines lines;
    int *line;        /* (vertices) the owner, or -1 */
    double *distance; /* (vertices) from it, in units of mesh.v */
    int patch_count;
    arap_patch *patches; /* in ascending order of parts, then lines */
    int *patch_of;       /* (vertices) or -1 */
    int *first;          /* (parts + 1) first patch of a part */
    char *whole;         /* (parts) whether one bone owns the whole part, which surrounds none */
} arap_owners;

/* The owners of the vertices if they are known, and otherwise the bones that cannot be owners. */
typedef struct arap_owner_choice {
    const int *bone;           /* (vertices) deforming bone, or -1; NULL: not known */
    const char *whole;         /* (vertices) whether the whole part belongs to that bone */
    arap_excluded_fn excluded; /* NULL: no bone is excluded */
    const void *data;          /* the first argument of `excluded` */
} arap_owner_choice;

/* thick (parts): see sheets.c. kept: the containments of the bones, once they are known. */
arap_status arap_owners_create(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const double *thick,
                               const arap_owner_choice *choice, arap_containments *kept,
                               arap_owners *out);
void arap_owners_clear(arap_owners *owners);

/* Find the bone that owns each of the caller's vertices, out (vertices): one of the caller's bones,
 * or -1 without a deforming bone. */
arap_status arap_find_owners(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, int *out);

#endif
