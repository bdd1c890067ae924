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

/* Determines the loose parts that can be the skin of each bone. */
typedef struct arap_skins {
    int *start; /* (bones + 1); NULL: nothing is known */
    int *part;  /* parts around each bone, in ascending order */
} arap_skins;

/* containments: as far as known. bones: number of deforming bones. */
arap_status arap_skins_find(arap_context *context, const arap_containments *containments, int bones,
                            arap_skins *out);
void arap_skins_clear(arap_skins *skins);

/* Whether the part can be skin of the bone. */
int arap_is_skin(const arap_skins *skins, int bone, int part);

/* Whether the bone is known to be inside this part. */
int arap_surrounds(const arap_skins *skins, int bone, int part);

#endif
