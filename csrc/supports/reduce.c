/* Limits the number of influences: see reduce.h.
 *
 * With its neighbors fixed, the energy of vertex i is w'Qw - 2 c'w + const in its free weights,
 *     Q = F_ii,   c = b_i - (F w)_i + Q w_i        (b, F: system.h, stiffness.h, harmonic.h).
 * On a set of influences its minimum under sum w = rest is w* = C c + q rest / (1'q), with q = Q^-1
 * 1 and C = Q^-1 - q q' / (1'q). Taking influence b out of the set costs w*_b^2 / C_bb, the rule of
 * the optimal brain surgeon (Hassibi & Stork 1993) under the affinity constraint, and leaves the
 * minimum w* - C_.b w*_b / C_bb with C - C_.b C_b. / C_bb. Influences are removed one by one, first
 * those with w*_b <= 0 and then the cheapest, until at most `max` remain and each gains more than
 * `spare`. The minimum on the remaining influences is the new row. Constraint rows contribute to Q
 * and c like energy. Adding a small multiple of its trace makes Q definite, so that among bones
 * with the same motion, the one with the smallest weight is removed. A vertex without energy, such
 * as one without neighbors, is treated as if its energy were 1, and so keeps its largest weights.
 *
 * The bone to which a spring ties the vertex (bone_springs.h) stays while the spring has at least
 * HELD of its strength. Otherwise, a bone that is no longer in any pattern would not return.
 *
 * If there are more than CANDIDATES influences (or twice the limit), only this number takes part.
 * Half of them are chosen by weight, and the others by their individual gain. The rows between a
 * row without influence b and the single bone b are w + t d with d = rest e_b - w and the slope
 * d'(c - Q w). The best of these rows lowers the energy by (t_b + slope / D)^2 D with D = d'Q d and
 * t_b = w_b / (rest - w_b). For a wide row (wide_products.h), this gain needs only the diagonal of
 * Q, and Q w, which is computed from the poses. The rest of Q is computed only for the candidates.
 * A rigid part has one row. Q and c are the sums over its vertices, where Q includes the blocks
 * between them, and its neighbors are fixed. All blocks of a part have the same bones, so their sum
 * requires only one 4 x 4 matrix over the part (arap_add_gram_moment), unless spines or bendy bones
 * move it. A part limited to one bone keeps the bone that minimizes rest Q_bb - 2 c_b. For
 * symmetric vertices, one of two partners decides for both. On the mirror plane, a bone is removed
 * together with its partner. A vertex with s influences takes O(s^2 + min(s, CANDIDATES)^3).
 * Vertices are processed in parallel. Each thread needs O(s^2) scratch memory. A cancelled call
 * changes nothing. */
#include "supports/reduce.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "energy/stiffness.h"
#include "energy/wide_products.h"
#include "supports/reduce_row.h"

#define CHUNK 8
#define HELD 0.5 /* share of its strength below which a spring keeps no influence */
#define DEFINITE 1e-9
/* maximum trace of an edge without energy, far below any trace that rounding leaves */
#define NO_ENERGY 1e-100
#define CANDIDATES 48
#define POLL_ABOVE 96  /* influences of the widest row; cancellation is polled after each */
#define SLICE_COST 4e6 /* terms of matrices that a thread sums in about 10 ms */

typedef struct reduce_task {
    arap_context *context;
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    const double *right_side, *product; /* (entries) b and F w */
    const arap_two_rings *harmonic;
    const arap_penalties *rows;
    const int *held;
    const arap_symmetry *symmetry;
    const arap_rigid_parts *parts;
    const arap_limit *rule;
    int widest;
    char *keep;      /* (entries) */
    double *weight;  /* (entries) weights after the removals */
    double *scratch; /* (workers, scratch_size) */
    arap_wide *wide; /* NULL: no row is wide */
} reduce_task;

static size_t scratch_size(int widest) {
    size_t w = (size_t)widest;
    return arap_apart(4 * w * w + 6 * w);
}

