/* Local step and right-hand side: see local_step.h and docs/energy.md 4.
 *
 * For vertex i, over the union of the influences of its one-ring,
 *     M_b = sum_k a_ik (w_kb v_k - w_ib v_i) e_ik^T       (4x3, v homogeneous)
 * gives cov_i = sum_b T_b M_b in every pose. The kernel converts M_b into P_b = sum T_b^T R_i, and
 * P_b gives this vertex's part of the right-hand side: + a_ik v_k^T P_b e_ik at (k, b),
 * - a_ik v_i^T P_b e_ik at (i, b). The parts for the neighbors are stored in one slot per directed
 *   edge. The neighbors sum their slots afterwards, in the order of the ring. No two threads
 *   therefore write the same number, and the result does not depend on the number of threads. With
 *   clusters (rotation_clusters.h), M_b is the sum over the vertices of a cluster, and P_b serves
 *   all of them.
 *
 * A spring (bone_springs.h) is an additional edge e of weight s to a point x that moves with one
 * bone b. It adds s x e^T to M_b and affects no neighbor.
 *
 * A spine b moves each vertex of the ring to its own point phi_kb. Therefore, a 3-vector m_kb =
 * a_ik w_kb e_ik for each vertex replaces M_b, and the sum of phi_kb^T R_i over the poses replaces
 * P_b (desired_local_step.h).
 *
 * A bendy bone is represented by the columns of its joints (bendy.h).
 *
 * If nothing in the rings of a visit (weights, springs, poses) has changed since the last
 * right-hand side, the results of the visit stay valid, and the visit is skipped. Visits are
 * skipped at vertices that a single bone moves, at locked vertices, and in rigid parts, except at
 * their borders. The result of a mirrored vertex is copied from its partner (mirror_reuse.h).
 *
 * A step takes O(clusters or vertices x poses x bones of their one-rings) plus O(edges x
 * influences) time, and one double per directed edge and influence. The step cannot fail. */
#include "energy/local_step.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "energy/desired_local_step.h"
#include "energy/local_kernels.h"
#include "energy/local_step_state.h"

#define CHUNK 64
#define UNPOLLED 5e4  /* bones times poses of the visits between two polls for cancellation */
#define PARALLEL 1e-7 /* maximum sine of the angle between edges treated as parallel */
#define THIN 0.01     /* maximum part across a thin ring, as a share of its squared edges */

typedef float float4 __attribute__((vector_size(16), aligned(4), may_alias));

/* The influence of a spine on vertex k of the ring: w e, e = a_ik e_ik or - sum_k a_ik e_ik. */
ARAP_WIDE_PART void add_pair(const arap_local_step *p, arap_workspace *ws, int k, int spine,
                             double w, arap_v4 e) {
    arap_spine_pair *pair = &ws->pair[ws->pairs++];
    pair->points = arap_spine_points(&p->packed->source->spines, p->packed->poses, k, spine);
    for (int c = 0; c < 3; c++) pair->moment[c] = w * e[c];
}

/* M += w (e x^T), transposed, for a weighted edge e of a ring. */
ARAP_WIDE_PART void add_moment(arap_v4 *m, double w, arap_v4 e, arap_v4 x) {
    arap_v4 we = w * e;
    for (int r = 0; r < 3; r++) m[r] += we * x[r];
    m[3] += we;
}

/* Weight the edge e of a ring; add it to the ring's pull and sum of squares. */
ARAP_WIDE_PART void add_edge(arap_v4 *e, double a, arap_v4 *pull, double *unit) {
    arap_v4 square = *e * *e;
    *unit += a * (square[0] + square[1] + square[2]);
    *e *= a;
    *pull += *e;
}

