/* ARAPLBS: skinning weights that make the posed mesh as rigid as possible.
 *
 *   Thiery & Eisemann 2018, "ARAPLBS: Robust and efficient elasticity-based optimization of
 *   weights and skeleton joints for linear blend skinning with parameterized bones".
 *
 * A solver owns a copy of everything it needs. Create it, iterate until it is done (or as long
 * as you like), read the weights. A solver may be used from any one thread at a time; two
 * solvers share nothing. */
#ifndef ARAP_H
#define ARAP_H

#include "supports/edits.h"
#include "supports/filter.h"
#include "base/job.h"
#include "mesh/mesh.h"
#include "rig/mirror.h"
#include "rig/poses.h"
#include "rig/skeleton.h"
#include "rig/spines.h"
#include "supports/supports.h"

typedef enum arap_positivity {
    ARAP_POSITIVITY_CLIP,    /* clip and normalise after each iteration */
    ARAP_POSITIVITY_PENALTY, /* the paper's: penalty rows at negative local minima */
    ARAP_POSITIVITY_NONE     /* clip only what is handed out */
} arap_positivity;

/* What the initial weights are. */
typedef enum arap_initial {
    ARAP_INITIAL_HEAT,
    ARAP_INITIAL_BBW /* bounded biharmonic weights, for volumes: bbw.h */
} arap_initial;

typedef struct arap_settings {
    int single_precision;   /* of the local step */
    int coarsen;            /* vertices from which on a coarser mesh is solved first, 0: never */
    arap_sampling sampling; /* random poses */
    int max_influences;     /* per vertex, 0: no limit */
    int widenings;          /* rounds in which the energy chooses the influences, see solver.c */
    double least_weight;    /* smaller weights are dropped from what is handed out */
    int iterations;         /* of the last stage, at most */
    double tolerance;       /* a stage ends when the energy changes by less than this share */
    int acceleration;       /* past iterations that Anderson acceleration mixes, 0: none */
    /* Most difference of weights in a cluster that shares rotations, 0: there are none. */
    double rotation_clusters;
    arap_initial initial;
    double heat_floor;    /* initial weights below this are dropped at once */
    arap_pruning pruning; /* of the initial weights */
    int link_parts;       /* tie loose parts to what they sit on */
    double hold; /* strength of rows that keep every bone useful where there is no truss, 0: none */
    int attach, neumann;  /* the paper's constraint rows */
    arap_positivity positivity;
    arap_filter filter; /* of the weights after each global step */
    double strength;    /* c_i = strength #poses Lambda_i of constraint rows */
    double edge_power;  /* of the edge weights, see rings.c; 0: the paper's */
    double truss;       /* strength of the spokes, see truss.h; 0: none */
    double least_worth; /* influences worth less than this share of their ring's energy go */
    double harmonic;    /* delta of the paper's Eq. 13, times c_i; 0: no such term */
    double damping;     /* pull to the initial weights, in the same unit */
} arap_settings;

void arap_settings_default(arap_settings *settings);

/* Weights of the caller, rows of a sparse (vertices, bones) matrix. */
typedef struct arap_rows {
    const long long *start; /* (vertices + 1) */
    const int *bone;        /* bone of the caller */
    const double *weight;
} arap_rows;

/* Bones in range and once a vertex, weights finite and >= 0. */
arap_status arap_check_rows(arap_error *error, const arap_rows *rows, int vertices, int bones);

/* Everything a problem is made of; NULL or 0 where there is nothing. */
typedef struct arap_problem {
    arap_geometry geometry;
    arap_bones bones;
    const arap_reflection *mirror; /* weights shall be symmetric */
    /* Further poses; their parameters are those of the sampled ones, too. */
    arap_given_poses poses;

    const arap_rows *weights;    /* given weights, and the start if start_from_weights */
    int start_from_weights;      /* influence maps and initial weights are those of `weights`,
                                    explicit zeros included, instead of heat weights */
    const char *locked_vertices; /* (vertices) keep their row of `weights` */
    int set_count;               /* sets of vertices with locked bones of their own, 0: one */
    const int *vertex_set;       /* (vertices) */
    const char *locked_bones;    /* (sets, bones) keep their column of `weights` in that set */
    arap_edits edits;
    /* Of a coarser mesh, what the finer one has found: */
    const int *links; /* (link_count, 2) vertices, NULL: found by links.c */
    size_t link_count;
    const int *spoke_bones;  /* (vertices) deforming bone, numbered among these, that the spoke of
                                each goes to, -1: none; NULL: chosen by truss.c */
    const char *spoke_whole; /* (vertices) the part hangs on that bone as a whole */
} arap_problem;