/* Influences of a vertex that may take part. */
static int candidates(const arap_limit *rule) {
    return rule->max > CANDIDATES / 2 ? 2 * rule->max : CANDIDATES;
}

static int any_locked(const arap_influences *in, int i) {
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->locked[e]) return 1;
    return 0;
}

/* The influence that must stay: that of the bone held at the vertex, or else of the bone to which a
 * spring ties the vertex; -1: no such bone. */
static int tied_influence(const reduce_task *task, const reduce_row *r, int i) {
    const arap_influences *in = task->in;
    const arap_spring *spring;
    int count = arap_mesh_springs(task->mesh, i, &spring), bone = task->held ? task->held[i] : -1;
    if (bone < 0 && count && !spring->released && spring->held >= HELD) bone = spring->bone;
    for (int a = 0; a < r->size; a++)
        if (in->bone[in->start[i] + (size_t)r->set[a]] == bone) return a;
    return -1;
}

/* The lead of the mirror image of lead i's part, or -1. */
static int image_of(const reduce_task *task, int i) {
    int image = arap_symmetry_image(task->symmetry, i);
    return image < 0 ? -1 : arap_lead(task->parts, image);
}

/* Add the block of F between the influences of vertices k and l of one part. */
static void add_block(const reduce_task *task, int k, int l, double factor, int row,
                      double *scratch, double *block) {
    arap_gram_block(task->mesh, task->poses, task->in, k, l, factor, scratch);
    for (int e = 0; e < row * row; e++) block[e] += scratch[e];
}

/* Whether the blocks of all vertices of a part use the same Gram matrices. */
static int has_moments(const reduce_task *task, int i) {
    return arap_next_of_part(task->parts, i) >= 0 && !task->poses->spines.count &&
           !task->poses->bendy.count;
}

/* Store F_ii in `block` or, for a rigid part, the sum over its vertices. Returns twice the rest
 * energy of the one-rings. */
static double own_block(const reduce_task *task, int i, int row, double *scratch, double *block) {
    const arap_mesh *mesh = task->mesh;
    const arap_two_rings *h = task->harmonic;
    double ring = 0, moment[16] = {0}, same = 0;
    int moments = has_moments(task, i);
    memset(block, 0, (size_t)(row * row) * sizeof *block);
    for (int m = i; m >= 0; m = arap_next_of_part(task->parts, m)) {
        double both = 0;
        for (size_t r = mesh->ring[m]; r < mesh->ring[m + 1]; r++) {
            double edge[3];
            arap_mesh_edge(mesh, m, r, edge);
            both += mesh->edge_weight_sym[r];
            ring += mesh->edge_weight_sym[r] * arap_dot(edge, edge);
            int k = mesh->neighbor[r];
            if (arap_lead(task->parts, k) != i) continue;
            if (moments)
                arap_add_gram_moment(mesh, k, m, -mesh->edge_weight_sym[r], moment);
            else
                add_block(task, k, m, -mesh->edge_weight_sym[r], row, scratch, block);
        }
        both += arap_mesh_tie(mesh, m, NULL);
        if (moments)
            arap_add_gram_moment(mesh, m, m, both, moment);
        else
            add_block(task, m, m, both, row, scratch, block);
        same += h->own ? h->own[m] : 0;
        for (size_t r = h->own ? h->ring[m] : 0; h->own && r < h->ring[m + 1]; r++)
            if (arap_lead(task->parts, h->neighbor[r]) == i) same += h->edge[r];
    }
    if (moments) arap_moment_block(task->poses, task->in, i, moment, block);
    for (int e = 0; e < row; e++) block[e * row + e] += same;
    return ring;
}

/* Keep the one influence that minimizes the energy. */
static void keep_one(reduce_row *r, double rest) {
    int best = 0;
    double min = 0;
    for (int a = 0; a < r->size; a++) {
        double cost = rest * r->q[a * r->size + a] - 2 * r->c[a];
        if (a && !(cost < min - 1e-9 * fabs(min))) continue;
        min = cost;
        best = a;
    }
    memset(r->live, 0, (size_t)r->size);
    r->live[best] = 1;
    r->best[best] = rest;
}

