/* Statistics of each bone and the skin around it, on which the decisions of control_bones.c are
 * based. */
#ifndef ARAP_CONTROL_STUDY_H
#define ARAP_CONTROL_STUDY_H

#include "base/memory.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"
#include "rig/skeleton.h"

/* Sample points of a bone, spread evenly along it but away from its ends, which often lie in the
 * skin. */
#define ARAP_STUDY_SAMPLES 5

/* Deforming bones (compact index), each of which belongs to one group or to none. */
typedef struct arap_study {
    arap_context *context;
    arap_mesh mesh;
    arap_skeleton s;
    arap_bvh *surface;  /* triangles, then wires; NULL without faces */
    arap_status failed; /* the first error; nothing is measured after it */
    double *area;       /* (mesh.count) share of the skin */
    double *length;     /* (deform_count) in units of mesh.v, at least a fixed share of its size */
    double *box;        /* (deform_count, 6) lowest and highest coordinates of all its segments */
    double *clearance;  /* (deform_count, samples) distance to the surface, negative: unknown */
    double *winding;    /* (deform_count, samples) absolute winding number, negative: unknown */
    double *evidence;   /* (deform_count) initially 0: see arap_control_bones */
    char *keep;         /* (deform_count) initially 0: must not be judged again */
    char *in_place;     /* (deform_count) of others: 0 unknown, 1 no, 2 yes */
    int *control;       /* (deform_count) arap_control, initially 0 */
    int *group;         /* (deform_count) the bone that represents the group of this bone, or -1 */
    int *first, *next;  /* (deform_count) lists of the bones of each tree, in ascending order; -1:
                           the end */
    double *own, *gain; /* (deform_count) share of the skin of each group */
    double *decided;    /* (deform_count) `own` without skin that is equally near to another
                           group */
    double *own_parts;  /* (deform_count) share of each group that lies on loose parts of its own */
    char *alone;        /* (deform_count) the group consists of one bone */
    int single;         /* the last ranking treated each bone separately */
    double *nearest2;   /* (deform_count) squared distance from each group to the vertices near
                           it */
    double *part_area;  /* (mesh.part_count) shares of the skin */
    double *part_votes; /* (2, mesh.part_count) shares nearest to the leader, and to any group */
    int *part_leader;   /* (mesh.part_count) the group nearest to most of the part; -1: none */
    int *nearest;       /* (mesh.count, 2) the two nearest groups; -1: none */
    double *distance2;  /* (mesh.count, 2) squared */
    arap_arena arena;   /* of the arrays */
} arap_study;

arap_status arap_study_create(arap_context *context, const arap_geometry *geometry,
                              const arap_bones *bones, arap_study *t);
void arap_study_clear(arap_study *t);

const double *arap_study_head(const arap_study *t, int d);
const double *arap_study_tail(const arap_study *t, int d);

/* The parent, or -1 if it is a control bone. */
int arap_study_parent(const arap_study *t, int d);

/* Whether the head of d is at the tail of `parent` or, in a skeleton of joints alone, at the end of
 * one of its segments. */
int arap_study_continues(const arap_study *t, int d, int parent);

/* Squared distance from a point. */
double arap_study_distance2(const arap_study *t, int d, const double *point);

/* own: the share of the skin, by area, that is at least as near to a group as to all others. gain:
 * the sum over this skin of share times (1 - distance / distance of the next group). With `again`,
 * only vertices near groups that have been dropped in the meantime are measured again. */
arap_status arap_study_rank(arap_study *t, int again);
double arap_study_gain_ratio(const arap_study *t, int group);

/* Whether most of the skin nearest to the group belongs to loose parts that are mostly nearest to
 * it, such as a prop or clothes with bones of their own. */
int arap_study_has_parts(const arap_study *t, int group);

/* (samples) distances to the surface in units of mesh.v. */
const double *arap_study_clearance(arap_study *t, int d);

/* The number of samples outside the mesh, and whether all of them are outside by at least this many
 * lengths. */
int arap_study_outside(arap_study *t, int d);
/* Whether skin surrounds the middle of the bone in many directions, even if the middle is outside
 * the mesh. */
int arap_study_is_amid(arap_study *t, int d);
int arap_study_is_away(arap_study *t, int d, double lengths);

/* Whether the head is outside the mesh, or lies in its skin with most of the bone outside. */
int arap_study_joint_outside(arap_study *t, int d);

/* Whether half of the bone lies on bones of other groups, or the bone starts at the head of one
 * that has a parent or is a control bone. */
int arap_study_in_place_of_others(arap_study *t, int d);

/* Measure this again for bones near the tree that is represented by a dropped root, or for all
 * bones (root -1). */
void arap_study_regroup(arap_study *t, int root);

/* Whether skin, in any number of layers, surrounds a point: faces with any orientation lie in at
 * least this share of the directions from point p (units of mesh.v). angle: the sum of the unsigned
 * solid angles there (winding.h). surface: hierarchy of the triangles, followed by wires, which do
 * not count. */
int arap_is_surrounded(const arap_mesh *mesh, const arap_bvh *surface, const double *p,
                       double angle, double min);

#endif
