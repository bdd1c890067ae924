/* The energy near spines as their ends move: see joints/spines.h.
 *
 * A spine takes p with parameter u to A [(I - R) e0 + (sigma S - u R) (e1 - e0) + R p] + t, with R
 * = exp(u K) and S its integral over u. By Rodrigues' formula, both are sums of I, K and K^2 with
 * coefficients that depend on u and the bend (spines.h). Let u, the bends and the linear parts of
 * all transforms be fixed. A posed edge then moves by sum_c y_c x_c over the columns c. The
 * 3-vectors x_c are the same for the whole mesh, and y_c = (w f_c)_k - (w f_c)_i are numbers. With
 * r = R_i e_ik - e'_ik, E changes by exactly sum a_ik (|sum_c y_c x_c|^2 - 2 r . sum_c y_c x_c).
 * The sums of a_ik y_c r and a_ik y_b y_c are computed separately in each pose, over the directed
 * edges of the vertices that have a spine in their ring. All other edges are summed once for all
 * poses (joints/energy.c).
 *
 * Once joints have moved, STBs turn about their new axes by the same angles, and vertices without
 * given parameters get the parameters of their new positions along the bones. The quadratic ignores
 * both effects. Halving the steps compensates for them (joints/step.c).
 *
 * Poses are processed in parallel, each in the order of the edges. Takes O(poses edges influences),
 * or O(poses edges influences^2) with the curvature. The reached vertices take 72 bytes of memory
 * each per pose. Fails on out-of-memory only. */
#include "joints/spines.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

arap_status arap_joint_spines_create(arap_context *context, const arap_skeleton *skeleton,
                                     const arap_mesh *mesh, const arap_poses *poses,
                                     const double *parameters, const arap_joints *joints,
                                     arap_joint_spines *spines) {
    const arap_spines *in = &poses->spines;
    size_t count = (size_t)in->count, n = (size_t)mesh->count;
    *spines =
        (arap_joint_spines){.count = in->count,
                            .poses = poses->count,
                            .deforming = skeleton->deform_count,
                            .columns = skeleton->deform_count + ARAP_SPINE_FACTORS * in->count,
                            .posed = *poses};
    spines->posed.spines = (arap_spines){0};
    if (!count) return ARAP_OK;
    spines->head = ARAP_TAKE(&spines->arena, count, int);
    spines->tail = ARAP_TAKE(&spines->arena, count, int);
    spines->is_stb = ARAP_TAKE(&spines->arena, count, char);
    spines->angle = ARAP_TAKE(&spines->arena, count * (size_t)poses->count, double);
    spines->kept = ARAP_TAKE(&spines->arena, n * count, char);
    arap_status status = arap_arena_status(&spines->arena, &context->error, "the joints of spines");
    if (!status)
        status = arap_spines_copy(context, in, poses->columns, mesh->count, poses->count,
                                  &spines->posed.spines);
    if (status) {
        arap_joint_spines_clear(spines);
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        int b = skeleton->deform_bone[in->bone[k]];
        double along[3];
        spines->head[k] = joints->head[b];
        spines->tail[k] = joints->tail[b];
        spines->is_stb[k] = skeleton->kinds[b] == ARAP_BONE_STB;
        arap_sub(in->tail + 3 * k, in->head + 3 * k, along);
        double length = sqrt(arap_dot(along, along));
        for (size_t p = 0; p < (size_t)poses->count; p++)
            spines->angle[p * count + k] =
                length > 0 ? arap_dot(in->bend + ARAP_BEND * (p * count + k), along) / length : 0;
        for (size_t i = 0; i < n; i++)
            spines->kept[i * count + k] =
                parameters &&
                !isnan(parameters[(size_t)mesh->first[i] * (size_t)skeleton->count + (size_t)b]);
    }
    return ARAP_OK;
}

/* Whether a spine moves the vertex or one of its neighbors. */
static int is_reached(const arap_joint_spines *spines, const arap_mesh *mesh,
                      const arap_influences *in, int i) {
    const int *place = spines->posed.spines.place;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (place[in->bone[e]] >= 0) return 1;
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
            if (place[in->bone[e]] >= 0) return 1;
    }
    return 0;
}

arap_status arap_joint_spines_find(arap_context *context, const arap_mesh *mesh,
                                   const arap_influences *in, arap_joint_spines *spines) {
    if (!spines->count) return ARAP_OK;
    arap_arena_clear(&spines->found); /* left by a call that failed */
    spines->reached = 0;
    spines->slot = ARAP_TAKE(&spines->found, mesh->count, int);
    spines->vertex = ARAP_TAKE(&spines->found, mesh->count, int);
    for (int i = 0; spines->slot && spines->vertex && i < mesh->count; i++) {
        spines->slot[i] = is_reached(spines, mesh, in, i) ? spines->reached++ : -1;
        if (spines->slot[i] >= 0) spines->vertex[spines->slot[i]] = i;
    }
    spines->desired =
        ARAP_TAKE(&spines->found, 9 * (size_t)spines->poses * (size_t)spines->reached, double);
    return arap_arena_status(&spines->found, &context->error, "the joints of spines");
}

