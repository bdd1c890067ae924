/* The self-test of OpenBLAS: see blas.h.
 *
 * OpenBLAS selects its kernels for the detected processor, and some snapshots contained kernels
 * that give wrong results for certain matrix sizes (docs/platforms.md). Examples are a
 * factorization of 100 unknowns with the kernels for 256-bit SVE, and products with the kernels for
 * SME. The test runs every routine that we or CHOLMOD call, in every form that we use, on random
 * numbers and odd sizes, and compares the results with plain_blas.h. This takes about 10 Mflop. The
 * test cannot detect a kernel that is wrong only at other sizes. */
#include "linalg/blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/openblas.h"
#include "linalg/plain_blas.h"

#define SIZE 200        /* unknowns of the factorization, and maximum number of rows or columns */
#define TOLERANCE 1e-11 /* share of the largest number */
#define TOLERANCE_SINGLE 1e-4
#define SPOILED 100 /* tolerances */

typedef struct blas_test {
    const char *spoiled;
    double *a, *b, *lower; /* random; `lower` is a well-conditioned triangle, and symmetric */
    double *found, *right;
    double tolerance;
    float *single; /* (3, SIZE, SIZE) a, `lower` and the results */
} blas_test;

static const double one = 1, minus = -1;
static const int step = 1, rows = SIZE;

/* (-1, 1), the same on every machine */
static double next(unsigned long long *state) {
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void fill(blas_test *t) {
    unsigned long long state = 1;
    for (int i = 0; i < SIZE * SIZE; i++) t->a[i] = next(&state);
    for (int i = 0; i < SIZE * SIZE; i++) t->b[i] = next(&state);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i <= j; i++)
            t->lower[i + j * SIZE] = t->lower[j + i * SIZE] =
                i == j ? 20 + next(&state) : next(&state);
}

/* Both results begin as b. */
static void begin(blas_test *t) {
    memcpy(t->found, t->b, SIZE * SIZE * sizeof(double));
    memcpy(t->right, t->b, SIZE * SIZE * sizeof(double));
}

/* Whether the first m of SIZE rows differ in n columns. With `triangle`, only on and below the
 * diagonal. */
static int differ(blas_test *t, const char *routine, int m, int n, int triangle) {
    double max = 0, error = 0;
    if (t->spoiled && strcmp(t->spoiled, routine) == 0)
        t->found[m - 1] *= 1 + SPOILED * t->tolerance;
    for (int j = 0; j < n; j++)
        for (int i = triangle ? j : 0; i < m; i++) {
            double right = t->right[i + j * SIZE], e = fabs(t->found[i + j * SIZE] - right);
            if (!(e <= error)) error = e; /* NaN stays */
            max = fmax(max, fabs(right));
        }
    return !(error <= t->tolerance * max);
}

static int wrong_gemm(blas_test *t) {
    static const char forms[][3] = {"NN", "NC", "NT", "CN", "TN"};
    static const int sizes[][3] = {{5, 7, 3}, {29, 21, 33}, {67, 53, 101}};
    for (int f = 0; f < 5; f++)
        for (int s = 0; s < 3; s++) {
            const char *form = forms[f];
            int m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
            begin(t);
            scipy_dgemm_(form, form + 1, &m, &n, &k, &minus, t->a, &rows, t->lower, &rows, &one,
                         t->found, &rows);
            arap_plain_gemm(form[0], form[1], m, n, k, -1, t->a, SIZE, t->lower, SIZE, 1, t->right,
                            SIZE);
            if (differ(t, "dgemm", m, n, 0)) return 1;
        }
    return 0;
}

static int wrong_syrk(blas_test *t) {
    static const int sizes[][2] = {{6, 5}, {41, 67}, {123, 59}};
    for (int s = 0; s < 3; s++) {
        int n = sizes[s][0], k = sizes[s][1];
        begin(t);
        scipy_dsyrk_("L", "N", &n, &k, &one, t->a, &rows, &one, t->found, &rows);
        arap_plain_syrk(n, k, 1, t->a, SIZE, 1, t->right, SIZE);
        if (differ(t, "dsyrk", n, n, 1)) return 1;
    }
    return 0;
}

static int wrong_trsm(blas_test *t) {
    static const char forms[][3] = {"RC", "RT", "LN", "LC"};
    static const int sizes[][2] = {{7, 5}, {83, 61}};
    for (int f = 0; f < 4; f++)
        for (int s = 0; s < 2; s++) {
            int m = sizes[s][0], n = sizes[s][1];
            begin(t);
            scipy_dtrsm_(forms[f], "L", forms[f] + 1, "N", &m, &n, &one, t->lower, &rows, t->found,
                         &rows);
            arap_plain_trsm(forms[f][0], forms[f][1], m, n, t->lower, SIZE, t->right, SIZE);
            if (differ(t, "dtrsm", m, n, 0)) return 1;
        }
    return 0;
}

static int wrong_gemv(blas_test *t) {
    for (const char *op = "NC"; *op; op++) {
        int m = 173, n = 131, out = *op == 'N' ? m : n, in = m + n - out;
        begin(t);
        scipy_dgemv_(op, &m, &n, &minus, t->a, &rows, t->lower, &step, &one, t->found, &step);
        arap_plain_gemm(*op, 'N', out, 1, in, -1, t->a, SIZE, t->lower, SIZE, 1, t->right, SIZE);
        if (differ(t, "dgemv", out, 1, 0)) return 1;
    }
    return 0;
}

static int wrong_trsv(blas_test *t) {
    for (const char *op = "NC"; *op; op++) {
        int n = 187;
        begin(t);
        scipy_dtrsv_("L", op, "N", &n, t->lower, &rows, t->found, &step);
        arap_plain_trsm('L', *op, n, 1, t->lower, SIZE, t->right, SIZE);
        if (differ(t, "dtrsv", n, 1, 0)) return 1;
    }
    return 0;
}

