/* Products with the quadratic part of the energy: see stiffness.h.
 *
 * With y_c = sum_k s_ik w_kc v_k over the one-ring (4 numbers per bone),
 *     (F w)_ib = v_i^T sum_c G_bc (S_i w_ic v_i - y_c),   S_i = sum_k s_ik,
 * so a vertex takes one Gram product for each pair of an own bone and a bone of the ring. A vertex
 * with many bones takes two products with the poses instead (wide_products.h). The same expression
 * with a_ik instead of s_ik, and with N_i = w_i^T F_ii w_i / S_i, gives
 *     stretch_i = sum_k a_ik N_k - 2 sum_b w_ib v_i^T sum_c G_bc y_c + N_i sum_k a_ik.
 *
 * A spring to x on bone b (bone_springs.h) adds its weight to S_i and its x to y_b, like a neighbor
 * with the weight 1. `out` is then the sum of F w and the pull g of the springs. Let K_i be the sum
 * over poses of s |T_b x|^2, and fixed_i = g w + K_i. Springs and edges then contribute w (F w + g)
 * + fixed to the energy.
 *
 * Bendy bones are represented by the columns of their joints (bendy.h).
 *
 * Spines do not use G_bc. If the problem contains a spine, every vertex is posed at f_i = sum_b
 * w_ib phi_ib in every pose, and
 *     (F w)_ib = sum_poses phi_ib . sum_k s_ik (f_i - f_k),
 *     stretch_i = sum_poses sum_k a_ik |f_k - f_i|^2.
 *
 * See stiffness.h for the cost. Fails on out-of-memory only. */
#include "energy/stiffness.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "base/vec4.h"
#include "energy/wide_products.h"

#define CHUNK (ARAP_WIDE_MOMENTS / 2) /* with two vectors for each vertex */
#define POLL_ABOVE 96 /* influences of a vertex after whose product cancellation is polled */

typedef struct product {
    arap_context *context;
    const arap_mesh *mesh;
    const arap_poses *poses;
    const arap_influences *in;
    const arap_mirror_reuse *mirror_reuse;
    double *out, *stretch, *fixed;
    double *norm;     /* (count) N_i */
    arap_v4 *moments; /* (workers, bones, 2) y with s, y with a */
    int *ring_bones;  /* (workers, bones) */
    char *seen;       /* (workers, bones) */
    arap_wide *wide;  /* of wide rows, or NULL */
    /* With spines, instead of the last four: */
    double *posed; /* (count, poses, 3) f */
    double *pull;  /* (workers, poses, 3) sum_k s_ik (f_i - f_k) of a vertex */
} product;

/* v^T G_bc u. The rows of G_cb, which is G_bc transposed, are the columns of G_bc. */
ARAP_WIDE_PART double gram_form(const arap_poses *poses, int b, int c, arap_v4 v, arap_v4 u) {
    size_t pair = (size_t)c * (size_t)poses->columns + (size_t)b;
    const arap_v4_at *column = (const arap_v4_at *)(poses->gram + 16 * pair);
    return arap_dot4(v, column[0] * u[0] + column[1] * u[1] + column[2] * u[2] + column[3] * u[3]);
}

/* phi_ib: the position to which bone b moves vertex i in a pose. */
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

/* column_product for two columns. */
ARAP_WIDE_PART double column_product(const arap_mesh *mesh, const arap_poses *poses, int k, int b,
                                     int l, int c) {
    if (arap_spine_of(&poses->spines, b) >= 0 || arap_spine_of(&poses->spines, c) >= 0)
        return product_over_poses(mesh, poses, k, b, l, c);
    return gram_form(poses, b, c, arap_point4(mesh->v + 3 * (size_t)k),
                     arap_point4(mesh->v + 3 * (size_t)l));
}

/* arap_gram_block for bones with one column each. */
ARAP_WIDE_PART void plain_block(const arap_mesh *mesh, const arap_poses *poses,
                                const arap_influences *in, int k, int l, double factor,
                                double *block) {
    const arap_v4 v = arap_point4(mesh->v + 3 * (size_t)k);
    const arap_v4 u = arap_point4(mesh->v + 3 * (size_t)l);
    for (size_t p = in->start[k]; p < in->start[k + 1]; p++)
        for (size_t q = in->start[l]; q < in->start[l + 1]; q++)
            *block++ = factor * gram_form(poses, in->bone[p], in->bone[q], v, u);
}

