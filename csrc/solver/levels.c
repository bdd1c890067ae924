/* The coarse level: see levels.h.
 *
 * Weights are smooth, so a mesh with a third of the vertices gives the right bones and, within a
 * few percent, the right weights. All work that needs many iterations or wide influence patterns
 * (initial weights, the stages of solver.c) is therefore done on such a mesh. This mesh is
 * coarsened recursively, down to a mesh of few vertices. On the mesh itself, only the last stage
 * runs, starting from the prolonged weights. If the caller provides starting weights, the coarsest
 * level starts from the weights of the seed vertices of its clusters. Locked vertices share
 * clusters only with locked vertices of the same set, and take the weights of the cluster's seed.
 * Each level is a solver for about a third of the vertices. Fails on out-of-memory and if the
 * coarse solver fails.
 * */
#include "solver/levels.h"

#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "solver/apply_edits.h"

/* A level is worthwhile with at least this many vertices per cluster and clusters per bone. Fewer
 * clusters per bone suffice if the mesh would otherwise have no level, but has thousands of
 * clusters, because heat and the first patterns cost vertices times bones. */
#define MIN_VERTICES 1.5
#define MIN_CLUSTERS 12
#define FEW_CLUSTERS 5
#define THOUSANDS 4096

/* The caller's vertex that represents a cluster. */
static int caller_vertex(const arap_solver *s, int cluster) {
    return s->mesh.first[s->clusters.seed[cluster]];
}

/* Copy the rows of the vertices that stand for the clusters. The arena owns the copy. */
static arap_status copy_rows(arap_context *context, const arap_solver *s,
                             const arap_sparse_weights *rows, arap_arena *arena,
                             arap_sparse_weights *out) {
    size_t count = (size_t)s->clusters.count, fill = 0;
    for (size_t k = 0; k < count; k++) {
        int i = caller_vertex(s, (int)k);
        fill += (size_t)(rows->start[i + 1] - rows->start[i]);
    }
    long long *start = ARAP_TAKE(arena, count + 1, long long);
    int *bone = ARAP_TAKE(arena, fill, int);
    double *weight = ARAP_TAKE(arena, fill, double);
    if (arena->failed) return arap_fail_memory(&context->error, "the weights of the coarse mesh");
    fill = 0;
    for (size_t k = 0; k < count; k++) {
        int i = caller_vertex(s, (int)k);
        start[k] = (long long)fill;
        for (long long e = rows->start[i]; e < rows->start[i + 1]; e++, fill++) {
            bone[fill] = rows->bone[e];
            weight[fill] = rows->weight[e];
        }
    }
    start[count] = (long long)fill;
    *out = (arap_sparse_weights){.start = start, .bone = bone, .weight = weight};
    return ARAP_OK;
}

/* The coarse solver's input index of the cluster of vertex v. */
static int cluster_of(const arap_solver *s, int v) {
    int cluster = s->clusters.cluster[v];
    return s->coarse ? s->coarse->mesh.first[cluster] : cluster;
}

/* Convert the edits to clusters of these vertices. A vertex that forbids a bone, or is smoothed,
 * affects its cluster only if the vertex is the seed. The seed also determines the rigid part of
 * the cluster. The arena owns the arrays. */
