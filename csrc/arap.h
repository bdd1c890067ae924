/* ARAPLBS: skinning weights that make the posed mesh as rigid as possible.
 *
 *   Thiery & Eisemann 2018, "ARAPLBS: Robust and efficient elasticity-based optimization of
 *   weights and skeleton joints for linear blend skinning with parameterized bones".
 *
 * A solver owns a copy of everything it needs. Create it, iterate until it is done (or as often as
 * you like), and read the weights. One thread at a time may use a solver; two solvers share
 * nothing.
 *
 * This is the only public header; settings.def is a part of it. It includes no other header; those
 * belong to the rooms of their folders (ARCHITECTURE.md). */
#ifndef ARAP_H
#define ARAP_H

#include <stddef.h>
#include <stdint.h>

/* ---- Failures ----
 *
 * Every function that can fail returns a status and leaves one sentence that names the thing and
 * the value in the error of its context. */
typedef enum arap_status {
    ARAP_OK = 0,
    ARAP_NO_MEMORY,    /* an allocation failed */
    ARAP_BAD_VALUE,    /* the input is unusable; the text says what and where */
    ARAP_CANCELLED,    /* the progress callback asked to stop */
    ARAP_NOT_FINITE,   /* the solve produced NaN or infinity */
    ARAP_NOT_FACTORED, /* CHOLMOD could not factorize the system */
    ARAP_FAULT,        /* the engine's own order of work broke: it ends and does not wait */
    ARAP_STATUS_COUNT
} arap_status;

typedef struct arap_error {
    arap_status status;
    char text[320];
} arap_error;

/* ---- Contexts ----
 *
 * How work is run: passed to every function that does any. It holds no results. */

/* Called between steps with the name of the stage and the share of the call that is done,
 * 0..1. Any value but 0 asks to stop; the call then returns ARAP_CANCELLED. */
typedef int (*arap_progress_fn)(void *data, const char *stage, double fraction);

#define ARAP_MAX_THREADS 256
#define ARAP_SCALING_SIZES 3 /* numbers of processors for which the speedup is estimated */

typedef struct arap_context {
    int threads; /* 1 to ARAP_MAX_THREADS */
    arap_progress_fn progress;
    void *progress_data;
    arap_error error;
    /* Internal, 0 at first: the last progress report and its time. uncancellable: the work cannot
     * stop halfway; 1: it reports nevertheless, and stops where a step says that it can start over,
     * or at its end; 2: it does not report. asked: the stage at whose report it was asked to stop.
     * pool: the threads that the call keeps. */
    const char *stage;
    double fraction, reported;
    int uncancellable;
    const char *asked;
    struct arap_thread_pool *pool;
    /* For work on one thread: the seconds that more threads could share, and the seconds that each
     * of ARAP_SCALING_SIZES numbers of processors would save (base/context.h). */
    double shared, saved[ARAP_SCALING_SIZES];
} arap_context;

/* Numbers of processors for these estimates. */
extern const int arap_scaling_sizes[ARAP_SCALING_SIZES];

/* Number of processors this process may use. */
int arap_processors(void);

/* Release an array that a function has made. */
void arap_free(void *block);

/* ---- The input of the caller ---- */

/* Any triangle soup, any tets. Edges are wire edges, which belong to no face. */
typedef struct arap_geometry {
    int vertex_count;
    const double *vertices; /* (vertex_count, 3) */
    size_t triangle_count;
    const int *triangles; /* (triangle_count, 3) */
    size_t edge_count;
    const int *edges; /* (edge_count, 2) */
    size_t tet_count;
    const int *tets; /* (tet_count, 4) */
} arap_geometry;

/* How a bone deforms: spines.h, bendy.h. */
typedef enum arap_bone_kind {
    ARAP_BONE_RIGID,
    ARAP_BONE_STB,
    ARAP_BONE_SPINE,
    ARAP_BONE_BENDY
} arap_bone_kind;

/* The parameters of a bone that sampled poses vary (paper section 3.3): its swing about an axis
 * across it and its twist about itself as a whole, the angle theta that it turns from head to tail,
 * if it is not rigid, and its stretch. */
enum arap_range { ARAP_RANGE_SWING, ARAP_RANGE_TWIST, ARAP_RANGE_BEND, ARAP_RANGE_STRETCH };
#define ARAP_RANGES 4
#define ARAP_MAX_SEGMENTS 1000

