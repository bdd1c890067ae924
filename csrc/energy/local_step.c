/* Local step and right-hand side: see local_step.h and docs/energy.md 4.
 *
 * For vertex i, over the union of the influences of its one-ring,
 *     M_b = sum_k a_ik (w_kb v_k - w_ib v_i) e_ik^T       (4x3, v homogeneous)
 * gives cov_i = sum_b T_b M_b of every pose, the kernel turns that into P_b = sum T_b^T R_i,
 * and P_b gives this vertex's part of the right-hand side: + a_ik v_k^T P_b e_ik at (k, b),
 * - a_ik v_i^T P_b e_ik at (i, b). The parts for the neighbors go to a slot of their own per
 * directed edge and are summed by their owners afterwards, in the order of the ring: no two
 * threads write one number, and the result does not depend on the number of threads. With clusters
 * (rotation_clusters.h), M_b is the sum over the vertices of one, and P_b serves all of them.
 *
 * A spoke (truss.h) is one more edge e of weight s, to a point x that one bone b carries: s x e^T
 * joins M_b, and nothing goes to a neighbor.
 *
 * A spine b takes each vertex of the ring to a point phi_kb of its own: in place of M_b there is a
 * 3-vector m_kb = a_ik w_kb e_ik for each, in place of P_b the sum of phi_kb^T R_i
 * (desired_local_step.h).
 *
 * A bendy bone takes part with the columns of its joints (bendy.h).
 *
 * Cost: O(clusters or vertices x poses x bones of their one-rings) plus O(edges x influences);
 * memory: one double per directed edge and influence. It cannot fail. */
#include "energy/local_step.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "energy/desired_local_step.h"
#include "energy/local_kernels.h"
#include "energy/pass.h"

#define CHUNK 64
#define PARALLEL 1e-7 /* sine of the angle between edges that count as parallel */

/* The influence of a spine on vertex k of the ring: w e, e = a_ik e_ik or - sum_k a_ik e_ik. */
static void add_pair(const arap_pass *p, arap_workspace *ws, int k, int spine, double w,
                     const double *e) {
    arap_spine_pair *pair = &ws->pair[ws->pairs++];
    pair->points = arap_spine_points(&p->packed->source->spines, p->packed->poses, k, spine);
    for (int c = 0; c < 3; c++) pair->moment[c] = w * e[c];
}

/* Make place `at` in the work space that of bone b. */
static void add_bone(arap_workspace *ws, int b, int at) {
    ws->where[b] = at;
    ws->bone[at] = b;
    ws->weight[at] = 0;
    memset(ws->moment + 12 * at, 0, 12 * sizeof(double));
}

/* Add the far ends of the spokes of vertex i to the moments, all of a spoke that does not depend on
 * the vertex' own weights; returns the number of bones. */
static int add_spokes(const arap_pass *p, int i, arap_workspace *ws, int count, double *pull,
                      double *unit) {
    const arap_spoke *spoke;
    for (int left = arap_mesh_spokes(p->mesh, i, &spoke); left; left--, spoke++) {
        double e[3];
        arap_sub(spoke->point, p->mesh->v + 3 * (size_t)i, e);
        *unit += spoke->weight * arap_dot(e, e);
        for (int c = 0; c < 3; c++) {
            e[c] *= spoke->weight;
            pull[c] += e[c];
        }
        for (int k = 0; k < 2 && spoke->share[k] > 0; k++) {
            if (ws->where[spoke->column[k]] < 0) add_bone(ws, spoke->column[k], count++);
            double *m = ws->moment + 12 * ws->where[spoke->column[k]];
            for (int c = 0; c < 3; c++) {
                double we = spoke->share[k] * e[c];
                m[c] += we * spoke->point[0];
                m[3 + c] += we * spoke->point[1];
                m[6 + c] += we * spoke->point[2];
                m[9 + c] += we;
            }
        }
    }
    return count;
}

