/* Limiting the number of influences: arap_limit_influences of supports.h.
 *
 * With its neighbours fixed, the energy of vertex i is w'Qw - 2 c'w + const in its free weights,
 *     Q = F_ii,   c = b_i - (F w)_i + Q w_i        (b, F: system.h, stiffness.h, harmonic.h).
 * On a set of influences its minimum under sum w = rest is w* = C c + q rest / (1'q), with
 * q = Q^-1 1 and C = Q^-1 - q q' / (1'q). Taking influence b out of the set costs
 * w*_b^2 / C_bb, the rule of the optimal brain surgeon (Hassibi & Stork 1993) under the affinity
 * constraint, and leaves the minimum w* - C_.b w*_b / C_bb with C - C_.b C_b. / C_bb. Influences
 * go one by one, those with w*_b <= 0 first, then the cheapest, until at most `most` are left and
 * all of them worth more than `spare`; the minimum on what is left is the new row. Constraint
 * rows count in Q and c like energy. Q is made definite by a small multiple of its trace,
 * so that between bones that move alike the smallest weight goes.
 * Symmetric vertices: the lower of two partners decides for both; on the mirror plane a bone and
 * its partner go together, when the turn comes to one of them. O(s^3) for a vertex with s
 * influences, vertices in parallel; O(s^2) scratch per thread. */
#include <math.h>
#include <string.h>

#include "memory.h"
#include "stiffness.h"
#include "supports.h"
#include "vec3.h"

#define CHUNK 256
#define DEFINITE 1e-9

typedef struct limit_task {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    const double *right_side, *product; /* (entries) b and F w */
    const arap_harmonic *harmonic;
    const arap_penalties *rows;
    const arap_mirror *mirror;
    const arap_limit *rule;
    int widest;
    char *keep;      /* (entries) */
    double *weight;  /* (entries) weights after the removals */
    double *scratch; /* (workers, scratch_size) */
} limit_task;

static size_t scratch_size(int widest) {
    size_t w = (size_t)widest;
    return 4 * w * w + 4 * w;
}

/* Inverse of the symmetric positive definite `q` (size x size, overwritten), by its Cholesky
 * factor U'U and root = U'^-1. All inner loops run along rows. */
static void invert(int size, double *q, double *root, double *inverse) {
    for (int j = 0; j < size; j++) {
        double *u = q + j * size, scale = 1 / sqrt(u[j]);
        for (int b = j; b < size; b++) u[b] *= scale;
        for (int i = j + 1; i < size; i++)
            for (int b = i; b < size; b++) q[i * size + b] -= u[i] * u[b];
    }
    memset(inverse, 0, (size_t)(size * size) * sizeof *inverse);
    for (int i = 0; i < size; i++) {
        double *row = root + i * size, scale = 1 / q[i * size + i];
        memset(row, 0, (size_t)i * sizeof *row);
        row[i] = 1;
        for (int k = 0; k < i; k++)
            for (int b = 0; b <= k; b++) row[b] -= q[k * size + i] * root[k * size + b];
        for (int b = 0; b <= i; b++) row[b] *= scale;
        for (int a = 0; a <= i; a++)
            for (int b = 0; b <= i; b++) inverse[a * size + b] += row[a] * row[b];
    }
}

/* Minimum of w'qw - 2 c'w over the `size` free influences with sum `rest` into `best`, and C
 * (above) into `slack`. q, c and root are overwritten. */
static void minimise(int size, double *q, double *c, double rest, double *root, double *best,
                     double *slack) {
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
        for (int b = 0; b < size; b++) slack[a * size + b] -= q[a] * q[b] / total;
    }
}

/* Which of the influences left (live) goes next, and its cost, negative for w* <= 0. Costs that
 * differ by rounding only are equal, and of equal ones the last bone goes: a turned or mirrored
 * mesh must not drop another. */
static int cheapest(int size, const char *live, const double *best, const double *slack,
                    double *cost) {
    int out = 0;
    double least = INFINITY;
    for (int a = 0; a < size; a++) {
        if (!live[a]) continue;
        double price = best[a] * best[a] / fmax(slack[a * size + a], 1e-300);
        if (best[a] <= 0) price = -price;
        if (price <= least + 1e-9 * fabs(least)) {
            least = price;
            out = a;
        }
    }
    *cost = least;
    return out;
}

/* Hold the weight of influence `out` at 0. */
static void take_out(int size, int out, char *live, double *best, double *slack) {
    double pivot = fmax(slack[out * size + out], 1e-300), weight = best[out];
    live[out] = 0;
    for (int a = 0; a < size; a++) {
        double share = slack[a * size + out] / pivot;
        if (!live[a]) continue;
        best[a] -= share * weight;
        for (int b = 0; b < size; b++) slack[a * size + b] -= share * slack[out * size + b];
    }
}

