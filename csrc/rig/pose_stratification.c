/* Orders the rotations of neighboring joints: see poses.h.
 *
 * Every bone is rotated to each point of a low-discrepancy lattice (Roberts' R3, 2018) once, so few
 * poses cover its range evenly. With a random order for each bone, chance would determine which
 * rotations are combined in a pose, although a one-ring depends on two or three bones near each
 * other. Let x_b(p) be the rotation of bone b in pose p, nine numbers in its own axes, minus its
 * mean over the poses. The Gram matrices of bones b and c (docs/energy.md 3) equal those of
 * independent rotations if sum_p x_b(p) x_c(p)' = 0. For one bone after another, points are
 * therefore exchanged to lower sum_c |sum_p x_b(p) x_c(p)'|^2 = sum_pq x_b(p)'x_b(q) K(p, q), K(p,
 * q) = sum_c x_c(p)'x_c(q) with c the parent, its parent, and the siblings before b. An exchange at
 * p and q changes this sum by |x_p - x_q|^2 (K(p, p) + K(q, q) - 2 K(p, q)) - 2 (x_p - x_q)'(h_p -
 * h_q), h_p = sum_r x_r K(r, p). In two passes, the positions p are visited one after another, and
 * each is exchanged with the best q.
 *
 * In the second pose of a pair (poses.c), four of the nine numbers change their signs. The products
 * of these four with the other five cancel, so the two groups are summed separately. For a bone
 * with a partner, whose second pose is that of another bone, all nine numbers are summed together.
 *
 * If there are many poses, they are ordered in parts, which are runs of lattice points. Numbers are
 * rounded, so the last bits of a system's sine function do not affect the result. Takes O(bones
 * pairs PART). Polls for cancellation after each bone. Fails on out-of-memory and when
 * cancelled. */
#include "rig/poses.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/sort.h"
#include "base/wide.h"
#include "rig/joint_range.h"

#define PART 64 /* maximum number of pairs of poses that are ordered together */
#define NUMBERS 9
#define EVEN 5 /* the first entries, which are unchanged in the second pose of a pair */
#define ROUNDED 1024
#define ROUNDS 2 /* the first pass brings nine tenths of the gain, and a third one hardly any */

const double arap_stratification_lattice[3] = {0.8191725133961645, 0.6710436067037893,
                                               0.5497004779019703};

/* Possible start values of the first and the last number. A seed selects one of them, and an
 * arbitrary second number, which has little effect. These start values are the best of a hundred by
 * a hundred positions that are far from each other. Over 24 to 120 poses, the means of rotations
 * and of products of their entries deviate from those over the whole range half as much as with
 * other start values. */
#define PLACES 12
static const double places[PLACES][2] = {{0.03, 0.77}, {0.03, 0.27}, {0.41, 0.17}, {0.41, 0.66},
                                         {0.83, 0.31}, {0.83, 0.82}, {0.72, 0.05}, {0.72, 0.55},
                                         {0.23, 0.73}, {0.23, 0.23}, {0.33, 0.00}, {0.33, 0.51}};
#define PLACE_STREAM 0xA3EC647659359ACDu

/* Entries of a rotation. The mirror image by X changes the signs of the last four. */
static const int entry[NUMBERS] = {0, 4, 5, 7, 8, 1, 2, 3, 6};

typedef float numbers[NUMBERS][PART];

/* One part of the pairs. */
typedef struct orders {
    const arap_skeleton *skeleton;
    const arap_sampling *sampling;
    double begin[3];             /* of the lattice */
    int first, count;            /* pairs */
    arap_joint_range range;      /* range to which `turned` belongs */
    numbers turned;              /* x of the points in lattice order */
    numbers x, h;                /* of the current bone, in the new order */
    float kernel[2][PART][PART]; /* K of even and odd numbers */
    float among[2][PART][PART];  /* the same for both, for the current bone */
    float diagonal[2][PART];
    int *point; /* (deforming bones, PART) point assigned to each position */
} orders;

static void begin_lattice(uint64_t seed, double *begin) {
    uint64_t state = seed ^ PLACE_STREAM;
    const double *place = places[(int)(arap_random(&state) * PLACES)];
    begin[0] = place[0];
    begin[1] = arap_random(&state);
    begin[2] = place[1];
}

