/* Limiting the number of influences: see reduce.h.
 *
 * With its neighbors fixed, the energy of vertex i is w'Qw - 2 c'w + const in its free weights,
 *     Q = F_ii,   c = b_i - (F w)_i + Q w_i        (b, F: system.h, stiffness.h, harmonic.h).
 * On a set of influences its minimum under sum w = rest is w* = C c + q rest / (1'q), with
 * q = Q^-1 1 and C = Q^-1 - q q' / (1'q). Taking influence b out of the set costs
 * w*_b^2 / C_bb, the rule of the optimal brain surgeon (Hassibi & Stork 1993) under the affinity
 * constraint, and leaves the minimum w* - C_.b w*_b / C_bb with C - C_.b C_b. / C_bb. Influences
 * go one by one, those with w*_b <= 0 first, then the cheapest, until at most `most` are left and
 * all of them worth more than `spare`; the minimum on what is left is the new row. Constraint
 * rows count in Q and c like energy. Q is made definite by a small multiple of its trace,
 * so that between bones that move alike the smallest weight goes; a vertex without energy, as
 * without neighbors, gets that of an energy of 1 and so keeps its largest weights.
 *
 * The bone that a spoke ties the vertex to (truss.h) stays while the spoke has HELD of its
 * strength: a bone that has left all maps would not come back.
 *
 * Of more than CANDIDATES influences (or twice the limit) only that many take part: half of them by
 * their weights, the others by what each is worth alone. Between a row without influence b and
 * the single bone b, w + t d with d = rest e_b - w and slope d'(c - Q w), the best row lowers the
 * energy by
 *     (t_b + slope / D)^2 D,   D = d'Q d,   t_b = w_b / (rest - w_b).
 * A rigid part has one row: Q and c are the sums over its vertices, Q with the blocks between them,
 * and its neighbors are fixed. As all of its blocks are of the same bones, their sum takes one 4 x
 * 4 matrix over the part (arap_add_gram_moment), but where spines or bendy bones move it. Of
 * several bones a part limited to one bone keeps the one that minimizes rest Q_bb - 2 c_b.
 * Symmetric vertices: the lower of two partners decides for both; on the mirror plane a bone and
 * its partner go together, when the turn comes to one of them. O(s^2 + min(s, CANDIDATES)^3) for a
 * vertex with s influences, vertices in parallel; O(s^2) scratch per thread. A call that is
 * cancelled has changed nothing. */
#include "supports/reduce.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "energy/stiffness.h"

#define CHUNK 8
#define HELD 0.5 /* of its strength: a spoke weaker than that keeps no influence */
#define DEFINITE 1e-9
#define NO_ENERGY 1e-100 /* traces up to this: far below any that rounding leaves to an edge */
#define CANDIDATES 48
#define SLICE_COST 4e6 /* terms of matrices that a thread sums in about 10 ms */

typedef struct reduce_task {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    const double *right_side, *product; /* (entries) b and F w */
    const arap_two_rings *harmonic;
    const arap_penalties *rows;
    const arap_symmetry *symmetry;
    const arap_rigid_parts *parts;
    const arap_limit *rule;
    int widest;
    char *keep;      /* (entries) */
    double *weight;  /* (entries) weights after the removals */
    double *scratch; /* (workers, scratch_size) */
} reduce_task;

/* A vertex in work. */
typedef struct reduce_row {
    int size;                  /* influences in the arrays, all of them free */
    double *q, *slack, *root;  /* (size, size) Q, C and work */
    double *c, *best, *weight; /* (size) c, w*, and the weights they come with */
    int *set;                  /* (size) their places in the row of the vertex */
    int *twin;                 /* (size) the one that goes with this one, or itself */
    char *live;                /* (size) not yet taken out */
    int tied;                  /* the one that stays, -1: none */
} reduce_row;

static size_t scratch_size(int widest) {
    size_t w = (size_t)widest;
    return arap_apart(4 * w * w + 5 * w);
}

