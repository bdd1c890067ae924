/* Determines the bone that owns each vertex of the skin. */
#ifndef ARAP_OWNERS_H
#define ARAP_OWNERS_H

#include "rig/skeleton.h"
#include "springs/bone_lines.h"
#include "springs/containment.h"

/* The skin of a part that one line of a bone (bone_lines.h) owns. */
typedef struct arap_patch {
    int part, line;
    double area, distance; /* area-weighted mean, in units of mesh.v: the radius of the limb */
    int open;              /* whether the bone may own skin of the part */
} arap_patch;

typedef struct arap_owners {
    arap_bone_lines lines;
    int *line;        /* (vertices) the owner, or -1 */
    double *distance; /* (vertices) from it, in units of mesh.v */
    int patch_count;
    arap_patch *patches; /* in ascending order of parts, then lines */
    int *patch_of;       /* (vertices) or -1 */
    int *first;          /* (parts + 1) first patch of a part */
    char *whole;         /* (parts) whether one bone owns the whole part, which surrounds none */
} arap_owners;

/* thick (parts): see sheets.c. wanted (vertices): the deforming bones that own the vertices, -1:
 * none; wanted_whole (vertices): whether the whole part belongs to that bone. wanted NULL: owners
 * are chosen here, among those not excluded from the vertex (excluded NULL: no bone is). kept: the
 * containments of the bones, once they are known. */
arap_status arap_owners_create(arap_context *context, const arap_mesh *mesh,
                               const arap_skeleton *skeleton, const double *thick,
                               arap_excluded_fn excluded, const void *data, const int *wanted,
                               const char *wanted_whole, arap_containments *kept, arap_owners *out);
void arap_owners_clear(arap_owners *owners);

/* Find the bone that owns each of the caller's vertices, out (vertices): one of the caller's bones,
 * or -1 without a deforming bone. */
arap_status arap_find_owners(arap_context *context, const arap_geometry *geometry,
                             const arap_bones *bones, int *out);

#endif
