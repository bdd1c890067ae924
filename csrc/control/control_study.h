/* Statistics of each bone and the skin around it, by which control_bones.c decides. */
#ifndef ARAP_CONTROL_STUDY_H
#define ARAP_CONTROL_STUDY_H

#include "mesh/bvh.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"

/* Sample points of a bone, spread evenly along it but away from its ends, which often lie in the
 * skin. */
#define ARAP_STUDY_SAMPLES 5

/* Deforming bones (compact index), each of which is of one group or of none. */
typedef struct arap_study {
    arap_context *context;
    arap_mesh mesh;
    arap_skeleton s;
    arap_bvh *surface;  /* triangles, then wires; NULL until a clearance is asked for */
    arap_status failed; /* the first error; from then on nothing more is measured */
    double *area;       /* (mesh.count) share of the skin */
    double *length;     /* (deform_count) units of mesh.v, but not below a share of its size */
    double *clearance;  /* (deform_count, samples) distance to the surface, negative: unknown */
    double *winding;    /* (deform_count, samples) absolute winding number, negative: unknown */
    double *evidence;   /* (deform_count) 0 at first: see arap_control_bones */
    char *keep;         /* (deform_count) 0 at first: not to be judged any more */
    int *control;       /* (deform_count) arap_control, 0 at first */
    int *group;         /* (deform_count) a bone of the group, the same for all of it, or -1 */
    double *own, *gain; /* (deform_count) of each group, shares of the skin */
    double *decided;    /* (deform_count) own without skin that is as near to another */
    double
        *own_parts; /* (deform_count) of each group, the part of these on loose parts of its own */
    char *alone;    /* (deform_count) the group is one bone */
    int single;     /* the last ranking was of bones, each by itself */
    double *nearest2;   /* (deform_count) squared, from each group to the vertices near to it */
    double *part_area;  /* (mesh.part_count) shares of the skin */
    double *part_votes; /* (2, mesh.part_count) of these, nearest to the leader, and to any */
    int *part_leader;   /* (mesh.part_count) the group that most of it is nearest to, -1: none */
    int *nearest;       /* (mesh.count, 2) the two nearest groups, -1: none */
    double *distance2;  /* (mesh.count, 2) squared */
} arap_study;

arap_status arap_study_create(arap_context *context, const arap_geometry *geometry,
                              const arap_bones *bones, arap_study *t);
void arap_study_clear(arap_study *t);

const double *arap_study_head(const arap_study *t, int d);
const double *arap_study_tail(const arap_study *t, int d);

/* The parent, unless that is a control bone, or -1; whether d is the ancestor or hangs on it. */
int arap_study_parent(const arap_study *t, int d);
int arap_study_is_below(const arap_study *t, int d, int ancestor);

/* The head of d is at the tail of `parent` or, in a skeleton of joints alone, at the end of one of
 * its segments. */
int arap_study_continues(const arap_study *t, int d, int parent);

/* Squared distance of a point. */
double arap_study_distance2(const arap_study *t, int d, const double *point);

/* own: the share of the skin, by area, that is nearer to a group than to all others, or as near.
 * gain: the sum of share times (1 - distance / distance of the next group) over it. With `again`,
 * only vertices that were near groups dropped since then are measured again. */
arap_status arap_study_rank(arap_study *t, int again);
double arap_study_gain_ratio(const arap_study *t, int group);

/* Does most of the skin nearest to the group belong to loose parts that are mostly nearest to it,
 * as a prop, or clothes with bones of their own? */
int arap_study_has_parts(const arap_study *t, int group);

/* (samples) distances to the surface, units of mesh.v. */
const double *arap_study_clearance(arap_study *t, int d);

/* How many samples are outside the mesh; whether all are, each at least so many lengths off. */
int arap_study_outside(arap_study *t, int d);
/* Is there skin around the middle of the bone in many directions, even if that is outside? */
int arap_study_is_amid(arap_study *t, int d);
int arap_study_is_away(arap_study *t, int d, double lengths);

/* The head is outside the mesh, or in its skin with most of the bone outside. */
int arap_study_joint_outside(arap_study *t, int d);

/* Half of the bone lies on bones of other groups, or it starts from the head of one that has a
 * parent or is a control bone. */
int arap_study_in_place_of_others(const arap_study *t, int d);

#endif
