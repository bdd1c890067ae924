/* Products with the quadratic part of the energy: see stiffness.h.
 *
 * With y_c = sum_k s_ik w_kc v_k over the one-ring (4 numbers per bone),
 *     (F w)_ib = v_i^T sum_c G_bc (S_i w_ic v_i - y_c),   S_i = sum_k s_ik,
 * so a vertex costs one Gram product per pair of (own bone, bone of the ring). The same with
 * a_ik for s_ik, and N_i = w_i^T F_ii w_i / S_i, gives
 *     stretch_i = sum_k a_ik N_k - 2 sum_b w_ib v_i^T sum_c G_bc y_c + N_i sum_k a_ik.
 *
 * A spoke to x on bone b (truss.h) adds its weight to S_i and its x to y_b, as a neighbor with the
 * weight 1 would; out is then F w and the pull g of the spokes together. fixed_i is g w + K_i, K_i
 * the sum over poses of s |T_b x|^2: w (F w + g) + fixed is what spokes and edges add to the
 * energy.
 *
 * Bendy bones take part with the columns of their joints (bendy.h).
 *
 * Spines do not go through G_bc. With one in the problem, all vertices are posed, f_i = sum_b w_ib
 * phi_ib in every pose, and
 *     (F w)_ib = sum_poses phi_ib . sum_k s_ik (f_i - f_k),
 *     stretch_i = sum_poses sum_k a_ik |f_k - f_i|^2.
 *
 * The cost is in stiffness.h. Fails without memory only. */
#include "energy/stiffness.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

#define CHUNK 128

typedef struct product {
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    double *out, *stretch, *fixed;
    double *norm;    /* (count) N_i */
    double *moments; /* (workers, bones, 8) y with s, then y with a */
    int *ring_bones; /* (workers, bones) */
    char *seen;      /* (workers, bones) */
    /* With spines, in place of the last four: */
    double *posed; /* (count, poses, 3) f */
    double *pull;  /* (workers, poses, 3) sum_k s_ik (f_i - f_k) of a vertex */
} product;

/* v^T G u for homogeneous v and any 4-vector u. */
static double gram_form(const double *g, const double *v, const double *u) {
    double sum = 0;
    for (int r = 0; r < 4; r++) {
        double row =
            g[4 * r] * u[0] + g[4 * r + 1] * u[1] + g[4 * r + 2] * u[2] + g[4 * r + 3] * u[3];
        sum += r < 3 ? v[r] * row : row;
    }
    return sum;
}

/* phi_ib: where bone b takes vertex i in a pose. */
static inline void pose_point(const arap_mesh *mesh, const arap_poses *poses, int i, int b,
                              int pose, double *out) {
    const arap_spines *spines = &poses->spines;
    int spine = arap_spine_of(spines, b);
    if (spine >= 0) {
        memcpy(out, arap_spine_points(spines, poses->count, i, spine) + 3 * pose,
               3 * sizeof(double));
        return;
    }
    const double *v = mesh->v + 3 * (size_t)i;
    const double *t = poses->transform + 12 * ((size_t)pose * (size_t)poses->columns + (size_t)b);
    for (int r = 0; r < 3; r++) out[r] = arap_dot(t + 4 * r, v) + t[4 * r + 3];
}

/* sum over poses of phi_kb . phi_lc, times its weight */
static double product_over_poses(const arap_mesh *mesh, const arap_poses *poses, int k, int b,
                                 int l, int c) {
    double sum = 0, x[3], y[3];
    for (int p = 0; p < poses->count; p++) {
        pose_point(mesh, poses, k, b, p, x);
        pose_point(mesh, poses, l, c, p, y);
        sum += arap_pose_weight(poses, p) * arap_dot(x, y);
    }
    return sum;
}

/* The same of two columns; u: vertex l, homogeneous. */
static inline double column_product(const arap_mesh *mesh, const arap_poses *poses, int k, int b,
                                    int l, int c, const double *u) {
    size_t pair = (size_t)b * (size_t)poses->columns + (size_t)c;
    if (arap_spine_of(&poses->spines, b) >= 0 || arap_spine_of(&poses->spines, c) >= 0)
        return product_over_poses(mesh, poses, k, b, l, c);
    return gram_form(poses->gram + 16 * pair, mesh->v + 3 * (size_t)k, u);
}

void arap_gram_block(const arap_mesh *mesh, const arap_poses *poses, const arap_influences *in,
                     int k, int l, double factor, double *block) {
    const double *vl = mesh->v + 3 * (size_t)l;
    double u[4] = {vl[0], vl[1], vl[2], 1};
    for (size_t p = in->start[k]; p < in->start[k + 1]; p++) {
        int b[2], c[2];
        double share[2], other[2];
        int count = arap_bone_columns(&poses->bendy, k, in->bone[p], b, share);
        for (size_t q = in->start[l]; q < in->start[l + 1]; q++) {
            int others = arap_bone_columns(&poses->bendy, l, in->bone[q], c, other);
            double sum = 0;
            for (int x = 0; x < count; x++)
                for (int y = 0; y < others; y++)
                    sum += share[x] * other[y] * column_product(mesh, poses, k, b[x], l, c[y], u);
            *block++ = factor * sum;
        }
    }
}

