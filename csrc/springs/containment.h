/* Finds the bones that each part of the mesh surrounds. */
#ifndef ARAP_CONTAINMENT_H
#define ARAP_CONTAINMENT_H

#include "mesh/bvh.h"
#include "springs/bone_lines.h"

/* A part around a line of a bone (bone_lines.h). share: the share of its rays that meet the part;
 * off: the length of their mean vector relative to their mean length: 0 if the bone is in the
 * middle, 0.64 on the axis of half a tube. */
typedef void (*arap_containment_fn)(void *data, int line, int bone, int part, double share,
                                    double off);

/* Results for a mesh and its bones, stored for a second visit. Must initially be all zero. */
typedef struct arap_containments {
    struct arap_containment *found;
    int count, known;
    arap_bvh *faces; /* of the mesh, if it has been created and is still useful */
} arap_containments;
void arap_containments_drop_faces(arap_containments *containments);
void arap_containments_clear(arap_containments *containments);

/* Call `visit` for every line of a deforming bone, in ascending order, and every part hit by its
 * rays. stage: the name under which progress is reported. kept: results for the same mesh and
 * bones. */
arap_status arap_visit_containments(arap_context *context, const arap_mesh *mesh,
                                    const arap_bone_lines *lines, const char *stage,
                                    arap_containments *kept, arap_containment_fn visit, void *data);

/* The same for the stored results; does nothing without results. */
void arap_visit_kept(const arap_containments *kept, arap_containment_fn visit, void *data);

#endif