/* Add the moments of vertex i, `share` times its weights, and sum_k a_ik |e_ik|^2. */
ARAP_WIDE_PART void add_moments(const arap_local_step *p, int i, double share, arap_workspace *ws,
                                double *unit) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const arap_v4 v = arap_point4(mesh->v + 3 * (size_t)i);
    arap_v4 pull = {0}; /* sum a_ik e_ik */
    for (size_t f = in->start[i]; f < in->start[i + 1]; f++) {
        int spine = arap_local_step_spine(p, in->bone[f]);
        if (spine >= 0)
            ws->own[ws->own_count++] = (arap_own_spine){.spine = spine, .weight = in->weight[f]};
        else
            ws->weight[ws->where[in->bone[f]]] += share * in->weight[f];
    }
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const arap_v4 u = arap_point4(mesh->v + 3 * (size_t)k);
        arap_v4 e = u - v;
        add_edge(&e, mesh->edge_weight[r], &pull, unit);
        for (size_t f = in->start[k]; f < in->start[k + 1]; f++) {
            int spine = arap_local_step_spine(p, in->bone[f]);
            if (spine >= 0)
                add_pair(p, ws, k, spine, in->weight[f], e);
            else
                add_moment(ws->moment + 4 * ws->where[in->bone[f]], in->weight[f], e, u);
        }
    }
    const arap_spring *spring;
    for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++) {
        const arap_v4 u = arap_point4(spring->point);
        arap_v4 e = u - v;
        add_edge(&e, spring->weight, &pull, unit);
        for (int k = 0; k < 2 && spring->share[k] > 0; k++)
            add_moment(ws->moment + 4 * ws->where[spring->column[k]], spring->share[k], e, u);
    }
    for (size_t f = in->start[i]; f < in->start[i + 1]; f++) {
        int spine = arap_local_step_spine(p, in->bone[f]);
        if (spine >= 0)
            add_pair(p, ws, i, spine, -in->weight[f], pull);
        else
            add_moment(ws->moment + 4 * ws->where[in->bone[f]], -in->weight[f], pull, v);
    }
}

/* P e. */
ARAP_WIDE_PART arap_v4 times(const arap_v4 *p, arap_v4 e) {
    return p[0] * e[0] + p[1] * e[1] + p[2] * e[2];
}

/* v^T P e for the homogeneous point v. */
ARAP_WIDE_PART double push_through(const arap_v4 *p, arap_v4 v, arap_v4 e) {
    return arap_dot4(v, times(p, e));
}

/* a . b, b a vector and a 0. */
ARAP_WIDE_PART double dot3(const double *a, arap_v4 b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ARAP_WIDE_PART void scatter(const arap_local_step *p, int i, const arap_workspace *ws) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const arap_spine_pair *pair = ws->pair; /* in the order of add_moments */
    const arap_v4 v = arap_point4(mesh->v + 3 * (size_t)i);
    arap_v4 pull = {0};
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const arap_v4 u = arap_point4(mesh->v + 3 * (size_t)k), e = mesh->edge_weight[r] * (u - v);
        pull += e;
        size_t width = in->start[k + 1] - in->start[k];
        double *slot = p->incoming + p->slot[k] + (mesh->reverse[r] - mesh->ring[k]) * width;
        for (size_t f = 0; f < width; f++) {
            int b = in->bone[in->start[k] + f];
            slot[f] = arap_local_step_spine(p, b) >= 0
                          ? dot3((pair++)->product, e)
                          : push_through(ws->product + 3 * ws->where[b], u, e);
        }
    }
    const arap_spring *spring;
    for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++)
        pull += spring->weight * (arap_point4(spring->point) - v);
    for (size_t f = in->start[i]; f < in->start[i + 1]; f++) {
        int b = in->bone[f];
        p->own[f] = arap_local_step_spine(p, b) >= 0
                        ? -dot3((pair++)->product, pull)
                        : -push_through(ws->product + 3 * ws->where[b], v, pull);
    }
}

/* The springs of vertex i under its rotations: arap_local_step_anchored and
 * arap_local_step_springs. */
