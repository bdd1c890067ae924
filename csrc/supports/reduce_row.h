/* Removes influences of one vertex. Contains the mathematics of reduce.c, which works on the arrays
 * of one row and does not use the mesh. */
#ifndef ARAP_REDUCE_ROW_H
#define ARAP_REDUCE_ROW_H

#include <math.h>
#include <string.h>

#include "base/vec4.h"

/* minimum share of the weight that a bone keeps at a joint without an energy gain */
#define ARAP_SHARED_JOINT 0.1

/* The vertex being processed. */
typedef struct reduce_row {
    int size;                  /* number of influences in the arrays, all of them free */
    double *q, *slack, *root;  /* (size, size) Q, C and work space */
    double *c, *best, *weight; /* (size) c, w*, and the given weights */
    double *diagonal;          /* (size) diagonal of Q */
    int *set;                  /* (size) their indices in the row of the vertex */
    int *twin;                 /* (size) the influence that is removed together with this one, or
                                  itself */
    char *live;                /* (size) not yet removed */
    int tied;                  /* the influence that must stay; -1: none */
    double rest;               /* the sum of the free weights, if positive */
    int room;                  /* maximum number of influences that remain */
} reduce_row;

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

/* Store the minimum of w'qw - 2 c'w over the `size` free influences with sum `rest` in `best`, and
 * C (above) in `slack`. q, c and root are overwritten. */
ARAP_WIDE_PART void minimize(int size, double *q, double *c, double rest, double *root,
                             double *best, double *slack) {
    double total = 0, pull = 0;
    invert(size, q, root, slack);
    for (int a = 0; a < size; a++) {
        double *ones = q, one = 0, w = 0; /* q is no longer needed */
        for (int b = 0; b < size; b++) {
            one += slack[a * size + b];
            w += slack[a * size + b] * c[b];
        }
        total += ones[a] = one;
        pull += best[a] = w;
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

/* Find which of the remaining influences (live) is removed next, and its cost, which is negative
 * for w* <= 0. Costs that differ only by rounding are treated as equal, and the last bone among
 * equals is removed, so that a rotated or mirrored mesh loses the same one. If any influence has a
 * sufficient share of the weight, influences stay for which even the entire weight would gain no
 * more than `idle`. This happens at a joint, where bones move in the same way. */
ARAP_WIDE_PART int cheapest(const reduce_row *r, double idle, double *cost) {
    int out = -1;
    double min = INFINITY, all = r->rest * r->rest;
    for (int a = 0; a < r->size; a++) {
        if (!r->live[a] || a == r->tied || r->twin[a] == r->tied) continue;
        double slack = fmax(r->slack[a * r->size + a], 1e-300);
        double price = r->best[a] * r->best[a] / slack;
        if (all <= idle * slack && r->best[a] > ARAP_SHARED_JOINT * r->rest) continue;
        if (r->best[a] <= 0) price = -price;
        if (price <= min + 1e-9 * fabs(min)) {
            min = price;
            out = a;
        }
    }
    *cost = min;
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

/* The energy saved by the best row between the row without an influence and the row with only that
 * influence; negative if its weight would be negative. slope: c - Q w of each influence, mean:
 * their weighted sum. */
static double worth_alone(const reduce_row *r, int a, double rest, const double *slope,
                          double slope_mean, const double *product, double product_mean) {
    double w = r->weight[a];
    if (2 * w >= rest) return INFINITY;
    double along = rest * slope[a] - slope_mean;
    double bend = rest * (rest * r->diagonal[a] - 2 * product[a]) + product_mean;
    double step = w / (rest - w) + along / fmax(bend, 1e-300);
    return step * fabs(step) * bend;
}

/* The next influence not yet chosen with the largest value; among values equal up to rounding, the
 * first bone is used, see cheapest(). */
static int largest(const reduce_row *r, const double *value) {
    int out = -1;
    for (int a = 0; a < r->size; a++)
        if (!r->live[a] && (out < 0 || value[a] > value[out] + 1e-9 * fabs(value[out]))) out = a;
    return out;
}

/* Mark `max` influences as live, including the tied one, or one more to include a twin. place
 * (size): their new indices; -1 for the others. Returns their number. */
ARAP_WIDE_PART int mark_candidates(reduce_row *r, double rest, int max, const double *product,
                                   double *slope, int *place) {
    int size = r->size, chosen = 0;
    double product_mean = 0, slope_mean = 0, *worth = slope + size;
    for (int a = 0; a < size; a++) {
        slope[a] = r->c[a] - product[a];
        product_mean += r->weight[a] * product[a];
        slope_mean += r->weight[a] * slope[a];
    }
    for (int a = 0; a < size; a++)
        worth[a] = worth_alone(r, a, rest, slope, slope_mean, product, product_mean);
    for (int a = 0; a < size; a++) r->live[a] = 0;
    while (chosen < max) {
        int next =
            !chosen && r->tied >= 0 ? r->tied : largest(r, chosen < max / 2 ? r->weight : worth);
        chosen += r->twin[next] == next ? 1 : 2;
        r->live[next] = r->live[r->twin[next]] = 1;
    }
    for (int a = 0, b = 0; a < size; a++) place[a] = r->live[a] ? b++ : -1;
    return chosen;
}

/* Keep only the marked influences. */
ARAP_WIDE_PART void keep_marked(reduce_row *r, int chosen, const int *place) {
    for (int a = 0; a < r->size; a++) {
        int to = place[a];
        if (to < 0) continue;
        r->c[to] = r->c[a];
        r->weight[to] = r->weight[a];
        r->set[to] = r->set[a];
        r->twin[to] = place[r->twin[a]];
    }
    memset(r->live, 1, (size_t)chosen);
    if (r->tied >= 0) r->tied = place[r->tied];
    r->size = chosen;
}

/* The same, including their rows of q. */
ARAP_WIDE_PART void choose_candidates(reduce_row *r, double rest, int max) {
    int size = r->size, *place = (int *)r->root;
    double *product = r->slack;
    for (int a = 0; a < size; a++) {
        product[a] = 0;
        for (int b = 0; b < size; b++) product[a] += r->q[a * size + b] * r->weight[b];
        r->diagonal[a] = r->q[a * size + a];
    }
    int chosen = mark_candidates(r, rest, max, product, product + size, place);
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size && place[a] >= 0; b++)
            if (place[b] >= 0) r->q[place[a] * chosen + place[b]] = r->q[a * size + b];
    keep_marked(r, chosen, place);
}

/* Remove influences until the rule is met. The minimum over the remaining ones is in r->best. */
ARAP_WIDE_PART void reduce(reduce_row *r, int room, double spare) {
    for (int left = r->size; left > 1;) {
        double cost;
        int out = cheapest(r, left <= room ? spare : -INFINITY, &cost),
            other = out < 0 ? out : r->twin[out];
        if (out < 0 || (left <= room && cost > spare) || (left == 2 && other != out)) break;
        for (;; out = other) {
            take_out(r->size, out, r->live, r->best, r->slack);
            left--;
            if (out == other) break;
        }
    }
}

#endif