ARAP_WIDE_PART void gram_block_plain(const arap_mesh *mesh, const arap_poses *poses,
                                     const arap_influences *in, int k, int l, double factor,
                                     double *block) {
    if (!poses->bendy.count && !poses->spines.count) {
        plain_block(mesh, poses, in, k, l, factor, block);
        return;
    }
    for (size_t p = in->start[k]; p < in->start[k + 1]; p++) {
        int b[2], c[2];
        double share[2], other[2];
        int count = arap_bone_columns(&poses->bendy, k, in->bone[p], b, share);
        for (size_t q = in->start[l]; q < in->start[l + 1]; q++) {
            int others = arap_bone_columns(&poses->bendy, l, in->bone[q], c, other);
            double sum = 0;
            for (int x = 0; x < count; x++)
                for (int y = 0; y < others; y++)
                    sum += share[x] * other[y] * column_product(mesh, poses, k, b[x], l, c[y]);
            *block++ = factor * sum;
        }
    }
}
ARAP_WIDE(gram_block,
          (const arap_mesh *mesh, const arap_poses *poses, const arap_influences *in, int k, int l,
           double factor, double *block),
          (mesh, poses, in, k, l, factor, block))

void arap_gram_block(const arap_mesh *mesh, const arap_poses *poses, const arap_influences *in,
                     int k, int l, double factor, double *block) {
    gram_block(mesh, poses, in, k, l, factor, block);
}

void arap_moment_block(const arap_poses *poses, const arap_influences *in, int i, const double *m,
                       double *block) {
    for (size_t p = in->start[i]; p < in->start[i + 1]; p++)
        for (size_t q = in->start[i]; q < in->start[i + 1]; q++)
            *block++ = arap_gram_moment(poses, in->bone[p], in->bone[q], m);
}

/* Find the vertices of wide rows in a chunk, which are multiplied together. Returns their
 * number. */
static int find_wide(const product *p, int chunk, int *vertex) {
    const arap_influences *in = p->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count), count = 0;
    for (int i = chunk * CHUNK; i < end && p->wide; i++)
        if (arap_is_wide(p->poses, in->start[i + 1] - in->start[i]) &&
            !arap_is_copied(p->mirror_reuse, i))
            vertex[count++] = i;
    return count;
}

static void name_row(const product *p, int i, int worker) {
    for (size_t e = p->in->start[i]; e < p->in->start[i + 1]; e++)
        arap_wide_name(p->wide, worker, p->in->bone[e]);
}

/* The homogeneous point of vertex i and the product of vector k at bone b. */
ARAP_WIDE_PART double wide_form(const product *p, int worker, int k, int b, arap_v4 v) {
    return arap_dot4(v, *(const arap_v4_at *)arap_wide_product(p->wide, worker, k, b));
}

ARAP_WIDE_PART void norm_wide(const product *p, const int *vertex, int count, int worker) {
    const arap_influences *in = p->in;
    if (!count) return;
    arap_wide_begin(p->wide, worker, count);
    for (int k = 0; k < count; k++) name_row(p, vertex[k], worker);
    arap_wide_start(p->wide, worker);
    for (int k = 0; k < count; k++) {
        arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)vertex[k]);
        for (size_t e = in->start[vertex[k]]; e < in->start[vertex[k] + 1]; e++)
            *(arap_v4_at *)arap_wide_moment(p->wide, worker, k, in->bone[e]) = in->weight[e] * v;
    }
    arap_wide_multiply(p->wide, worker);
    for (int k = 0; k < count; k++) {
        arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)vertex[k]);
        double sum = 0;
        for (size_t e = in->start[vertex[k]]; e < in->start[vertex[k] + 1]; e++)
            sum += in->weight[e] * wide_form(p, worker, k, in->bone[e], v);
        p->norm[vertex[k]] = sum;
    }
}