ARAP_WIDE_PART void align_springs(const arap_local_step *p, int i, const arap_workspace *ws) {
    const arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)i);
    const arap_influences *in = p->in;
    const arap_spring *spring;
    int count = arap_mesh_springs(p->mesh, i, &spring);
    double *along = p->strain + (count ? spring - p->mesh->spring : 0);
    p->anchored[i] = 0;
    for (int s = 0; s < count; s++, spring++) {
        const arap_v4 u = arap_point4(spring->point), e = u - v;
        double far = 0, near = 0;
        for (int k = 0; k < 2 && spring->share[k] > 0; k++)
            far += spring->share[k] *
                   push_through(ws->product + 3 * ws->where[spring->column[k]], u, e);
        for (size_t f = in->start[i]; f < in->start[i + 1]; f++)
            near += in->weight[f] * push_through(ws->product + 3 * ws->where[in->bone[f]], v, e);
        p->anchored[i] += spring->weight * far;
        along[s] = far - near;
    }
}

/* out += share P^T v for the homogeneous point v: sum R^T T v. */
ARAP_WIDE_PART void turn_back(const arap_v4 *p, arap_v4 v, double share, double *out) {
    for (int c = 0; c < 3; c++) out[c] += share * arap_dot4(v, p[c]);
}

/* The anchors of the springs of vertex i under its rotations: arap_local_step_anchors. */
ARAP_WIDE_PART void turn_anchors(const arap_local_step *p, int i, const arap_workspace *ws) {
    const arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)i);
    const arap_influences *in = p->in;
    const arap_spring *spring;
    int count = arap_mesh_springs(p->mesh, i, &spring);
    double *out = p->anchors + (count ? 3 * (spring - p->mesh->spring) : 0);
    for (int s = 0; s < count; s++, spring++, out += 3) {
        const arap_v4 *own = ws->product + 3 * ws->where[spring->bone];
        const arap_v4 u = arap_point4(spring->point), turned = times(own, u - v);
        for (int c = 0; c < 3; c++) out[c] = turned[c];
        turn_back(own, u, 1, out);
        for (size_t j = in->start[i]; j < in->start[i + 1]; j++)
            turn_back(ws->product + 3 * ws->where[in->bone[j]], v, -in->weight[j], out);
    }
}

/* Add a e e^T to the upper triangle of ring. */
static inline void add_square(double a, const double *e, double *ring) {
    for (int c = 0; c < 3; c++)
        for (int d = c; d < 3; d++) *ring++ += a * e[c] * e[d];
}

/* The second moments of the edges of vertex i over `unit`, upper triangle. */
ARAP_WIDE_PART void square_ring(const arap_mesh *mesh, int i, double unit, double *ring) {
    const arap_spring *spring;
    double e[3];
    memset(ring, 0, 6 * sizeof *ring);
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        arap_mesh_edge(mesh, i, r, e);
        add_square(mesh->edge_weight[r] / unit, e, ring);
    }
    for (int left = arap_mesh_springs(mesh, i, &spring); left; left--, spring++) {
        arap_sub(spring->point, mesh->v + 3 * (size_t)i, e);
        add_square(spring->weight / unit, e, ring);
    }
}

/* Whether the vertex is the end of a wire or on a straight piece of it, so that all edges of the
 * ring are parallel. */
ARAP_WIDE_PART int is_line(const arap_mesh *mesh, int i) {
    size_t begin = mesh->ring[i], size = mesh->ring[i + 1] - begin;
    double a[3], b[3], normal[3];
    const arap_spring *spring;
    if (arap_mesh_springs(mesh, i, &spring)) return 0;
    if (size != 2) return size == 1;
    arap_mesh_edge(mesh, i, begin, a);
    arap_mesh_edge(mesh, i, begin + 1, b);
    arap_cross(a, b, normal);
    return arap_dot(normal, normal) <= PARALLEL * PARALLEL * arap_dot(a, a) * arap_dot(b, b);
}

/* Whether the edges of the wire vertex i are nearly parallel. axes (3): their direction, and two
 * perpendicular ones. */
