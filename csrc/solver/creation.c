/* Creation and destruction of a solver: see arap.h.
 *
 * Creation starts with the mesh and the skeleton, and determines their symmetry, the poses (random
 * and given), the bone springs and the rigid parts. Then it creates the coarser levels, which are
 * separate solvers, and the initial weights, and takes a local step for these weights. The
 * elimination order and the clusters of the coarser mesh depend only on the mesh and are computed
 * in parallel with poses and bone springs.
 *
 * The cost is that of these steps. If a step fails, creation fails and frees everything allocated
 * so far. */
#include "solver/solver.h"

#include <string.h>

#include "base/async_task.h"
#include "base/memory.h"
#include "base/settings.h"
#include "energy/energy.h"
#include "mesh/links.h"
#include "mesh/rings.h"
#include "solver/excluded.h"
#include "solver/dual_stage.h"
#include "solver/initial_weights.h"
#include "solver/iteration.h"
#include "solver/levels.h"
#include "solver/response.h"
#include "solver/rigid.h"
#include "solver/smoothness.h"
#include "springs/bone_springs.h"

#define LARGE_LEVEL 4096   /* minimum number of vertices of a large coarser mesh, */
#define LARGE_FOR_BONE 100 /* and per bone */

const char *const arap_timing_names[ARAP_TIMES] = {"mesh",   "truss",  "visibility", "heat",
                                                   "poses",  "levels", "maps",       "assembly",
                                                   "factor", "local",  "solve",      "result"};

void arap_settings_default(arap_settings *settings) {
    arap_settings_fill(&arap_sampling_settings, &settings->sampling);
    arap_settings_fill(&arap_common_settings, settings);
    arap_settings_fill(&arap_solver_settings, settings);
}

static arap_status check_settings(arap_error *error, const arap_settings *s) {
    arap_status status = arap_settings_check(error, &arap_sampling_settings, &s->sampling);
    if (!status) status = arap_settings_check(error, &arap_common_settings, s);
    return status ? status : arap_settings_check(error, &arap_solver_settings, s);
}

/* Whether to compute weights on a coarser mesh first. The paper's constraint rows and the
 * parameters of spines belong to the vertices of the mesh itself. */
static int wants_coarse(const arap_solver *s, const arap_problem *problem) {
    const arap_settings *set = &s->settings;
    return set->coarsen && s->mesh.main_count >= set->coarsen &&
           (!problem->start_from_weights || set->coarsen_given) && !set->attach && !set->neumann &&
           set->positivity == ARAP_POSITIVITY_CLIP && !s->skeleton.spine_count;
}

static arap_status find_own_links(arap_context *context, arap_solver *s, arap_links *links) {
    const arap_skeleton *skeleton = &s->skeleton;
    arap_joints joints = {0};
    double *at = ARAP_NEW(double, 3 * (size_t)skeleton->deform_count);
    if (!at) return arap_fail_memory(&context->error, "links between parts");
    for (int b = 0; b < skeleton->deform_count; b++)
        if (skeleton->deform_parent[b] >= 0)
            memcpy(at + 3 * (size_t)joints.count++,
                   skeleton->heads + 3 * (size_t)skeleton->deform_bone[b], 3 * sizeof *at);
    joints.at = at;
    arap_status status = arap_link_parts(context, &s->mesh, &joints, links, &s->containments.faces);
    arap_free(at);
    return status;
}

/* Links between parts, as pairs of vertices: those found on a finer mesh, if there is one. */
static arap_status find_links(arap_context *context, arap_solver *s, const arap_problem *problem,
                              arap_links *links) {
    if (!problem->links) return find_own_links(context, s, links);
    links->pair = ARAP_NEW(int, 2 * problem->link_count);
    if (!links->pair) return arap_fail_memory(&context->error, "links between parts");
    for (size_t e = 0; e < problem->link_count; e++) {
        int a = s->mesh.weld[problem->links[2 * e]], b = s->mesh.weld[problem->links[2 * e + 1]];
        if (a == b) continue;
        links->pair[2 * links->count] = a;
        links->pair[2 * links->count++ + 1] = b;
        links->layers += e >= problem->link_count - problem->layer_count;
    }
    return ARAP_OK;
}

/* The bones inside parts: those found on a finer mesh, if there is one. */
static arap_status find_inner(arap_context *context, arap_solver *s, const arap_problem *problem) {
    arap_inner_bones *inner = &s->inner;
    if (problem->links && !problem->part_keeper) return ARAP_OK;
    if (!problem->part_keeper)
        return arap_inner_bones_find(context, &s->mesh, &s->skeleton, &s->symmetry,
                                     &s->containments.faces, inner);
    size_t bones = (size_t)s->skeleton.deform_count;
    inner->is_inner = ARAP_NEW(char, bones);
    inner->keeper = ARAP_NEW(int, s->mesh.part_count);
    if (!inner->is_inner || !inner->keeper)
        return arap_fail_memory(&context->error, "the bones inside parts");
    memcpy(inner->is_inner, problem->inner_bone, bones);
    for (size_t b = 0; b < bones; b++) inner->count += inner->is_inner[b];
    for (int v = 0; v < s->mesh.count; v++)
        inner->keeper[s->mesh.part[v]] = problem->part_keeper[s->mesh.first[v]];
    return ARAP_OK;
}