static void lattice_point(const orders *o, int p, double *u) {
    for (int c = 0; c < 3; c++) {
        u[c] = o->begin[c] + p * arap_stratification_lattice[c];
        u[c] -= floor(u[c]);
    }
}

static int is_range(const arap_joint_range *a, const arap_joint_range *b) {
    return a->is_cone == b->is_cone && !memcmp(a->x, b->x, sizeof a->x) &&
           !memcmp(a->twist, b->twist, sizeof a->twist) && !memcmp(a->z, b->z, sizeof a->z);
}

/* The second pose of a pair is then the mirror image of the first. */
static void center(double *range) {
    double half = (range[1] - range[0]) / 2;
    range[0] = -half;
    range[1] = half;
}

/* `turned` for the range of bone b. */
static void turn_points(orders *o, int b) {
    static const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    arap_joint_range range;
    arap_joint_range_of(o->skeleton, o->sampling, b, &range);
    center(range.twist);
    center(range.z);
    if (is_range(&range, &o->range)) return;
    o->range = range;
    for (int p = 0; p < o->count; p++) {
        double u[3], turn[3], rotation[9];
        lattice_point(o, o->first + p, u);
        arap_joint_sample(&range, u, turn);
        arap_turn_to_rotation(axes, turn, rotation);
        for (int k = 0; k < NUMBERS; k++) o->turned[k][p] = (float)rotation[entry[k]];
    }
    for (int k = 0; k < NUMBERS; k++) {
        double mean = 0;
        for (int p = 0; p < o->count; p++) mean += (double)o->turned[k][p] / o->count;
        for (int p = 0; p < o->count; p++)
            o->turned[k][p] = (float)round(ROUNDED * (o->turned[k][p] - mean));
    }
}

/* x of deforming bone d. */
static void take_numbers(orders *o, int d) {
    const int *point = o->point + (size_t)d * PART;
    turn_points(o, o->skeleton->deform_bone[d]);
    for (int k = 0; k < NUMBERS; k++)
        for (int p = 0; p < o->count; p++) o->x[k][p] = o->turned[k][point[p]];
}

/* Add those of `x` to K. */
ARAP_WIDE_PART void add_kernel_plain(orders *o) {
    for (int k = 0; k < NUMBERS; k++)
        for (int p = 0; p < o->count; p++) {
            float own = o->x[k][p], *row = o->kernel[k >= EVEN][p];
            for (int q = 0; q < o->count; q++) row[q] += own * o->x[k][q];
        }
}
ARAP_WIDE(add_kernel, (orders * o), (o))

/* The position q for which an exchange with p lowers the sum most, or p itself if none does. */
ARAP_WIDE_PART int best_exchange(const orders *o, int p) {
    int count = o->count, best = p;
    float change[PART] = {0};
    for (int odd = 0; odd < 2; odd++) {
        const float (*among)[PART] = o->among[odd], *diagonal = o->diagonal[odd];
        float size[PART] = {0};
        for (int k = odd ? EVEN : 0; k < (odd ? NUMBERS : EVEN); k++) {
            const float *x = o->x[k], *h = o->h[k];
            float x_p = x[p], h_p = h[p];
            for (int q = 0; q < count; q++) {
                float step = x_p - x[q];
                size[q] += step * step;
                change[q] -= 2 * step * (h_p - h[q]);
            }
        }
        for (int q = 0; q < count; q++)
            change[q] += size[q] * (among[p][p] + diagonal[q] - 2 * among[p][q]);
    }
    for (int q = 0; q < count; q++)
        if (change[q] < change[best]) best = q;
    return best;
}

ARAP_WIDE_PART void exchange(orders *o, int *point, int p, int q) {
    int other = point[p];
    point[p] = point[q];
    point[q] = other;
    for (int k = 0; k < NUMBERS; k++) {
        const float *at_p = o->among[k >= EVEN][p], *at_q = o->among[k >= EVEN][q];
        float *x = o->x[k], *h = o->h[k], step = x[q] - x[p];
        for (int r = 0; r < o->count; r++) h[r] += step * (at_p[r] - at_q[r]);
        x[p] += step;
        x[q] -= step;
    }
}