ARAP_WIDE_PART int is_thin(const arap_mesh *mesh, int i, arap_v4 *axes) {
    double q[6], max = 0, all, x = 0, y = 0, z = 0;
    if (mesh->ring[i] == mesh->ring[i + 1]) return 0;
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++)
        if (mesh->kind[r] != ARAP_EDGE_WIRE) return 0;
    square_ring(mesh, i, 1, q);
    all = q[0] + q[3] + q[5];
    if (!(all > 0)) return 0;
    /* The largest column, and its image under Q. */
    for (int c = 0; c < 3; c++) {
        static const int column[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
        if (q[column[c][c]] <= max) continue;
        max = q[column[c][c]];
        x = q[column[c][0]] / all, y = q[column[c][1]] / all, z = q[column[c][2]] / all;
    }
    double next[3] = {q[0] * x + q[1] * y + q[2] * z, q[1] * x + q[3] * y + q[4] * z,
                      q[2] * x + q[4] * y + q[5] * z};
    double over = 1 / sqrt(arap_dot(next, next));
    x = over * next[0], y = over * next[1], z = over * next[2];
    double along = x * (q[0] * x + q[1] * y + q[2] * z) + y * (q[1] * x + q[3] * y + q[4] * z) +
                   z * (q[2] * x + q[4] * y + q[5] * z);
    if (!(along > (1 - THIN) * all)) return 0;
    double sign = z < 0 ? -1 : 1, a = -1 / (sign + z), b = x * y * a;
    axes[0] = (arap_v4){x, y, z, 0};
    axes[1] = (arap_v4){1 + sign * x * x * a, sign * b, -sign * x, 0};
    axes[2] = (arap_v4){b, sign + y * y * a, -y, 0};
    return 1;
}

/* Row r of M_b in these axes, with a trace of the blended bone rotations, which determines the
 * twist if the ring leaves it undetermined. */
ARAP_WIDE_PART arap_v4 thin_row(const arap_v4 *axes, arap_v4 row, double prior, int r) {
    arap_v4 out = {0};
    for (int k = 0; k < 3; k++) {
        out[k] = axes[k][0] * row[0] + axes[k][1] * row[1] + axes[k][2] * row[2];
        if (r < 3) out[k] += prior * axes[k][r];
    }
    return out;
}

/* Collect the stretchable influences of vertex i and, if there are any, its ring. */
ARAP_WIDE_PART void find_stretches(const arap_local_step *p, int i, double unit,
                                   arap_workspace *ws) {
    const arap_stretches *stretches = &p->packed->source->stretches;
    if (!stretches->count) return;
    for (size_t e = p->in->start[i]; e < p->in->start[i + 1] && unit > 0; e++) {
        int place = arap_stretches_of(stretches, p->in->bone[e]);
        if (place < 0) continue;
        ws->stretch_place[ws->stretches] = place;
        ws->stretch_weight[ws->stretches++] = p->in->weight[e];
    }
    if (!ws->stretches) return;
    square_ring(p->mesh, i, unit, ws->ring);
}

/* Compute the rotations of vertex i, or -1 for several vertices, from the moments in the work space
 * with the kernel. pull: as for the kernel. Returns the excess. */