/* Add the moments of vertex i, `share` times its weights, and sum_k a_ik |e_ik|^2. */
static void add_moments(const arap_pass *p, int i, double share, arap_workspace *ws, int *bones,
                        double *unit) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const double *vi = mesh->v + 3 * (size_t)i;
    int count = *bones;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int spine = arap_pass_spine(p, in->bone[e]);
        if (spine >= 0) {
            ws->own[ws->own_count++] = (arap_own_spine){.spine = spine, .weight = in->weight[e]};
            continue;
        }
        if (ws->where[in->bone[e]] < 0) add_bone(ws, in->bone[e], count++);
        ws->weight[ws->where[in->bone[e]]] += share * in->weight[e];
    }
    double pull[3] = {0, 0, 0}; /* sum a_ik e_ik */
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const double *vk = mesh->v + 3 * (size_t)k;
        double a = mesh->edge_weight[r], e_ik[3];
        arap_sub(vk, vi, e_ik);
        *unit += a * arap_dot(e_ik, e_ik);
        for (int c = 0; c < 3; c++) {
            e_ik[c] *= a;
            pull[c] += e_ik[c];
        }
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
            int spine = arap_pass_spine(p, in->bone[e]);
            if (spine >= 0) {
                add_pair(p, ws, k, spine, in->weight[e], e_ik);
                continue;
            }
            if (ws->where[in->bone[e]] < 0) add_bone(ws, in->bone[e], count++);
            double *m = ws->moment + 12 * ws->where[in->bone[e]], w = in->weight[e];
            for (int c = 0; c < 3; c++) {
                double we = w * e_ik[c];
                m[c] += we * vk[0];
                m[3 + c] += we * vk[1];
                m[6 + c] += we * vk[2];
                m[9 + c] += we;
            }
        }
    }
    count = add_spokes(p, i, ws, count, pull, unit);
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int spine = arap_pass_spine(p, in->bone[e]);
        if (spine >= 0) {
            add_pair(p, ws, i, spine, -in->weight[e], pull);
            continue;
        }
        double *m = ws->moment + 12 * ws->where[in->bone[e]], w = in->weight[e];
        for (int c = 0; c < 3; c++) {
            double we = w * pull[c];
            m[c] -= we * vi[0];
            m[3 + c] -= we * vi[1];
            m[6 + c] -= we * vi[2];
            m[9 + c] -= we;
        }
    }
    *bones = count;
}

/* v^T P e for the homogeneous point v. */
static double push_through(const double *p, const double *v, const double *e) {
    return v[0] * arap_dot(p, e) + v[1] * arap_dot(p + 3, e) + v[2] * arap_dot(p + 6, e) +
           arap_dot(p + 9, e);
}

static void scatter(const arap_pass *p, int i, const arap_workspace *ws) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const arap_spine_pair *pair = ws->pair; /* in the order of add_moments */
    const double *vi = mesh->v + 3 * (size_t)i;
    double pull[3] = {0, 0, 0};
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const double *vk = mesh->v + 3 * (size_t)k;
        double e_ik[3];
        for (int c = 0; c < 3; c++) {
            e_ik[c] = mesh->edge_weight[r] * (vk[c] - vi[c]);
            pull[c] += e_ik[c];
        }
        size_t width = in->start[k + 1] - in->start[k];
        double *slot = p->incoming + p->slot[k] + (mesh->reverse[r] - mesh->ring[k]) * width;
        for (size_t e = 0; e < width; e++) {
            int b = in->bone[in->start[k] + e];
            slot[e] = arap_pass_spine(p, b) >= 0
                          ? arap_dot((pair++)->product, e_ik)
                          : push_through(ws->product + 12 * ws->where[b], vk, e_ik);
        }
    }
    const arap_spoke *spoke;
    for (int left = arap_mesh_spokes(mesh, i, &spoke); left; left--, spoke++)
        for (int c = 0; c < 3; c++) pull[c] += spoke->weight * (spoke->point[c] - vi[c]);
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int b = in->bone[e];
        p->right_side[e] = arap_pass_spine(p, b) >= 0
                               ? -arap_dot((pair++)->product, pull)
                               : -push_through(ws->product + 12 * ws->where[b], vi, pull);
    }
}