static void norm_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const product *p = data;
    const arap_influences *in = p->in;
    int end = (chunk + 1) * CHUNK < in->count ? (chunk + 1) * CHUNK : in->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *vi = p->mesh->v + 3 * (size_t)i;
        double v[4] = {vi[0], vi[1], vi[2], 1}, sum = 0;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            for (size_t f = in->start[i]; f <= e; f++) {
                size_t pair = (size_t)in->bone[e] * (size_t)p->poses->columns + (size_t)in->bone[f];
                double form = gram_form(p->poses->gram + 16 * pair, vi, v);
                sum += (e == f ? 1 : 2) * in->weight[e] * in->weight[f] * form;
            }
        p->norm[i] = sum;
    }
}

static void multiply(const product *p, int i, double *moments, int *ring_bones, char *seen) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const double *vi = mesh->v + 3 * (size_t)i;
    double both = 0, directed = 0, neighbors = 0, cross = 0;
    int count = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        ring_bones[count++] = in->bone[e];
        seen[in->bone[e]] = 1;
        memset(moments + 8 * in->bone[e], 0, 8 * sizeof(double));
    }
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const double *vk = mesh->v + 3 * (size_t)k;
        double s = mesh->edge_weight_sym[r], a = mesh->edge_weight[r];
        both += s;
        directed += a;
        if (p->stretch) neighbors += a * p->norm[k];
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
            double *y = moments + 8 * in->bone[e], sw = s * in->weight[e], aw = a * in->weight[e];
            if (!seen[in->bone[e]]) {
                ring_bones[count++] = in->bone[e];
                seen[in->bone[e]] = 1;
                memset(y, 0, 8 * sizeof(double));
            }
            for (int c = 0; c < 3; c++) {
                y[c] += sw * vk[c];
                y[4 + c] += aw * vk[c];
            }
            y[3] += sw;
            y[7] += aw;
        }
    }
    const arap_spoke *spoke;
    int spokes = arap_mesh_spokes(mesh, i, &spoke);
    double fixed = 0;
    for (int j = 0; j < spokes; j++) {
        double point[4] = {spoke[j].point[0], spoke[j].point[1], spoke[j].point[2], 1};
        double w = spoke[j].weight;
        both += w;
        directed += w;
        for (int k = 0; k < 2 && spoke[j].share[k] > 0; k++) {
            int bone = spoke[j].column[k];
            double *y = moments + 8 * bone, share = w * spoke[j].share[k];
            if (!seen[bone]) {
                ring_bones[count++] = bone;
                seen[bone] = 1;
                memset(y, 0, 8 * sizeof(double));
            }
            for (int c = 0; c < 4; c++) {
                y[c] += share * point[c];
                y[4 + c] += share * point[c];
            }
            for (int l = 0; l < 2 && spoke[j].share[l] > 0; l++) {
                size_t pair = (size_t)bone * (size_t)p->poses->columns + (size_t)spoke[j].column[l];
                fixed +=
                    share * spoke[j].share[l] * gram_form(p->poses->gram + 16 * pair, point, point);
            }
        }
    }
    neighbors += fixed;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        double *y = moments + 8 * in->bone[e], own = both * in->weight[e];
        for (int c = 0; c < 3; c++) y[c] -= own * vi[c];
        y[3] -= own;
    }
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        const double *row = p->poses->gram + 16 * (size_t)in->bone[e] * (size_t)p->poses->columns;
        double sum = 0, mixed = 0;
        for (int c = 0; c < count; c++) {
            const double *g = row + 16 * ring_bones[c], *y = moments + 8 * ring_bones[c];
            sum -= gram_form(g, vi, y);
            if (p->stretch) mixed += gram_form(g, vi, y + 4);
        }
        if (p->out) p->out[e] = sum;
        for (int j = 0; p->fixed && j < spokes; j++) {
            double point[4] = {spoke[j].point[0], spoke[j].point[1], spoke[j].point[2], 1};
            for (int k = 0; k < 2 && spoke[j].share[k] > 0; k++)
                fixed -= in->weight[e] * spoke[j].weight * spoke[j].share[k] *
                         gram_form(row + 16 * spoke[j].column[k], vi, point);
        }
        cross += in->weight[e] * mixed;
    }
    if (p->stretch) p->stretch[i] = neighbors - 2 * cross + directed * p->norm[i];
    if (p->fixed) p->fixed[i] = fixed;
    for (int c = 0; c < count; c++) seen[ring_bones[c]] = 0;
}

static void multiply_chunk(void *data, int chunk, int worker) {
    const product *p = data;
    size_t bones = (size_t)p->poses->columns, at = (size_t)worker * bones;
    int end = (chunk + 1) * CHUNK < p->in->count ? (chunk + 1) * CHUNK : p->in->count;
    for (int i = chunk * CHUNK; i < end; i++)
        multiply(p, i, p->moments + 8 * at, p->ring_bones + at, p->seen + at);
}