/* Maximum number of influences of lead i's part. */
static int most_influences(const reduce_task *task, int i) {
    int max = task->rule->max, part = task->rule->max_part;
    int is_part = arap_next_of_part(task->parts, i) >= 0;
    return is_part && part && (!max || part < max) ? part : max;
}

/* Set up the arrays of a row and its free influences. Returns whether any must be removed. */
static int begin_row(const reduce_task *task, int i, double *scratch, reduce_row *r) {
    const arap_influences *in = task->in;
    size_t begin = in->start[i];
    int row = (int)(in->start[i + 1] - begin), locked = 0;
    *r = (reduce_row){.q = scratch + row * row, .rest = 1};
    r->slack = r->q + row * row;
    r->root = r->slack + row * row;
    r->c = r->root + row * row;
    r->best = r->c + row;
    r->weight = r->best + row;
    r->diagonal = r->weight + row;
    r->set = (int *)(r->diagonal + row);
    r->twin = r->set + row;
    r->live = (char *)(r->twin + row);
    for (int e = 0; e < row; e++) {
        if (!in->locked[begin + (size_t)e]) {
            r->live[r->size] = 1;
            r->twin[r->size] = r->size;
            r->set[r->size++] = e;
            continue;
        }
        locked += in->weight[begin + (size_t)e] > 0;
        r->rest -= in->weight[begin + (size_t)e];
    }
    int is_own_image = image_of(task, i) == i; /* all of its influences are free */
    for (int e = 0; e < row && is_own_image; e++) {
        ptrdiff_t twin =
            arap_find_influence(in, i, task->symmetry->bone[in->bone[begin + (size_t)e]]);
        if (twin >= 0) /* otherwise only one of the two bones is an influence */
            r->twin[e] = (int)(twin - (ptrdiff_t)begin);
    }
    int limit = most_influences(task, i);
    r->room = limit ? limit - locked : r->size;
    if (r->room < 1) r->room = 1;
    return r->size > 1 && (r->size > r->room || task->rule->spare >= 0);
}

/* The pull of influence a toward its current weight, as a share of the trace of F. */
static double pull_of(const reduce_task *task, int i, const reduce_row *r, double trace) {
    double rows = 0;
    for (int m = i; m >= 0; m = arap_next_of_part(task->parts, m))
        for (int a = 0; a < r->size; a++)
            rows += task->rows->stiffness[task->in->start[m] + (size_t)r->set[a]];
    return DEFINITE * (trace > NO_ENERGY ? trace : rows > NO_ENERGY ? rows : 1);
}

/* Compute c of influence a minus the contribution of the locked weights to Q w, including the pull
 * toward the current weight. F w must still be added. Returns the contribution of its rows to Q. */
static double begin_influence(const reduce_task *task, int i, int a, double pull, reduce_row *r) {
    double slope = 0, aim = 0, stiffness = 0;
    for (int m = i; m >= 0; m = arap_next_of_part(task->parts, m)) {
        size_t e = task->in->start[m] + (size_t)r->set[a];
        slope += task->right_side[e] - task->product[e];
        aim += task->rows->aim[e];
        stiffness += task->rows->stiffness[e];
    }
    r->weight[a] = task->in->weight[task->in->start[i] + (size_t)r->set[a]];
    r->c[a] = slope + pull * r->weight[a] + aim;
    return pull + stiffness;
}

/* Compute Q and c for the row of a vertex, or of the part that it leads, over the candidate
 * influences. Returns twice the rest energy of the one-rings. */