ARAP_WIDE_PART void norm_chunk_plain(void *data, int chunk, int worker) {
    const product *p = data;
    const arap_influences *in = p->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    int vertex[CHUNK], count = find_wide(p, chunk, vertex);
    norm_wide(p, vertex, count, worker);
    for (int i = chunk * CHUNK, k = 0; i < end; i++) {
        if (k < count && vertex[k] == i) {
            k++;
            continue;
        }
        arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)i);
        double sum = 0;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            for (size_t f = in->start[i]; f <= e; f++) {
                double form = gram_form(p->poses, in->bone[e], in->bone[f], v, v);
                sum += (e == f ? 1 : 2) * in->weight[e] * in->weight[f] * form;
            }
        p->norm[i] = sum;
        if (in->start[i + 1] - in->start[i] > POLL_ABOVE && arap_chunk_stops(p->context, worker))
            return;
    }
}
ARAP_WIDE_TASK(norm_chunk)

/* Sums over the ring of a vertex, in addition to the moments y of each bone. */
typedef struct ring_sums {
    double both, directed, neighbors, fixed;
    int springs;
    const arap_spring *spring;
} ring_sums;

/* Returns the number of bones in the ring. */
ARAP_WIDE_PART int sum_ring(const product *p, int i, arap_v4 *moments, int *ring_bones, char *seen,
                            ring_sums *sums) {
    const arap_mesh *mesh = p->mesh;
    const arap_influences *in = p->in;
    const arap_v4 v = arap_point4(mesh->v + 3 * (size_t)i), none = {0};
    double both = 0, directed = 0, neighbors = 0;
    int count = 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        ring_bones[count++] = in->bone[e];
        seen[in->bone[e]] = 1;
        moments[2 * in->bone[e]] = moments[2 * in->bone[e] + 1] = none;
    }
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        int k = mesh->neighbor[r];
        const arap_v4 u = arap_point4(mesh->v + 3 * (size_t)k);
        double s = mesh->edge_weight_sym[r], a = mesh->edge_weight[r];
        both += s;
        directed += a;
        if (p->stretch) neighbors += a * p->norm[k];
        for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
            arap_v4 *y = moments + 2 * in->bone[e];
            if (!seen[in->bone[e]]) {
                ring_bones[count++] = in->bone[e];
                seen[in->bone[e]] = 1;
                y[0] = y[1] = none;
            }
            y[0] += s * in->weight[e] * u;
            if (p->stretch) y[1] += a * in->weight[e] * u;
        }
    }
    const arap_spring *spring;
    int springs = arap_mesh_springs(mesh, i, &spring);
    double fixed = 0;
    for (int j = 0; j < springs; j++) {
        const arap_v4 point = arap_point4(spring[j].point);
        double w = spring[j].weight;
        both += w;
        directed += w;
        for (int k = 0; k < 2 && spring[j].share[k] > 0; k++) {
            int bone = spring[j].column[k];
            arap_v4 *y = moments + 2 * bone;
            double share = w * spring[j].share[k];
            if (!seen[bone]) {
                ring_bones[count++] = bone;
                seen[bone] = 1;
                y[0] = y[1] = none;
            }
            y[0] += share * point;
            y[1] += share * point;
            for (int l = 0; l < 2 && spring[j].share[l] > 0; l++)
                fixed += share * spring[j].share[l] *
                         gram_form(p->poses, bone, spring[j].column[l], point, point);
        }
    }
    neighbors += fixed;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        moments[2 * in->bone[e]] -= both * in->weight[e] * v;
    for (int c = 0; c < count; c++) seen[ring_bones[c]] = 0;
    *sums = (ring_sums){both, directed, neighbors, fixed, springs, spring};
    return count;
}

/* The contribution of the springs of vertex i to `fixed` through influence e. */
ARAP_WIDE_PART double pull_of_springs(const product *p, size_t e, const ring_sums *sums, arap_v4 v,
                                      double fixed) {
    const arap_influences *in = p->in;
    for (int j = 0; p->fixed && j < sums->springs; j++) {
        const arap_spring *spring = sums->spring + j;
        const arap_v4 point = arap_point4(spring->point);
        for (int k = 0; k < 2 && spring->share[k] > 0; k++)
            fixed -= in->weight[e] * spring->weight * spring->share[k] *
                     gram_form(p->poses, in->bone[e], spring->column[k], v, point);
    }
    return fixed;
}