void arap_joint_spines_clear(arap_joint_spines *spines) {
    arap_spines_clear(&spines->posed.spines);
    arap_arena_clear(&spines->arena);
    arap_arena_clear(&spines->found);
    *spines = (arap_joint_spines){0};
}

void arap_joint_spine_bend(const arap_joint_spines *spines, const double *places, int pose, int k,
                           double *bend) {
    size_t at = (size_t)pose * (size_t)spines->count + (size_t)k;
    double along[3];
    memcpy(bend, spines->posed.spines.bend + ARAP_BEND * at, ARAP_BEND * sizeof *bend);
    arap_sub(places + 3 * spines->tail[k], places + 3 * spines->head[k], along);
    double length = sqrt(arap_dot(along, along));
    for (int c = 0; spines->is_stb[k] && length > 0 && c < 3; c++)
        bend[c] = spines->angle[at] * along[c] / length;
}

void arap_joint_spines_place(arap_context *context, const arap_mesh *mesh, const double *places,
                             const double *transforms, arap_joint_spines *spines) {
    arap_spines *to = &spines->posed.spines;
    spines->posed.transform = (double *)transforms; /* only read */
    for (int k = 0; k < spines->count; k++) {
        memcpy(to->head + 3 * k, places + 3 * spines->head[k], 3 * sizeof(double));
        memcpy(to->tail + 3 * k, places + 3 * spines->tail[k], 3 * sizeof(double));
        for (int p = 0; p < spines->poses; p++) {
            double bend[ARAP_BEND];
            arap_joint_spine_bend(spines, places, p, k, bend);
            memcpy(to->bend + ARAP_BEND * ((size_t)p * (size_t)spines->count + (size_t)k), bend,
                   sizeof bend);
        }
    }
    arap_spines_replace(context, mesh, spines->kept, spines->posed.columns, spines->poses,
                        transforms, to);
}

/* Data of a worker for its current pose. */
typedef struct workspace {
    double *point;   /* (vertices, 3) posed */
    double *factors; /* (entries, ARAP_SPINE_FACTORS) w f of the spines */
    double *y;       /* (columns) */
    int *column;     /* (columns) those of the edge */
    char *seen;      /* (columns) */
    int count;
} workspace;

typedef struct summation {
    const arap_joint_spines *spines;
    const arap_mesh *mesh;
    const arap_influences *in;
    workspace *workspaces;
    double *square;            /* (poses) */
    double *force, *curvature; /* one of them */
    arap_arena arena;          /* of the workspaces and `square` */
} summation;

static void pose_vertices(const summation *s, int pose, workspace *ws) {
    const arap_poses *posed = &s->spines->posed;
    const arap_spines *spines = &posed->spines;
    const double *transform = posed->transform + 12 * (size_t)pose * (size_t)posed->columns;
    size_t count = (size_t)spines->count;
    for (int i = 0; i < s->mesh->count; i++) {
        const double *v = s->mesh->v + 3 * (size_t)i;
        double *to = ws->point + 3 * (size_t)i;
        memset(to, 0, 3 * sizeof *to);
        for (size_t e = s->in->start[i]; e < s->in->start[i + 1]; e++) {
            int b = s->in->bone[e], k = spines->place[b];
            const double *t = transform + 12 * b;
            double w = s->in->weight[e];
            if (k < 0) {
                for (int r = 0; r < 3; r++) to[r] += w * (arap_dot(t + 4 * r, v) + t[4 * r + 3]);
                continue;
            }
            const double *point = arap_spine_points(spines, posed->count, i, k) + 3 * pose;
            double *f = ws->factors + ARAP_SPINE_FACTORS * e;
            for (int r = 0; r < 3; r++) to[r] += w * point[r];
            arap_spine_factors(spines->bend + ARAP_BEND * ((size_t)pose * count + (size_t)k),
                               spines->parameter[(size_t)i * count + (size_t)k], f);
            for (int m = 0; m < ARAP_SPINE_FACTORS; m++) f[m] *= w;
        }
    }
}

static void add_to_column(workspace *ws, int column, double x) {
    if (!ws->seen[column]) {
        ws->seen[column] = 1;
        ws->column[ws->count++] = column;
        ws->y[column] = 0;
    }
    ws->y[column] += x;
}

