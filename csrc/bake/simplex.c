/* Small least squares over the simplex: see simplex.h.
 *
 * Without the limit on the number of weights, the problem is convex. An active set method, which
 * computes columns on demand, finds the solution. It solves on a set S of indices, then adds the
 * index with the steepest slope
 *     g_b = linear_b - (A w)_b - mu, where mu = linear_b - (A w)_b of the indices with w_b > 0,
 * until no slope is above 0. On S, the constraint on the sum is eliminated by means of the largest
 * weight r,
 *     w_r = total - sum w_b,   A'_bc = A_bc - A_br - A_rc + A_rr,
 * which leaves the differences between the columns. If the columns are similar, A' is small, and a
 * ridge of the size of rounding errors then determines the solution. The steps of Lawson and Hanson
 * keep the weights of S >= 0.
 *
 * If S has more indices than the limit allows, those with the least gain are removed one by one,
 * and the problem is solved again after each removal. Then, indices outside the set replace indices
 * inside it as long as such swaps lower the value.
 *
 * Computing s columns takes O(s count), and each small solve takes O(s^3). The function cannot
 * fail. It stops if rounding errors prevent any further descent. */
#include "bake/simplex.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define MAXIMUM ARAP_SIMPLEX_MAX
#define RIDGE 1e-12    /* share of the diagonal of A' */
#define ROUNDING 4e-15 /* share of the diagonal of A */
#define FLAT 1e-11     /* slopes below this share of the diagonal count as 0 */
#define GAIN 1e-12     /* minimum gain of a swap, as a share of the value */
#define LOOKED_AT 4    /* members that matter least */
#define SWAP_ROUNDS 8
#define SWAP_TRIES 3

arap_simplex_space arap_simplex_space_make(arap_arena *arena, int count) {
    arap_simplex_space space = {.count = count,
                                .column = ARAP_TAKE(arena, (size_t)MAXIMUM * (size_t)count, double),
                                .slot = ARAP_TAKE(arena, count, int),
                                .product = ARAP_TAKE(arena, count, double)};
    for (int b = 0; b < count && space.slot; b++) space.slot[b] = -1;
    return space;
}

/* The small problem on a set of indices. */
typedef struct small {
    int count;
    int index[MAXIMUM];
    double a[MAXIMUM][MAXIMUM], linear[MAXIMUM], weight[MAXIMUM];
    double total, value;
} small;

static double value_of(const small *s, const double *weight) {
    double value = 0;
    for (int i = 0; i < s->count; i++) {
        double product = 0;
        if (weight[i] == 0) continue;
        for (int j = 0; j < s->count; j++) product += s->a[i][j] * weight[j];
        value += weight[i] * (0.5 * product - s->linear[i]);
    }
    return value;
}

void arap_solve_definite(int count, double (*k)[MAXIMUM], double *x) {
    for (int j = 0; j < count; j++) {
        for (int i = j; i < count; i++) {
            double sum = k[i][j];
            for (int l = 0; l < j; l++) sum -= k[i][l] * k[j][l];
            if (i == j)
                k[j][j] = sqrt(sum > 0 ? sum : 1e-300);
            else
                k[i][j] = sum / k[j][j];
        }
    }
    for (int i = 0; i < count; i++) {
        for (int l = 0; l < i; l++) x[i] -= k[i][l] * x[l];
        x[i] /= k[i][i];
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int l = i + 1; l < count; l++) x[i] -= k[l][i] * x[l];
        x[i] /= k[i][i];
    }
}

/* Compute weights of the members `in` of s with the required sum and any sign: out (s->count), 0
 * elsewhere. weight: feasible weights. */
static void solve_equality(const small *s, const char *in, const double *weight, double *out) {
    double k[MAXIMUM][MAXIMUM], x[MAXIMUM];
    int member[MAXIMUM], count = 0, r = -1;
    for (int i = 0; i < s->count; i++)
        if (in[i] && (r < 0 || weight[i] > weight[r])) r = i;
    for (int i = 0; i < s->count; i++)
        if (in[i] && i != r) member[count++] = i;
    for (int i = 0; i < count; i++) {
        int b = member[i];
        for (int j = 0; j < count; j++) {
            int c = member[j];
            k[i][j] = (s->a[b][c] - s->a[b][r]) - (s->a[r][c] - s->a[r][r]);
        }
        x[i] = s->linear[b] - s->linear[r] - s->total * (s->a[b][r] - s->a[r][r]);
        k[i][i] += RIDGE * fabs(k[i][i]) + ROUNDING * (s->a[b][b] + s->a[r][r]) + 1e-300;
    }
    arap_solve_definite(count, k, x);
    memset(out, 0, (size_t)s->count * sizeof *out);
    out[r] = s->total;
    for (int i = 0; i < count; i++) {
        out[member[i]] = x[i];
        out[r] -= x[i];
    }
}

/* Improve feasible weights to the best ones with w >= 0 on the members `in`. Members whose weights
 * reach 0 leave the set. */