static arap_status map_edits(arap_context *context, const arap_solver *s, const arap_edits *fine,
                             arap_arena *arena, arap_edits *out) {
    const int *weld = s->mesh.weld;
    int count = 0, smooth_count = 0;
    int *constraint_vertex = ARAP_TAKE(arena, fine->constraint_count, int);
    int *influence_vertex = ARAP_TAKE(arena, fine->influence_count, int);
    int *influence_bone = ARAP_TAKE(arena, fine->influence_count, int);
    char *influence_allowed = ARAP_TAKE(arena, fine->influence_count, char);
    int *release_vertex = ARAP_TAKE(arena, fine->release_count, int);
    int *smooth_vertex = ARAP_TAKE(arena, fine->smooth_count, int);
    double *smooth_strength = ARAP_TAKE(arena, fine->smooth_count, double);
    int *rigid_parts = ARAP_TAKE(arena, s->clusters.count, int);
    if (arena->failed) return arap_fail_memory(&context->error, "the edits");
    for (int k = 0; k < fine->constraint_count; k++)
        constraint_vertex[k] = cluster_of(s, weld[fine->constraint_vertex[k]]);
    for (int k = 0; k < fine->release_count; k++)
        release_vertex[k] = cluster_of(s, weld[fine->release_vertex[k]]);
    for (int k = 0; k < fine->influence_count; k++) {
        int v = weld[fine->influence_vertex[k]], cluster = cluster_of(s, v);
        if (!fine->influence_allowed[k] && s->clusters.seed[cluster] != v) continue;
        influence_vertex[count] = cluster;
        influence_bone[count] = fine->influence_bone[k];
        influence_allowed[count++] = fine->influence_allowed[k];
    }
    for (int k = 0; k < fine->smooth_count; k++) {
        int v = weld[fine->smooth_vertex[k]], cluster = cluster_of(s, v);
        if (s->clusters.seed[cluster] != v) continue;
        smooth_vertex[smooth_count] = cluster;
        smooth_strength[smooth_count++] = fine->smooth_strength[k];
    }
    for (int k = 0; k < s->clusters.count; k++)
        rigid_parts[k] = s->parts.count ? s->parts.number[s->clusters.seed[k]] : -1;
    *out = *fine;
    out->smooth_count = smooth_count;
    out->smooth_vertex = smooth_vertex;
    out->smooth_strength = smooth_strength;
    out->rigid_parts = s->parts.count ? rigid_parts : NULL;
    out->constraint_vertex = constraint_vertex;
    out->influence_count = count;
    out->influence_vertex = influence_vertex;
    out->influence_bone = influence_bone;
    out->influence_allowed = influence_allowed;
    out->release_vertex = release_vertex;
    return ARAP_OK;
}

/* Create the problem of the clusters without its edits. The arena owns its arrays. */
static arap_status coarse_problem(arap_context *context, const arap_solver *s,
                                  const arap_problem *fine, arap_arena *arena,
                                  arap_sparse_weights *rows, arap_problem *out) {
    const arap_coarse *clusters = &s->clusters;
    size_t count = (size_t)clusters->count;
    arap_status status = ARAP_OK;
    *out = *fine;
    out->geometry = (arap_geometry){.vertex_count = clusters->count,
                                    .vertices = clusters->vertices,
                                    .triangle_count = clusters->triangle_count,
                                    .triangles = clusters->triangles,
                                    .edge_count = clusters->edge_count,
                                    .edges = clusters->edges,
                                    .tet_count = clusters->tet_count,
                                    .tets = clusters->tets};
    out->links = clusters->links;
    out->link_count = clusters->link_count;
    out->layer_count = clusters->layer_count;
    out->visit = clusters->made;
    char *locked_vertices = ARAP_TAKE_ZERO(arena, count, char);
    int *vertex_set = ARAP_TAKE_ZERO(arena, count, int);
    if (arena->failed) return arap_fail_memory(&context->error, "the coarse mesh");
    for (size_t k = 0; k < count; k++) {
        int i = caller_vertex(s, (int)k);
        if (fine->locked_vertices) locked_vertices[k] = fine->locked_vertices[i];
        if (fine->vertex_set) vertex_set[k] = fine->vertex_set[i];
    }
    if (fine->poses.parameters) {
        size_t bones = (size_t)fine->bones.count;
        double *parameters = ARAP_TAKE(arena, bones * count, double);
        if (arena->failed) return arap_fail_memory(&context->error, "the coarse mesh");
        for (size_t k = 0; k < count; k++)
            memcpy(parameters + bones * k,
                   fine->poses.parameters + bones * (size_t)caller_vertex(s, (int)k),
                   bones * sizeof(double));
        out->poses.parameters = parameters;
    }
    if (s->mesh.spring_start) {
        int *spring_bones = ARAP_TAKE(arena, count, int);
        char *spring_whole = ARAP_TAKE(arena, count, char);
        if (arena->failed) return arap_fail_memory(&context->error, "the coarse mesh");
        for (size_t k = 0; k < count; k++) {
            const arap_spring *spring;
            int any = arap_mesh_springs(&s->mesh, clusters->seed[k], &spring);
            spring_bones[k] = any ? spring->bone : -1;
            spring_whole[k] = any && spring->whole;
        }
        out->spring_bones = spring_bones;
        out->spring_whole = spring_whole;
    }
    if (s->inner.count) {
        int *part_keeper = ARAP_TAKE(arena, count, int);
        if (arena->failed) return arap_fail_memory(&context->error, "the coarse mesh");
        for (size_t k = 0; k < count; k++)
            part_keeper[k] = s->inner.keeper[s->mesh.part[clusters->seed[k]]];
        out->part_keeper = part_keeper;
        out->inner_bone = s->inner.is_inner;
    }
    if (s->pierced.count) {
        signed char *pierced = ARAP_TAKE(arena, count, signed char);
        if (arena->failed) return arap_fail_memory(&context->error, "the coarse mesh");
        for (size_t k = 0; k < count; k++) pierced[k] = s->pierced.side[clusters->seed[k]];
        out->pierced = pierced;
    }
    if (fine->locked_vertices) out->locked_vertices = locked_vertices;
    if (fine->vertex_set) out->vertex_set = vertex_set;
    if (fine->weights) {
        status = copy_rows(context, s, fine->weights, arena, rows);
        out->weights = rows;
    }
    return status;
}