/* y += share x */
ARAP_WIDE_PART void add_row(int count, double share, const double *x, double *y) {
    int b = 0;
    for (; b + 4 <= count; b += 4) *(arap_v4_at *)(y + b) += share * *(const arap_v4_at *)(x + b);
    for (; b < count; b++) y[b] += share * x[b];
}

/* Inverse of the symmetric positive definite `q` (size x size, overwritten), by its Cholesky
 * factor U'U and root = U'^-1. All inner loops run along rows. */
ARAP_WIDE_PART void invert(int size, double *q, double *root, double *inverse) {
    for (int j = 0; j < size; j++) {
        double *u = q + j * size, scale = 1 / sqrt(u[j]);
        for (int b = j; b < size; b++) u[b] *= scale;
        for (int i = j + 1; i < size; i++) add_row(size - i, -u[i], u + i, q + i * size + i);
    }
    memset(inverse, 0, (size_t)(size * size) * sizeof *inverse);
    for (int i = 0; i < size; i++) {
        double *row = root + i * size, scale = 1 / q[i * size + i];
        memset(row, 0, (size_t)i * sizeof *row);
        row[i] = 1;
        for (int k = 0; k < i; k++) add_row(k + 1, -q[k * size + i], root + k * size, row);
        for (int b = 0; b <= i; b++) row[b] *= scale;
        for (int a = 0; a <= i; a++) add_row(a + 1, row[a], row, inverse + a * size);
    }
    for (int a = 0; a < size; a++)
        for (int b = 0; b < a; b++) inverse[b * size + a] = inverse[a * size + b];
}

/* Minimum of w'qw - 2 c'w over the `size` free influences with sum `rest` into `best`, and C
 * (above) into `slack`. q, c and root are overwritten. */
ARAP_WIDE_PART void minimize(int size, double *q, double *c, double rest, double *root,
                             double *best, double *slack) {
    double total = 0, pull = 0;
    invert(size, q, root, slack);
    for (int a = 0; a < size; a++) {
        double *ones = q; /* no longer needed */
        ones[a] = best[a] = 0;
        for (int b = 0; b < size; b++) {
            ones[a] += slack[a * size + b];
            best[a] += slack[a * size + b] * c[b];
        }
        total += ones[a];
        pull += best[a];
    }
    for (int a = 0; a < size; a++) {
        best[a] += q[a] * (rest - pull) / total;
        int b = 0;
        double *own = slack + a * size;
        for (; b + 4 <= size; b += 4)
            *(arap_v4_at *)(own + b) -= q[a] * *(const arap_v4_at *)(q + b) / total;
        for (; b < size; b++) own[b] -= q[a] * q[b] / total;
    }
}

/* Which of the influences left (live) goes next, and its cost, negative for w* <= 0. Costs that
 * differ by rounding only are equal, and of equal ones the last bone goes: a turned or mirrored
 * mesh must not drop another. */
ARAP_WIDE_PART int cheapest(const reduce_row *r, double *cost) {
    int out = -1;
    double least = INFINITY;
    for (int a = 0; a < r->size; a++) {
        if (!r->live[a] || a == r->tied || r->twin[a] == r->tied) continue;
        double price = r->best[a] * r->best[a] / fmax(r->slack[a * r->size + a], 1e-300);
        if (r->best[a] <= 0) price = -price;
        if (price <= least + 1e-9 * fabs(least)) {
            least = price;
            out = a;
        }
    }
    *cost = least;
    return out;
}

/* Hold the weight of influence `out` at 0. */
ARAP_WIDE_PART void take_out(int size, int out, char *live, double *best, double *slack) {
    double pivot = fmax(slack[out * size + out], 1e-300), weight = best[out];
    live[out] = 0;
    for (int a = 0; a < size; a++) {
        double share = slack[a * size + out] / pivot;
        if (!live[a]) continue;
        best[a] -= share * weight;
        add_row(size, -share, slack + out * size, slack + a * size);
    }
}

/* Influences of a vertex that may take part. */
static int candidates(const arap_limit *rule) {
    return rule->most > CANDIDATES / 2 ? 2 * rule->most : CANDIDATES;
}