static void settle(const small *s, char *in, double *weight) {
    double goal[MAXIMUM];
    for (;;) {
        solve_equality(s, in, weight, goal);
        double step = 1;
        int first = -1;
        for (int i = 0; i < s->count; i++) {
            if (!in[i] || goal[i] > 0) continue;
            double share = weight[i] / (weight[i] - goal[i]);
            if (!(share >= 0)) share = 0;
            if (first < 0 || share < step) {
                step = share;
                first = i;
            }
        }
        for (int i = 0; i < s->count; i++)
            if (in[i]) weight[i] += step * (goal[i] - weight[i]);
        if (first < 0) return;
        weight[first] = 0;
        in[first] = 0;
    }
}

/* Find the best weights of all members except `excluded` (-1: none), starting from any feasible
 * ones. Returns their value. */
static double solve_members(const small *s, int excluded, double *weight) {
    char in[MAXIMUM], tried[MAXIMUM] = {0};
    for (int i = 0; i < s->count; i++) in[i] = weight[i] > 0;
    settle(s, in, weight);
    for (int round = 0; round < 3 * MAXIMUM; round++) {
        double slope[MAXIMUM], mu = 0, scale = 0;
        int best = -1;
        for (int i = 0; i < s->count; i++) {
            slope[i] = s->linear[i];
            for (int j = 0; j < s->count; j++) slope[i] -= s->a[i][j] * weight[j];
            mu += weight[i] * slope[i] / s->total;
            scale = fmax(scale, s->a[i][i]);
        }
        for (int i = 0; i < s->count; i++)
            if (i != excluded && !in[i] && !tried[i] && slope[i] - mu > FLAT * scale * s->total &&
                (best < 0 || slope[i] > slope[best]))
                best = i;
        if (best < 0) break;
        tried[best] = in[best] = 1;
        settle(s, in, weight);
        if (in[best]) memset(tried, 0, sizeof tried);
    }
    /* The sum is exact except for the final rounding. */
    double sum = 0;
    for (int i = 0; i < s->count; i++) sum += weight[i];
    for (int i = 0; i < s->count; i++) weight[i] *= s->total / sum;
    return value_of(s, weight);
}

static void solve_small(small *s) { s->value = solve_members(s, -1, s->weight); }

/* Add an index with weight 0, or with the whole weight if the set is empty. */
static void add(const arap_simplex_problem *p, arap_simplex_space *space, small *s, int index) {
    int k = s->count++;
    if (space->slot[index] < 0) {
        int slot = 0;
        char used[MAXIMUM] = {0};
        for (int i = 0; i < k; i++) used[space->slot[s->index[i]]] = 1;
        while (used[slot]) slot++;
        for (int b = 0; b < p->count; b++)
            if (space->slot[b] == slot) space->slot[b] = -1;
        space->slot[index] = slot;
        p->column(p->data, index, space->column + (size_t)slot * (size_t)space->count);
    }
    const double *column = space->column + (size_t)space->slot[index] * (size_t)space->count;
    s->index[k] = index;
    s->linear[k] = p->linear[index];
    s->weight[k] = k ? 0 : s->total;
    for (int i = 0; i <= k; i++) s->a[i][k] = s->a[k][i] = column[s->index[i]];
}

/* Remove the members without weight. */
static void drop_unused(small *s) {
    int kept[MAXIMUM], count = 0;
    for (int i = 0; i < s->count; i++)
        if (s->weight[i] > 0) kept[count++] = i;
    if (count == s->count) return;
    for (int i = 0; i < count; i++) {
        s->index[i] = s->index[kept[i]];
        s->linear[i] = s->linear[kept[i]];
        s->weight[i] = s->weight[kept[i]];
        for (int j = 0; j < count; j++) s->a[i][j] = s->a[kept[i]][kept[j]];
    }
    s->count = count;
}

/* Store the slopes of all indices in space->product and the largest diagonal entry in *scale. */
static void find_slopes(const arap_simplex_problem *p, arap_simplex_space *space, const small *s,
                        double *scale) {
    double *slope = space->product, mu = 0;
    memcpy(slope, p->linear, (size_t)p->count * sizeof *slope);
    for (int i = 0; i < s->count; i++) {
        const double *column =
            space->column + (size_t)space->slot[s->index[i]] * (size_t)space->count;
        double w = s->weight[i];
        for (int b = 0; b < p->count; b++) slope[b] -= w * column[b];
    }
    *scale = 0;
    for (int i = 0; i < s->count; i++) {
        mu += s->weight[i] * slope[s->index[i]] / s->total;
        *scale = fmax(*scale, s->a[i][i]);
    }
    for (int b = 0; b < p->count; b++) slope[b] -= mu;
}

