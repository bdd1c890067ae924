/* Loose parts that may be rigid, and the bone of each. */
#ifndef ARAP_RIGID_CANDIDATES_H
#define ARAP_RIGID_CANDIDATES_H

#include "solver/solver.h"
#include "springs/bone_lines.h"

#define ARAP_BOX 8 /* number of vertices; parts with no more than this cannot bend */

typedef struct arap_candidate {
    int first, size; /* its vertices, in `vertices` */
    int is_rigid;    /* it follows one bone, two, or a mean row as a whole */
    int blends;      /* follows the mean row instead of one bone */
    int bone;
    int second_bone;      /* bone that shares the part, if second_weight > 0 */
    double second_weight; /* its weight */
    int hanging_end;      /* end of a card (hanging.c) whose underlying surface provides its row; 0:
                             its own mean */
    int image_part;       /* part that contains the images of its vertices; -1: none */
    int is_decided;       /* a rule for its kind has chosen its bone */
    int bone_count, inner_bone; /* number of bones that it surrounds, and the one that it surrounds
                                   most */
    int last_bone;              /* bone most recently found inside it */
    double share, offset;       /* result of the rays from inner_bone, see containment.h */
    double departure, radius2, area; /* radius2: times area */
} arap_candidate;

typedef struct arap_rigid_search {
    const arap_solver *solver;
    arap_candidate *parts; /* (loose parts) */
    int *vertices;         /* (vertices) sorted by part, in ascending order within each */
    double *mean;          /* (deforming bones) scratch */
    char *is_candidate;    /* (parts) those that may become rigid */
    char *is_boneless;     /* (parts) parts with faces and no bone inside */
    int *set;              /* (parts) lowest part in the same rod, later prop, or -1 */
    char *contact;         /* (vertices) vertices of rods that lie on something */
    char *is_surrounded;   /* (deforming bones) those surrounded by some part */
    char *card_end;        /* (vertices) end of a hanging card, see hanging.c */
    int *face_beneath;     /* (vertices) face that each of these touches */
    int *touched;          /* (vertices) the prop that each touches, or -1 */
    int *skin;             /* (deforming bones) among the parts around a bone, the one around most
                              bones, or -1 */
    char *is_accessory;    /* (parts) parts with faces that are not the skin of a bone */
    arap_influences rows;  /* of the loose parts; none for parts that are not rigid */
} arap_rigid_search;

/* An arap_containment_fn that fills in a search. */
void arap_candidate_inside(void *data, int line, int bone, int part, double share, double off);

/* The arap_containment_fn for use after the search. Finds `skin` and then `is_accessory`, which
 * is initially set for all. */
void arap_candidate_skin(void *data, int line, int bone, int part, double share, double off);
void arap_candidate_accessory(void *data, int line, int bone, int part, double share, double off);

/* Determine which parts are tried and with which bone. Returns their number. */
int arap_candidates_choose(arap_rigid_search *search);

/* Store the area-weighted mean row of a part in search->mean: its own, or the one beneath its
 * root. */
void arap_candidate_mean(const arap_rigid_search *search, const arap_candidate *candidate);

/* Make a part rigid with this bone. Returns 0 if this is excluded by the user or by the bone inside
 * another part. */
int arap_candidate_follow(const arap_rigid_search *search, int part, int bone);

/* Whether a vertex of the part is the image of another vertex of it. */
int arap_candidate_is_own_image(const arap_rigid_search *search, const arap_candidate *candidate);

/* The bone with the largest value in search->mean or, with `central`, the largest among bones that
 * are their own images; -1 if no bone qualifies. Among values that differ only by rounding, the
 * first one is used. */
int arap_candidate_bone(const arap_rigid_search *search, int central);

/* Share a part that follows one bone with the bone that has the second largest mean weight, if that
 * is nearly as large. */
void arap_candidate_share(const arap_rigid_search *search, arap_candidate *candidate);

/* Let cards follow the surface below their roots: make cards that hang by one end rigid, with
 * the mean row beneath that end; *changes: whether there are any. */
arap_status arap_hold_hanging(arap_context *context, arap_rigid_search *search, int *changes);

/* Detect props that a hand holds: make all parts of props held by several branches of bones rigid,
 * with the bone from which the branches descend; *changes: set if there are any. */
arap_status arap_hold_props(arap_context *context, arap_rigid_search *search, int *changes);

/* The bone that moves most of a rigid part, by its row. */
int arap_owner_of_part(const arap_rigid_search *search, int part);

/* Add to owned (deforming bones) the number of rigid parts that each bone moves most, and to `soft`
 * that of soft vertices with much of its weight. Both arguments may be the same array. */
void arap_count_owned(const arap_rigid_search *search, int *owned, int *soft);

/* The mean distance of a part from each bone, times its area. distance: scratch, (lines); mean:
 * (deforming bones). */
void arap_part_distances(const arap_rigid_search *search, const arap_bone_lines *lines,
                         const arap_candidate *candidate, double *distance, double *mean);

/* Assign a rigid part to a bone of the joint in which the part sits. *changes: whether any decision
 * has been made. */
arap_status arap_hold_joints(arap_context *context, arap_rigid_search *search, int *changes);

/* Assign a rigid part to a bone that has no other part. Must be called after everything else has
 * been decided. */
arap_status arap_hold_orphans(arap_context *context, arap_rigid_search *search, int *changes);

/* Make parts between several branches follow the bone from which the branches descend; *changes:
 * set if there are any. Must be called after everything else has been decided. */
arap_status arap_hold_between(arap_context *context, arap_rigid_search *search, int *changes);

#endif
