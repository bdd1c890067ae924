/* ARAPLBS: skinning weights that make the posed mesh as rigid as possible.
 *
 *   Thiery & Eisemann 2018, "ARAPLBS: Robust and efficient elasticity-based optimization of
 *   weights and skeleton joints for linear blend skinning with parameterized bones".
 *
 * A solver owns a copy of its entire input. Create a solver, iterate until it is done (or as often
 * as you like), and read the weights. A solver may be used by only one thread at a time. Two
 * solvers share no state.
 *
 * This is the only public header, together with its tables settings.def and report.def. All other
 * headers are private to their folders (ARCHITECTURE.md). */
#ifndef ARAP_H
#define ARAP_H

#include <stddef.h>
#include <stdint.h>

/* ---- Failures ----
 *
 * Every function that can fail returns a status and stores one sentence in the error of its
 * context, which names the offending item and its value. */
typedef enum arap_status {
    ARAP_OK = 0,
    ARAP_NO_MEMORY,    /* an allocation failed */
    ARAP_BAD_VALUE,    /* the input is invalid; the text says what is wrong and where */
    ARAP_CANCELLED,    /* the progress callback requested cancellation */
    ARAP_NOT_FINITE,   /* the solve produced NaN or infinity */
    ARAP_NOT_FACTORED, /* CHOLMOD could not factorize the system */
    ARAP_FAULT,        /* an internal scheduling error: the call ends instead of waiting forever */
    ARAP_STATUS_COUNT
} arap_status;

typedef struct arap_error {
    arap_status status;
    char text[320];
} arap_error;

/* ---- Contexts ----
 *
 * A context controls how work is run. Every function that does work takes one. It holds no
 * results. */

/* Called between steps with the name of the stage and the completed share of the call, 0..1. Any
 * return value except 0 requests cancellation. The call then returns ARAP_CANCELLED. */
typedef int (*arap_progress_fn)(void *data, const char *stage, double fraction);

#define ARAP_MAX_THREADS 256
#define ARAP_SCALING_SIZES 3 /* number of processor counts for which the speedup is estimated */

typedef struct arap_context {
    int threads; /* 1 to ARAP_MAX_THREADS */
    arap_progress_fn progress;
    void *progress_data;
    arap_error error;
    /* Internal, initially 0: the last progress report and its time. uncancellable: 1: the work
     * cannot stop halfway; it still reports progress, and stops at a step that allows a restart, or
     * at its end; 2: it does not report. asked: the stage whose report was answered with a request
     * to stop. pool: the threads that the call keeps. */
    const char *stage;
    double fraction, reported;
    int uncancellable;
    const char *asked;
    struct arap_thread_pool *pool;
    /* For work on one thread: the seconds that more threads could share, and the seconds saved with
     * each of the ARAP_SCALING_SIZES processor counts (base/context.h). */
    double shared, saved[ARAP_SCALING_SIZES];
} arap_context;

/* The processor counts used for these estimates. */
extern const int arap_scaling_sizes[ARAP_SCALING_SIZES];

/* Number of processors this process may use. */
int arap_processors(void);

/* Release an array allocated by one of these functions. */
void arap_free(void *block);

/* ---- The input of the caller ---- */

/* Any triangle soup and any tets. The edges are wire edges, which belong to no face. */
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

/* How a bone deforms; see spines.h and bendy.h. */
typedef enum arap_bone_kind {
    ARAP_BONE_RIGID,
    ARAP_BONE_STB,
    ARAP_BONE_SPINE,
    ARAP_BONE_BENDY
} arap_bone_kind;

/* The bone parameters that vary in sampled poses (paper section 3.3): the swing about an axis
 * across the bone, the twist of the whole bone about itself, the angle theta by which a non-rigid
 * bone turns from head to tail, and the stretch. */
enum arap_range { ARAP_RANGE_SWING, ARAP_RANGE_TWIST, ARAP_RANGE_BEND, ARAP_RANGE_STRETCH };
#define ARAP_RANGES 4
#define ARAP_MAX_SEGMENTS 1000

/* A skeleton. Missing arrays are NULL. */
typedef struct arap_bones {
    int count;
    const double *heads;     /* (count, 3) */
    const double *tails;     /* (count, 3) */
    const char *ways;        /* (count) the parent ends at this bone's head instead of its own tail;
                                NULL: all bones end at their tails */
    const int *parents;      /* (count) -1 for a root */
    const double *roll_axes; /* (count, 3) local Z of the bone, any length */
    const char *deform;      /* (count) */
    const double *limits;    /* (count, 3, 2) radians about local X, Y (the bone), Z; NaN: none */
    const char *kinds;       /* (count) arap_bone_kind */
    const double *ranges;    /* (count, ARAP_RANGES, 2) radians, stretch; NaN: the usual one */
    const char *stretch;     /* (count) stretchable: see stretch.h; NULL: none */
    const int *segments; /* (count) of bendy bones, 1 to ARAP_MAX_SEGMENTS; NULL: no bendy bones */
} arap_bones;