ARAP_WIDE_PART double turn_rigidly(const arap_local_step *p, arap_workspace *ws, double unit, int i,
                                   double *pull) {
    double scale = unit > 0 ? 1 / unit : 0, excess = 0;
    int single = p->packed->precision == ARAP_SINGLE;
    double prior = single ? 1e-6 : 1e-12;
    arap_v4 axes[3];
    int shape = i >= 0 && is_line(p->mesh, i) ? ARAP_RING_LINE : ARAP_RING_SOLID;
    if (i >= 0 && !shape && !ws->stretches && is_thin(p->mesh, i, axes)) shape = ARAP_RING_THIN;
    for (int j = 0; j < 4 * ws->bones; j++) {
        arap_v4 row = ws->moment[j];
        if (shape == ARAP_RING_THIN)
            row = thin_row(axes, row, unit * prior * ws->weight[j / 4], j % 4);
        row *= scale; /* its last number overlaps the start of the next row */
        if (single)
            *(float4 *)((float *)ws->scaled + 3 * j) = __builtin_convertvector(row, float4);
        else
            *(arap_v4_at *)((double *)ws->scaled + 3 * j) = row;
    }
    arap_kernel_input input = {.transform = p->packed->transform,
                               .lanes = p->packed->lanes,
                               .poses = p->packed->poses,
                               .bones = ws->bones,
                               .bone = ws->bone,
                               .moments = ws->scaled,
                               .weight = ws->weight,
                               .shape = shape,
                               .prior_share = prior,
                               .scratch = ws->scratch,
                               .stretches = ws->stretches,
                               .stretch = p->packed->stretch,
                               .stretch_place = ws->stretch_place,
                               .stretch_weight = ws->stretch_weight,
                               .ring = ws->ring,
                               .excess = &excess,
                               .pull = pull,
                               .pull_scale = unit,
                               .pose_weight = p->packed->weight};
    p->kernel(&input, (double *)ws->product);
    for (int j = 0; shape == ARAP_RING_THIN && !pull && j < ws->bones; j++) {
        arap_v4 *out = ws->product + 3 * j, x = out[0], y = out[1], z = out[2];
        for (int c = 0; c < 3; c++) out[c] = x * axes[0][c] + y * axes[1][c] + z * axes[2][c];
    }
    return unit * excess;
}

/* The same for vertex i with spines in its ring. best: (poses, 9) R_i, or NULL. */
static void turn_as_desired(const arap_local_step *p, int i, arap_workspace *ws, double *best) {
    arap_desired_input input = {.poses = p->packed->source,
                                .mesh = p->mesh,
                                .vertex = i,
                                .bones = ws->bones,
                                .bone = ws->bone,
                                .moment = (const double *)ws->moment,
                                .weight = ws->weight,
                                .pairs = ws->pairs,
                                .own_count = ws->own_count,
                                .pair = ws->pair,
                                .own = ws->own,
                                .prior_share = 1e-12,
                                .best = best};
    arap_desired_local_step(&input, (double *)ws->product, &p->excess[i]);
}

/* Clear the work space for visit c. */
ARAP_WIDE_PART void begin_visit(const arap_local_step *p, int c, arap_workspace *ws) {
    ws->bone = p->bone + p->start[c];
    ws->bones = (int)(p->start[c + 1] - p->start[c]);
    ws->pairs = ws->own_count = ws->stretches = 0;
    ws->visits++;
    for (int j = 0; j < ws->bones; j++) {
        ws->where[ws->bone[j]] = j;
        ws->weight[j] = 0;
    }
    memset(ws->moment, 0, 4 * (size_t)ws->bones * sizeof *ws->moment);
}

/* tr(R_i^T cov_i), summed over all poses. */
ARAP_WIDE_PART double align(const arap_workspace *ws) {
    double sum = 0;
    for (int j = 0; j < 4 * ws->bones; j++)
        for (int c = 0; c < 3; c++) sum += ws->product[j / 4 * 3 + c][j % 4] * ws->moment[j][c];
    for (int k = 0; k < ws->pairs; k++) sum += arap_dot(ws->pair[k].product, ws->pair[k].moment);
    return sum;
}

/* One local step for vertices that share their rotations. */
ARAP_WIDE_PART void visit(const arap_local_step *p, int c, arap_workspace *ws) {
    int size;
    const int *vertex = arap_cluster_members(p->clusters, &c, &size);
    double unit = 0;
    begin_visit(p, c, ws);
    for (int m = 0; m < size; m++) add_moments(p, vertex[m], 1.0 / size, ws, &unit);
    find_stretches(p, *vertex, unit, ws);
    if (ws->pairs) {
        turn_as_desired(p, *vertex, ws, NULL);
    } else {
        double excess = turn_rigidly(p, ws, unit, size == 1 ? *vertex : -1, NULL);
        if (p->excess) p->excess[*vertex] = excess;
    }
    if (p->alignment) p->alignment[*vertex] = align(ws);
    for (int m = 0; p->right_side && m < size; m++) scatter(p, vertex[m], ws);
    for (int m = 0; p->anchored && m < size; m++) align_springs(p, vertex[m], ws);
    for (int m = 0; p->anchors && m < size; m++) turn_anchors(p, vertex[m], ws);
}