/* What the rotations of vertex i make of its spokes: arap_pass_anchored and arap_pass_spokes. */
static void align_spokes(const arap_pass *p, int i, const arap_workspace *ws) {
    const double *vi = p->mesh->v + 3 * (size_t)i;
    const arap_influences *in = p->in;
    const arap_spoke *spoke;
    int count = arap_mesh_spokes(p->mesh, i, &spoke);
    double *along = p->strain + (count ? spoke - p->mesh->spoke : 0);
    p->anchored[i] = 0;
    for (int s = 0; s < count; s++, spoke++) {
        double e[3], far = 0, near = 0;
        arap_sub(spoke->point, vi, e);
        for (int k = 0; k < 2 && spoke->share[k] > 0; k++)
            far += spoke->share[k] *
                   push_through(ws->product + 12 * ws->where[spoke->column[k]], spoke->point, e);
        for (size_t j = in->start[i]; j < in->start[i + 1]; j++)
            near += in->weight[j] * push_through(ws->product + 12 * ws->where[in->bone[j]], vi, e);
        p->anchored[i] += spoke->weight * far;
        along[s] = far - near;
    }
}

/* out += share P^T v for the homogeneous point v: sum R^T T v. */
static void turn_back(const double *p, const double *v, double share, double *out) {
    for (int c = 0; c < 3; c++)
        out[c] += share * (v[0] * p[c] + v[1] * p[3 + c] + v[2] * p[6 + c] + p[9 + c]);
}

/* What the rotations of vertex i make of the feet of its spokes: arap_pass_feet. */
static void turn_feet(const arap_pass *p, int i, const arap_workspace *ws) {
    const double *vi = p->mesh->v + 3 * (size_t)i;
    const arap_influences *in = p->in;
    const arap_spoke *spoke;
    int count = arap_mesh_spokes(p->mesh, i, &spoke);
    double *out = p->feet + (count ? 3 * (spoke - p->mesh->spoke) : 0);
    for (int s = 0; s < count; s++, spoke++, out += 3) {
        const double *own = ws->product + 12 * ws->where[spoke->bone];
        double e[3];
        arap_sub(spoke->point, vi, e);
        for (int c = 0; c < 3; c++) out[c] = arap_dot(own + 3 * c, e);
        turn_back(own, spoke->point, 1, out);
        for (size_t j = in->start[i]; j < in->start[i + 1]; j++)
            turn_back(ws->product + 12 * ws->where[in->bone[j]], vi, -in->weight[j], out);
    }
}

/* The end of a wire, or a straight piece of one: all edges of the ring are parallel. */
static int is_line(const arap_mesh *mesh, int i) {
    size_t begin = mesh->ring[i], size = mesh->ring[i + 1] - begin;
    double a[3], b[3], normal[3];
    const arap_spoke *spoke;
    if (arap_mesh_spokes(mesh, i, &spoke)) return 0;
    if (size != 2) return size == 1;
    arap_mesh_edge(mesh, i, begin, a);
    arap_mesh_edge(mesh, i, begin + 1, b);
    arap_cross(a, b, normal);
    return arap_dot(normal, normal) <= PARALLEL * PARALLEL * arap_dot(a, a) * arap_dot(b, b);
}

/* ring += a e e^T, upper triangle. */
static void add_square(double a, const double *e, double *ring) {
    for (int c = 0; c < 3; c++)
        for (int d = c; d < 3; d++) *ring++ += a * e[c] * e[d];
}