/* Create the springs: to the bones chosen on a finer mesh, if there is one, otherwise to bones that
 * the edits do not forbid. */
static arap_status make_springs(arap_context *context, arap_solver *s,
                                const arap_problem *problem) {
    arap_arena arena = {0};
    arap_owner_choice choice = {0};
    arap_status status = ARAP_OK;
    if (s->skeleton.spine_count) return ARAP_OK;
    if (problem->spring_bones) {
        int *bones = ARAP_TAKE(&arena, s->mesh.count, int);
        char *whole = ARAP_TAKE(&arena, s->mesh.count, char);
        status = arap_arena_status(&arena, &context->error, "bone springs");
        if (status) goto done;
        for (int v = 0; v < s->mesh.count; v++) {
            bones[v] = problem->spring_bones[s->mesh.first[v]];
            whole[v] = problem->spring_whole[s->mesh.first[v]];
        }
        choice.bone = bones;
        choice.whole = whole;
    } else {
        status = arap_marks_create(context, &problem->edits, &s->mesh, &s->skeleton, &s->symmetry,
                                   &s->parts, &s->marks);
        choice.excluded = arap_excluded_of(s);
        choice.data = s;
    }
    if (!status)
        status =
            arap_bone_springs_create(context, &s->mesh, &s->skeleton, &s->poses.bendy, &s->symmetry,
                                     s->settings.bone_spring_stiffness, &choice, &s->containments);
    if (!status) status = arap_spread_create(context, &s->mesh, &s->skeleton, &s->spread);
    if (!status)
        status = arap_sections_create(context, &s->mesh, &s->skeleton, &s->poses,
                                      s->settings.section, &s->sections);

done:
    arap_arena_clear(&arena);
    return status;
}

/* Whether the level has many vertices per bone, as with hair or a coat of mail, which cannot be
 * made coarser. Many one-rings then contribute to each bone, so fewer poses are needed. */
static int is_large_level(const arap_solver *s, const arap_problem *problem) {
    return problem->links && s->mesh.main_count >= LARGE_LEVEL &&
           s->mesh.main_count / LARGE_FOR_BONE >= s->skeleton.deform_count;
}

/* Number of random poses on this level: all on the coarsest mesh, which chooses the supports; fewer
 * on finer meshes, which only compute weights, and on a large mesh. The components of a
 * disconnected skeleton keep their displacements, and therefore also the poses to which these
 * displacements belong. */
static arap_status count_poses(arap_context *context, const arap_solver *s, int all_poses,
                               int *count) {
    int all = s->settings.sampling.pose_count, components = 1;
    int fewer = 2 * (int)(s->settings.fine_poses * all / 2 + 0.5);
    *count = all;
    if (all_poses || fewer < 1) return ARAP_OK;
    if (s->settings.displace_components) {
        int *component = ARAP_NEW(int, s->skeleton.deform_count);
        if (!component) return arap_fail_memory(&context->error, "the components");
        arap_status status =
            arap_skeleton_components(context, &s->skeleton, component, &components);
        arap_free(component);
        if (status) return status;
    }
    if (components < 2) *count = fewer;
    return ARAP_OK;
}

/* Create the poses, and replace the existing ones. */
static arap_status make_poses(arap_context *context, arap_solver *s, const arap_problem *problem,
                              int is_coarsest) {
    arap_sampling sampling = s->settings.sampling;
    int all = sampling.pose_count;
    int all_poses = is_coarsest && !is_large_level(s, problem);
    arap_status status = count_poses(context, s, all_poses, &sampling.pose_count);
    int count = sampling.pose_count + problem->poses.count;
    if (status || (s->poses.transform && s->poses.count == count)) return status;
    s->pose_count = all + problem->poses.count;
    double each = all ? (double)all / sampling.pose_count : 1;
    arap_displacements_clear(&s->displacements);
    arap_packed_poses_clear(&s->packed);
    arap_poses_clear(&s->poses);
    status = arap_poses_create(context, &s->skeleton, &s->mesh, &s->symmetry, &sampling, each,
                               &problem->poses, &s->poses);
    if (!status && s->settings.displace_components)
        status = arap_displacements_create(context, &s->skeleton, &s->poses, sampling.pose_count,
                                           &s->displacements);
    if (!status)
        status = arap_packed_poses_create(context, &s->poses, s->settings.precision, &s->packed);
    arap_lap(s, ARAP_TIME_POSES);
    return status;
}