/* A skeleton. Missing arrays are NULL. */
typedef struct arap_bones {
    int count;
    const double *heads;     /* (count, 3) */
    const double *tails;     /* (count, 3) */
    const char *ways;        /* (count) the parent ends at this bone's head, not at its own tail;
                                NULL: bones end at their tails */
    const int *parents;      /* (count) -1 for a root */
    const double *roll_axes; /* (count, 3) local Z of the bone, any length */
    const char *deform;      /* (count) */
    const double *limits;    /* (count, 3, 2) radians about local X, Y (the bone), Z; NaN: none */
    const char *kinds;       /* (count) arap_bone_kind */
    const double *ranges;    /* (count, ARAP_RANGES, 2) radians, stretch; NaN: the usual one */
    const char *stretch;     /* (count) stretchable: see stretch.h; NULL: none */
    const int *segments; /* (count) of bendy bones, 1 to ARAP_MAX_SEGMENTS; NULL: no bendy bones */
} arap_bones;

/* Joints of the deforming bendy bones of the caller: segments + 1 for each. */
int arap_joint_count(const arap_bones *bones);

/* The bend of a spine in a pose: a rotation vector (axis a_s times angle theta_s, radians) that
 * builds up from head to tail, in rest orientation, then the stretch sigma_s along it. */
#define ARAP_BEND 4

/* Poses of the caller, and where their vertices lie along the bones. */
typedef struct arap_given_poses {
    int count;
    const double *transforms; /* (count, bones, 3, 4) caller's units, rest to posed */
    const double *bends;      /* (count, bones, ARAP_BEND), NULL: no bone is bent */
    const double *joints;     /* (count, arap_joint_count, 3, 4) transforms of the joints of bendy
                                 bones, in place of `transforms` and `bends` of these, or NULL */
    const double *parameters; /* (vertices of the caller, bones) u, NaN or NULL: see spines.h */
    const double *weights;    /* (count) how often each counts, see pose_weights.h; NULL: once */
} arap_given_poses;

/* A plane of symmetry. */
typedef struct arap_reflection {
    const int
        *bone_partners; /* (bones) the bone of the other side, itself on the plane, -1: none */
    double point[3];    /* of the plane, caller's units */
    double normal[3];   /* of any length */
} arap_reflection;

/* Weights of the caller, rows of a sparse (vertices, bones) matrix. */
typedef struct arap_sparse_weights {
    const long long *start; /* (vertices + 1) */
    const int *bone;        /* bone of the caller */
    const double *weight;
} arap_sparse_weights;

/* Changes that an artist makes while the weights converge, in the caller's vertices and bones;
 * NULL or 0 for no change. */
typedef struct arap_edits {
    int constraint_count; /* soft constraints w(vertex, bone) = target */
    const int *constraint_vertex, *constraint_bone;
    const double *constraint_target;
    int influence_count; /* the bone may move the vertex if that helps, or must not */
    const int *influence_vertex, *influence_bone;
    const char *influence_allowed;
    int smooth_count; /* vertices where the Laplacian of all weights is drawn to 0 */
    const int *smooth_vertex;
    const double *smooth_strength; /* 0 to 1, see smoothness.h */
    int release_count;             /* springs, peak and attach rows that do not count */
    const int *release_vertex, *release_bone;
    const int
        *rigid_parts; /* (vertices) those of an equal number have the same weights, -1: free */
} arap_edits;

/* ---- Settings ----
 *
 * settings.def gives the purpose, range and default of each. */

/* Precision of the loop over poses; sums over edges and vertices are always double. */
typedef enum arap_precision { ARAP_SINGLE, ARAP_DOUBLE } arap_precision;

typedef enum arap_filter {
    ARAP_FILTER_NONE,
    ARAP_FILTER_ALL,    /* every weight */
    ARAP_FILTER_EXTREMA /* local maxima below, local minima above those of the whole mesh */
} arap_filter;

typedef enum arap_positivity {
    ARAP_POSITIVITY_CLIP,    /* clip and normalize after each iteration */
    ARAP_POSITIVITY_PENALTY, /* the paper's: penalty rows at negative local minima */
    ARAP_POSITIVITY_NONE     /* clip only what is handed out */
} arap_positivity;

/* The kind of initial weights: the files of initial/ of these names. */
typedef enum arap_initial {
    ARAP_INITIAL_HEAT,
    ARAP_INITIAL_NEAREST, /* nearest_bones.h */
    ARAP_INITIAL_BONEGLOW,
    ARAP_INITIAL_BBW, /* bounded biharmonic weights */
    ARAP_INITIAL_BIHARMONIC
} arap_initial;
#define ARAP_INITIAL_CHOICES                                                                       \
    [ARAP_INITIAL_HEAT] = "heat", [ARAP_INITIAL_NEAREST] = "nearest",                              \
    [ARAP_INITIAL_BONEGLOW] = "boneglow", [ARAP_INITIAL_BBW] = "bbw",                              \
    [ARAP_INITIAL_BIHARMONIC] = "biharmonic"

/* The deformer that the weights are for: blending of transforms or of dual quaternions
 * (dual_blend.h). */