ARAP_WIDE_PART double fill_row(const reduce_task *task, int i, double *block, int max,
                               reduce_row *r) {
    const arap_influences *in = task->in;
    size_t begin = in->start[i];
    int row = (int)(in->start[i + 1] - begin), size = r->size;
    double ring = own_block(task, i, row, r->root, block), trace = 0;
    for (int a = 0; a < size; a++) trace += block[r->set[a] * row + r->set[a]];
    double pull = pull_of(task, i, r, trace);
    for (int a = 0; a < size; a++) {
        double own = begin_influence(task, i, a, pull, r), c = r->c[a];
        for (int b = 0; b < size; b++) {
            double q = block[r->set[a] * row + r->set[b]];
            r->q[a * size + b] = q;
            c += q * in->weight[begin + (size_t)r->set[b]];
        }
        r->c[a] = c;
        r->q[a * size + a] += own;
    }
    if (max && size > max + 1) choose_candidates(r, fmax(r->rest, 0), max);
    return ring;
}

/* The same for a wide row, whose free weights are vector k of the products. */
ARAP_WIDE_PART double fill_wide(const reduce_task *task, int i, int k, int worker, int max,
                                reduce_row *r) {
    const arap_mesh *mesh = task->mesh;
    const int *bone = task->in->bone + task->in->start[i];
    const double *v = mesh->v + 3 * (size_t)i;
    double *product = r->slack, moment[16] = {0}, edge[3], both = 0, ring = 0, trace = 0;
    double same = task->harmonic->own ? task->harmonic->own[i] : 0;
    int *place = (int *)r->root;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        arap_mesh_edge(mesh, i, e, edge);
        both += mesh->edge_weight_sym[e];
        ring += mesh->edge_weight_sym[e] * arap_dot(edge, edge);
    }
    both += arap_mesh_tie(mesh, i, NULL);
    arap_add_gram_moment(mesh, i, i, both, moment);
    for (int a = 0; a < r->size; a++) {
        int b = bone[r->set[a]];
        r->diagonal[a] = arap_gram_moment(task->poses, b, b, moment) + same;
        trace += r->diagonal[a];
    }
    double pull = pull_of(task, i, r, trace);
    for (int a = 0; a < r->size; a++) {
        const double *q = arap_wide_product(task->wide, worker, k, bone[r->set[a]]);
        double own = begin_influence(task, i, a, pull, r);
        product[a] = both * (arap_dot(v, q) + q[3]) + same * r->weight[a];
        r->c[a] += product[a];
        product[a] += own * r->weight[a];
        r->diagonal[a] += own;
    }
    int chosen = mark_candidates(r, fmax(r->rest, 0), max, product, product + r->size, place);
    for (int a = 0; a < r->size; a++)
        for (int b = 0; b < r->size && place[a] >= 0; b++)
            if (place[b] >= 0)
                r->q[place[a] * chosen + place[b]] =
                    a == b
                        ? r->diagonal[a]
                        : arap_gram_moment(task->poses, bone[r->set[a]], bone[r->set[b]], moment);
    keep_marked(r, chosen, place);
    return ring;
}

/* At a joint, where all remaining bones move in the same way, the energy determines no weights, so
 * the mean weights of the neighbors are used. idle: as in cheapest() */
static void settle_idle(const reduce_task *task, int i, double idle, reduce_row *r) {
    const arap_influences *in = task->in;
    const arap_mesh *mesh = task->mesh;
    double sum = 0;
    for (int a = 0; a < r->size; a++)
        if (r->live[a] && !(r->rest * r->rest <= idle * r->slack[a * r->size + a])) return;
    for (int a = 0; a < r->size; a++) {
        r->weight[a] = 0;
        for (size_t e = mesh->ring[i]; r->live[a] && e < mesh->ring[i + 1]; e++) {
            ptrdiff_t at = arap_find_influence(in, mesh->neighbor[e],
                                               in->bone[in->start[i] + (size_t)r->set[a]]);
            if (at >= 0) r->weight[a] += mesh->edge_weight_sym[e] * in->weight[at];
        }
        sum += r->weight[a];
    }
    for (int a = 0; a < r->size && sum > 0; a++) r->best[a] = r->rest * r->weight[a] / sum;
}

/* Reduce the row of a vertex, or of the part that it leads; k: its vector in the products if it is
 * wide, otherwise -1. */