/* Whether the weights or springs in the rings of visit c have changed since the last run. */
ARAP_WIDE_PART int has_moved(const arap_local_step *p, int c) {
    int size;
    const int *vertex = arap_cluster_members(p->clusters, &c, &size);
    if (p->all) return 1;
    for (int m = 0; m < size; m++) {
        if (p->moved[vertex[m]]) return 1;
        for (size_t r = p->mesh->ring[vertex[m]]; r < p->mesh->ring[vertex[m] + 1]; r++)
            if (p->moved[p->mesh->neighbor[r]]) return 1;
    }
    return 0;
}

/* Whether the result of visit c is copied from elsewhere. */
ARAP_WIDE_PART int is_passed_over(const arap_local_step *p, int c) {
    return p->right_side && p->mirror_reuse && p->mirror_reuse->of && p->mirror_reuse->unvisited[c];
}

/* After a visit, whether the rest of the chunk may be skipped. */
static inline int stops(const arap_local_step *p, arap_workspace *ws, int worker) {
    ws->unpolled += (double)ws->bones * p->packed->lanes;
    if (ws->unpolled < UNPOLLED) return 0;
    ws->unpolled = 0;
    return arap_chunk_stops(p->context, worker);
}

ARAP_WIDE_PART void visit_chunk_plain(void *data, int chunk, int worker) {
    const arap_local_step *p = data;
    arap_workspace *ws = &p->workspaces[worker];
    int end = (chunk + 1) * p->chunk < p->visits ? (chunk + 1) * p->chunk : p->visits;
    for (int c = chunk * p->chunk; c < end; c++) {
        if (is_passed_over(p, c) || !has_moved(p, c)) continue;
        visit(p, c, ws);
        if (stops(p, ws, worker)) return;
    }
}
ARAP_WIDE_TASK(visit_chunk)

/* Mark the vertices whose weights or springs differ from those of the last run, and store the new
 * ones. */
static void compare_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_local_step *p = data;
    const arap_influences *in = p->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        size_t begin = in->start[i], size = (in->start[i + 1] - begin) * sizeof *p->last;
        const arap_spring *spring;
        int springs = arap_mesh_springs(p->mesh, i, &spring);
        p->moved[i] = memcmp(p->last + begin, in->weight + begin, size) != 0;
        memcpy(p->last + begin, in->weight + begin, size);
        for (; springs; springs--, spring++) {
            double *last = p->last_anchor + 4 * (spring - p->mesh->spring);
            double anchor[4] = {spring->weight, spring->point[0], spring->point[1],
                                spring->point[2]};
            p->moved[i] |= memcmp(last, anchor, sizeof anchor) != 0;
            memcpy(last, anchor, sizeof anchor);
        }
    }
}

static void gather_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_local_step *p = data;
    const arap_influences *in = p->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    for (int k = chunk * CHUNK; k < end; k++) {
        if (arap_is_copied(p->mirror_reuse, k)) continue;
        size_t width = in->start[k + 1] - in->start[k];
        size_t neighbors = p->mesh->ring[k + 1] - p->mesh->ring[k];
        const double *slot = p->incoming + p->slot[k];
        double *sum = p->right_side + in->start[k];
        memcpy(sum, p->own + in->start[k], width * sizeof *sum);
        for (size_t r = 0; r < neighbors; r++)
            for (size_t e = 0; e < width; e++) sum[e] += *slot++;
    }
}

/* Copy the right-hand sides of mirrored vertices, and the known spring results of vertices that
 * were not visited. */