ARAP_WIDE_PART void take_sums(const product *p, int i, const ring_sums *sums, double cross,
                              double fixed) {
    if (p->stretch) p->stretch[i] = sums->neighbors - 2 * cross + sums->directed * p->norm[i];
    if (p->fixed) p->fixed[i] = fixed;
}

ARAP_WIDE_PART void multiply(const product *p, int i, arap_v4 *moments, int *ring_bones,
                             char *seen) {
    const arap_influences *in = p->in;
    const arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)i);
    ring_sums sums;
    int count = sum_ring(p, i, moments, ring_bones, seen, &sums);
    double cross = 0, fixed = sums.fixed;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
        int b = in->bone[e];
        double sum = 0, mixed = 0;
        for (int c = 0; c < count; c++) {
            const arap_v4 *y = moments + 2 * ring_bones[c];
            sum -= gram_form(p->poses, b, ring_bones[c], v, y[0]);
            if (p->stretch) mixed += gram_form(p->poses, b, ring_bones[c], v, y[1]);
        }
        if (p->out) p->out[e] = sum;
        fixed = pull_of_springs(p, e, &sums, v, fixed);
        cross += in->weight[e] * mixed;
    }
    take_sums(p, i, &sums, cross, fixed);
}

/* The product for wide rows. */
ARAP_WIDE_PART void multiply_wide(const product *p, const int *vertex, int count, int worker,
                                  arap_v4 *moments, int *ring_bones, char *seen) {
    const arap_influences *in = p->in;
    int each = p->stretch ? 2 : 1;
    ring_sums sums[CHUNK];
    if (!count) return;
    arap_wide_begin(p->wide, worker, each * count);
    for (int k = 0; k < count; k++) {
        const arap_spring *spring;
        int i = vertex[k], springs = arap_mesh_springs(p->mesh, i, &spring);
        name_row(p, i, worker);
        for (size_t r = p->mesh->ring[i]; r < p->mesh->ring[i + 1]; r++)
            name_row(p, p->mesh->neighbor[r], worker);
        for (int j = 0; j < springs; j++)
            for (int l = 0; l < 2 && spring[j].share[l] > 0; l++)
                arap_wide_name(p->wide, worker, spring[j].column[l]);
    }
    arap_wide_start(p->wide, worker);
    for (int k = 0; k < count; k++) {
        int bones = sum_ring(p, vertex[k], moments, ring_bones, seen, &sums[k]);
        for (int c = 0; c < bones; c++)
            for (int m = 0; m < each; m++)
                *(arap_v4_at *)arap_wide_moment(p->wide, worker, each * k + m, ring_bones[c]) =
                    moments[2 * ring_bones[c] + m];
    }
    arap_wide_multiply(p->wide, worker);
    for (int k = 0; k < count; k++) {
        int i = vertex[k];
        const arap_v4 v = arap_point4(p->mesh->v + 3 * (size_t)i);
        double cross = 0, fixed = sums[k].fixed;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            int b = in->bone[e];
            if (p->out) p->out[e] = -wide_form(p, worker, each * k, b, v);
            if (p->stretch) cross += in->weight[e] * wide_form(p, worker, 2 * k + 1, b, v);
            fixed = pull_of_springs(p, e, &sums[k], v, fixed);
        }
        take_sums(p, i, &sums[k], cross, fixed);
    }
}

ARAP_WIDE_PART void multiply_chunk_plain(void *data, int chunk, int worker) {
    const product *p = data;
    size_t at = (size_t)worker * arap_apart((size_t)p->poses->columns);
    arap_v4 *moments = p->moments + 2 * at;
    int *ring_bones = p->ring_bones + at;
    int end = arap_chunk_end(chunk, CHUNK, p->in->count);
    int vertex[CHUNK], count = find_wide(p, chunk, vertex);
    multiply_wide(p, vertex, count, worker, moments, ring_bones, p->seen + at);
    for (int i = chunk * CHUNK, k = 0; i < end; i++) {
        if (k < count && vertex[k] == i)
            k++;
        else if (!arap_is_copied(p->mirror_reuse, i)) {
            multiply(p, i, moments, ring_bones, p->seen + at);
            if (p->in->start[i + 1] - p->in->start[i] > POLL_ABOVE &&
                arap_chunk_stops(p->context, worker))
                return;
        }
    }
}
ARAP_WIDE_TASK(multiply_chunk)