/* The energy that the best row between the row without an influence and that influence alone saves;
 * negative if its weight would be. slope: c - Q w of each influence, mean: their weighted sum. */
static double worth_alone(const reduce_row *r, int a, double rest, const double *slope,
                          double slope_mean, const double *product, double product_mean) {
    double w = r->weight[a];
    if (2 * w >= rest) return INFINITY;
    double along = rest * slope[a] - slope_mean;
    double bend = rest * (rest * r->q[a * r->size + a] - 2 * product[a]) + product_mean;
    double step = w / (rest - w) + along / fmax(bend, 1e-300);
    return step * fabs(step) * bend;
}

/* The next of those not chosen with the largest value; of values equal but for rounding the first
 * bone, see cheapest(). */
static int largest(const reduce_row *r, const double *value) {
    int out = -1;
    for (int a = 0; a < r->size; a++)
        if (!r->live[a] && (out < 0 || value[a] > value[out] + 1e-9 * fabs(value[out]))) out = a;
    return out;
}

/* Keep `most` influences, the tied one among them, or one more for the sake of a twin: their rows
 * of q and entries of the rest. */
ARAP_WIDE_PART void choose_candidates(reduce_row *r, double rest, int most) {
    int size = r->size, chosen = 0, *place = (int *)r->root;
    double *product = r->slack, *slope = product + size, *worth = slope + size;
    double product_mean = 0, slope_mean = 0;
    for (int a = 0; a < size; a++) {
        product[a] = 0;
        for (int b = 0; b < size; b++) product[a] += r->q[a * size + b] * r->weight[b];
        slope[a] = r->c[a] - product[a];
        product_mean += r->weight[a] * product[a];
        slope_mean += r->weight[a] * slope[a];
    }
    for (int a = 0; a < size; a++)
        worth[a] = worth_alone(r, a, rest, slope, slope_mean, product, product_mean);
    for (int a = 0; a < size; a++) r->live[a] = 0;
    while (chosen < most) {
        int next =
            !chosen && r->tied >= 0 ? r->tied : largest(r, chosen < most / 2 ? r->weight : worth);
        chosen += r->twin[next] == next ? 1 : 2;
        r->live[next] = r->live[r->twin[next]] = 1;
    }
    for (int a = 0, b = 0; a < size; a++) place[a] = r->live[a] ? b++ : -1;
    for (int a = 0; a < size; a++) {
        int to = place[a];
        if (to < 0) continue;
        for (int b = 0; b < size; b++)
            if (place[b] >= 0) r->q[to * chosen + place[b]] = r->q[a * size + b];
        r->c[to] = r->c[a];
        r->weight[to] = r->weight[a];
        r->set[to] = r->set[a];
        r->twin[to] = place[r->twin[a]];
    }
    memset(r->live, 1, (size_t)chosen);
    if (r->tied >= 0) r->tied = place[r->tied];
    r->size = chosen;
}

/* Take influences out until the rule is met: the minimum on the others is in r->best. */
ARAP_WIDE_PART void reduce(reduce_row *r, int room, double spare) {
    for (int left = r->size; left > 1;) {
        double cost;
        int out = cheapest(r, &cost), other = out < 0 ? out : r->twin[out];
        if (out < 0 || (left <= room && cost > spare) || (left == 2 && other != out)) break;
        for (;; out = other) {
            take_out(r->size, out, r->live, r->best, r->slack);
            left--;
            if (out == other) break;
        }
    }
}

/* The influence of the bone that a spoke ties the vertex to, which stays; -1: no such bone. */
static int tied_influence(const reduce_row *r, const arap_mesh *mesh, const arap_influences *in,
                          int i) {
    const arap_spoke *spoke;
    int count = arap_mesh_spokes(mesh, i, &spoke);
    if (!count || spoke->released || spoke->held < HELD) return -1;
    for (int a = 0; a < r->size; a++)
        if (in->bone[in->start[i] + (size_t)r->set[a]] == spoke->bone) return a;
    return -1;
}