static void to_single(const double *from, float *to) {
    for (int i = 0; i < SIZE * SIZE; i++) to[i] = (float)from[i];
}

static int differ_single(blas_test *t, const char *routine, int m, int n, int triangle) {
    for (int i = 0; i < SIZE * SIZE; i++) t->found[i] = t->single[2 * SIZE * SIZE + i];
    return differ(t, routine, m, n, triangle);
}

/* The routines that supernodes.c calls in single precision, in the variants used by blas.c. */
static const char *wrong_single(blas_test *t) {
    static const float plus_one = 1, minus_one = -1;
    float *a = t->single, *lower = a + SIZE * SIZE, *found = lower + SIZE * SIZE;
    int m = 67, n = 53, k = 101, info = 0;
    to_single(t->a, a);
    to_single(t->lower, lower);

    begin(t);
    to_single(t->b, found);
    scipy_sgemm_("N", "C", &m, &n, &k, &plus_one, a, &rows, lower, &rows, &plus_one, found, &rows);
    arap_plain_gemm('N', 'C', m, n, k, 1, t->a, SIZE, t->lower, SIZE, 1, t->right, SIZE);
    if (differ_single(t, "sgemm", m, n, 0)) return "sgemm";

    begin(t);
    to_single(t->b, found);
    scipy_ssyrk_("L", "N", &m, &k, &plus_one, a, &rows, &plus_one, found, &rows);
    arap_plain_syrk(m, k, 1, t->a, SIZE, 1, t->right, SIZE);
    if (differ_single(t, "ssyrk", m, m, 1)) return "ssyrk";

    begin(t);
    to_single(t->b, found);
    scipy_strsm_("R", "L", "C", "N", &m, &n, &plus_one, lower, &rows, found, &rows);
    arap_plain_trsm('R', 'C', m, n, t->lower, SIZE, t->right, SIZE);
    if (differ_single(t, "strsm", m, n, 0)) return "strsm";

    for (const char *op = "NT"; *op; op++) {
        int out = *op == 'N' ? k : n, in = k + n - out;
        begin(t);
        to_single(t->b, found);
        scipy_sgemv_(op, &k, &n, &minus_one, a, &rows, lower, &step, &plus_one, found, &step);
        arap_plain_gemm(*op, 'N', out, 1, in, -1, t->a, SIZE, t->lower, SIZE, 1, t->right, SIZE);
        if (differ_single(t, "sgemv", out, 1, 0)) return "sgemv";

        begin(t);
        to_single(t->b, found);
        scipy_strsv_("L", op, "N", &k, lower, &rows, found, &step);
        arap_plain_trsm('L', *op, k, 1, t->lower, SIZE, t->right, SIZE);
        if (differ_single(t, "strsv", k, 1, 0)) return "strsv";
    }

    memcpy(found, lower, SIZE * SIZE * sizeof *found);
    memcpy(t->right, t->lower, SIZE * SIZE * sizeof(double));
    scipy_spotrf_("L", &rows, found, &rows, &info, 1);
    if (info || arap_plain_potrf(SIZE, t->right, SIZE)) return "spotrf";
    return differ_single(t, "spotrf", SIZE, SIZE, 1) ? "spotrf" : NULL;
}

/* A small factorization, one that takes LAPACK's recursion, and a solve with it. */
static const char *wrong_cholesky(blas_test *t) {
    static const int sizes[] = {37, SIZE};
    int info = 0, count = 3;
    for (int s = 0; s < 2; s++) {
        int n = sizes[s];
        memcpy(t->found, t->lower, SIZE * SIZE * sizeof(double));
        memcpy(t->right, t->lower, SIZE * SIZE * sizeof(double));
        scipy_dpotrf_("L", &n, t->found, &rows, &info, 1);
        if (info || arap_plain_potrf(n, t->right, SIZE) || differ(t, "dpotrf", n, n, 1))
            return "dpotrf";
    }
    memcpy(t->a, t->right, SIZE * SIZE * sizeof(double)); /* the factor; a is no longer needed */
    begin(t);
    scipy_dpotrs_("L", &rows, &count, t->a, &rows, t->found, &rows, &info, 1);
    arap_plain_trsm('L', 'N', SIZE, count, t->a, SIZE, t->right, SIZE);
    arap_plain_trsm('L', 'T', SIZE, count, t->a, SIZE, t->right, SIZE);
    return info || differ(t, "dpotrs", SIZE, count, 0) ? "dpotrs" : NULL;
}

const char *arap_blas_wrong(const char *spoiled) {
    blas_test t = {.spoiled = spoiled, .tolerance = TOLERANCE_SINGLE};
    double *all = ARAP_NEW(double, 5 * SIZE * SIZE);
    t.single = ARAP_NEW(float, 3 * SIZE * SIZE);
    if (!all || !t.single) {
        arap_free(all);
        arap_free(t.single);
        return "memory";
    }
    double **parts[] = {&t.a, &t.b, &t.lower, &t.found, &t.right};
    for (int i = 0; i < 5; i++) *parts[i] = all + (size_t)i * SIZE * SIZE;
    fill(&t);
    const char *wrong = wrong_single(&t);
    t.tolerance = TOLERANCE;
    if (!wrong)
        wrong = wrong_gemm(&t)   ? "dgemm"
                : wrong_syrk(&t) ? "dsyrk"
                : wrong_trsm(&t) ? "dtrsm"
                : wrong_gemv(&t) ? "dgemv"
                : wrong_trsv(&t) ? "dtrsv"
                                 : wrong_cholesky(&t);
    arap_free(t.single);
    arap_free(all);
    return wrong;
}
