/* Plain loops for BLAS: see plain_blas.h. The routines take O(m n k), O(n^2 k), O(m^2 n) or O(m
 * n^2), and O(n^3 / 3). Their inner loops run down columns, which compilers vectorize. The routines
 * never fail and allocate nothing. */
#include "linalg/plain_blas.h"

#include <math.h>
#include <stddef.h>

static double dot(int n, const double *restrict a, const double *restrict b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* y += s x */
static void add(int n, double s, const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++) y[i] += s * x[i];
}

static void scale(int n, double s, double *x) {
    for (int i = 0; i < n; i++) x[i] = s == 0 ? 0 : s * x[i];
}

void arap_plain_gemm(char op_a, char op_b, int m, int n, int k, double alpha, const double *a,
                     int lda, const double *b, int ldb, double beta, double *c, int ldc) {
    for (int j = 0; j < n; j++) {
        double *column = c + (size_t)j * (size_t)ldc;
        scale(m, beta, column);
        for (int p = 0; p < k && op_a == 'N'; p++)
            add(m, alpha * (op_b == 'N' ? b[p + (size_t)j * ldb] : b[j + (size_t)p * ldb]),
                a + (size_t)p * lda, column);
        for (int i = 0; i < m && op_a != 'N'; i++) {
            const double *row = a + (size_t)i * lda;
            double sum = 0;
            if (op_b == 'N')
                sum = dot(k, row, b + (size_t)j * ldb);
            else
                for (int p = 0; p < k; p++) sum += row[p] * b[j + (size_t)p * ldb];
            column[i] += alpha * sum;
        }
    }
}

void arap_plain_syrk(int n, int k, double alpha, const double *a, int lda, double beta, double *c,
                     int ldc) {
    for (int j = 0; j < n; j++) {
        double *column = c + (size_t)j * (size_t)ldc + j;
        scale(n - j, beta, column);
        for (int p = 0; p < k; p++) {
            const double *of_a = a + (size_t)p * lda + j;
            add(n - j, alpha * of_a[0], of_a, column);
        }
    }
}

/* Solve for one right-hand side with L on its left. */
static void solve(char op, int m, const double *l, int ldl, double *x) {
    for (int k = 0; k < m && op == 'N'; k++) {
        const double *column = l + (size_t)k * ldl + k;
        x[k] /= column[0];
        add(m - k - 1, -x[k], column + 1, x + k + 1);
    }
    for (int k = m - 1; k >= 0 && op != 'N'; k--) {
        const double *column = l + (size_t)k * ldl + k;
        x[k] = (x[k] - dot(m - k - 1, column + 1, x + k + 1)) / column[0];
    }
}

void arap_plain_trsm(char side, char op, int m, int n, const double *l, int ldl, double *b,
                     int ldb) {
    for (int j = 0; j < n && side == 'L'; j++) solve(op, m, l, ldl, b + (size_t)j * ldb);
    if (side == 'L') return;
    /* X L' = B processes columns forward, X L = B backward. */
    for (int step = 0; step < n; step++) {
        int j = op == 'N' ? n - 1 - step : step;
        double *column = b + (size_t)j * ldb;
        for (int done = 0; done < step; done++) {
            int k = op == 'N' ? n - 1 - done : done;
            double of_l = op == 'N' ? l[k + (size_t)j * ldl] : l[j + (size_t)k * ldl];
            add(m, -of_l, b + (size_t)k * ldb, column);
        }
        scale(m, 1 / l[j + (size_t)j * ldl], column);
    }
}

int arap_plain_potrf(int n, double *a, int lda) {
    for (int j = 0; j < n; j++) {
        double *column = a + (size_t)j * lda + j;
        for (int p = 0; p < j; p++) {
            const double *before = a + (size_t)p * lda + j;
            add(n - j, -before[0], before, column);
        }
        if (!(column[0] > 0)) return j + 1;
        column[0] = sqrt(column[0]);
        scale(n - j - 1, 1 / column[0], column + 1);
    }
    return 0;
}