typedef enum arap_deformer { ARAP_DEFORMER_LINEAR, ARAP_DEFORMER_DUAL_QUATERNIONS } arap_deformer;

#define ARAP_MAX_EXPANSION_ROUNDS 20
#define ARAP_MAX_WINDOW 20 /* past iterations that are mixed */

/* How poses are sampled (paper section 3.3): a swing about a random axis across the bone, then a
 * twist about the bone. */
typedef struct arap_sampling {
#define ARAP_SETTINGS_SAMPLING
#include "settings.def"
} arap_sampling;

typedef struct arap_pruning {
#define ARAP_SETTINGS_PRUNING
#include "settings.def"
} arap_pruning;

typedef struct arap_settings {
    arap_sampling sampling;
#define ARAP_SETTINGS_COMMON
#define ARAP_SETTINGS_SOLVER
#include "settings.def"
} arap_settings;

void arap_settings_default(arap_settings *settings);

/* All parts of a problem; NULL or 0 for absent ones. */
typedef struct arap_problem {
    arap_geometry geometry;
    arap_bones bones;
    const arap_reflection *symmetry; /* the weights are made symmetric; NULL: they are not */
    /* Further poses; their parameters are those of the sampled ones, too. */
    arap_given_poses poses;

    const arap_sparse_weights *weights; /* given weights, and the start if start_from_weights */
    int start_from_weights;      /* influence patterns and initial weights are those of `weights`,
                                    explicit zeros included, instead of heat weights */
    const char *locked_vertices; /* (vertices) keep their row of `weights` */
    int set_count;               /* sets of vertices with locked bones of their own, 0: one */
    const int *vertex_set;       /* (vertices) */
    const char *locked_bones;    /* (sets, bones) keep their column of `weights` in that set */
    arap_edits edits;
    /* For a coarser mesh, results of the finer one: */
    const int *links; /* (link_count, 2) vertices, NULL: found by links.c */
    size_t link_count;
    size_t layer_count;       /* of these, the last ones, between layers: see links.c */
    const int *spring_bones;  /* (vertices) deforming bone, numbered among these, that the spring of
                                each goes to, -1: none; NULL: chosen by bone_springs.c */
    const char *spring_whole; /* (vertices) the part hangs on that bone as a whole */
    const int *part_keeper;   /* (vertices) the deforming bone, numbered among these, that alone
                                 moves its part, -1: none; NULL: found by inner_bones.c */
    const char *inner_bone;   /* (deforming bones) whether each is such a bone */
    const signed char *pierced; /* (vertices) their sides by pierced.c, NULL: none pierces, or it is
                                   the finest mesh */
    const int *visit;           /* (vertices) the order in which clusters take them, or NULL */
} arap_problem;

enum arap_timing {
    ARAP_TIME_MESH,       /* checks, welding, links, one-rings, elimination order, symmetry */
    ARAP_TIME_SPRINGS,    /* springs, rigid parts */
    ARAP_TIME_VISIBILITY, /* nearest bones and visibility */
    ARAP_TIME_HEAT,       /* heat weights and influence patterns */
    ARAP_TIME_POSES,
    ARAP_TIME_LEVELS,   /* coarser meshes, and their weights for finer ones */
    ARAP_TIME_PATTERNS, /* influence patterns: widened, mirrored, reduced */
    ARAP_TIME_SYSTEM,   /* assembly */
    ARAP_TIME_FACTOR,   /* factorizations */
    ARAP_TIME_LOCAL,    /* local steps */
    ARAP_TIME_SOLVE,    /* back-substitutions, clipping, acceleration */
    ARAP_TIME_RESULT,   /* tidy weights, their energy */
    ARAP_TIMES
};
extern const char *const arap_timing_names[ARAP_TIMES];

#define ARAP_MAX_LEVELS 16
/* With those of promise.h, that of rigid parts and the deformer's. */
#define ARAP_MAX_ROUNDS 3 /* that hold bones, on the coarsest level; one on each finer one */
#define ARAP_MAX_STAGES (ARAP_MAX_EXPANSION_ROUNDS + 2 * ARAP_MAX_LEVELS + ARAP_MAX_ROUNDS + 2)

/* An island: vertices connected by faces, wires or links. */
typedef struct arap_island {
    int vertex; /* its first vertex, caller's index */
    int size;   /* vertices, after welding */
    int rigid;  /* 1: no bone is near, all of it follows the nearest one */
} arap_island;