/* Group vertices that may share a cluster: those with the same locks and set, or in the same rigid
 * part. */
static void group_vertices(const arap_solver *s, const arap_problem *problem, int *group) {
    for (int v = 0; v < s->mesh.count; v++) {
        int i = s->mesh.first[v];
        group[v] = (problem->vertex_set ? 2 * problem->vertex_set[i] : 0) +
                   (problem->locked_vertices && problem->locked_vertices[i]);
        int part = s->parts.count ? s->parts.number[v] : -1;
        if (part >= 0 && !(problem->locked_vertices && problem->locked_vertices[i]))
            group[v] = -1 - part;
    }
}

/* The number of clusters that belong to the main mesh: distant objects change no levels. */
static int main_clusters(const arap_solver *s) {
    int count = 0;
    for (int k = 0; k < s->clusters.count; k++) count += s->mesh.main[s->clusters.seed[k]];
    return count;
}

static int pays_off(const arap_solver *s, const arap_problem *problem) {
    int clusters = main_clusters(s), is_finest = !problem->links;
    int min = is_finest && clusters >= THOUSANDS ? FEW_CLUSTERS : MIN_CLUSTERS;
    return clusters * MIN_VERTICES <= s->mesh.main_count &&
           clusters / min >= s->skeleton.deform_count;
}

static arap_status find_clusters(arap_context *context, void *data) {
    const arap_clustering *c = data;
    arap_solver *s = c->solver;
    arap_status status = c->found ? arap_find_visits(context, s, c->found) : ARAP_OK;
    if (status) return status;
    return arap_coarsen(context, &s->mesh, c->group, s->symmetry.vertex, c->visit, !c->found,
                        &s->clusters);
}

arap_status arap_clusters_begin(arap_context *context, arap_solver *solver,
                                const arap_problem *problem, arap_clustering *out) {
    int is_known = problem->visit && solver->mesh.count == solver->mesh.input_count;
    *out = (arap_clustering){.solver = solver};
    out->group = ARAP_TAKE(&out->arena, solver->mesh.count, int);
    if (!is_known) out->found = ARAP_TAKE(&out->arena, solver->mesh.count, int);
    arap_status status = arap_arena_status(&out->arena, &context->error, "the coarse mesh");
    if (status) return status;
    group_vertices(solver, problem, out->group);
    out->visit = is_known ? problem->visit : out->found;
    arap_async_begin(context, solver->mesh.count, find_clusters, out, &out->async_task);
    return ARAP_OK;
}

