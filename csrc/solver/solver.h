/* The solver's internal data, shared by the files of this folder: creation.c, initial_weights.c
 * (initial state), solver.c (stages), iteration.c, levels.c, apply_edits.c, smoothness.c and
 * result.c (returned results). */
#ifndef ARAP_SOLVER_H
#define ARAP_SOLVER_H

#include "arap.h"
#include "base/clock.h"
#include "base/context.h"
#include "energy/displacements.h"
#include "energy/dual_energy.h"
#include "energy/harmonic.h"
#include "energy/local_step.h"
#include "initial/heat.h"
#include "initial/pierced.h"
#include "linalg/anderson.h"
#include "mesh/coarse.h"
#include "mesh/mesh.h"
#include "rig/poses.h"
#include "rig/rigid_parts.h"
#include "rig/skeleton.h"
#include "rig/symmetry.h"
#include "solver/history.h"
#include "solver/locks.h"
#include "solver/system.h"
#include "springs/spread.h"
#include "springs/sections.h"
#include "springs/containment.h"
#include "supports/inner_bones.h"
#include "edits/constraints.h"
#include "edits/edits.h"

/* Work space for the current influence patterns: see iteration.h. Arrays have one element per entry
 * of the patterns. */
typedef struct arap_patterns {
    arap_rotation_clusters clusters; /* of the initial weights of the patterns, or by
                                      * position for all patterns */
    arap_local_step *local_step;
    double *right_side; /* b of the current weights */
    double *product;    /* F w of the current weights, including the harmonic term */
    double *residual;   /* work */
    double *best;       /* weights of this stage with the lowest objective */
    double best_objective;
    int has_best;
    /* NULL without acceleration: */
    arap_anderson *anderson;
    double *before;   /* weights before the global step */
    double *metric;   /* areas of the vertices */
    arap_arena arena; /* of these arrays */

    /* From the first iteration on: */
    arap_system system;
    arap_factor *factor;
    arap_penalties penalties;
    char *active;     /* whether a weight has a positivity row or is held at zero */
    double *unknowns; /* (system.unknowns) work */
    int has_system;
    int system_outdated; /* the poses have changed since the system was assembled: see pcg_step.c */
    int guarded;         /* negative weights of this stage are held at zero */
    int active_changes;  /* changes of `active` since the factorization */
    double stride;       /* share of the global step that is taken */
} arap_patterns;

/* The system that was assembled last. */
typedef struct arap_assembled {
    int unknowns;
    double factor_size; /* non-zeros */
    double factor_bytes, factor_flops;
    int neumann_rows, positivity_rows;
    double damping;
} arap_assembled;

typedef struct arap_stage {
    int number; /* 0 before the first stage, then from 1 to the last */
    int last;
    int iterations;
    int over;
    int must_refresh; /* its patterns have had no local step yet and will be reduced after it */
    int must_reduce;  /* its patterns have yet to be reduced */
    int searched;     /* for rigid parts, at the end of the last stage or before it */
} arap_stage;

/* Of the current weights, in absolute terms. */
typedef struct arap_present {
    double energy;
    double sections;  /* the part due to the springs of sections */
    double anchored;  /* sum of arap_local_step_anchored of the last local step */
    double excess;    /* sum of arap_local_step_excess of the last local step */
    double beside;    /* excess - 2 anchored of the vertices outside the main mesh */
    double roughness; /* the harmonic term */
} arap_present;

/* Constraint rows: peaks, then attachments, then those of the user. */
typedef struct arap_constraints {
    arap_constraint_list list;
    int peaks, attachments;
} arap_constraints;

/* The rows of response_rows.c that hold bones. All members are zero if no bone is held. */
typedef struct arap_response_rows {
    double *strength;          /* (deforming bones) of their rows, over the square of mesh.size */
    char *is_minor;            /* (deforming bones) see own_skin.c */
    double *free_share;        /* (deforming bones) share before the bone was held */
    arap_influences own;       /* own skin of the bones */
    arap_constraint_list list; /* ascending by vertex */
    int *bone;                 /* (vertices) bone of the row with the largest target at the vertex,
                                * or -1 */
    int rounds;                /* rounds of this level so far */
} arap_response_rows;

