/* The ways of a skeleton from joints (joint_skeleton.h): from each joint to those of its children,
 * and the skin that is nearest to each. */
#ifndef ARAP_JOINT_WAYS_H
#define ARAP_JOINT_WAYS_H

#include "arap.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"

#define ARAP_NO_WAY 1e-4 /* of the size of the mesh: joints that are nearer are at one place */

/* A way from a joint to that of a child, or the joint of a leaf. */
typedef struct arap_joint_way {
    double a[3], b[3];
    int from, to;       /* bones of the caller; to: -1 for a leaf */
    double in, outside; /* votes */
} arap_joint_way;

typedef struct arap_joint_study {
    const arap_mesh *mesh;
    const int *parents;
    int count;
    double *head;  /* (count, 3) units of mesh.v */
    int *order;    /* (count) parents before children */
    int *below;    /* (count) deforming bones from here down */
    char *deform;  /* (count) */
    int *owner;    /* (count) the bone itself or the nearest one above that deforms, or -1 */
    char *ways;    /* (count) the way to it counts */
    int *next;     /* (count) a joint elsewhere that a leaf leads to, or -1 */
    int *children; /* (count) how many such ways go on from here */
    int way_count;
    arap_joint_way *way; /* those that count, by the bone they go to, then leaves */
    arap_bvh *tree;      /* of these */
    double *area;        /* (vertices) */
    double *normal;      /* (vertices, 3) */
    int *near;           /* (vertices) nearest way */
    char *at_end;        /* (vertices) beyond its end */
    arap_bvh *faces;     /* of the mesh, NULL until they are looked through */
    double side;         /* of the normals: 1 if they point outward, else -1 */
    char *strange;       /* (vertices) next to a leaf, but skin of another limb */
} arap_joint_study;

/* The bones, parents first: roots, then the children of each in turn. Before all others. */
void arap_sort_joints(const arap_joint_study *t);

/* `below` and `owner` of the bones that deform. */
void arap_find_joint_owners(const arap_joint_study *t);

/* Roots outside the skin do not deform. */
arap_status arap_drop_joint_roots(arap_context *context, const arap_joint_study *t);

/* The ways that count at first. detour: (count) scratch */
void arap_mark_joint_ways(const arap_joint_study *t, int *detour);

/* Ways of roots that leave the skin, to joints outside it, do not count. */
arap_status arap_drop_leaving_ways(arap_context *context, const arap_joint_study *t);

/* Areas of the vertices by their triangles; all count as much if the mesh has no triangles. */
void arap_weigh_joint_skin(const arap_joint_study *t);

/* List the ways that count, and the leaves; the nearest of each vertex. */
arap_status arap_rank_joint_ways(arap_context *context, arap_joint_study *t);

/* On which side of the skin each way is, as its vertices see it. */
void arap_vote_joint_ways(arap_joint_study *t);
int arap_joint_way_outside(const arap_joint_way *way);

/* Leave out ways that run outside the skin; returns how many. inside: (count) scratch */
int arap_drop_joint_ways(const arap_joint_study *t, int *inside);

#endif