/* The lead of the mirror image of the part of lead i, or -1. */
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

/* Do the blocks of all vertices of a part come from the same Gram matrices? */
static int has_moments(const reduce_task *task, int i) {
    return arap_next_of_part(task->parts, i) >= 0 && !task->poses->spines.count &&
           !task->poses->bendy.count;
}

/* F_ii into `block`, of a rigid part the sum over its vertices. Returns the rest energy of the
 * one-rings, twice. */
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
    double least = 0;
    for (int a = 0; a < r->size; a++) {
        double cost = rest * r->q[a * r->size + a] - 2 * r->c[a];
        if (a && !(cost < least - 1e-9 * fabs(least))) continue;
        least = cost;
        best = a;
    }
    memset(r->live, 0, (size_t)r->size);
    r->live[best] = 1;
    r->best[best] = rest;
}

/* Influences that the part of lead i may have. */
static int most_influences(const reduce_task *task, int i) {
    int most = task->rule->most, part = task->rule->most_part;
    int is_part = arap_next_of_part(task->parts, i) >= 0;
    return is_part && part && (!most || part < most) ? part : most;
}

/* The row of a vertex, or of the part that it leads. */
ARAP_WIDE_PART void reduce_vertex(const reduce_task *task, int i, double *scratch) {
    const arap_influences *in = task->in;
    const arap_mesh *mesh = task->mesh;
    size_t begin = in->start[i];
    int row = (int)(in->start[i + 1] - begin), locked = 0;
    int is_part = arap_next_of_part(task->parts, i) >= 0;
    double *block = scratch;
    reduce_row r = {.q = block + row * row};
    r.slack = r.q + row * row;
    r.root = r.slack + row * row;
    r.c = r.root + row * row;
    r.best = r.c + row;
    r.weight = r.best + row;
    r.set = (int *)(r.weight + row);
    r.twin = r.set + row;
    r.live = (char *)(r.twin + row);
    double rest = 1, trace = 0, rows = 0;
    for (int e = 0; e < row; e++) {
        if (!in->locked[begin + (size_t)e]) {
            r.live[r.size] = 1;
            r.twin[r.size] = r.size;
            r.set[r.size++] = e;
            continue;
        }
        locked += in->weight[begin + (size_t)e] > 0;
        rest -= in->weight[begin + (size_t)e];
    }
    if (image_of(task, i) == i) /* all of its influences are free */
        for (int e = 0; e < row; e++)
            r.twin[e] = (int)(arap_find_influence(
                                  in, i, task->symmetry->bone[in->bone[begin + (size_t)e]]) -
                              (ptrdiff_t)begin);
    int size = r.size, limit = most_influences(task, i), room = limit ? limit - locked : size;
    if (room < 1) room = 1;
    if (size < 2 || (size <= room && task->rule->spare < 0)) return;

    double ring = own_block(task, i, row, r.root, block);
    double spare =
        task->rule->spare < 0 ? -INFINITY : task->rule->spare * task->poses->total * ring;
    for (int a = 0; a < size; a++) trace += block[r.set[a] * row + r.set[a]];
    for (int m = i; m >= 0; m = arap_next_of_part(task->parts, m))
        for (int a = 0; a < size; a++)
            rows += task->rows->stiffness[in->start[m] + (size_t)r.set[a]];
    double energy = trace > NO_ENERGY ? trace : rows > NO_ENERGY ? rows : 1;
    for (int a = 0; a < size; a++) {
        double pull = DEFINITE * energy, weight = in->weight[begin + (size_t)r.set[a]];
        double slope = 0, aim = 0, stiffness = 0;
        for (int m = i; m >= 0; m = arap_next_of_part(task->parts, m)) {
            size_t e = in->start[m] + (size_t)r.set[a];
            slope += task->right_side[e] - task->product[e];
            aim += task->rows->aim[e];
            stiffness += task->rows->stiffness[e];
        }
        r.weight[a] = weight;
        /* c, less what the locked weights contribute to Q w, pulled to the present weights */
        r.c[a] = slope + pull * weight + aim;
        for (int b = 0; b < size; b++) {
            r.q[a * size + b] = block[r.set[a] * row + r.set[b]];
            r.c[a] += r.q[a * size + b] * in->weight[begin + (size_t)r.set[b]];
        }
        r.q[a * size + a] += pull + stiffness;
    }
    rest = rest > 0 ? rest : 0;
    for (int a = 0; a < size; a++) task->keep[begin + (size_t)r.set[a]] = 0;
    if (is_part && room == 1) {
        keep_one(&r, rest);
    } else {
        int most = candidates(task->rule);
        r.tied = is_part ? -1 : tied_influence(&r, mesh, in, i);
        if (size > most + 1) choose_candidates(&r, rest, most);
        minimize(r.size, r.q, r.c, rest, r.root, r.best, r.slack);
        reduce(&r, room, spare);
    }
    for (int a = 0; a < r.size; a++) {
        if (!r.live[a]) continue;
        task->keep[begin + (size_t)r.set[a]] = 1;
        task->weight[begin + (size_t)r.set[a]] = r.best[a];
    }
}