/* The arguments of arap_elimination_order. */
typedef struct ordering {
    int count;
    const size_t *ring;
    const int *neighbor, *partner;
    int *order;
} ordering;

static arap_status find_order(arap_context *context, void *data) {
    const ordering *o = data;
    return arap_elimination_order(context, o->count, o->ring, o->neighbor, o->partner, NULL,
                                  o->order);
}

/* Compute the elimination order in parallel with poses, bone springs and coarser levels. */
static arap_status begin_order(arap_context *context, arap_solver *s, ordering *order,
                               arap_async_task *async_task) {
    *order = (ordering){s->mesh.count, s->mesh.ring, s->mesh.neighbor, arap_partners(s),
                        s->order = ARAP_NEW(int, s->mesh.count)};
    if (!s->order) return arap_fail_memory(&context->error, "the elimination order");
    arap_async_begin(context, s->mesh.count, find_order, order, async_task);
    return ARAP_OK;
}

/* Create the mesh and the skeleton, with the links between parts and the symmetry. */
static arap_status create_geometry(arap_context *context, arap_solver *s,
                                   const arap_problem *problem) {
    const arap_settings *settings = &s->settings;
    arap_links links = {0};
    arap_status status = arap_mesh_create(context, &problem->geometry, &problem->bones,
                                          ARAP_WELD_TOLERANCE, &s->mesh);
    if (!status) status = arap_skeleton_create(context, &problem->bones, &s->mesh, &s->skeleton);
    if (!status)
        status = arap_check_edits(&context->error, &problem->edits, s->mesh.input_count,
                                  s->skeleton.count);
    if (!status && settings->deformer == ARAP_DEFORMER_DUAL_QUATERNIONS)
        status = arap_check_dual_bones(&context->error, &s->skeleton);
    if (!status && settings->link_parts) status = find_links(context, s, problem, &links);
    if (!status) status = arap_mesh_connect(context, &s->mesh, &links, settings->edge_power);
    s->linked_parts = links.parts;
    s->link_count = links.count;
    arap_links_clear(&links);
    if (status || !problem->symmetry) return status;
    status = arap_symmetry_bones(context, problem->symmetry, &s->skeleton, &s->mesh, &s->symmetry);
    if (!status) /* one bone cannot be the mirror image of two */
        status =
            arap_symmetry_vertices(context, &s->mesh, settings->max_influences != 1, &s->symmetry);
    return status;
}

/* Create the coarser levels, if they help. Otherwise, this level is the coarsest and takes all
 * poses. */
static arap_status create_coarse(arap_context *context, arap_solver *s,
                                 const arap_problem *problem) {
    arap_status status = arap_coarse_create(context, s, problem);
    const arap_solver *coarse = s->coarse;
    if (status) return status;
    if (!coarse) return make_poses(context, s, problem, 1);
    s->stage.last = coarse->stage.last + 1;
    s->coarse_vertices = coarse->coarse_vertices ? coarse->coarse_vertices : coarse->mesh.count;
    return ARAP_OK;
}

/* Create the rigid parts, poses, bone springs and coarser levels, while the elimination order and
 * the clusters are computed. */
static arap_status create_parts(arap_context *context, arap_solver *s,
                                const arap_problem *problem) {
    ordering order;
    arap_async_task order_task = {0};
    arap_clustering clustering = {0};
    int coarse = wants_coarse(s, problem);
    arap_status status = begin_order(context, s, &order, &order_task);
    if (!status) status = arap_take_rigid_parts(context, s, &problem->edits);
    arap_lap(s, ARAP_TIME_MESH);
    if (!status && coarse) status = arap_clusters_begin(context, s, problem, &clustering);
    arap_lap(s, ARAP_TIME_LEVELS);
    if (!status) status = make_poses(context, s, problem, !coarse);
    if (!status && s->settings.harmonic > 0) {
        status = arap_async_end(context, &order_task);
        if (!status) status = arap_make_harmonic(context, s);
    }
    arap_lap(s, ARAP_TIME_SYSTEM);
    if (!status) status = make_springs(context, s, problem);
    arap_lap(s, ARAP_TIME_SPRINGS);
    arap_status clustered = arap_clusters_end(context, &clustering);
    if (!status) status = clustered;
    if (!status && coarse) status = create_coarse(context, s, problem);
    arap_status ordered = arap_async_end(context, &order_task);
    arap_lap(s, ARAP_TIME_MESH);
    return status ? status : ordered;
}