/* Number of joints of the caller's deforming bendy bones: segments + 1 for each. */
int arap_joint_count(const arap_bones *bones);

/* The bend of a spine in a pose: a rotation vector (axis a_s times angle theta_s, radians) in rest
 * orientation, accumulated from head to tail, followed by the stretch sigma_s along the spine. */
#define ARAP_BEND 4

/* The caller's poses, and the positions of the vertices along the bones. */
typedef struct arap_given_poses {
    int count;
    const double *transforms; /* (count, bones, 3, 4) caller's units, rest to posed */
    const double *bends;      /* (count, bones, ARAP_BEND); NULL: no bone is bent */
    const double *joints;     /* (count, arap_joint_count, 3, 4) transforms of the bendy bones'
                                 joints, which replace their `transforms` and `bends`, or NULL */
    const double *parameters; /* (vertices of the caller, bones) u, NaN or NULL: see spines.h */
    const double *weights;    /* (count) weight of each pose, see pose_weights.c; NULL: 1 */
} arap_given_poses;

/* A plane of symmetry. */
typedef struct arap_reflection {
    const int *bone_partners; /* (bones) the bone on the other side; the bone itself if it lies on
                                 the plane; -1: none */
    double point[3];          /* on the plane, caller's units */
    double normal[3];         /* of any length */
} arap_reflection;

/* The caller's weights, as rows of a sparse (vertices, bones) matrix. */
typedef struct arap_sparse_weights {
    const long long *start; /* (vertices + 1) */
    const int *bone;        /* bone of the caller */
    const double *weight;
} arap_sparse_weights;

/* Changes made by an artist while the weights converge, indexed by the caller's vertices and bones;
 * NULL or 0 for no change. */
typedef struct arap_edits {
    int constraint_count; /* soft constraints w(vertex, bone) = target */
    const int *constraint_vertex, *constraint_bone;
    const double *constraint_target;
    int influence_count; /* the bone may move the vertex if that helps, or must not */
    const int *influence_vertex, *influence_bone;
    const char *influence_allowed;
    int smooth_count; /* vertices where the Laplacian of all weights is pulled toward 0 */
    const int *smooth_vertex;
    const double *smooth_strength; /* 0 to 1, see smoothness.h */
    int release_count;             /* springs, peak rows and attachment rows that are disabled */
    const int *release_vertex, *release_bone;
    const int
        *rigid_parts; /* (vertices) vertices with equal numbers get the same weights; -1: free */
} arap_edits;

/* ---- Settings ----
 *
 * settings.def defines the purpose, range and default of each setting. */

/* Precision of the loop over poses. Sums over edges and vertices always use double precision. */
typedef enum arap_precision { ARAP_SINGLE, ARAP_DOUBLE } arap_precision;

typedef enum arap_filter {
    ARAP_FILTER_NONE,
    ARAP_FILTER_ALL,    /* every weight */
    ARAP_FILTER_EXTREMA /* local maxima below and local minima above those of the whole mesh */
} arap_filter;

typedef enum arap_positivity {
    ARAP_POSITIVITY_CLIP,    /* clip and normalize after each iteration */
    ARAP_POSITIVITY_PENALTY, /* the paper's: penalty rows at negative local minima */
    ARAP_POSITIVITY_NONE     /* clip only the weights that are returned */
} arap_positivity;

/* The kind of initial weights, each implemented in the file of this name in initial/. */
typedef enum arap_initial {
    ARAP_INITIAL_HEAT,
    ARAP_INITIAL_NEAREST, /* nearest_bones.c */
    ARAP_INITIAL_BONEGLOW,
    ARAP_INITIAL_BBW, /* bounded biharmonic weights */
    ARAP_INITIAL_BIHARMONIC
} arap_initial;
#define ARAP_INITIAL_CHOICES                                                                       \
    [ARAP_INITIAL_HEAT] = "heat", [ARAP_INITIAL_NEAREST] = "nearest",                              \
    [ARAP_INITIAL_BONEGLOW] = "boneglow", [ARAP_INITIAL_BBW] = "bbw",                              \
    [ARAP_INITIAL_BIHARMONIC] = "biharmonic"

/* The deformer for which the weights are optimized: blending of transforms or of dual quaternions
 * (dual_blend.h). */