static void pose_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const product *p = data;
    const arap_influences *in = p->in;
    int poses = p->poses->count;
    int end = (chunk + 1) * CHUNK < in->count ? (chunk + 1) * CHUNK : in->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        double *f = p->posed + 3 * (size_t)i * (size_t)poses, point[3];
        memset(f, 0, 3 * (size_t)poses * sizeof *f);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            for (int k = 0; k < poses; k++) {
                pose_point(p->mesh, p->poses, i, in->bone[e], k, point);
                for (int c = 0; c < 3; c++) f[3 * k + c] += in->weight[e] * point[c];
            }
    }
}

static void multiply_posed_chunk(void *data, int chunk, int worker) {
    const product *p = data;
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    size_t size = 3 * (size_t)p->poses->count;
    const double *pose_weight = p->poses->weight;
    double *pull = p->pull + (size_t)worker * size, point[3];
    int end = (chunk + 1) * CHUNK < in->count ? (chunk + 1) * CHUNK : in->count;
    for (int i = chunk * CHUNK; i < end; i++) {
        const double *own = p->posed + (size_t)i * size;
        double stretch = 0;
        memset(pull, 0, size * sizeof *pull);
        for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
            const double *other = p->posed + (size_t)mesh->neighbor[r] * size;
            double length2 = 0;
            for (size_t c = 0; c < size; c++) {
                double d = own[c] - other[c];
                pull[c] += mesh->edge_weight_sym[r] * d;
                length2 += (pose_weight ? pose_weight[c / 3] : 1) * (d * d);
            }
            stretch += mesh->edge_weight[r] * length2;
        }
        if (p->stretch) p->stretch[i] = stretch;
        for (size_t e = in->start[i]; p->out && e < in->start[i + 1]; e++) {
            p->out[e] = 0;
            for (int k = 0; k < p->poses->count; k++) {
                pose_point(mesh, p->poses, i, in->bone[e], k, point);
                p->out[e] += arap_pose_weight(p->poses, k) * arap_dot(point, pull + 3 * k);
            }
        }
    }
}

static arap_status product_with_spines(arap_context *context, product *p) {
    size_t size = 3 * (size_t)p->poses->count;
    int chunks = (p->in->count + CHUNK - 1) / CHUNK;
    arap_status status = ARAP_OK;
    p->posed = ARAP_NEW(double, (size_t)p->in->count * size);
    p->pull = ARAP_NEW(double, (size_t)context->threads * size);
    if (!p->posed || !p->pull) {
        status = arap_fail_memory(&context->error, "the energy");
        goto done;
    }
    arap_parallel(context, chunks, pose_chunk, p);
    arap_parallel(context, chunks, multiply_posed_chunk, p);

done:
    arap_free(p->posed);
    arap_free(p->pull);
    return status;
}

/* Of weights of columns. */
static arap_status column_products(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in, double *out,
                                   double *stretch, double *fixed) {
    size_t bones = (size_t)context->threads * (size_t)poses->columns;
    int chunks = (in->count + CHUNK - 1) / CHUNK;
    product p = {
        .mesh = mesh, .poses = poses, .in = in, .out = out, .stretch = stretch, .fixed = fixed};
    arap_status status = ARAP_OK;
    if (poses->spines.count) return product_with_spines(context, &p);
    p.norm = ARAP_NEW(double, stretch ? in->count : 0);
    p.moments = ARAP_NEW(double, 8 * bones);
    p.ring_bones = ARAP_NEW(int, bones);
    p.seen = ARAP_NEW_ZERO(char, bones);
    if (!p.norm || !p.moments || !p.ring_bones || !p.seen) {
        status = arap_fail_memory(&context->error, "the energy");
        goto done;
    }
    if (stretch) arap_parallel(context, chunks, norm_chunk, &p);
    arap_parallel(context, chunks, multiply_chunk, &p);

done:
    arap_free(p.norm);
    arap_free(p.moments);
    arap_free(p.ring_bones);
    arap_free(p.seen);
    return status;
}

arap_status arap_stiffness_product(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in, double *out,
                                   double *stretch, double *fixed) {
    const arap_bendy *bendy = &poses->bendy;
    if (!bendy->count) return column_products(context, mesh, poses, in, out, stretch, fixed);
    arap_influences columns = {0};
    double *product = NULL;
    arap_status status = arap_bendy_expand(context, bendy, in, &columns);
    if (status) return status;
    product = ARAP_NEW(double, out ? columns.start[columns.count] : 0);
    status = product ? column_products(context, mesh, poses, &columns, out ? product : NULL,
                                       stretch, fixed)
                     : arap_fail_memory(&context->error, "the energy");
    if (!status && out) arap_bendy_gather(bendy, in, product, out);
    arap_free(product);
    arap_influences_clear(&columns);
    return status;
}
