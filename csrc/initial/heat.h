/* Heat weights (paper Eq. 6, Baran & Popovic 2007): the initial guess and the widest supports. */
#ifndef ARAP_HEAT_H
#define ARAP_HEAT_H

#include "initial/visibility.h"
#include "weights/influences.h"

/* Islands of a mesh and the bones visible from them. They determine which vertices count as
 * evidence for a bone. */
typedef struct arap_islands_report {
    int unseen_count;    /* islands of which no vertex sees a bone */
    arap_island *unseen; /* (unseen_count) */
} arap_islands_report;

/* shines (count): the vertex sees its nearest bone, or no vertex of its island sees one; rigid_bone
 * (count): the bone that its whole island follows because no bone is near, or -1. Islands that see
 * no bone are reported. */
arap_status arap_judge_islands(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, char *shines, int *rigid_bone,
                               arap_islands_report *report);
void arap_islands_report_clear(arap_islands_report *report);

/* Compute the weights of all deforming bones, clamped at 0 and normalized; entries below `floor`
 * are omitted (0 keeps all). `order` is a fill-reducing order of the mesh. */
arap_status arap_heat_weights(arap_context *context, const arap_mesh *mesh,
                              const arap_skeleton *skeleton, const arap_visibility *visibility,
                              const int *order, double floor, arap_influences *out,
                              arap_islands_report *report);

/* Like arap_heat, with heat from several bones at each vertex, given as rows of shares with sum 1.
 * `visibility` holds the bones visible from each vertex, and their distances. */
arap_status arap_diffuse_shares(arap_context *context, const arap_mesh *mesh, int bones,
                                const arap_visibility *visibility, const int *order,
                                const arap_influences *shares, double floor, arap_influences *out,
                                arap_islands_report *report);

/* BoneGlow weights (Wareham & Lasenby 2008). Bones light the skin, and the light is diffused. Takes
 * the same arguments as arap_heat_weights. */
arap_status arap_boneglow_weights(arap_context *context, const arap_mesh *mesh,
                                  const arap_skeleton *skeleton, const arap_visibility *visibility,
                                  const int *order, double floor, arap_influences *out,
                                  arap_islands_report *report);

/* Rigid weights: every vertex follows its nearest bone. Computes equal weights for at most `max` of
 * the bones nearest to each vertex: with 1, only its nearest bone. With ARAP_MAX_SHARED, all bones
 * that share the nearest point of the skeleton. */
arap_status arap_nearest_bones(arap_context *context, const arap_mesh *mesh,
                               const arap_visibility *visibility, int max, arap_influences *out);

#endif