struct arap_solver {
    arap_settings settings;
    arap_mesh mesh;
    arap_skeleton skeleton;
    arap_symmetry symmetry;
    arap_poses poses;
    int pose_count;                   /* of the coarsest mesh */
    arap_displacements displacements; /* the displacements included in `poses` and `packed` */
    arap_packed_poses packed;
    int *order; /* elimination order of the vertices */
    arap_two_rings harmonic;
    double *smoothed; /* (count) s_i^2 of smoothness.h; NULL: nothing is */
    arap_visibility visibility;
    int has_visibility;
    arap_islands_report heat_report;
    arap_locks locks;
    int *rigid_labels; /* (input vertices) of the edits, then those found; NULL: none */
    int found_rigid;   /* how many were found */
    arap_rigid_parts parts;
    arap_marks marks;
    arap_constraints constraints;
    arap_response_rows response_rows;
    int linked_parts;
    size_t link_count;
    arap_inner_bones inner;
    arap_pierced pierced;
    arap_spread spread;
    arap_sections sections; /* of limbs */
    arap_containments
        containments; /* computed with the bone springs and reused by the search for rigid parts */

    /* Until the coarser mesh is solved, else NULL and empty: */
    arap_solver *coarse;
    arap_coarse clusters;
    int coarse_vertices; /* of the coarsest mesh; 0: only the mesh itself */

    arap_influences initial;    /* weights before the first iteration */
    arap_influences influences; /* current weights */
    arap_present present;
    arap_mirror_reuse mirror_reuse; /* from the first patterns on */
    arap_patterns patterns;
    arap_assembled assembled;
    arap_dual_energy *dual; /* in the stage for dual quaternions, else NULL */

    arap_stage stage;
    int iterations;       /* of all stages */
    int broken;           /* an iteration failed halfway, so no further ones are allowed */
    double energy_before; /* of the initial weights, with separate rotations at each vertex */
    arap_history history;
    double seconds[ARAP_TIMES];
    double lap; /* start of the current lap */
};

/* Replace the transforms of the poses (poses, deforming bones, 3, 4) and the corresponding spines
 * (NULL: unchanged), and run a local step, whose energy is appended to the history. keep_factor:
 * keep the current factor as a preconditioner and solve the new system by conjugate gradients. Must
 * not be called while a coarser mesh is being solved. */
arap_status arap_solver_repose(arap_context *context, arap_solver *solver, const double *transforms,
                               const arap_spines *spines, int keep_factor);

/* Move the components of a disconnected skeleton such that the current weights do not tear the
 * mesh, and append the resulting energy to the history. After cancellation, nothing has changed. */
arap_status arap_solver_displace(arap_context *context, arap_solver *solver);

/* Immediately reduce the influence patterns to the limit of the settings, without any iteration. */
arap_status arap_solver_reduce(arap_context *context, arap_solver *solver);

/* The partners of the vertices, or NULL if no bone has one. */
static inline const int *arap_partners(const arap_solver *s) {
    return s->symmetry.bone_count ? s->symmetry.vertex : NULL;
}

/* Add the time since the last lap to a stage of the report. There are no gaps between laps. */
static inline void arap_lap(arap_solver *s, enum arap_timing stage) {
    double now = arap_seconds();
    s->seconds[stage] += now - s->lap;
    s->lap = now;
}

/* Begin a lap. The time before it does not belong to this solver or is counted by its coarser
 * level. */
static inline void arap_start_lap(arap_solver *s) { s->lap = arap_seconds(); }

/* State for tests. */
struct arap_test_state {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_symmetry *symmetry;
    const arap_poses *poses;
    const struct arap_visibility *visibility; /* NULL: not needed */
    const arap_influences *influences;
    const int *clusters; /* (vertices) vertex of the coarse mesh while that is being solved,
                            otherwise NULL */
    const struct arap_system *system;
    const double *right_side, *product; /* b and F w of the current weights, per influence */
    long visits; /* visits to vertices by the local steps on the current patterns */
};
void arap_solver_inside(const arap_solver *solver, struct arap_test_state *inside);

#endif