static void limit_vertex(const limit_task *task, int i, double *scratch) {
    const arap_influences *in = task->in;
    const arap_mesh *mesh = task->mesh;
    const double *v = mesh->v + 3 * (size_t)i;
    size_t begin = in->start[i];
    int row = (int)(in->start[i + 1] - begin), size = 0, given = 0;
    double *block = scratch, *q = block + row * row, *slack = q + row * row,
           *root = slack + row * row, *c = root + row * row, *best = c + row;
    int *set = (int *)(best + row); /* the free influences */
    int *twin = set + row;          /* of them: the one that goes with this one, or itself */
    char *live = (char *)(twin + row);
    double rest = 1, both = 0, trace = 0;
    for (int e = 0; e < row; e++) {
        if (!in->given[begin + (size_t)e]) {
            live[size] = 1;
            twin[size] = size;
            set[size++] = e;
            continue;
        }
        given += in->weight[begin + (size_t)e] > 0;
        rest -= in->weight[begin + (size_t)e];
    }
    if (arap_mirror_image(task->mirror, i) == i) /* all of its influences are free */
        for (int e = 0; e < row; e++)
            twin[e] =
                (int)(arap_find_influence(in, i, task->mirror->bone[in->bone[begin + (size_t)e]]) -
                      (long)begin);
    int room = task->rule->most ? task->rule->most - given : size;
    if (room < 1) room = 1;
    if (size < 2 || (size <= room && task->rule->spare < 0)) return;

    double ring = 0; /* rest energy of the one-ring, twice */
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        double edge[3];
        arap_sub(mesh->v + 3 * (size_t)mesh->neighbour[r], v, edge);
        both += mesh->both[r];
        ring += mesh->both[r] * arap_dot(edge, edge);
    }
    double spokes;
    both += arap_mesh_tie(mesh, i, &spokes);
    ring += spokes;
    double spare =
        task->rule->spare < 0 ? -INFINITY : task->rule->spare * task->poses->count * ring;
    arap_gram_block(mesh, task->poses, in, i, i, both, block);
    if (task->harmonic->own)
        for (int e = 0; e < row; e++) block[e * row + e] += task->harmonic->own[i];
    for (int a = 0; a < size; a++) trace += block[set[a] * row + set[a]];
    for (int a = 0; a < size; a++) {
        size_t e = begin + (size_t)set[a];
        double pull = DEFINITE * trace + 1e-300;
        /* c, less what the given weights contribute to Q w, pulled to the present weights */
        c[a] = task->right_side[e] - task->product[e] + pull * in->weight[e] + task->rows->aim[e];
        for (int b = 0; b < size; b++) {
            q[a * size + b] = block[set[a] * row + set[b]];
            c[a] += q[a * size + b] * in->weight[begin + (size_t)set[b]];
        }
        q[a * size + a] += pull + task->rows->stiffness[e];
    }
    minimise(size, q, c, rest > 0 ? rest : 0, root, best, slack);
    for (int left = size; left > 1;) {
        double cost;
        int out = cheapest(size, live, best, slack, &cost), other = twin[out];
        if ((left <= room && cost > spare) || (left == 2 && other != out)) break;
        for (;; out = other) {
            take_out(size, out, live, best, slack);
            task->keep[begin + (size_t)set[out]] = 0;
            left--;
            if (out == other) break;
        }
    }
    for (int a = 0; a < size; a++)
        if (live[a]) task->weight[begin + (size_t)set[a]] = best[a];
}

static void limit_chunk(void *data, int chunk, int worker) {
    const limit_task *task = data;
    int count = task->in->count, end = (chunk + 1) * CHUNK < count ? (chunk + 1) * CHUNK : count;
    double *scratch = task->scratch + (size_t)worker * scratch_size(task->widest);
    for (int i = chunk * CHUNK; i < end; i++) {
        int image = arap_mirror_image(task->mirror, i);
        if (image < 0 || image >= i) limit_vertex(task, i, scratch);
    }
}

/* What the lower of two partners has decided, for the other. */
static void mirror_limits(const limit_task *task) {
    const arap_influences *in = task->in;
    for (int i = 0; i < in->count; i++) {
        int image = arap_mirror_image(task->mirror, i);
        for (size_t e = in->start[i]; e < in->start[i + 1] && image > i; e++) {
            long other = arap_find_influence(in, image, task->mirror->bone[in->bone[e]]);
            task->keep[other] = task->keep[e];
            task->weight[other] = task->weight[e];
        }
    }
}

arap_status arap_limit_influences(arap_job *job, const arap_mesh *mesh, const arap_poses *poses,
                                  const arap_influences *in, const double *right_side,
                                  const double *product, const arap_harmonic *harmonic,
                                  const arap_penalties *rows, const arap_mirror *mirror,
                                  const arap_limit *rule, arap_influences *out) {
    size_t entries = in->start[in->count];
    limit_task task = {.mesh = mesh,
                       .poses = poses,
                       .in = in,
                       .right_side = right_side,
                       .product = product,
                       .harmonic = harmonic,
                       .rows = rows,
                       .mirror = mirror,
                       .rule = rule};
    for (int i = 0; i < in->count; i++) {
        int size = (int)(in->start[i + 1] - in->start[i]);
        if (size > task.widest) task.widest = size;
    }
    task.keep = ARAP_NEW(char, entries);
    task.weight = ARAP_NEW(double, entries);
    task.scratch = ARAP_NEW(double, (size_t)job->threads *scratch_size(task.widest));
    arap_status status = ARAP_OK;
    if (!task.keep || !task.weight || !task.scratch) {
        status = arap_fail_memory(&job->error, "the limit of influences");
        goto done;
    }
    memset(task.keep, 1, entries);
    memcpy(task.weight, in->weight, entries * sizeof(double));
    arap_parallel(job, (in->count + CHUNK - 1) / CHUNK, limit_chunk, &task);
    mirror_limits(&task);
    status = arap_influences_filter(job, in, task.keep, out);
    if (status) goto done;
    size_t fill = 0;
    for (size_t e = 0; e < entries; e++)
        if (task.keep[e]) out->weight[fill++] = task.weight[e];
    arap_influences_normalise(out);
    arap_mirror_weights(mirror, out);

done:
    arap_free(task.keep);
    arap_free(task.weight);
    arap_free(task.scratch);
    return status;
}