arap_status arap_clusters_end(arap_context *context, arap_clustering *clustering) {
    arap_status status = arap_async_end(context, &clustering->async_task);
    arap_arena_clear(&clustering->arena);
    return status;
}

arap_status arap_coarse_create(arap_context *context, arap_solver *solver,
                               const arap_problem *problem) {
    arap_arena arena = {0};
    arap_sparse_weights rows;
    arap_problem coarse;
    arap_settings settings = solver->settings;
    arap_status status = ARAP_OK;
    if (!pays_off(solver, problem)) goto done;
    arap_containments_drop_faces(&solver->containments);
    status = coarse_problem(context, solver, problem, &arena, &rows, &coarse);
    if (!status) status = map_edits(context, solver, &problem->edits, &arena, &coarse.edits);
    /* Compared with the energy, the harmonic term grows with the area of a vertex (harmonic.c). */
    settings.harmonic *= (double)main_clusters(solver) / solver->mesh.main_count;
    settings.rigid_departure = 0; /* small parts have too few clusters to decide */
    settings.deformer = ARAP_DEFORMER_LINEAR;
    arap_lap(solver, ARAP_TIME_LEVELS);
    if (!status) status = arap_solver_create(context, &coarse, &settings, &solver->coarse);
    arap_start_lap(solver);
    if (status) goto done;
    /* From here on, indices are vertices of the coarse solver, which may have welded some. */
    for (int i = 0; i < solver->mesh.count; i++)
        solver->clusters.cluster[i] = solver->coarse->mesh.weld[solver->clusters.cluster[i]];

done:
    if (!solver->coarse) arap_coarse_clear(&solver->clusters);
    arap_arena_clear(&arena);
    arap_lap(solver, ARAP_TIME_LEVELS);
    return status;
}

arap_status arap_coarse_edit(arap_context *context, arap_solver *solver, const arap_edits *edits) {
    arap_arena arena = {0};
    arap_edits coarse;
    arap_status status = map_edits(context, solver, edits, &arena, &coarse);
    if (!status) status = arap_solver_edit(context, solver->coarse, &coarse);
    solver->stage.last = solver->coarse->stage.last + 1;
    arap_arena_clear(&arena);
    return status;
}

void arap_coarse_free(arap_solver *solver) {
    arap_solver_free(solver->coarse);
    arap_coarse_clear(&solver->clusters);
    solver->coarse = NULL;
}

/* Create peak rows for the seeds of held clusters. With rows for all vertices of a cluster, bones
 * would be held in a far larger region than with heat weights of this level. */