ARAP_WIDE_PART void reduce_vertex(const reduce_task *task, int i, int k, int worker,
                                  double *scratch) {
    size_t begin = task->in->start[i];
    int is_part = arap_next_of_part(task->parts, i) >= 0, max = candidates(task->rule);
    reduce_row r;
    if (!begin_row(task, i, scratch, &r)) return;
    int alone = is_part && r.room == 1;
    for (int a = 0; a < r.size; a++) task->keep[begin + (size_t)r.set[a]] = 0;
    r.tied = is_part ? -1 : tied_influence(task, &r, i);
    double ring = k >= 0 ? fill_wide(task, i, k, worker, max, &r)
                         : fill_row(task, i, scratch, alone ? 0 : max, &r);
    if (alone) {
        keep_one(&r, fmax(r.rest, 0));
    } else {
        double spare = task->rule->spare;
        spare = spare < 0 ? -INFINITY : spare * task->poses->total * ring;
        minimize(r.size, r.q, r.c, fmax(r.rest, 0), r.root, r.best, r.slack);
        reduce(&r, r.room, spare);
        if (!is_part) settle_idle(task, i, spare, &r);
    }
    for (int a = 0; a < r.size; a++) {
        if (!r.live[a]) continue;
        task->keep[begin + (size_t)r.set[a]] = 1;
        task->weight[begin + (size_t)r.set[a]] = r.best[a];
    }
}

/* Whether lead i decides for itself and for its mirror image. If only some vertices of a part have
 * partners, its image may itself have a different image. */
static int leads(const reduce_task *task, int i) {
    int image = image_of(task, i);
    return image < 0 || image_of(task, image) != i ||
           arap_symmetry_leads(task->symmetry, task->mesh, i, image);
}

/* Whether the row of vertex i is reduced directly: that of one of two partners, and of the lead of
 * a part. */
static int decides(const reduce_task *task, int i) {
    return arap_lead(task->parts, i) == i && leads(task, i);
}

/* Whether any reduced row is wide and longer than the candidates. */
static int is_wide(const reduce_task *task, int i) {
    size_t size = task->in->start[i + 1] - task->in->start[i];
    return task->wide && arap_is_wide(task->poses, size) && decides(task, i) &&
           !task->poses->bendy.count && arap_next_of_part(task->parts, i) < 0 &&
           size > 2 * (size_t)candidates(task->rule) && !any_locked(task->in, i);
}

/* Compute the products of the free weights of wide rows in a chunk. Vertex k has vector k. */
ARAP_WIDE_PART void multiply_rows(const reduce_task *task, int worker, const int *vertex,
                                  int count) {
    const arap_influences *in = task->in;
    arap_wide_begin(task->wide, worker, count);
    for (int k = 0; k < count; k++)
        for (size_t e = in->start[vertex[k]]; e < in->start[vertex[k] + 1]; e++)
            arap_wide_name(task->wide, worker, in->bone[e]);
    arap_wide_start(task->wide, worker);
    for (int k = 0; k < count; k++) {
        arap_v4 v = arap_point4(task->mesh->v + 3 * (size_t)vertex[k]);
        for (size_t e = in->start[vertex[k]]; e < in->start[vertex[k] + 1]; e++)
            *(arap_v4_at *)arap_wide_moment(task->wide, worker, k, in->bone[e]) = in->weight[e] * v;
    }
    arap_wide_multiply(task->wide, worker);
}

ARAP_WIDE_PART void reduce_chunk_plain(void *data, int chunk, int worker) {
    const reduce_task *task = data;
    int end = arap_chunk_end(chunk, CHUNK, task->in->count);
    double *scratch = task->scratch + (size_t)worker * scratch_size(task->widest);
    int vertex[CHUNK], count = 0;
    for (int i = chunk * CHUNK; i < end; i++)
        if (is_wide(task, i)) vertex[count++] = i;
    if (count) multiply_rows(task, worker, vertex, count);
    for (int i = chunk * CHUNK, k = 0; i < end; i++) {
        int wide = k < count && vertex[k] == i;
        if (decides(task, i)) reduce_vertex(task, i, wide ? k : -1, worker, scratch);
        k += wide;
        if (task->widest > POLL_ABOVE && arap_chunk_stops(task->context, worker)) return;
    }
}
ARAP_WIDE_TASK(reduce_chunk)

