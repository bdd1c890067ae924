/* Loose parts that may be rigid, and the bone of each. */
#ifndef ARAP_RIGID_CANDIDATES_H
#define ARAP_RIGID_CANDIDATES_H

#include "solver/solver.h"

#define ARAP_BOX 8 /* vertices: parts of no more have nothing to bend with */

typedef struct arap_candidate {
    int first, size; /* its vertices, in `vertices` */
    int open;        /* it may become rigid */
    int blends;      /* by the mean row, not by one bone */
    int bone;
    int hangs;          /* end of a card (hanging.h) beneath which its row is, 0: its own mean */
    int image;          /* part of the images of its vertices, -1: they have none */
    int around, inside; /* how many bones it reaches around, and which it surrounds most of */
    int last;           /* bone that has been found inside it last */
    double share, off;  /* of the rays from that bone, see containment.h */
    double departure, radius2, area; /* radius2: times area */
} arap_candidate;

typedef struct arap_rigid_search {
    const arap_solver *solver;
    arap_candidate *parts; /* (loose parts) */
    int *vertices;         /* (vertices) by part, those of each ascending */
    double *mean;          /* (deforming bones) scratch */
    char *may;             /* (parts) those that may become rigid */
    char *beside;          /* (parts) those with faces and no bone inside */
    int *rod;              /* (parts) lowest part of the same rod, or -1 */
    char *contact;         /* (vertices) of rods that lie on something */
    char *within;          /* (deforming bones) those that some part is around */
    char *end;             /* (vertices) of hanging cards, see hanging.h */
    int *beneath;          /* (vertices) faces that these touch */
    int *touched;          /* (vertices) scratch */
    int *skin;            /* (deforming bones) of the parts around a bone that around most, or -1 */
    char *free;           /* (parts) those with faces that are not the skin of a bone */
    arap_influences rows; /* of the loose parts; none for those that are not open */
} arap_rigid_search;

/* An arap_containment_fn of a search. */
void arap_candidate_inside(void *data, int line, int bone, int part, double share, double off);

/* The same, after it: find `skin`; then, after that, `free`, of which all were. */
void arap_candidate_skin(void *data, int line, int bone, int part, double share, double off);
void arap_candidate_free(void *data, int line, int bone, int part, double share, double off);

/* The vertices of all parts. */
void arap_candidates_sort(arap_rigid_search *search);

/* Which parts are tried, and with which bone; returns how many. */
int arap_candidates_choose(arap_rigid_search *search);

/* The mean row of a part, by area, into search->mean: its own, or the one beneath its root. */
void arap_candidate_mean(const arap_rigid_search *search, const arap_candidate *candidate);

/* Make a part rigid with this bone; returns 0 if a person has excluded that, or the bone inside
 * another part does. */
int arap_candidate_follow(const arap_rigid_search *search, int part, int bone);

/* Is a vertex of the part the image of another one of it? */
int arap_candidate_is_own_image(const arap_rigid_search *search, const arap_candidate *candidate);

/* The bone with the largest of search->mean, of those that are their own images where `central`, or
 * -1. The first of those that differ only by rounding. */
int arap_candidate_bone(const arap_rigid_search *search, int central);

#endif