ARAP_WIDE_PART void reduce_chunk_plain(void *data, int chunk, int worker) {
    const reduce_task *task = data;
    int count = task->in->count, end = (chunk + 1) * CHUNK < count ? (chunk + 1) * CHUNK : count;
    double *scratch = task->scratch + (size_t)worker * scratch_size(task->widest);
    for (int i = chunk * CHUNK; i < end; i++) {
        int image = image_of(task, i);
        if (arap_lead(task->parts, i) == i && (image < 0 || image >= i))
            reduce_vertex(task, i, scratch);
    }
}
ARAP_WIDE_TASK(reduce_chunk)

/* Chunks from one report of progress to the next. */
static int slice(const arap_context *context, const arap_limit *rule, int widest) {
    double most = fmin(widest, candidates(rule));
    double row = 1 + (double)widest * widest + most * most * most;
    double chunks = context->threads * fmax(1, SLICE_COST / (CHUNK * row));
    return (int)fmin(chunks, 1 << 20);
}

/* Copy the decision of the lower of two partners to the other. */
static void mirror_limits(const reduce_task *task) {
    const arap_influences *in = task->in;
    for (int i = 0; i < in->count; i++) {
        int image = arap_symmetry_image(task->symmetry, i);
        for (size_t e = in->start[i]; e < in->start[i + 1] && image > i; e++) {
            ptrdiff_t other = arap_find_influence(in, image, task->symmetry->bone[in->bone[e]]);
            task->keep[other] = task->keep[e];
            task->weight[other] = task->weight[e];
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
                                   const arap_symmetry *symmetry, const arap_rigid_parts *parts,
                                   const arap_limit *rule, arap_influences *out) {
    size_t entries = in->start[in->count];
    reduce_task task = {.mesh = mesh,
                        .poses = poses,
                        .in = in,
                        .right_side = right_side,
                        .product = product,
                        .harmonic = harmonic,
                        .rows = rows,
                        .symmetry = symmetry,
                        .parts = parts,
                        .rule = rule};
    for (int i = 0; i < in->count; i++) {
        int size = (int)(in->start[i + 1] - in->start[i]);
        if (size > task.widest) task.widest = size;
    }
    task.keep = ARAP_NEW(char, entries);
    task.weight = ARAP_NEW(double, entries);
    task.scratch = ARAP_NEW(double, (size_t)context->threads * scratch_size(task.widest));
    arap_status status = arap_poses_gram_of(context, mesh, poses, in);
    if (status) goto done;
    if (!task.keep || !task.weight || !task.scratch) {
        status = arap_fail_memory(&context->error, "the limit of influences");
        goto done;
    }
    memset(task.keep, 1, entries);
    memcpy(task.weight, in->weight, entries * sizeof(double));
    status = arap_parallel_slices(context, "limit of influences", (in->count + CHUNK - 1) / CHUNK,
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
    arap_free(task.keep);
    arap_free(task.weight);
    arap_free(task.scratch);
    return status;
}
