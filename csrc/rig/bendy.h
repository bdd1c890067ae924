/* Bendy bones: bones with several segments that deform as in Blender. */
#ifndef ARAP_BENDY_H
#define ARAP_BENDY_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"
#include "weights/influences.h"

/* The bendy bones of a problem, and the positions of the vertices along them. The transforms of a
 * pose (arap_poses) are stored in columns: one for each bone, followed by those of the additional
 * joints. */
typedef struct arap_bendy {
    int count;         /* 0: no bendy bones, and no other member is set */
    int *place;        /* (bones) index of a bone among the bendy ones, or -1 */
    int *bone;         /* (count) */
    int *segments;     /* (count) */
    int *further;      /* (count) column of joint 1; joint 0 uses that of the bone */
    double *parameter; /* (vertices, count) u */
    arap_arena arena;  /* of the arrays */
} arap_bendy;

/* Number of columns that the bendy bones need in addition to those of the bones themselves. */
int arap_bendy_columns(const arap_skeleton *skeleton);

/* bones: those of the poses, beginning with the deforming bones of the skeleton. parameters:
 * (vertices, bones) of the caller; NaN or NULL: the position along the bone. */
arap_status arap_bendy_create(arap_context *context, const arap_skeleton *skeleton,
                              const arap_mesh *mesh, int bones, const double *parameters,
                              arap_bendy *bendy);
void arap_bendy_clear(arap_bendy *bendy);

/* Fill in the joints of one pose (columns, 3, 4) that already contains the bones, as those of
 * spines with these bends (bones of the caller, ARAP_BEND); NULL: straight spines. Joint 0 replaces
 * the bone, scaled by its stretch. */
void arap_bendy_bend(const arap_bendy *bendy, const arap_skeleton *skeleton, const double *bends,
                     double *transforms);

/* Fill them in from the caller's transforms of the joints (joints, 3, 4), in units of the mesh. */
void arap_bendy_take(const arap_bendy *bendy, const double *joints, double *transforms);

/* Find the columns that move a point at position u along a bone, and their shares, the first of
 * which is not 0. Returns their number. */
static inline int arap_place_columns(const arap_bendy *bendy, int bone, double u, int *column,
                                     double *share) {
    int k = bendy->count ? bendy->place[bone] : -1;
    column[0] = column[1] = bone;
    share[0] = 1;
    share[1] = 0;
    if (k < 0) return 1;
    double at = u * bendy->segments[k];
    int joint = (int)at < bendy->segments[k] ? (int)at : bendy->segments[k] - 1;
    int end = at - joint >= 1; /* whether u is the end of the bone, which has one joint */
    if (joint) column[end] = bendy->further[k] + joint - 1;
    column[1 - end] = bendy->further[k] + joint;
    share[1] = end ? 0 : at - joint;
    share[0] = 1 - share[1];
    return 2;
}

/* The same for a vertex. */
static inline int arap_bone_columns(const arap_bendy *bendy, int vertex, int bone, int *column,
                                    double *share) {
    int k = bendy->count ? bendy->place[bone] : -1;
    double u = k < 0 ? 0 : bendy->parameter[(size_t)vertex * (size_t)bendy->count + (size_t)k];
    return arap_place_columns(bendy, bone, u, column, share);
}

/* Convert weights of bones to weights of columns: rows of up to twice the size, in which columns
 * are not sorted. The second function updates them when the weights have changed. */
arap_status arap_bendy_expand(arap_context *context, const arap_bendy *bendy,
                              const arap_influences *in, arap_influences *out);
void arap_bendy_update(const arap_bendy *bendy, const arap_influences *in, arap_influences *out);

/* Convert derivatives by the weights of columns to derivatives by the weights of bones. */
void arap_bendy_gather(const arap_bendy *bendy, const arap_influences *in, const double *columns,
                       double *out);

#endif
