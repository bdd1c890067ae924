/* Anderson acceleration: see anderson.h. After Walker & Ni 2011 and, with the energy as safeguard
 * for local/global solvers, Peng et al. 2018.
 *
 * With residuals f = g(w) - w and differences to the step before, df_j and dg_j,
 *     mixed = g - sum theta_j dg_j,   theta = argmin |f - sum theta_j df_j|
 * over the last `window` differences, found from the normal equations. A small multiple of their
 * trace makes the equations definite. Each step takes O(window size) time. The acceleration stores
 * 2 window + 2 vectors. The differences are in single precision, because they only guide the
 * search.
 *
 * Fails only on out-of-memory. If the equations are singular, no past iterates are mixed. */
#include "linalg/anderson.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define DEFINITE 1e-10

struct arap_anderson {
    size_t size;
    int window;
    int past;         /* number of known differences, at most window */
    int next;         /* place of the next one */
    int has_last;     /* f and g of the previous step are known */
    double *f, *g;    /* (size) of the step before */
    float *df, *dg;   /* (window, size) */
    double *products; /* (window, window) of the df */
    arap_arena arena; /* of these arrays */
};

arap_status arap_anderson_create(arap_context *context, size_t size, int window,
                                 arap_anderson **out) {
    arap_anderson *a = *out = ARAP_NEW_ZERO(arap_anderson, 1);
    if (!a) return arap_fail_memory(&context->error, "the acceleration");
    a->size = size;
    a->window = window;
    a->f = ARAP_TAKE(&a->arena, size, double);
    a->g = ARAP_TAKE(&a->arena, size, double);
    a->df = arap_take(&a->arena, (size_t)window, size * sizeof(float));
    a->dg = arap_take(&a->arena, (size_t)window, size * sizeof(float));
    a->products = ARAP_TAKE_ZERO(&a->arena, window * window, double);
    arap_status status = arap_arena_status(&a->arena, &context->error, "the acceleration");
    if (!status) return ARAP_OK;
    arap_anderson_free(a);
    *out = NULL;
    return status;
}

void arap_anderson_free(arap_anderson *anderson) {
    if (!anderson) return;
    arap_arena_clear(&anderson->arena);
    arap_free(anderson);
}

void arap_anderson_restart(arap_anderson *anderson) {
    anderson->past = anderson->next = anderson->has_last = 0;
}

/* The difference between the current and the previous step replaces the oldest one. */
static void add_difference(arap_anderson *a, const double *w, const double *g,
                           const double *metric) {
    float *df = a->df + (size_t)a->next * a->size, *dg = a->dg + (size_t)a->next * a->size;
    for (size_t i = 0; i < a->size; i++) {
        df[i] = (float)(g[i] - w[i] - a->f[i]);
        dg[i] = metric[i] > 0 ? (float)(g[i] - a->g[i]) : 0;
    }
    if (a->past < a->window) a->past++;
    for (int j = 0; j < a->past; j++) {
        const float *other = a->df + (size_t)j * a->size;
        double sum = 0;
        for (size_t i = 0; i < a->size; i++) sum += metric[i] * df[i] * other[i];
        a->products[a->next * a->window + j] = a->products[j * a->window + a->next] = sum;
    }
    a->next = (a->next + 1) % a->window;
}

/* Solve the n x n normal equations in place by Cholesky. Returns 0 if they are not definite. */
static int solve(int n, int stride, const double *products, double *x) {
    double l[ARAP_MAX_WINDOW][ARAP_MAX_WINDOW], trace = 0;
    for (int i = 0; i < n; i++) trace += products[i * stride + i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = products[i * stride + j] + (i == j ? DEFINITE * trace : 0);
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0)) return 0;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= l[i][k] * x[k];
        x[i] /= l[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= l[k][i] * x[k];
        x[i] /= l[i][i];
    }
    return 1;
}

int arap_anderson_mix(arap_anderson *anderson, const double *w, const double *g,
                      const double *metric, double *mixed) {
    double theta[ARAP_MAX_WINDOW];
    if (anderson->has_last) add_difference(anderson, w, g, metric);
    for (size_t i = 0; i < anderson->size; i++) anderson->f[i] = g[i] - w[i];
    memcpy(anderson->g, g, anderson->size * sizeof *anderson->g);
    anderson->has_last = 1;
    for (int j = 0; j < anderson->past; j++) {
        const float *df = anderson->df + (size_t)j * anderson->size;
        theta[j] = 0;
        for (size_t i = 0; i < anderson->size; i++) theta[j] += metric[i] * df[i] * anderson->f[i];
    }
    memcpy(mixed, g, anderson->size * sizeof *mixed);
    if (!solve(anderson->past, anderson->window, anderson->products, theta)) return 0;
    for (int j = 0; j < anderson->past; j++) {
        const float *dg = anderson->dg + (size_t)j * anderson->size;
        for (size_t i = 0; i < anderson->size; i++) mixed[i] -= theta[j] * dg[i];
    }
    return anderson->past;
}
