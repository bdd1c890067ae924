/* The segments of a skeleton built from joints (joint_skeleton.h), which lead from each joint to
 * those of its children, and the skin nearest to each segment. */
#ifndef ARAP_JOINT_WAYS_H
#define ARAP_JOINT_WAYS_H

#include "arap.h"
#include "base/memory.h"
#include "mesh/bvh.h"
#include "mesh/mesh.h"

#define ARAP_NO_WAY 1e-4   /* joints closer than this share of the mesh size coincide */
#define ARAP_SHORTEST 1e-3 /* minimum length of bones, as a share of the mesh size */
#define ARAP_INSIDE 0.3    /* minimum winding number inside: low enough for open meshes */

/* A segment from a joint to that of a child, or the joint of a leaf. */
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
    int *below;    /* (count) number of deforming bones in the subtree */
    char *deform;  /* (count) */
    int *owner;    /* (count) the bone itself or its nearest ancestor that deforms, or -1 */
    char *ways;    /* (count) the segment to it is valid */
    int *next;     /* (count) a joint elsewhere to which a leaf leads, or -1 */
    int *children; /* (count) number of such segments that continue from here */
    int way_count;
    arap_joint_way *way; /* valid segments, sorted by the bone at their end, then leaves */
    arap_bvh *tree;      /* hierarchy of these segments */
    double *area;        /* (vertices) */
    double *normal;      /* (vertices, 3) */
    int *near;           /* (vertices) nearest segment */
    char *at_end;        /* (vertices) the vertex lies beyond the end of that segment */
    arap_bvh *faces;     /* hierarchy of the mesh's faces; NULL until it is needed */
    double side;         /* sign of the normals: 1 if they point outward, otherwise -1 */
    char *strange;       /* (vertices) near a leaf, but belongs to another limb */
    arap_arena arena;    /* of the arrays */
} arap_joint_study;

/* Sort the bones with parents first: roots, then the children of each in turn. Must be called
 * before all other functions. */
void arap_sort_joints(const arap_joint_study *t);

/* Set `below` and `owner` from the bones that deform. */
void arap_find_joint_owners(const arap_joint_study *t);

/* Mark roots outside the skin as not deforming. */
arap_status arap_drop_joint_roots(arap_context *context, const arap_joint_study *t);

/* Determine the initial set of valid segments. detour: (count) scratch */
void arap_mark_joint_ways(const arap_joint_study *t, int *detour);

/* Invalidate segments of roots that leave the skin to joints outside it. */
arap_status arap_drop_leaving_ways(arap_context *context, const arap_joint_study *t);

/* Compute the areas of the vertices (count) from the triangles. Without triangles, all areas are 1.
 * Returns the area of the triangles. */
double arap_weigh_skin(const arap_mesh *mesh, double *area);

/* List the valid segments and the leaves, and find the nearest one for each vertex. */
arap_status arap_rank_joint_ways(arap_context *context, arap_joint_study *t);

/* Determine on which side of the skin each segment lies, judged by its vertices. The side on which
 * most of the skin has its segments is the inside. */
void arap_vote_joint_ways(arap_joint_study *t);
int arap_joint_way_outside(const arap_joint_way *way);

/* Remove segments that run outside the skin. Returns their number. inside: (count) scratch */
int arap_drop_joint_ways(const arap_joint_study *t, int *inside);

/* Determines the ends of bones without children in a skeleton built from joints (joint_skeleton.h):
 * let leaves lead to joints elsewhere (study.next). Returns the number of such leaves. directions:
 * (count, 3) of the tails, or NULL; scratch: (vertices) */
int arap_lead_leaves_on(const arap_joint_study *t, const double *directions, double *scratch);

/* Compute the tail of the leaf with segment k, which lies in the skin beyond its joint and, unless
 * NULL, in the direction `given`. Returns 0 if the leaf has no skin of its own. */
int arap_end_leaf(const arap_joint_study *t, int k, const double *given, double *scratch,
                  double *tail);

/* How far the skin nearest to the segments of a bone extends in a direction; 0 without skin. */
double arap_reach_of_skin(const arap_joint_study *t, int bone, const double *direction,
                          double *scratch);

/* Detects skin near the joint of a leaf that belongs to another limb (joint_skeleton.h): set
 * study.strange and study.side. The segments must already be ranked. */
arap_status arap_look_from_leaves(arap_context *context, arap_joint_study *t);

#endif