typedef enum arap_deformer { ARAP_DEFORMER_LINEAR, ARAP_DEFORMER_DUAL_QUATERNIONS } arap_deformer;

#define ARAP_MAX_EXPANSION_ROUNDS 20
#define ARAP_MAX_WINDOW 20 /* maximum number of past iterations that are mixed */

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

/* All parts of a problem. Absent parts are NULL or 0. */
typedef struct arap_problem {
    arap_geometry geometry;
    arap_bones bones;
    const arap_reflection *symmetry; /* makes the weights symmetric; NULL: it does not */
    /* Further poses. Their parameters also apply to the sampled poses. */
    arap_given_poses poses;

    const arap_sparse_weights *weights; /* given weights; also the start if start_from_weights is
                                           set */
    int start_from_weights;      /* influence patterns and initial weights are taken from `weights`,
                                    including explicit zeros, instead of heat weights */
    const char *locked_vertices; /* (vertices) keep their row of `weights` */
    int set_count;               /* number of vertex sets with separate locked bones; 0: one set */
    const int *vertex_set;       /* (vertices) */
    const char *locked_bones;    /* (sets, bones) keep their column of `weights` in that set */
    arap_edits edits;
    /* For a coarser mesh, results computed on the finer one: */
    const int *links; /* (link_count, 2) vertices; NULL: found by links.c */
    size_t link_count;
    size_t layer_count;       /* how many of these, at the end, lie between layers: see links.c */
    const int *spring_bones;  /* (vertices) compact index of the deforming bone to which the spring
                                 of each vertex is attached; -1: none; NULL: chosen by
                                 bone_springs.c */
    const char *spring_whole; /* (vertices) the whole part is attached to that bone */
    const int *part_keeper;   /* (vertices) compact index of the only deforming bone that moves the
                                 vertex's part; -1: none; NULL: found by inner_bones.c */
    const char *inner_bone;   /* (deforming bones) whether each is such a bone */
    const signed char *pierced; /* (vertices) side of each vertex from pierced.c; NULL: no skin
                                   pierces a limb, or this is the finest mesh */
    const int *visit;           /* (vertices) order in which clusters visit them, or NULL */
} arap_problem;

enum arap_timing {
    ARAP_TIME_MESH,       /* checks, welding, links, one-rings, elimination order, symmetry */
    ARAP_TIME_SPRINGS,    /* springs, rigid parts */
    ARAP_TIME_VISIBILITY, /* nearest bones and visibility */
    ARAP_TIME_HEAT,       /* heat weights and influence patterns */
    ARAP_TIME_POSES,
    ARAP_TIME_LEVELS,   /* coarser meshes, and prolongation of their weights to finer ones */
    ARAP_TIME_PATTERNS, /* widening, mirroring and reduction of influence patterns */
    ARAP_TIME_SYSTEM,   /* assembly */
    ARAP_TIME_FACTOR,   /* factorizations */
    ARAP_TIME_LOCAL,    /* local steps */
    ARAP_TIME_SOLVE,    /* back-substitutions, clipping, acceleration */
    ARAP_TIME_RESULT,   /* cleanup of the resulting weights, and their energy */
    ARAP_TIMES
};
extern const char *const arap_timing_names[ARAP_TIMES];

#define ARAP_MAX_LEVELS 16
/* Including the stages of response.h, of rigid parts and of the deformer. */
/* rounds of holding bones on the coarsest level; each finer level has one */
#define ARAP_MAX_ROUNDS 3
#define ARAP_MAX_STAGES (ARAP_MAX_EXPANSION_ROUNDS + 2 * ARAP_MAX_LEVELS + ARAP_MAX_ROUNDS + 2)

/* An island: vertices connected by faces, wires or links. */
typedef struct arap_island {
    int vertex; /* its first vertex, caller's index */
    int size;   /* vertices, after welding */
    int rigid;  /* 1: no bone is near, so the whole island follows the nearest one */
} arap_island;

typedef struct arap_report {
#define ARAP_REPORT_SOLVER
#include "report.def"
    int unseen_count; /* islands from which no bone is visible */
    const arap_island *unseen;
    int energy_count;
    const double *energies; /* relative energies: first that of the initial weights; then one after
                               each change of the influence patterns, each iteration, and each
                               displacement of components except the first one, which happens
                               earlier. They belong to the coarser mesh until its stages are
                               finished, to shared rotations if there are clusters, and to linear
                               blending until the stage for another deformer starts */
    /* Index in `energies` of the entry directly after the change of the patterns that started stage
     * 1..; -1: none. */
    int stage_start[ARAP_MAX_STAGES + 1];
    double seconds[ARAP_TIMES]; /* total work of the solver: creation, iterations, edits and
                                   arap_solver_weights */
} arap_report;