/* Create the weights with which the iteration starts, and their patterns. */
static arap_status create_weights(arap_context *context, arap_solver *s,
                                  const arap_problem *problem) {
    arap_status status = arap_initial_weights(context, s, problem);
    arap_containments_drop_faces(&s->containments);
    if (!status) status = arap_share_patterns(context, s, &s->influences);
    if (!status) status = arap_influences_copy(context, &s->influences, &s->initial);
    if (!status && !s->coarse && !problem->start_from_weights && s->spread.scale) {
        status = arap_cut_fresh_weights(context, s, &s->influences);
        if (!status) status = arap_share_patterns(context, s, &s->influences);
    }
    arap_lap(s, ARAP_TIME_PATTERNS);
    return status;
}

/* Take a local step for these weights on the coarsest level, and determine their energy. */
static arap_status measure_weights(arap_context *context, arap_solver *s) {
    arap_status status = ARAP_OK;
    if (s->coarse) {
        s->energy_before = s->coarse->energy_before;
        status = arap_history_add(context, &s->history, s->coarse->history.energies[0], 0);
    } else {
        status = arap_begin_patterns(context, s);
        if (!status) status = arap_refresh(context, s);
        if (!status && s->displacements.poses) {
            arap_history_drop(&s->history);
            status = arap_solver_displace(context, s);
        }
        if (!status) s->energy_before = s->history.energies[0];
    }
    if (!status && s->settings.deformer == ARAP_DEFORMER_DUAL_QUATERNIONS)
        status = arap_dual_energy_of(context, &s->mesh, &s->skeleton, &s->poses, &s->initial,
                                     &s->energy_before);
    else if (!status && !s->coarse && s->patterns.clusters.count)
        status = arap_energy(context, &s->mesh, &s->poses, &s->packed, &s->influences,
                             &s->energy_before, NULL);
    arap_lap(s, ARAP_TIME_LOCAL);
    return status;
}

static arap_status create(arap_context *context, const arap_problem *problem,
                          const arap_settings *settings, arap_solver **out) {
    arap_status status = check_settings(&context->error, settings);
    *out = NULL;
    if (status) return status;
    arap_solver *s = ARAP_NEW_ZERO(arap_solver, 1);
    if (!s) return arap_fail_memory(&context->error, "the solver");
    arap_start_lap(s);
    s->settings = *settings;
    s->stage.last = 1 + settings->expansion_rounds;
    arap_history_begin(&s->history);

    status = arap_progress(context, "mesh", 0);
    if (!status) status = create_geometry(context, s, problem);
    if (!status && settings->inner_bones) status = find_inner(context, s, problem);
    if (!status && (!problem->links || problem->pierced))
        status = arap_pierced_find(context, &s->mesh, &s->skeleton, &s->symmetry, problem->pierced,
                                   &s->containments.faces, &s->pierced);
    if (!status) status = create_parts(context, s, problem);
    if (!status) status = create_weights(context, s, problem);
    if (!status) status = measure_weights(context, s);
    if (status)
        arap_solver_free(s);
    else
        *out = s;
    return status;
}

arap_status arap_solver_create(arap_context *context, const arap_problem *problem,
                               const arap_settings *settings, arap_solver **out) {
    arap_thread_pool pool;
    arap_keep_threads(context, &pool);
    arap_status status = create(context, problem, settings, out);
    arap_end_threads(context, &pool);
    return status;
}

void arap_solver_free(arap_solver *solver) {
    if (!solver) return;
    arap_release_patterns(solver);
    arap_rotation_clusters_clear(&solver->patterns.clusters);
    arap_mirror_reuse_clear(&solver->mirror_reuse);
    arap_leave_dual(solver);
    arap_coarse_free(solver);
    arap_mesh_clear(&solver->mesh);
    arap_skeleton_clear(&solver->skeleton);
    arap_symmetry_clear(&solver->symmetry);
    arap_poses_clear(&solver->poses);
    arap_displacements_clear(&solver->displacements);
    arap_packed_poses_clear(&solver->packed);
    arap_two_rings_clear(&solver->harmonic);
    arap_free(solver->smoothed);
    arap_visibility_clear(&solver->visibility);
    arap_islands_report_clear(&solver->heat_report);
    arap_influences_clear(&solver->initial);
    arap_influences_clear(&solver->influences);
    arap_free(solver->order);
    arap_constraint_list_clear(&solver->constraints.list);
    arap_response_rows_clear(&solver->response_rows);
    arap_free(solver->rigid_labels);
    arap_rigid_parts_clear(&solver->parts);
    arap_containments_clear(&solver->containments);
    arap_spread_clear(&solver->spread);
    arap_sections_clear(&solver->sections);
    arap_inner_bones_clear(&solver->inner);
    arap_pierced_clear(&solver->pierced);
    arap_marks_clear(&solver->marks);
    arap_locks_clear(&solver->locks);
    arap_history_clear(&solver->history);
    arap_free(solver);
}