static void copy_half(const arap_local_step *p) {
    arap_mirror_reuse_copy(p->mirror_reuse, p->in, p->right_side);
    for (int i = 0; i < p->in->count && p->anchored; i++) {
        const arap_spring *own, *other;
        if (!is_passed_over(p, i)) continue;
        int j = p->mirror_reuse->of[i], count = arap_mesh_springs(p->mesh, i, &own);
        arap_mesh_springs(p->mesh, j, &other);
        p->anchored[i] = p->anchored[j];
        for (int s = 0; s < count; s++)
            p->strain[own - p->mesh->spring + s] = p->strain[other - p->mesh->spring + s];
    }
}

arap_status arap_local_step_run(arap_context *context, arap_local_step *local_step,
                                double *right_side, double *alignment) {
    int chunks = arap_chunks(local_step->mesh->count, CHUNK);
    const arap_bendy *bendy = &local_step->packed->source->bendy;
    local_step->context = context;
    local_step->right_side = bendy->count && right_side ? local_step->column_side : right_side;
    local_step->alignment = alignment;
    if (bendy->count) arap_bendy_update(bendy, local_step->caller, &local_step->columns);
    local_step->all = !right_side || alignment || local_step->place ||
                      local_step->filled != local_step->packed->filled;
    local_step->filled = -1; /* until this run has finished */
    arap_status status = ARAP_OK;
    if (right_side) status = arap_parallel_short(context, chunks, compare_chunk, local_step);
    if (!status)
        status =
            arap_parallel(context, (local_step->visits + local_step->chunk - 1) / local_step->chunk,
                          visit_chunk, local_step);
    if (!status && right_side)
        status = arap_parallel_short(context, chunks, gather_chunk, local_step);
    if (!status && right_side) copy_half(local_step);
    if (!status && right_side) local_step->filled = local_step->packed->filled;
    if (!status && local_step->right_side != right_side)
        arap_bendy_gather(bendy, local_step->caller, local_step->column_side, right_side);
    return status;
}

arap_status arap_local_step_anchors(arap_context *context, arap_local_step *local_step,
                                    double *anchors) {
    local_step->anchors = anchors;
    arap_status status = arap_local_step_run(context, local_step, NULL, NULL);
    local_step->anchors = NULL;
    return status;
}

ARAP_WIDE_PART void pull_block_plain(void *data, int block, int worker) {
    const arap_local_step *p = data;
    arap_workspace *ws = &p->workspaces[worker];
    size_t n = (size_t)p->mesh->count,
           size = 3 * (size_t)p->packed->columns * (size_t)p->packed->lanes;
    int begin = (int)(n * (size_t)block / ARAP_PULL_BLOCKS);
    int end = (int)(n * (size_t)(block + 1) / ARAP_PULL_BLOCKS);
    double *pull = p->pull + size * (size_t)block;
    memset(pull, 0, size * sizeof *pull);
    for (int i = begin; i < end; i++) {
        double unit = 0;
        begin_visit(p, i, ws);
        add_moments(p, i, 1, ws, &unit);
        if (p->spine_slot && p->spine_slot[i] >= 0) {
            turn_as_desired(p, i, ws,
                            p->desired + 9 * (size_t)p->packed->poses * (size_t)p->spine_slot[i]);
            p->alignment[i] = 0;
        } else {
            turn_rigidly(p, ws, unit, i, pull);
            p->alignment[i] = unit * ws->product[0][0];
        }
        if (stops(p, ws, worker)) return;
    }
}
ARAP_WIDE_TASK(pull_block)

arap_status arap_local_step_pull(arap_context *context, arap_local_step *local_step, double *pull,
                                 double *alignment, const int *slot, double *desired) {
    size_t size = 3 * (size_t)local_step->packed->columns * (size_t)local_step->packed->lanes;
    local_step->context = context;
    local_step->pull = pull;
    local_step->alignment = alignment;
    local_step->spine_slot = slot;
    local_step->desired = desired;
    arap_status status = arap_parallel(context, ARAP_PULL_BLOCKS, pull_block, local_step);
    for (int block = 1; block < ARAP_PULL_BLOCKS && !status; block++)
        for (size_t k = 0; k < size; k++) pull[k] += pull[size * (size_t)block + k];
    return status;
}