/* The stretchable influences of vertex i, and its ring where there are any. */
static void find_stretches(const arap_pass *p, int i, double unit, arap_workspace *ws) {
    const arap_stretches *stretches = &p->packed->source->stretches;
    const arap_mesh *mesh = p->mesh;
    ws->stretches = 0;
    for (size_t e = p->in->start[i]; e < p->in->start[i + 1] && unit > 0; e++) {
        int place = arap_stretches_of(stretches, p->in->bone[e]);
        if (place < 0) continue;
        ws->stretch_place[ws->stretches] = place;
        ws->stretch_weight[ws->stretches++] = p->in->weight[e];
    }
    if (!ws->stretches) return;
    memset(ws->ring, 0, sizeof ws->ring);
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        double e[3], a = mesh->edge_weight[r] / unit;
        arap_mesh_edge(mesh, i, r, e);
        add_square(a, e, ws->ring);
    }
    const arap_spoke *spoke;
    for (int left = arap_mesh_spokes(mesh, i, &spoke); left; left--, spoke++) {
        double e[3];
        arap_sub(spoke->point, mesh->v + 3 * (size_t)i, e);
        add_square(spoke->weight / unit, e, ws->ring);
    }
}

/* Rotations from the moments of the work space, by the kernel. pull: as for it; returns the
 * excess. */
static double turn_rigidly(const arap_pass *p, arap_workspace *ws, int bones, double unit, int line,
                           double *pull) {
    double scale = unit > 0 ? 1 / unit : 0, excess = 0;
    int single = p->packed->precision == ARAP_SINGLE;
    for (int j = 0; j < 12 * bones; j++) {
        if (single)
            ((float *)ws->scaled)[j] = (float)(scale * ws->moment[j]);
        else
            ((double *)ws->scaled)[j] = scale * ws->moment[j];
    }
    arap_kernel_input input = {.transform = p->packed->transform,
                               .lanes = p->packed->lanes,
                               .poses = p->packed->poses,
                               .bones = bones,
                               .bone = ws->bone,
                               .moments = ws->scaled,
                               .weight = ws->weight,
                               .line = line,
                               .prior_share = single ? 1e-6 : 1e-12,
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
    p->kernel(&input, ws->product);
    return unit * excess;
}

/* The same for vertex i with spines in its ring. best: (poses, 9) R_i, or NULL. */
static void turn_as_desired(const arap_pass *p, int i, arap_workspace *ws, int bones,
                            double *best) {
    arap_desired_input input = {.poses = p->packed->source,
                                .mesh = p->mesh,
                                .vertex = i,
                                .bones = bones,
                                .bone = ws->bone,
                                .moment = ws->moment,
                                .weight = ws->weight,
                                .pairs = ws->pairs,
                                .own_count = ws->own_count,
                                .pair = ws->pair,
                                .own = ws->own,
                                .prior_share = 1e-12,
                                .best = best};
    arap_desired_local_step(&input, ws->product, &p->excess[i]);
}

/* One local step for vertices that share their rotations. */
static void visit(const arap_pass *p, const int *vertex, int size, arap_workspace *ws) {
    int bones = 0;
    double unit = 0;
    ws->pairs = ws->own_count = 0;
    for (int m = 0; m < size; m++) add_moments(p, vertex[m], 1.0 / size, ws, &bones, &unit);
    find_stretches(p, *vertex, unit, ws);
    if (ws->pairs) {
        turn_as_desired(p, *vertex, ws, bones, NULL);
    } else {
        int line = size == 1 && is_line(p->mesh, *vertex);
        double excess = turn_rigidly(p, ws, bones, unit, line, NULL);
        if (p->excess) p->excess[*vertex] = excess;
    }
    if (p->alignment) {
        double sum = 0;
        for (int j = 0; j < 12 * bones; j++) sum += ws->product[j] * ws->moment[j];
        for (int k = 0; k < ws->pairs; k++)
            sum += arap_dot(ws->pair[k].product, ws->pair[k].moment);
        p->alignment[*vertex] = sum;
    }
    for (int m = 0; p->right_side && m < size; m++) scatter(p, vertex[m], ws);
    for (int m = 0; p->anchored && m < size; m++) align_spokes(p, vertex[m], ws);
    for (int m = 0; p->feet && m < size; m++) turn_feet(p, vertex[m], ws);
    for (int b = 0; b < bones; b++) ws->where[ws->bone[b]] = -1;
}

static void visit_chunk(void *data, int chunk, int worker) {
    const arap_pass *p = data;
    int count = p->clusters ? p->clusters->count : p->mesh->count, end = (chunk + 1) * p->chunk;
    if (end > count) end = count;
    for (int c = chunk * p->chunk; c < end; c++) {
        int size;
        const int *vertex = arap_cluster_members(p->clusters, &c, &size);
        visit(p, vertex, size, &p->workspaces[worker]);
    }
}

static void gather_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const arap_pass *p = data;
    const arap_influences *in = p->in;
    int end = (chunk + 1) * CHUNK < in->count ? (chunk + 1) * CHUNK : in->count;
    for (int k = chunk * CHUNK; k < end; k++) {
        size_t width = in->start[k + 1] - in->start[k];
        size_t neighbors = p->mesh->ring[k + 1] - p->mesh->ring[k];
        const double *slot = p->incoming + p->slot[k];
        for (size_t r = 0; r < neighbors; r++)
            for (size_t e = 0; e < width; e++) p->right_side[in->start[k] + e] += *slot++;
    }
}

