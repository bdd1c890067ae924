/* The solver's own data, shared by start.c (everything up to the initial weights), solver.c
 * (stages), iteration.c and handout.c (what the caller gets). */
#ifndef ARAP_SOLVER_H
#define ARAP_SOLVER_H

#include "linalg/anderson.h"
#include "arap.h"
#include "mesh/coarse.h"
#include "supports/constraints.h"
#include "energy/harmonic.h"
#include "initial/heat.h"
#include "energy/local_step.h"
#include "solver/system.h"

struct arap_solver {
    arap_settings settings;
    arap_mesh mesh;
    arap_skeleton skeleton;
    arap_mirror mirror;
    arap_poses poses;
    arap_lanes lanes;
    int *order; /* elimination order of the vertices */
    arap_harmonic harmonic;
    arap_sight sight;
    int has_sight;
    arap_heat_report heat_report;
    arap_row_list rows; /* holds, attachments and the user's constraints */
    arap_marks marks;

    /* Locked weights of the caller, kept to be handed back unchanged. */
    long long *locked_start; /* (input vertices + 1) or NULL */
    int *locked_bone;
    double *locked_weight;
    char *locked_vertex; /* (input vertices) or NULL */
    int *vertex_set;     /* (input vertices) row of locked_column */
    char *locked_column; /* (sets, deforming bones) or NULL */

    /* Until the coarser mesh is solved, else NULL and empty: */
    arap_solver *coarse;
    arap_coarse clusters;

    arap_influences initial;    /* weights before the first iteration */
    arap_influences influences; /* present weights */

    /* Of the present influence maps: */
    arap_system system;
    arap_factor *factor;
    arap_penalties penalties;
    char *held; /* (entries) has a positivity row or is held at zero */
    arap_rotation_clusters rotation_clusters; /* of the weights that the maps came with */
    arap_pass *pass;
    double *right_side; /* (entries) b of the present weights */
    double *product;    /* (entries) F w of the present weights, harmonic term included */
    double *residual;   /* (entries) work */
    /* NULL without acceleration: */
    arap_anderson *anderson;
    double *before; /* (entries) weights before the global step */
    double *metric; /* (entries) areas of the vertices */
    double *best;   /* (entries) weights of this stage with the least objective */
    double best_objective;
    int has_best;
    double *unknowns; /* (system.unknowns) work */
    int has_system;
    int stale; /* the poses have changed since the system was assembled: see stale_step.h */

    int stage; /* 0 before the first, then from 1 to the last */
    int last_stage;
    int stage_iterations;
    int stage_over;
    int must_limit; /* the maps of this stage are yet to be reduced */
    int guarded;      /* negative weights of this stage are held at zero */
    int held_changes; /* of `held` since the factorisation */
    double energy;    /* of the present weights, not relative */
    double anchored;  /* sum of arap_pass_anchored of the last local step */
    double excess;    /* sum of arap_pass_excess of the last local step */
    double roughness; /* the harmonic term of the present weights */
    int broken;       /* an iteration failed half-way: no further ones */
    double *energies;
    int energy_capacity;
    arap_report report;
};

/* start.c: the influence maps and weights to begin with. */
arap_status arap_start_weights(arap_job *job, arap_solver *solver, const arap_problem *problem);

/* Marks and rows of these edits, which were checked, in place of those of earlier ones. */
arap_status arap_take_edits(arap_job *job, arap_solver *solver, const arap_edits *edits);

/* Rows of holds and attachments that the marks release. */
void arap_release_rows(arap_solver *solver);

/* arap_edit_influences with the solver's marks. */
arap_status arap_apply_edits(arap_job *job, const arap_solver *solver,
                             const arap_influences *offered, arap_influences *influences);

/* Rebuild influences with the locked weights as given entries. */
arap_status arap_apply_locks(arap_job *job, const arap_solver *solver, arap_influences *influences);

/* Non-zero if the bone is locked for any of the caller's vertices in this one, or forbidden to it;
 * an arap_closed_fn. */
int arap_is_closed(const void *solver, int vertex, int bone);

/* Is the weight of deforming bone d at input vertex i locked? */
static inline int arap_is_locked(const arap_solver *s, int i, int d) {
    return s->locked_vertex && (s->locked_vertex[i] ||
                                s->locked_column[s->vertex_set[i] * s->skeleton.deform_count + d]);
}

/* iteration.c. Work space for the present influence maps, which must not change until it is
 * released. */
arap_status arap_begin_maps(arap_job *job, arap_solver *solver);
void arap_release_maps(arap_solver *solver);

/* One iteration: global step, local step and what comes with them. The first on new maps assembles
 * and factorises. Sets stage_over when further ones would not help. */
arap_status arap_iteration(arap_job *job, arap_solver *solver);

/* Back to the best weights of these iterations, unless they are the present ones. */
arap_status arap_end_iterations(arap_job *job, arap_solver *solver);

/* Local step at the present weights, made symmetric; their energy goes to the history. */
arap_status arap_refresh(arap_job *job, arap_solver *solver);

/* F w of the present weights, and with it their energy, which goes to the history; the harmonic
 * term does not. */
arap_status arap_measure(arap_job *job, arap_solver *solver);
arap_status arap_record_energy(arap_job *job, arap_solver *solver, double energy);

/* Other transforms (poses, deforming bones, 3, 4) for the poses, and the spines that go with them,
 * with a local step, whose energy goes to the history. keep_factor: the present system is not made
 * anew, but solves for steps of the new one by conjugate gradients. Not while a coarser mesh is
 * solved. */
arap_status arap_solver_repose(arap_job *job, arap_solver *solver, const double *transforms,
                               const arap_spines *spines, int keep_factor);

/* Reduce the influence maps to the limit of the settings at once, without any iteration. */
arap_status arap_solver_limit(arap_job *job, arap_solver *solver);

/* Seconds of a monotonic clock. */
double arap_seconds(void);

/* Add the time since *since to a stage of the report and restart *since. */
void arap_lap(arap_solver *solver, enum arap_timing stage, double *since);

#endif