/* Chunks between two progress reports. */
static int slice(const arap_context *context, const arap_limit *rule, int widest) {
    double max = fmin(widest, candidates(rule));
    double row = 1 + (double)widest * widest + max * max * max;
    double chunks = context->threads * fmax(1, SLICE_COST / (CHUNK * row));
    return (int)fmin(chunks, 1 << 20);
}

/* Copy the decision of one of two partners to the other, for vertices that lead. */
static void mirror_limits(const reduce_task *task) {
    const arap_influences *in = task->in;
    for (int i = 0; i < in->count; i++) {
        if (arap_lead(task->parts, i) != i || leads(task, i)) continue;
        int image = image_of(task, i);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            ptrdiff_t other = arap_find_influence(in, image, task->symmetry->bone[in->bone[e]]);
            if (other < 0) continue;
            task->keep[e] = task->keep[other];
            task->weight[e] = task->weight[other];
        }
    }
}

/* Copy the decision for a rigid part to all of its vertices. */
static void spread_limits(const reduce_task *task) {
    const arap_influences *in = task->in;
    for (int i = 0; i < in->count && task->parts->count; i++) {
        size_t lead = in->start[task->parts->lead[i]];
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++, lead++) {
            task->keep[e] = task->keep[lead];
            task->weight[e] = task->weight[lead];
        }
    }
}

arap_status arap_reduce_influences(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in,
                                   const double *right_side, const double *product,
                                   const arap_two_rings *harmonic, const arap_penalties *rows,
                                   const int *held, const arap_symmetry *symmetry,
                                   const arap_rigid_parts *parts, const arap_limit *rule,
                                   arap_influences *out) {
    arap_arena arena = {0};
    size_t entries = in->start[in->count];
    reduce_task task = {.context = context,
                        .mesh = mesh,
                        .poses = poses,
                        .in = in,
                        .right_side = right_side,
                        .product = product,
                        .harmonic = harmonic,
                        .rows = rows,
                        .held = held,
                        .symmetry = symmetry,
                        .parts = parts,
                        .rule = rule};
    for (int i = 0; i < in->count; i++) {
        int size = (int)(in->start[i + 1] - in->start[i]);
        if (size > task.widest) task.widest = size;
    }
    task.keep = ARAP_TAKE(&arena, entries, char);
    task.weight = ARAP_TAKE(&arena, entries, double);
    task.scratch = ARAP_TAKE(&arena, (size_t)context->threads * scratch_size(task.widest), double);
    arap_status status = arap_poses_gram_of(context, mesh, poses, in);
    if (!status) status = arap_wide_create(context, poses, in, &task.wide);
    if (status) goto done;
    status = arap_arena_status(&arena, &context->error, "the limit of influences");
    if (status) goto done;
    memset(task.keep, 1, entries);
    memcpy(task.weight, in->weight, entries * sizeof(double));
    status = arap_parallel_slices(context, "limit of influences", arap_chunks(in->count, CHUNK),
                                  slice(context, rule, task.widest), reduce_chunk, &task);
    if (status) goto done;
    mirror_limits(&task);
    spread_limits(&task);
    status = arap_influences_filter(context, in, task.keep, out);
    if (status) goto done;
    size_t fill = 0;
    for (size_t e = 0; e < entries; e++)
        if (task.keep[e]) out->weight[fill++] = task.weight[e];
    arap_influences_normalize(out);
    status = arap_symmetry_weights(context, symmetry, out);
    arap_rigid_weights(parts, out);
    if (status) arap_influences_clear(out);

done:
    arap_wide_free(task.wide);
    arap_arena_clear(&arena);
    return status;
}