typedef struct arap_report {
#define ARAP_REPORT_SOLVER
#include "report.def"
    int unseen_count; /* islands that see no bone */
    const arap_island *unseen;
    int energy_count;
    const double
        *energies; /* relative: of the initial weights, then after each change of the
                      influence patterns, each iteration and each displacement of components
                      but the first, which comes before; on the coarser mesh until its
                      stages are over; those of shared rotations with clusters; of linear
                      blending until the stage for another deformer, then of that */
    /* Entry of `energies` right after the change of the patterns that began stage 1.., -1: none. */
    int stage_start[ARAP_MAX_STAGES + 1];
    double seconds[ARAP_TIMES]; /* all work of the solver: creation, iterations, edits and
                                   arap_solver_weights */
} arap_report;

/* ---- The solver ---- */

/* Influence patterns and weights: rows of a sparse (vertices, deforming bones) matrix, or, when
 * they are returned, of the caller's vertices and bones. Bones ascend in each row. */
typedef struct arap_influences {
    int count;      /* vertices */
    size_t *start;  /* (count + 1) */
    int *bone;      /* (start[count]) */
    double *weight; /* (start[count]) */
    char *locked;   /* (start[count]) 1: this weight is the user's and stays unchanged */
} arap_influences;

/* Release the rows. */
void arap_influences_clear(arap_influences *influences);

typedef struct arap_solver arap_solver;

/* Copies the problem, computes the initial weights and factorizes. */
arap_status arap_solver_create(arap_context *context, const arap_problem *problem,
                               const arap_settings *settings, arap_solver **out);
void arap_solver_free(arap_solver *solver);

/* Up to `count` iterations of global and local step, ending early when done. The first
 * iteration of a stage first changes the influence patterns and factorizes. */
arap_status arap_solver_iterate(arap_context *context, arap_solver *solver, int count);

/* Replace the present edits; the weights continue from where they are. The solver is then no longer
 * done: a short stage with all influences comes first, then the last one. */
arap_status arap_solver_edit(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* The last stage has converged or used up its iterations. */
int arap_solver_done(const arap_solver *solver);

void arap_solver_report(const arap_solver *solver, arap_report *report);

/* The weights to use, for the caller's vertices and bones: finite, >= 0, sum 1, none below
 * min_weight, locked ones unchanged. Release with arap_influences_clear. */
arap_status arap_solver_weights(arap_context *context, arap_solver *solver, arap_influences *out);

/* The relative energy of these weights, at the cost of a local step. Energies of the history are
 * computed before small weights are left out. */
arap_status arap_solver_energy(arap_context *context, arap_solver *solver, double *energy);

/* How many bones the resulting weights use. Release `idle` with arap_free. */
typedef struct arap_usage {
    size_t max; /* influences of a vertex */
    double mean;
    int idle_count;
    int *idle; /* (idle_count) deforming bones without any influence */
} arap_usage;
arap_status arap_solver_usage(arap_context *context, const arap_solver *solver,
                              const arap_influences *weights, arap_usage *out);

/* How far the skin of each of the caller's bones follows it: see responses.h. */
#define ARAP_NO_SKIN (-1)
#define ARAP_NO_DEFORM (-2)
typedef struct arap_answers {
    double *response, *share; /* (bones) or one of these constants */
    char *held;               /* (bones) rows hold it */
    char *inner;              /* (bones) it moves the part around it alone */
    double floor;             /* those below it are to be held */
} arap_answers;
arap_status arap_solver_answers(arap_context *context, const arap_solver *solver,
                                const arap_influences *weights, arap_answers *out);
void arap_answers_clear(arap_answers *answers);

/* Number of the rigid part of each vertex of the caller, -1: none. out: (vertices) */
void arap_solver_rigid_parts(const arap_solver *solver, int *out);

/* The constraint rows of the present level, none while a coarser mesh is solved, with the caller's
 * vertices (the first of welded ones) and bones. Release with arap_free. */
enum arap_constraint_kind { ARAP_CONSTRAINT_PEAK, ARAP_CONSTRAINT_ATTACH, ARAP_CONSTRAINT_USER };
typedef struct arap_constraint_view {
    int vertex, bone;
    double target;
    enum arap_constraint_kind kind;
    int released;
} arap_constraint_view;
arap_status arap_solver_constraints(arap_context *context, const arap_solver *solver, int *count,
                                    arap_constraint_view **out);

/* The springs (bone_springs.h) of the present level, also ascending by vertex of the mesh. */
typedef struct arap_spring_view {
    int vertex, bone;
    double held; /* share of its strength that is left, released or not */
    int released;
} arap_spring_view;
arap_status arap_solver_springs(arap_context *context, const arap_solver *solver, size_t *count,
                                arap_spring_view **out);

/* The initial weights (before any iteration), and the present ones before clipping, for the
 * caller's vertices and bones. */
arap_status arap_solver_initial_weights(arap_context *context, const arap_solver *solver,
                                        arap_influences *out);
arap_status arap_solver_raw_weights(arap_context *context, const arap_solver *solver,
                                    arap_influences *out);

#endif