static void pose_chunk(void *data, int chunk, int worker) {
    (void)worker;
    const product *p = data;
    const arap_influences *in = p->in;
    int poses = p->poses->count;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
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
    int end = arap_chunk_end(chunk, CHUNK, in->count);
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
    arap_arena arena = {0};
    size_t size = 3 * (size_t)p->poses->count;
    int chunks = arap_chunks(p->in->count, CHUNK);
    p->posed = ARAP_TAKE(&arena, (size_t)p->in->count * size, double);
    p->pull = ARAP_TAKE(&arena, (size_t)context->threads * size, double);
    arap_status status = arap_arena_status(&arena, &context->error, "the energy");
    if (status) goto done;
    status = arap_parallel(context, chunks, pose_chunk, p);
    if (!status) status = arap_parallel(context, chunks, multiply_posed_chunk, p);

done:
    arap_arena_clear(&arena);
    return status;
}

/* For weights of columns. */
static arap_status column_products(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *in,
                                   const arap_mirror_reuse *mirror_reuse, double *out,
                                   double *stretch, double *fixed) {
    arap_arena arena = {0};
    size_t bones = (size_t)context->threads * arap_apart((size_t)poses->columns);
    int chunks = arap_chunks(in->count, CHUNK);
    product p = {.context = context,
                 .mesh = mesh,
                 .poses = poses,
                 .in = in,
                 .mirror_reuse = mirror_reuse,
                 .out = out,
                 .stretch = stretch,
                 .fixed = fixed};
    arap_status status = ARAP_OK;
    if (poses->spines.count) return product_with_spines(context, &p);
    p.norm = ARAP_TAKE(&arena, stretch ? in->count : 0, double);
    p.moments = ARAP_TAKE(&arena, 2 * bones, arap_v4);
    p.ring_bones = ARAP_TAKE(&arena, bones, int);
    p.seen = ARAP_TAKE_ZERO(&arena, bones, char);
    status = arap_arena_status(&arena, &context->error, "the energy");
    if (status) goto done;
    status = arap_wide_create(context, poses, in, &p.wide);
    if (!status && stretch) status = arap_parallel(context, chunks, norm_chunk, &p);
    if (!status) status = arap_parallel(context, chunks, multiply_chunk, &p);
    if (!status && out) arap_mirror_reuse_copy(mirror_reuse, in, out);
    for (int i = 0; i < in->count && !status && fixed; i++)
        if (arap_is_copied(mirror_reuse, i)) fixed[i] = fixed[mirror_reuse->of[i]];

done:
    arap_wide_free(p.wide);
    arap_arena_clear(&arena);
    return status;
}

arap_status arap_stiffness_product(arap_context *context, const arap_mesh *mesh,
                                   const arap_poses *poses, const arap_influences *influences,
                                   const arap_mirror_reuse *mirror_reuse, double *out,
                                   double *stretch, double *fixed) {
    const arap_bendy *bendy = &poses->bendy;
    arap_status status = arap_poses_gram_of(context, mesh, poses, influences);
    if (status || !bendy->count)
        return status ? status
                      : column_products(context, mesh, poses, influences, mirror_reuse, out,
                                        stretch, fixed);
    arap_influences columns = {0};
    double *product = NULL;
    status = arap_bendy_expand(context, bendy, influences, &columns);
    if (status) return status;
    product = ARAP_NEW(double, out ? columns.start[columns.count] : 0);
    status = product ? column_products(context, mesh, poses, &columns, NULL, out ? product : NULL,
                                       stretch, fixed)
                     : arap_fail_memory(&context->error, "the energy");
    if (!status && out) arap_bendy_gather(bendy, influences, product, out);
    arap_free(product);
    arap_influences_clear(&columns);
    return status;
}