/* Exchange points of a bone, which begins with `x`. */
ARAP_WIDE_PART void improve_plain(orders *o, int *point) {
    for (int odd = 0; odd < 2; odd++)
        for (int p = 0; p < o->count; p++) o->diagonal[odd][p] = o->among[odd][p][p];
    memset(o->h, 0, sizeof o->h);
    for (int k = 0; k < NUMBERS; k++)
        for (int r = 0; r < o->count; r++) {
            float own = o->x[k][r], *h = o->h[k];
            const float *among = o->among[k >= EVEN][r];
            for (int p = 0; p < o->count; p++) h[p] += own * among[p];
        }
    for (int round = 0; round < ROUNDS; round++)
        for (int p = 0; p < o->count; p++) {
            int best = best_exchange(o, p);
            if (best != p) exchange(o, point, p, best);
        }
}
ARAP_WIDE(improve, (orders * o, int *point), (o, point))

/* Fisher and Yates' shuffle, inside out. The p-th point goes to a random place. */
static void shuffle(int count, uint64_t state, int *point) {
    for (int p = 0; p < count; p++) {
        int at = (int)(arap_random(&state) * (p + 1));
        point[p] = point[at];
        point[at] = p;
    }
}

/* Order deforming bone d, and add it to K. */
static void order_bone(orders *o, const arap_symmetry *symmetry, int pairs, int d) {
    int *point = o->point + (size_t)d * PART;
    uint64_t bone = (uint64_t)o->skeleton->deform_bone[d],
             before = bone * (uint64_t)pairs + (uint64_t)o->first;
    shuffle(o->count, o->sampling->seed + before * ARAP_RANDOM_STEP, point);
    take_numbers(o, d);
    memcpy(o->among, o->kernel, sizeof o->among);
    if (symmetry->bone && symmetry->bone[d] >= 0)
        for (int p = 0; p < o->count; p++)
            for (int q = 0; q < o->count; q++)
                o->among[0][p][q] = o->among[1][p][q] += o->among[0][p][q];
    improve(o, point);
    add_kernel(o);
}

/* Order the children of deforming bone `up` or, for -1, the roots. */
static arap_status order_children(arap_context *context, orders *o, const arap_symmetry *symmetry,
                                  int pairs, int up, const int *child, int count) {
    arap_status status = ARAP_OK;
    memset(o->kernel, 0, sizeof o->kernel);
    for (int above = up, k = 0; above >= 0 && k < 2 && count; k++) {
        take_numbers(o, above);
        add_kernel(o);
        above = o->skeleton->deform_parent[above];
    }
    for (int k = 0; k < count && !status; k++) {
        order_bone(o, symmetry, pairs, child[k]);
        status = arap_poll_cancel(context);
    }
    return status;
}

arap_status arap_stratify_poses(arap_context *context, const arap_skeleton *skeleton,
                                const arap_symmetry *symmetry, const arap_sampling *sampling,
                                int pairs, double *joint_rotations) {
    arap_arena arena = {0};
    int parts = arap_chunks(pairs, PART), bones = skeleton->deform_count;
    orders *o = ARAP_TAKE(&arena, 1, orders);
    int *start = ARAP_TAKE(&arena, bones + 2, int), *child = ARAP_TAKE(&arena, bones, int);
    int *above = ARAP_TAKE(&arena, bones, int);
    int *point = ARAP_TAKE(&arena, (size_t)bones * PART, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the poses");
    if (status) goto done;
    for (int d = 0; d < bones; d++) above[d] = skeleton->deform_parent[d] + 1; /* 0: a root */
    arap_group(bones, above, NULL, bones + 1, start, child);
    *o = (orders){.skeleton = skeleton, .sampling = sampling, .point = point};
    begin_lattice(sampling->seed, o->begin);
    for (int part = 0; part < parts && !status; part++) {
        o->first = (int)((long long)pairs * part / parts);
        o->count = (int)((long long)pairs * (part + 1) / parts) - o->first;
        o->range.x[1] = NAN; /* no range yet */
        for (int i = -1; i < bones && !status; i++) {
            int up = i < 0 ? -1 : skeleton->order[i];
            status = order_children(context, o, symmetry, pairs, up, child + start[up + 1],
                                    start[up + 2] - start[up + 1]);
        }
        for (int d = 0; d < bones && !status; d++)
            for (int p = 0; p < o->count; p++)
                lattice_point(o, o->first + point[(size_t)d * PART + (size_t)p],
                              joint_rotations +
                                  3 * ((size_t)(o->first + p) * (size_t)skeleton->count +
                                       (size_t)skeleton->deform_bone[d]));
    }

done:
    arap_arena_clear(&arena);
    return status;
}
