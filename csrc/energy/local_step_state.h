/* The work space of the local step (local_step.h), created by local_step_state.c and used by
 * local_step.c. */
#ifndef ARAP_LOCAL_STEP_STATE_H
#define ARAP_LOCAL_STEP_STATE_H

#include "base/memory.h"
#include "base/vec4.h"
#include "energy/desired_local_step.h"
#include "energy/local_kernels.h"
#include "energy/local_step.h"

/* Per-thread work space for one vertex, sized for the widest union of influences. Threads write to
 * different cache lines. */
typedef struct arap_workspace {
    int *where;       /* (all bones) position of a bone in `bone`, if present */
    const int *bone;  /* of the current visit, in the order of its rings */
    int bones;        /* how many */
    arap_v4 *moment;  /* (widest, 4) M_b */
    arap_v4 *product; /* (widest, 3) P_b, transposed */
    double *weight;   /* (widest) */
    long visits;      /* since the work space was created */
    double unpolled;  /* bones times poses, summed over the visits since the last poll for
                         cancellation */
    void *scaled;     /* (widest, 12) moments in the layout of the kernel, and one more */
    void *scratch;
    /* Influences of stretchable bones on the vertex itself: */
    int stretches;
    int *stretch_place;     /* (widest) */
    double *stretch_weight; /* (widest) */
    double ring[6];         /* sum_k a_ik e_ik e_ik^T, with a trace of 1 */
    /* Influences of spines on the ring, one by one: */
    int pairs, own_count;
    arap_spine_pair *pair; /* (max) */
    arap_own_spine *own;   /* (max) */
    char apart[128];
} arap_workspace;

struct arap_local_step {
    arap_context *context; /* of the current run */
    const arap_mesh *mesh;
    const arap_packed_poses *packed;
    const arap_influences *in;     /* of columns: the caller's, or `columns` */
    const arap_influences *caller; /* of bones */
    arap_influences columns;       /* only with bendy bones */
    double *column_side;           /* only with bendy bones: the right-hand side of columns */
    const arap_rotation_clusters *clusters; /* NULL: each vertex by itself */
    const arap_mirror_reuse *mirror_reuse;  /* NULL: nothing is copied */
    arap_kernel kernel;
    int visits;    /* vertices or clusters */
    int chunk;     /* visits of a task */
    size_t *start; /* (visits + 1) first bone of each in `bone` */
    int *bone;     /* the bones of their rings */
    int workers;
    arap_workspace *workspaces;
    size_t *slot;     /* (count) first slot of the incoming edges of each vertex */
    double *incoming; /* per vertex: (neighbors, influences) */
    double *own;      /* (influences) the right-hand side without the incoming part */
    /* Input of the last right-hand side; vertices whose input has changed since then are visited
     * again: */
    double *last;              /* (influences) weights */
    double *last_anchor;       /* (springs, 4) weight and point */
    long filled;               /* version of the packed poses; -1: none yet */
    char *moved;               /* (count) vertices whose row or springs have changed */
    const int *place;          /* (bones) of a bone among the spines, or -1; NULL: no spines */
    double *excess;            /* (count) see arap_local_step_excess, or NULL */
    double *anchored, *strain; /* (count), (springs): see local_step.h; NULL without bone springs */
    double *anchors;           /* (springs, 3) arap_local_step_anchors; NULL: not requested */
    double *right_side, *alignment; /* of the current run */
    int all;                        /* it visits all vertices */
    double *pull, *desired;         /* of arap_local_step_pull */
    const int *spine_slot;
    arap_arena arena; /* of the arrays */
};

/* Index of a bone among the spines, or -1. */
static inline int arap_local_step_spine(const arap_local_step *p, int bone) {
    return p->place ? p->place[bone] : -1;
}

#endif