static arap_status inherit_peaks(arap_context *context, const arap_solver *s,
                                 arap_constraint_list *out) {
    arap_arena arena = {0};
    const arap_solver *coarse = s->coarse;
    const arap_constraint *peaks = coarse->constraints.list.rows;
    int count = coarse->constraints.peaks;
    /* Link the rows of each coarse vertex: the last one, and the one before each. */
    int *last = ARAP_TAKE(&arena, coarse->mesh.count, int), *before = ARAP_TAKE(&arena, count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the weight constraints");
    if (status) goto done;
    for (int k = 0; k < coarse->mesh.count; k++) last[k] = -1;
    for (int r = 0; r < count; r++) {
        before[r] = last[peaks[r].vertex];
        last[peaks[r].vertex] = r;
    }
    for (int c = 0; c < s->clusters.count; c++) {
        int seed = s->clusters.seed[c];
        for (int r = last[s->clusters.cluster[seed]]; r >= 0 && !status; r = before[r]) {
            double strength = s->settings.peak_stiffness * s->mesh.size * s->mesh.size;
            status = arap_append_constraint(
                context, out, (arap_constraint){seed, peaks[r].bone, peaks[r].target, strength, 0});
        }
    }

done:
    arap_arena_clear(&arena);
    return status;
}

/* The island, of those in root (parts), of the vertices in a cluster. */
static int island_of_cluster(const arap_solver *s, const int *root, int cluster) {
    return root[s->mesh.part[s->clusters.seed[cluster]]];
}

/* Keep those unseen islands of the coarse mesh that are whole islands of this mesh. By root,
 * (parts): first vertex and size of the islands of this mesh. `seen` is work space. */
static void keep_whole_islands(const arap_solver *s, const int *root, const int *first,
                               const int *size, int *seen, arap_islands_report *report) {
    const arap_mesh *coarse = &s->coarse->mesh;
    int kept = 0;
    for (int i = 0; i < coarse->count; i++) seen[island_of_cluster(s, root, coarse->first[i])]++;
    for (int k = 0; k < report->unseen_count; k++) {
        int *left = &seen[island_of_cluster(s, root, report->unseen[k].vertex)];
        *left = *left > report->unseen[k].size ? *left - report->unseen[k].size : 0;
    }
    for (int k = 0; k < report->unseen_count; k++) {
        int own = island_of_cluster(s, root, report->unseen[k].vertex);
        if (seen[own] > 0) continue;
        if (seen[own] < 0) { /* another piece of an island that is already kept */
            report->unseen[-1 - seen[own]].rigid &= report->unseen[k].rigid;
            continue;
        }
        seen[own] = -1 - kept;
        report->unseen[kept++] =
            (arap_island){s->mesh.first[first[own]], size[own], report->unseen[k].rigid};
    }
    report->unseen_count = kept;
}

/* Convert the unseen islands of the coarse mesh to those of this one: first vertices and sizes. An
 * island consists of the parts joined by links. Clusters on a thin spike keep no face, so an island
 * of the coarse mesh may be a piece of a larger one of this mesh, which is not reported. */
static arap_status inherit_islands(arap_context *context, arap_solver *s) {
    arap_arena arena = {0};
    arap_islands_report *report = &s->heat_report;
    const arap_mesh *mesh = &s->mesh;
    *report = s->coarse->heat_report;
    s->coarse->heat_report = (arap_islands_report){0};
    if (!report->unseen_count) return ARAP_OK;
    size_t parts = (size_t)mesh->part_count;
    int *island = ARAP_TAKE(&arena, parts, int), *size = ARAP_TAKE_ZERO(&arena, parts, int);
    int *first = ARAP_TAKE(&arena, parts, int), *seen = ARAP_TAKE_ZERO(&arena, parts, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the report");
    if (status) goto done;
    for (int p = 0; p < mesh->part_count; p++) island[p] = p;
    for (size_t e = mesh->wire_count - mesh->link_count; e < mesh->wire_count; e++)
        arap_unite(island, mesh->part[mesh->wires[2 * e]], mesh->part[mesh->wires[2 * e + 1]]);
    for (int p = 0; p < mesh->part_count; p++) island[p] = arap_find_root(island, p);
    for (int i = 0; i < mesh->count; i++)
        if (!size[island[mesh->part[i]]]++) first[island[mesh->part[i]]] = i;
    keep_whole_islands(s, island, first, size, seen, report);

done:
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_coarse_inherit(arap_context *context, arap_solver *solver) {
    arap_constraint_list rows = {0};
    arap_status status = inherit_peaks(context, solver, &rows);
    int peaks = rows.count;
    for (int r = 0; r < solver->constraints.list.count && !status; r++)
        status = arap_append_constraint(context, &rows, solver->constraints.list.rows[r]);
    if (!status) status = inherit_islands(context, solver);
    if (status) {
        arap_constraint_list_clear(&rows);
        return status;
    }
    arap_constraint_list_clear(&solver->constraints.list);
    solver->constraints.list = rows;
    solver->constraints.peaks = peaks;
    arap_release_constraints(solver);
    for (int t = 0; t < ARAP_TIMES; t++) solver->seconds[t] += solver->coarse->seconds[t];
    return ARAP_OK;
}
