/* The solver's own data, shared by the files of this room: creation.c, initial_weights.c (what it
 * begins with), solver.c (stages), iteration.c, levels.c, apply_edits.c, smoothness.c and result.c
 * (what the caller gets). */
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
#include "springs/sections.h"
#include "springs/containment.h"
#include "supports/inner_bones.h"
#include "edits/constraints.h"
#include "edits/edits.h"

/* Work for the present influence patterns: see iteration.h. Arrays are of their entries. */
typedef struct arap_patterns {
    arap_rotation_clusters clusters; /* of the weights that the patterns came with */
    arap_local_step *local_step;
    double *right_side; /* b of the present weights */
    double *product;    /* F w of the present weights, harmonic term included */
    double *residual;   /* work */
    double *best;       /* weights of this stage with the least objective */
    double best_objective;
    int has_best;
    /* NULL without acceleration: */
    arap_anderson *anderson;
    double *before; /* weights before the global step */
    double *metric; /* areas of the vertices */

    /* From the first iteration on: */
    arap_system system;
    arap_factor *factor;
    arap_penalties penalties;
    char *active;     /* has a positivity row or is held at zero */
    double *unknowns; /* (system.unknowns) work */
    int has_system;
    int system_outdated; /* the poses have changed since it was assembled: see pcg_step.h */
    int guarded;         /* negative weights of this stage are held at zero */
    int active_changes;  /* of `active` since the factorization */
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
    int number; /* 0 before the first, then from 1 to the last */
    int last;
    int iterations;
    int over;
    int must_refresh; /* its patterns have had no local step yet, and are to be reduced after it */
    int must_reduce;  /* its patterns are yet to be reduced */
    int searched;     /* for rigid parts, at the end of the last stage or before it */
    int aggregated;   /* `parts` are those of aggregates.h, too, until the last stage */
} arap_stage;

/* The present weights, not relative. */
typedef struct arap_present {
    double energy;
    double sections;  /* the part of it in the springs of sections */
    double anchored;  /* sum of arap_local_step_anchored of the last local step */
    double excess;    /* sum of arap_local_step_excess of the last local step */
    double roughness; /* the harmonic term */
} arap_present;

/* Rows of constraints: peaks, then attachments, then those of the user. */
typedef struct arap_constraints {
    arap_constraint_list list;
    int peaks, attachments;
} arap_constraints;

/* What promise.c holds; all zero: nothing. */
typedef struct arap_promise {
    double *strength;          /* (deforming bones) of their rows, over the square of mesh.size */
    char *is_minor;            /* (deforming bones) see own_skin.h */
    double *before;            /* (deforming bones) share before they were held */
    arap_influences own;       /* own skin of the bones */
    arap_constraint_list rows; /* ascending by vertex */
    int *bone;                 /* (vertices) of rows, the one with the largest target, or -1 */
    int rounds;                /* of this level so far */
} arap_promise;

struct arap_solver {
    arap_settings settings;
    arap_mesh mesh;
    arap_skeleton skeleton;
    arap_symmetry symmetry;
    arap_poses poses;
    int pose_count;                   /* of the coarsest mesh */
    arap_displacements displacements; /* those that `poses` and `packed` contain */
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
    arap_promise promise;
    int linked_parts;
    size_t link_count;
    arap_inner_bones inner;
    arap_pierced pierced;
    arap_sections sections; /* of limbs */
    arap_containments
        containments; /* from bone springs on: the search for rigid parts asks again */

    /* Until the coarser mesh is solved, else NULL and empty: */
    arap_solver *coarse;
    arap_coarse clusters;
    int coarse_vertices; /* of the coarsest mesh there was, 0: only the mesh itself */
    int lumped_parts;    /* of that mesh, see aggregates.h */

    arap_influences initial;    /* weights before the first iteration */
    arap_influences influences; /* present weights */
    arap_present present;
    arap_mirror_reuse mirror_reuse; /* from the first patterns on */
    arap_patterns patterns;
    arap_assembled assembled;
    arap_dual_energy *dual; /* in the stage for dual quaternions, else NULL */

    arap_stage stage;
    int iterations;       /* of all stages */
    int broken;           /* an iteration failed half-way: no further ones */
    double energy_before; /* of the initial weights, each vertex with its own rotations */
    arap_history history;
    double seconds[ARAP_TIMES];
    double lap; /* when the present lap began */
};

/* Replace the transforms of the poses (poses, deforming bones, 3, 4) and the spines that go with
 * them (NULL: unchanged), and do a local step, whose energy goes to the history. keep_factor:
 * keep the present factor as the preconditioner and solve the new system by conjugate gradients.
 * Not while a coarser mesh is solved. */
arap_status arap_solver_repose(arap_context *context, arap_solver *solver, const double *transforms,
                               const arap_spines *spines, int keep_factor);

/* Move the components of a disconnected skeleton to where the present weights leave the mesh whole;
 * the energy then goes to the history. When cancelled, nothing has changed. */
arap_status arap_solver_displace(arap_context *context, arap_solver *solver);

/* Reduce the influence patterns to the limit of the settings at once, without any iteration. */
arap_status arap_solver_reduce(arap_context *context, arap_solver *solver);

/* The partners of the vertices, NULL if no bone has one. */
static inline const int *arap_partners(const arap_solver *s) {
    return s->symmetry.bone_count ? s->symmetry.vertex : NULL;
}

/* Add the time since the last lap to a stage of the report; laps leave no gaps. */
static inline void arap_lap(arap_solver *s, enum arap_timing stage) {
    double now = arap_seconds();
    s->seconds[stage] += now - s->lap;
    s->lap = now;
}

/* Begin a lap: the time before it was not this solver's, or is counted by its coarser level. */
static inline void arap_start_lap(arap_solver *s) { s->lap = arap_seconds(); }

/* State for tests. */
struct arap_inside {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_symmetry *symmetry;
    const arap_poses *poses;
    const struct arap_visibility *visibility; /* NULL: not needed */
    const arap_influences *influences;
    const int *clusters; /* (vertices) vertex of the coarse mesh while it is solved, else NULL */
    const struct arap_system *system;
    const double *right_side, *product; /* b and F w of the present weights, per influence */
    long visits; /* of vertices, by the local steps on the present patterns */
};
void arap_solver_inside(const arap_solver *solver, struct arap_inside *inside);

#endif