enum arap_timing {
    ARAP_TIME_MESH,  /* checks, welding, links, one-rings, elimination order */
    ARAP_TIME_SIGHT, /* nearest bones and visibility */
    ARAP_TIME_HEAT,  /* heat weights and influence maps */
    ARAP_TIME_POSES,
    ARAP_TIME_SYSTEM, /* assembly */
    ARAP_TIME_FACTOR, /* factorisations */
    ARAP_TIME_LOCAL,  /* local steps */
    ARAP_TIME_SOLVE,  /* back-substitutions */
    ARAP_TIMES
};
extern const char *const arap_timing_names[ARAP_TIMES];

#define ARAP_MOST_WIDENINGS 20
#define ARAP_MOST_LEVELS 16
#define ARAP_MOST_STAGES (ARAP_MOST_WIDENINGS + ARAP_MOST_LEVELS)

typedef struct arap_report {
    int vertices, welded; /* of the caller; merged into others */
    int coarse_vertices;  /* of the coarsest mesh solved, 0: only the mesh itself */
    int parts, linked_parts;
    size_t links;
    int bones, deforming_bones, poses;
    int mirror_bones;      /* deforming ones with a partner */
    int mirrored_vertices; /* of the caller: those with symmetric weights */
    int unseen_count;      /* islands that see no bone: first vertex, size, rigid */
    const arap_island *unseen;
    int iterations;
    int energy_count;
    const double *energies; /* relative: of the initial weights, then after each change of the
                               influence maps and each iteration; on the coarser mesh until
                               its stages are over; those of shared rotations with clusters */
    double energy_before;   /* the first of them, each vertex with its own rotations */
    /* Entry of `energies` right after the change of the maps that began stage 1.., -1: none. */
    int stage_start[ARAP_MOST_STAGES + 1];
    int unknowns;       /* of the present system */
    double factor_size; /* non-zeros of its factor */
    int hold_rows, attach_rows, neumann_rows, positivity_rows;
    double damping; /* what the factorisation needed; settings.damping or more */
    double seconds[ARAP_TIMES];
} arap_report;

typedef struct arap_solver arap_solver;

/* Copies the problem, computes the initial weights and factorises. */
arap_status arap_solver_create(arap_job *job, const arap_problem *problem,
                               const arap_settings *settings, arap_solver **out);
void arap_solver_free(arap_solver *solver);

/* Up to `count` iterations of global and local step, ending early when done. The first
 * iteration of a stage first changes the influence maps and factorises. */
arap_status arap_solver_iterate(arap_job *job, arap_solver *solver, int count);

/* Other edits in place of the present ones, the weights going on from where they are. The solver is
 * not done after that: a stage of few iterations with all influences, then the last one. */
arap_status arap_solver_edit(arap_job *job, arap_solver *solver, const arap_edits *edits);

/* Nothing left to do: the last stage has converged or used up its iterations. */
int arap_solver_done(const arap_solver *solver);

void arap_solver_report(const arap_solver *solver, arap_report *report);

/* The weights to use, for the caller's vertices and bones: finite, >= 0, sum 1, none below
 * least_weight, locked ones as they came. Release with arap_influences_clear. energy: of these
 * weights, relative. */
arap_status arap_solver_weights(arap_job *job, const arap_solver *solver, arap_influences *out,
                                double *energy);

/* The constraint rows that the present level has, none while a coarser mesh is solved: of the
 * caller's vertices (the first of welded ones) and bones. Release with arap_free. */
enum arap_row_kind { ARAP_ROW_HOLD, ARAP_ROW_ATTACH, ARAP_ROW_USER };
typedef struct arap_row_view {
    int vertex, bone;
    double target;
    enum arap_row_kind kind;
    int released;
} arap_row_view;
arap_status arap_solver_rows(arap_job *job, const arap_solver *solver, int *count,
                             arap_row_view **out);

/* The spokes (truss.h) of the present level, likewise; ascending by vertex of the mesh. */
typedef struct arap_spoke_view {
    int vertex, bone;
    double held; /* share of its strength that is left, released or not */
    int released;
} arap_spoke_view;
arap_status arap_solver_spokes(arap_job *job, const arap_solver *solver, size_t *count,
                               arap_spoke_view **out);

/* The initial weights (before any iteration), and the present ones before clipping, for the
 * caller's vertices and bones. */
arap_status arap_solver_initial_weights(arap_job *job, const arap_solver *solver,
                                        arap_influences *out);
arap_status arap_solver_raw_weights(arap_job *job, const arap_solver *solver, arap_influences *out);

/* What tests look at. */
struct arap_inside {
    const arap_mesh *mesh;
    const arap_skeleton *skeleton;
    const arap_mirror *mirror;
    const arap_poses *poses;
    const struct arap_sight *sight; /* NULL: not needed */
    const arap_influences *influences;
    const int *clusters; /* (vertices) vertex of the coarse mesh while it is solved, else NULL */
    const struct arap_system *system;
    const double *right_side, *product; /* b and F w of the present weights, per influence */
};
void arap_solver_inside(const arap_solver *solver, struct arap_inside *inside);

#endif