void arap_pass_run(arap_context *context, arap_pass *p, double *right_side, double *alignment) {
    int chunks = (p->mesh->count + CHUNK - 1) / CHUNK;
    int visits = p->clusters ? (p->clusters->count + p->chunk - 1) / p->chunk : chunks;
    const arap_bendy *bendy = &p->packed->source->bendy;
    p->right_side = bendy->count && right_side ? p->column_side : right_side;
    p->alignment = alignment;
    if (bendy->count) arap_bendy_update(bendy, p->caller, &p->columns);
    arap_parallel(context, visits, visit_chunk, p);
    if (right_side) arap_parallel(context, chunks, gather_chunk, p);
    if (p->right_side != right_side)
        arap_bendy_gather(bendy, p->caller, p->column_side, right_side);
}

void arap_pass_feet(arap_context *context, arap_pass *p, double *feet) {
    p->feet = feet;
    arap_pass_run(context, p, NULL, NULL);
    p->feet = NULL;
}

static void pull_block(void *data, int block, int worker) {
    const arap_pass *p = data;
    arap_workspace *ws = &p->workspaces[worker];
    size_t n = (size_t)p->mesh->count,
           size = 3 * (size_t)p->packed->columns * (size_t)p->packed->lanes;
    int begin = (int)(n * (size_t)block / ARAP_PULL_BLOCKS);
    int end = (int)(n * (size_t)(block + 1) / ARAP_PULL_BLOCKS);
    double *pull = p->pull + size * (size_t)block;
    memset(pull, 0, size * sizeof *pull);
    for (int i = begin; i < end; i++) {
        int bones = 0;
        double unit = 0;
        ws->pairs = ws->own_count = ws->stretches = 0;
        add_moments(p, i, 1, ws, &bones, &unit);
        if (p->spine_slot && p->spine_slot[i] >= 0) {
            turn_as_desired(p, i, ws, bones,
                            p->desired + 9 * (size_t)p->packed->poses * (size_t)p->spine_slot[i]);
            p->alignment[i] = 0;
        } else {
            turn_rigidly(p, ws, bones, unit, is_line(p->mesh, i), pull);
            p->alignment[i] = unit * ws->product[0];
        }
        for (int b = 0; b < bones; b++) ws->where[ws->bone[b]] = -1;
    }
}

void arap_pass_pull(arap_context *context, arap_pass *p, double *pull, double *alignment,
                    const int *slot, double *desired) {
    size_t size = 3 * (size_t)p->packed->columns * (size_t)p->packed->lanes;
    p->pull = pull;
    p->alignment = alignment;
    p->spine_slot = slot;
    p->desired = desired;
    arap_parallel(context, ARAP_PULL_BLOCKS, pull_block, p);
    for (int block = 1; block < ARAP_PULL_BLOCKS; block++)
        for (size_t k = 0; k < size; k++) pull[k] += pull[size * (size_t)block + k];
}