/* ---- The solver ---- */

/* Influence patterns and weights: rows of a sparse (vertices, deforming bones) matrix or, in
 * returned results, of a matrix over the caller's vertices and bones. Each row lists its bones in
 * ascending order. */
typedef struct arap_influences {
    int count;      /* vertices */
    size_t *start;  /* (count + 1) */
    int *bone;      /* (start[count]) */
    double *weight; /* (start[count]) */
    char *locked;   /* (start[count]) 1: this weight is locked by the user and stays unchanged */
} arap_influences;

/* Release the rows. */
void arap_influences_clear(arap_influences *influences);

typedef struct arap_solver arap_solver;

/* Copy the problem, compute the initial weights and factorize the system. */
arap_status arap_solver_create(arap_context *context, const arap_problem *problem,
                               const arap_settings *settings, arap_solver **out);
void arap_solver_free(arap_solver *solver);

/* Run up to `count` iterations of the global and local step, and stop early when done. The first
 * iteration of a stage begins by changing the influence patterns and factorizing the system. */
arap_status arap_solver_iterate(arap_context *context, arap_solver *solver, int count);

/* Replace the current edits and continue from the current weights. The solver is then no longer
 * done. A short stage with all influences precedes the last stage. */
arap_status arap_solver_edit(arap_context *context, arap_solver *solver, const arap_edits *edits);

/* Whether the last stage has converged or used up its iterations. */
int arap_solver_done(const arap_solver *solver);

void arap_solver_report(const arap_solver *solver, arap_report *report);

/* Get the final weights for the caller's vertices and bones: finite, >= 0, with sum 1, none below
 * min_weight, and locked ones unchanged. Release with arap_influences_clear. */
arap_status arap_solver_weights(arap_context *context, arap_solver *solver, arap_influences *out);

/* The relative energy of these weights, computed at the cost of a local step. The energies in the
 * history are computed before small weights are removed. */
arap_status arap_solver_energy(arap_context *context, arap_solver *solver, double *energy);

/* Count how many bones the resulting weights use. Release `idle` with arap_free. */
typedef struct arap_usage {
    size_t max; /* influences per vertex */
    double mean;
    int idle_count;
    int *idle; /* (idle_count) deforming bones without any influence */
} arap_usage;
arap_status arap_solver_usage(arap_context *context, const arap_solver *solver,
                              const arap_influences *weights, arap_usage *out);

/* How far the skin of each of the caller's bones follows that bone: see responses.c. */
#define ARAP_NO_SKIN (-1)
#define ARAP_NO_DEFORM (-2)
typedef struct arap_bone_responses {
    double *response, *share; /* (bones) or one of these constants */
    char *held;               /* (bones) constraint rows hold it */
    char *inner;              /* (bones) it alone moves the part around it */
    double minimum;           /* rows hold bones with a response below this value */
} arap_bone_responses;
arap_status arap_solver_responses(arap_context *context, const arap_solver *solver,
                                  const arap_influences *weights, arap_bone_responses *out);
void arap_bone_responses_clear(arap_bone_responses *responses);

/* Number of the rigid part that contains each of the caller's vertices; -1: none. out:
 * (vertices) */
void arap_solver_rigid_parts(const arap_solver *solver, int *out);

/* The constraint rows of the current level, with the caller's vertices (the first of welded ones)
 * and bones. No rows exist while a coarser mesh is being solved. Release with arap_free. */
enum arap_constraint_kind { ARAP_CONSTRAINT_PEAK, ARAP_CONSTRAINT_ATTACH, ARAP_CONSTRAINT_USER };
typedef struct arap_constraint_view {
    int vertex, bone;
    double target;
    enum arap_constraint_kind kind;
    int released;
} arap_constraint_view;
arap_status arap_solver_constraints(arap_context *context, const arap_solver *solver, int *count,
                                    arap_constraint_view **out);

/* The springs (bone_springs.h) of the current level, also in ascending order of the mesh
 * vertices. */
typedef struct arap_spring_view {
    int vertex, bone;
    double held; /* remaining share of its strength, whether released or not */
    int released;
} arap_spring_view;
arap_status arap_solver_springs(arap_context *context, const arap_solver *solver, size_t *count,
                                arap_spring_view **out);

/* The initial weights (before any iteration) and the current weights before clipping, for the
 * caller's vertices and bones. */
arap_status arap_solver_initial_weights(arap_context *context, const arap_solver *solver,
                                        arap_influences *out);
arap_status arap_solver_raw_weights(arap_context *context, const arap_solver *solver,
                                    arap_influences *out);

#endif
