/* The skeleton: deforming and virtual bones, in mesh units.
 *
 * A virtual segment is a bone that does not deform, or the gap between the head of a bone and the
 * tail of its parent. A virtual segment deforms nothing and belongs to the nearest deforming
 * ancestor. Points near the segment are treated as points near that bone (paper section 3.1).
 *
 * A bone extends from its head to its tail or, in a skeleton of joints alone, to the heads of its
 * children (joint_skeleton.h). In the second case, the bone has several segments, which all belong
 * to the bone itself, and there are no gaps.
 *
 * In control rigs, the parents of deforming bones are other bones that do not deform but coincide
 * with deforming bones (Rigify's ORG and DEF bones). Such a bone belongs to its twin, the deforming
 * bone at the same position, so that the deforming bones form the chains of the control rig. */
#ifndef ARAP_SKELETON_H
#define ARAP_SKELETON_H

#include "arap.h"
#include "base/context.h"
#include "base/memory.h"
#include "mesh/mesh.h"
#include "weights/influences.h"

typedef struct arap_segment {
    double a[3], b[3];
    int owner;   /* deforming bone (compact index) */
    int is_bone; /* whether it is the owner itself and not a virtual segment */
} arap_segment;

typedef struct arap_skeleton {
    int count;     /* bones of the caller */
    double *heads; /* (count, 3) in units of arap_mesh.v */
    double *tails;
    double *axes;        /* (count, 3, 3) columns: local X, Y (head to tail), Z */
    int *parents;        /* (count) */
    double *limits;      /* (count, 3, 2), NaN: no limit */
    char *kinds;         /* (count) arap_bone_kind; rigid for bones that do not deform */
    double *ranges;      /* (count, ARAP_RANGES, 2), NaN: the usual range */
    char *stretch;       /* (count) rigid or bendy, deforming, and stretchable */
    int *bendy_segments; /* (count) of bendy bones, otherwise 0 */

    int deform_count;
    int spine_count;    /* STBs and spines that deform */
    int bent_count;     /* these and bendy bones */
    int *deform_bone;   /* (deform_count) compact index -> bone */
    int *owner;         /* (count) compact index of the bone itself if it deforms, otherwise of its
                           twin or of the nearest ancestor that has either; -1 without one */
    int *deform_parent; /* (deform_count) compact index or -1 */
    int *order;         /* (deform_count) parents before children */
    int *depth;         /* (deform_count) number of steps to the root */
    int *root;          /* (deform_count) the ancestor without a parent, or the bone itself */
    int *first, *end;   /* (deform_count) its number and the number after its last descendant, in an
                           order in which descendants follow their ancestor */
    int segment_count;
    arap_segment *segments; /* bones and virtual segments with an owner */
    char *ways;             /* (count) the parent extends to its head; NULL: bones extend to their
                               tails */
    int *line_start;        /* (deform_count + 1) the first of `lines` of each deforming bone */
    arap_segment *lines;    /* one segment for each deforming bone, or all of them */
    arap_arena arena;       /* of the arrays */
} arap_skeleton;

/* Check and copy the bones. Errors name the bone: NaN, a parent out of range, a loop of parents, no
 * deforming bone, a lower limit above the upper one, an invalid range. */
arap_status arap_skeleton_create(arap_context *context, const arap_bones *bones,
                                 const arap_mesh *mesh, arap_skeleton *skeleton);
void arap_skeleton_clear(arap_skeleton *skeleton);

/* Whether the bone is an STB or spine, which moves every vertex by a separate transform. */
static inline int arap_is_spine(int kind) {
    return kind == ARAP_BONE_STB || kind == ARAP_BONE_SPINE;
}

/* The deforming bone (compact index) of a caller's bone, or -1. */
static inline int arap_deforming(const arap_skeleton *skeleton, int bone) {
    int d = skeleton->owner[bone];
    return d >= 0 && skeleton->deform_bone[d] == bone ? d : -1;
}

/* Mark in `set` (deform_count) every bone on the paths between its members, so that each connected
 * part of the set's skeleton is a subtree (paper section 3.2, property P2). Bones that share a
 * joint are neighbors. Siblings connect without their parent. Scratch: (deform_count) ints. Returns
 * the number of bones added. Costs O(bones of the paths). */
int arap_skeleton_span(const arap_skeleton *skeleton, char *set, int *scratch);

/* Find the connected components of the skeleton, by deforming bone (deform_count), numbered in
 * order of appearance. Bones with a common ancestor, deforming or not, belong to the same
 * component, as do deforming bones without a deforming parent whose heads coincide. Costs
 * O(bones^2). */
arap_status arap_skeleton_components(arap_context *context, const arap_skeleton *skeleton,
                                     int *component, int *count);

/* Whether deforming bone d is `ancestor` or descends from it. */
int arap_is_below(const arap_skeleton *skeleton, int d, int ancestor);

/* The squared distance from point p to deforming bone d: to the nearest of its `lines`, at
 * `nearest` (3). */
double arap_distance2_to_bone(const arap_skeleton *skeleton, int d, const double *p,
                              double *nearest);

/* The nearest bone to a vertex among those not excluded from it (NULL: none is), or -1. */
int arap_nearest_bone(const arap_mesh *mesh, const arap_skeleton *skeleton, int vertex,
                      arap_excluded_fn excluded, const void *data);

/* Errors of all checks name the bone and the invalid value. Check the caller's bones, with or
 * without tails: numbers, parents, limits, ranges and segments; at least one bone must deform. */
arap_status arap_check_bones(arap_error *error, const arap_bones *bones);

/* Check in the units of the mesh that no bone is so far away that rounding leaves too little
 * precision. A mesh of size 0 only defines the unit, so only squares must not overflow. */
arap_status arap_check_distances(arap_error *error, const arap_skeleton *skeleton,
                                 const arap_bones *bones, const arap_mesh *mesh);

/* Check that no bone is its own ancestor. */
arap_status arap_check_parents(arap_error *error, int count, const int *parents);

#endif
