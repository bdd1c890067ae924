/* Products with Gram matrices for wide rows: see wide_products.h.
 *
 * G_bc = A_b^T A_c, where A_b (3 poses, 4) contains the transforms of bone b in all poses, each
 * scaled by the weight of the pose. Therefore, p_b = sum_c G_bc m_c = A_b^T z with z = sum_c A_c
 * m_c. For n bones and P poses, this takes 24 n P multiplications instead of 16 n^2, in two BLAS
 * products for a few vertices at once. The products read n P numbers instead of the n^2 matrices,
 * which take 128 MB for a thousand bones. Poses are processed in blocks whose transforms stay in
 * the cache, with a poll for cancellation between blocks. The rounding errors differ from those
 * with G_bc, so this method is not used for rows of fewer than WIDE influences, which include all
 * rows of typical characters.
 *
 * Each thread needs 32 numbers for each pose of a block and column, and as many for each pose and
 * vector. Fails on out-of-memory only. */
#include "energy/wide_products.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"

#define WIDE 192 /* influences of a row */
#define BLOCK 64 /* poses */
#define ROWS (3 * BLOCK)

/* Work space of one thread. */
typedef struct wide_place {
    int count, moments;       /* named bones; vectors */
    int *where, *bone;        /* (columns) index among the named columns, or -1; and the named
                                 columns */
    double *stack;            /* (ROWS, 4 count) A of the named bones */
    double *moment, *product; /* (moments, 4 count) */
    double *posed;            /* (moments, ROWS) z */
} wide_place;

struct arap_wide {
    arap_context *context;
    const arap_poses *poses;
    wide_place *place;
    arap_arena arena; /* of the places and their arrays */
};

int arap_is_wide(const arap_poses *poses, size_t influences) {
    return influences >= WIDE && 2 * influences >= 3 * (size_t)poses->count && !poses->spines.count;
}

void arap_wide_free(arap_wide *wide) {
    if (!wide) return;
    arap_arena_clear(&wide->arena);
    arap_free(wide);
}

arap_status arap_wide_create(arap_context *context, const arap_poses *poses,
                             const arap_influences *in, arap_wide **out) {
    size_t columns = (size_t)poses->columns;
    int any = 0;
    *out = NULL;
    for (int i = 0; i < in->count && !any; i++)
        any = arap_is_wide(poses, in->start[i + 1] - in->start[i]);
    if (!any) return ARAP_OK;
    arap_wide *w = ARAP_NEW_ZERO(arap_wide, 1);
    if (!w) return arap_fail_memory(&context->error, "the energy");
    *w = (arap_wide){.context = context, .poses = poses};
    w->place = ARAP_TAKE_ZERO(&w->arena, context->threads, wide_place);
    for (int t = 0; t < context->threads && w->place; t++) {
        wide_place *p = &w->place[t];
        p->where = ARAP_TAKE(&w->arena, columns, int);
        p->bone = ARAP_TAKE(&w->arena, columns, int);
        p->stack = ARAP_TAKE(&w->arena, 4 * ROWS * columns, double);
        p->moment = ARAP_TAKE(&w->arena, 4 * ARAP_WIDE_MOMENTS * columns, double);
        p->product = ARAP_TAKE(&w->arena, 4 * ARAP_WIDE_MOMENTS * columns, double);
        p->posed = ARAP_TAKE(&w->arena, ARAP_WIDE_MOMENTS * ROWS, double);
        for (size_t b = 0; b < columns && p->where; b++) p->where[b] = -1;
    }
    arap_status status = arap_arena_status(&w->arena, &context->error, "the energy");
    if (status)
        arap_wide_free(w);
    else
        *out = w;
    return status;
}

void arap_wide_begin(arap_wide *wide, int worker, int moments) {
    wide_place *p = &wide->place[worker];
    for (int k = 0; k < p->count; k++) p->where[p->bone[k]] = -1;
    p->count = 0;
    p->moments = moments;
}

void arap_wide_name(arap_wide *wide, int worker, int bone) {
    wide_place *p = &wide->place[worker];
    if (p->where[bone] >= 0) return;
    p->where[bone] = p->count;
    p->bone[p->count++] = bone;
}

void arap_wide_start(arap_wide *wide, int worker) {
    wide_place *p = &wide->place[worker];
    memset(p->moment, 0, 4 * (size_t)p->moments * (size_t)p->count * sizeof *p->moment);
}

static size_t at(const wide_place *p, int k, int bone) {
    return 4 * ((size_t)k * (size_t)p->count + (size_t)p->where[bone]);
}

double *arap_wide_moment(arap_wide *wide, int worker, int k, int bone) {
    wide_place *p = &wide->place[worker];
    return p->moment + at(p, k, bone);
}

const double *arap_wide_product(const arap_wide *wide, int worker, int k, int bone) {
    const wide_place *p = &wide->place[worker];
    return p->product + at(p, k, bone);
}

/* Collect A of the named bones for the poses first to end - 1. */
static void fill_stack(const arap_poses *poses, int first, int end, wide_place *p) {
    double *to = p->stack;
    for (int pose = first; pose < end; pose++) {
        double root = sqrt(arap_pose_weight(poses, pose));
        const double *from = poses->transform + 12 * (size_t)pose * (size_t)poses->columns;
        for (int r = 0; r < 3; r++)
            for (int b = 0; b < p->count; b++, to += 4) {
                memcpy(to, from + 12 * (size_t)p->bone[b] + 4 * r, 4 * sizeof *to);
                for (int k = 0; root != 1 && k < 4; k++) to[k] *= root;
            }
    }
}

void arap_wide_multiply(arap_wide *wide, int worker) {
    wide_place *p = &wide->place[worker];
    const arap_poses *poses = wide->poses;
    int width = 4 * p->count;
    memset(p->product, 0, (size_t)p->moments * (size_t)width * sizeof *p->product);
    for (int first = 0; first < poses->count; first += BLOCK) {
        int end = first + BLOCK < poses->count ? first + BLOCK : poses->count;
        int rows = 3 * (end - first);
        fill_stack(poses, first, end, p);
        memset(p->posed, 0, (size_t)p->moments * (size_t)rows * sizeof *p->posed);
        arap_add_product_of_rows(p->moments, width, rows, p->moment, p->stack, p->posed);
        arap_add_product(p->moments, rows, width, p->posed, p->stack, p->product);
        if (arap_chunk_stops(wide->context, worker)) return;
    }
}