/* Find the index outside s, other than `skip`, with the steepest slope above `min`; -1: none. */
static int steepest(const arap_simplex_problem *p, const arap_simplex_space *space, const small *s,
                    double min, const int *skip, int skipped) {
    int best = -1;
    for (int b = 0; b < p->count; b++) {
        if (!p->allowed[b] || !(space->product[b] > min) ||
            (best >= 0 && !(space->product[b] > space->product[best])))
            continue;
        int known = 0;
        for (int i = 0; i < s->count; i++) known |= s->index[i] == b;
        for (int i = 0; i < skipped; i++) known |= skip[i] == b;
        if (!known) best = b;
    }
    return best;
}

/* Add indices until none gives a descent. */
static void solve_all(const arap_simplex_problem *p, arap_simplex_space *space, small *s) {
    for (int round = 0; round < 4 * MAXIMUM; round++) {
        double scale, before = s->value;
        find_slopes(p, space, s, &scale);
        int next = steepest(p, space, s, FLAT * scale * s->total, NULL, 0);
        if (next < 0 || s->count == MAXIMUM) return;
        small trial = *s;
        add(p, space, &trial, next);
        solve_small(&trial);
        drop_unused(&trial);
        if (!(trial.value < before)) return;
        *s = trial;
    }
}

/* An upper bound on the increase of the value without a member, if its weight moves to the most
 * similar one. */
static double missed(const small *s, int at) {
    double min = INFINITY, w = s->weight[at];
    for (int i = 0; i < s->count; i++)
        if (i != at) min = fmin(min, s->a[at][at] - 2 * s->a[at][i] + s->a[i][i]);
    return 0.5 * w * w * min;
}

/* Remove the least important member among a few candidates. */
static void shrink(small *s) {
    double estimate[MAXIMUM], best_weight[MAXIMUM], best = 0;
    int found = 0;
    for (int i = 0; i < s->count; i++) estimate[i] = missed(s, i);
    for (int k = 0; k < LOOKED_AT && k < s->count; k++) {
        int out = -1;
        for (int i = 0; i < s->count; i++)
            if (estimate[i] >= 0 && (out < 0 || estimate[i] < estimate[out])) out = i;
        if (out < 0) break;
        estimate[out] = -1;
        double weight[MAXIMUM], rest = s->total - s->weight[out];
        int enough = rest > 1e-12 * s->total;
        for (int i = 0; i < s->count; i++)
            weight[i] = i == out ? 0
                        : enough ? s->weight[i] * s->total / rest
                                 : s->total / (s->count - 1);
        double value = solve_members(s, out, weight);
        if (found && !(value < best)) continue;
        found = 1;
        best = value;
        memcpy(best_weight, weight, (size_t)s->count * sizeof *weight);
    }
    memcpy(s->weight, best_weight, (size_t)s->count * sizeof *best_weight);
    s->value = best;
    drop_unused(s);
}

/* Let outside indices replace members or fill free slots. */
static void swap(const arap_simplex_problem *p, arap_simplex_space *space, small *s) {
    for (int round = 0; round < SWAP_ROUNDS; round++) {
        int skip[SWAP_TRIES], skipped = 0, better = 0;
        double scale;
        find_slopes(p, space, s, &scale);
        while (skipped < SWAP_TRIES && !better) {
            int next = steepest(p, space, s, FLAT * scale * s->total, skip, skipped);
            if (next < 0 || s->count == MAXIMUM) return;
            skip[skipped++] = next;
            small trial = *s;
            add(p, space, &trial, next);
            solve_small(&trial);
            drop_unused(&trial);
            while (trial.count > p->max) shrink(&trial);
            better = trial.value < s->value - GAIN * fabs(s->value);
            if (better) *s = trial;
        }
        if (!better) return;
    }
}

static int best_alone(const arap_simplex_problem *p) {
    int best = -1;
    double min = 0;
    for (int b = 0; b < p->count; b++) {
        double value = p->total * (0.5 * p->total * p->diagonal[b] - p->linear[b]);
        if (!p->allowed[b] || (best >= 0 && !(value < min))) continue;
        best = b;
        min = value;
    }
    return best;
}

void arap_simplex_solve(const arap_simplex_problem *problem, arap_simplex_space *space, int start,
                        arap_simplex_solution *solution) {
    small s = {.total = problem->total};
    for (int i = 0; i < start; i++) add(problem, space, &s, solution->index[i]);
    if (!start) add(problem, space, &s, best_alone(problem));
    solve_small(&s);
    drop_unused(&s);
    if (!start) {
        solve_all(problem, space, &s);
        while (s.count > problem->max) shrink(&s);
    }
    swap(problem, space, &s);
    for (int b = 0; b < problem->count; b++) space->slot[b] = -1;
    solution->count = s.count;
    solution->value = s.value;
    for (int i = 0; i < s.count; i++) { /* ascending */
        int at = i;
        for (; at > 0 && solution->index[at - 1] > s.index[i]; at--) {
            solution->index[at] = solution->index[at - 1];
            solution->weight[at] = solution->weight[at - 1];
        }
        solution->index[at] = s.index[i];
        solution->weight[at] = s.weight[i];
    }
}