static void add_end(const summation *s, int i, double sign, workspace *ws) {
    for (size_t e = s->in->start[i]; e < s->in->start[i + 1]; e++) {
        int b = s->in->bone[e], k = s->spines->posed.spines.place[b];
        add_to_column(ws, b, sign * s->in->weight[e]);
        for (int m = 0; k >= 0 && m < ARAP_SPINE_FACTORS; m++)
            add_to_column(ws, s->spines->deforming + ARAP_SPINE_FACTORS * k + m,
                          sign * ws->factors[ARAP_SPINE_FACTORS * e + (size_t)m]);
    }
}

/* E and the force of a directed edge. */
static void add_force(const summation *s, const workspace *ws, int pose, int at, size_t edge) {
    const arap_mesh *mesh = s->mesh;
    size_t poses = (size_t)s->spines->poses, columns = (size_t)s->spines->columns;
    const double *best = s->spines->desired + 9 * ((size_t)at * poses + (size_t)pose);
    double *force = s->force + 3 * columns * (size_t)pose, a = mesh->edge_weight[edge];
    int i = s->spines->vertex[at];
    double rest[3], off[3];
    arap_mesh_edge(mesh, i, edge, rest);
    arap_sub(ws->point + 3 * (size_t)i, ws->point + 3 * (size_t)mesh->neighbor[edge], off);
    for (int c = 0; c < 3; c++) off[c] += arap_dot(best + 3 * c, rest);
    s->square[pose] += a * arap_dot(off, off);
    for (int m = 0; m < ws->count; m++)
        for (int c = 0; c < 3; c++)
            force[3 * ws->column[m] + c] += a * ws->y[ws->column[m]] * off[c];
}

static void add_curvature(const summation *s, const workspace *ws, int pose, double a) {
    size_t columns = (size_t)s->spines->columns;
    double *curvature = s->curvature + columns * columns * (size_t)pose;
    for (int m = 0; m < ws->count; m++) {
        double ay = a * ws->y[ws->column[m]], *row = curvature + columns * (size_t)ws->column[m];
        for (int n = 0; n < ws->count; n++) row[ws->column[n]] += ay * ws->y[ws->column[n]];
    }
}

static void sum_pose(void *data, int pose, int worker) {
    const summation *s = data;
    const arap_mesh *mesh = s->mesh;
    size_t columns = (size_t)s->spines->columns;
    workspace *ws = &s->workspaces[worker];
    if (s->curvature)
        memset(s->curvature + columns * columns * (size_t)pose, 0,
               columns * columns * sizeof(double));
    s->square[pose] = 0;
    pose_vertices(s, pose, ws);
    for (int at = 0; at < s->spines->reached; at++) {
        int i = s->spines->vertex[at];
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
            ws->count = 0;
            add_end(s, mesh->neighbor[r], 1, ws);
            add_end(s, i, -1, ws);
            if (s->curvature)
                add_curvature(s, ws, pose, mesh->edge_weight[r]);
            else
                add_force(s, ws, pose, at, r);
            for (int m = 0; m < ws->count; m++) ws->seen[ws->column[m]] = 0;
        }
    }
}

/* The caller clears the arena. */
static arap_status sum_poses(arap_context *context, summation *s) {
    s->square = ARAP_TAKE(&s->arena, s->spines->poses, double);
    s->workspaces = ARAP_TAKE(&s->arena, context->threads, workspace);
    for (int t = 0; t < context->threads && s->workspaces; t++)
        s->workspaces[t] =
            (workspace){.point = ARAP_TAKE(&s->arena, 3 * (size_t)s->mesh->count, double),
                        .factors = ARAP_TAKE(
                            &s->arena, ARAP_SPINE_FACTORS * s->in->start[s->in->count], double),
                        .y = ARAP_TAKE(&s->arena, s->spines->columns, double),
                        .column = ARAP_TAKE(&s->arena, s->spines->columns, int),
                        .seen = ARAP_TAKE_ZERO(&s->arena, s->spines->columns, char)};
    arap_status status = arap_arena_status(&s->arena, &context->error, "the energy near spines");
    return status ? status : arap_parallel(context, s->spines->poses, sum_pose, s);
}

arap_status arap_joint_spines_energy(arap_context *context, const arap_joint_spines *spines,
                                     const arap_mesh *mesh, const arap_influences *in,
                                     double *square, double *force) {
    summation s = {.spines = spines, .mesh = mesh, .in = in, .force = force};
    arap_status status = sum_poses(context, &s);
    *square = 0;
    for (int p = 0; p < spines->poses && !status; p++)
        *square += arap_pose_weight(&spines->posed, p) * s.square[p];
    arap_arena_clear(&s.arena);
    return status;
}

arap_status arap_joint_spines_curvature(arap_context *context, const arap_joint_spines *spines,
                                        const arap_mesh *mesh, const arap_influences *in,
                                        double *curvature) {
    summation s = {.spines = spines, .mesh = mesh, .in = in, .curvature = curvature};
    arap_status status = sum_poses(context, &s);
    arap_arena_clear(&s.arena);
    return status;
}
