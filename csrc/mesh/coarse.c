/* A coarser mesh: see coarse.h.
 *
 * Clusters are aggregates as in algebraic multigrid (Vanek et al. 1996): the vertices are visited
 * one after another, and each vertex that is still free takes its nearest free neighbors, up to
 * MAXIMUM vertices in total. The caller specifies the order (solver/visits.c). The order of each
 * part is traversed in strides of about the golden section of its length to prevent stripes of
 * clusters. Parts with mirror partners in each other are traversed together. The clusters of a part
 * therefore do not depend on other objects.
 * Ties between equally near neighbors go to the first in the visiting order, so the result does not
 * depend on vertex numbering. The clusters of a finer level are already scattered, so they are not
 * visited in strides. They are visited from the last to the first, because the last ones are the
 * smallest and should grow. With strides, a single additional cluster would change the whole order,
 * and with it all coarser levels. A mesh of triangles keeps about a third of its vertices, dense
 * regions stay dense, parts stay apart, and mirror partners belong to clusters that are also mirror
 * partners. Parts of fewer than MINIMUM vertices keep all vertices, because coarsening would remove
 * their faces. If thousands of such parts make up most of the mesh, parts with at least
 * FEW vertices are also coarsened, because otherwise every visit would process all of
 * their vertices. A triangle with two remaining corners becomes an edge. Even smaller parts are not
 * coarsened, because too few edges would hold them together and their weights would deteriorate. A
 * triangle between three clusters becomes a triangle of the coarse mesh. A tet becomes a tet if its
 * corners lie in four clusters, a triangle in three, and an edge in two. A thin volume therefore
 * becomes a sheet or a wire instead of coming apart. A cluster is either on the surface of a volume
 * or inside, so that the volume keeps its shape. Coarsening takes O(edges), and prolonging weights
 * takes O(edges x influences), both on all threads. Fails only on out-of-memory. */
#include "mesh/coarse.h"

#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/sort.h"
#include "base/vec3.h"

#define MINIMUM 32 /* minimum number of vertices in a part that is made coarser, */
#define FEW 12     /* or that of a small part if these dominate a mesh */
#define MANY 8192  /* minimum number of vertices of all small parts if these dominate a mesh */
#define MAXIMUM 4  /* vertices of a cluster */
/* share of a squared length below which differences count as ties, as on regular meshes */
#define ROUNDING 1e-4
#define CHUNK 256 /* vertices of a task */

static int joins(const arap_mesh *mesh, size_t e) {
    return mesh->kind[e] == ARAP_EDGE_FACE || mesh->kind[e] == ARAP_EDGE_WIRE;
}

typedef struct clustering {
    const arap_mesh *mesh;
    const int *group, *partner;
    const int *order;    /* (vertices) from the first visited vertex to the last */
    const int *rank;     /* (vertices) position in the caller's order, which decides ties */
    const char *whole;   /* (parts) keep their vertices */
    const char *surface; /* (vertices) on the surface of the tets */
    int *cluster;        /* (vertices) -1: free */
} clustering;

static int partner_of(const clustering *c, int i) { return c->partner ? c->partner[i] : -1; }

/* Whether k may join the cluster growing from i, and k's partner that of i's partner. */
static int may_join(const clustering *c, int i, int k) {
    int image = partner_of(c, k);
    if (c->cluster[k] >= 0 || c->group[k] != c->group[i] || c->surface[k] != c->surface[i])
        return 0;
    if (partner_of(c, i) < 0 || image < 0) return 1;
    return image == k ? partner_of(c, i) == i : c->cluster[image] < 0;
}

/* The nearest neighbor of vertex i among those that may join it, or -1. */
static int nearest_free(const clustering *c, int i) {
    const arap_mesh *mesh = c->mesh;
    double min = INFINITY;
    int best = -1;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        int k = mesh->neighbor[e];
        double length2 = arap_distance2(mesh->v + 3 * (size_t)i, mesh->v + 3 * (size_t)k);
        if (!joins(mesh, e) || !may_join(c, i, k) || length2 > (1 + ROUNDING) * min) continue;
        if (length2 >= (1 - ROUNDING) * min && c->rank[k] > c->rank[best]) continue;
        min = fmin(min, length2);
        best = k;
    }
    return best;
}

/* A stride that visits all of n vertices, each far from the previous ones: the largest number below
 * the golden section of n that is coprime to n. */
static int stride_of(int n) {
    int stride = (int)(0.6180339887 * n);
    for (; stride > 1; stride--) {
        int a = n, b = stride;
        while (b) {
            int rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) break;
    }
    return stride > 0 ? stride : 1;
}

/* Order the vertices part by part, in strides through the given order of each part. set (parts),
 * start (parts + 1), grouped (vertices): scratch. */
static void scatter(const arap_mesh *mesh, const int *partner, const int *visit, int *set,
                    int *start, int *grouped, int *order) {
    int n = mesh->count;
    for (int p = 0; p < mesh->part_count; p++) set[p] = p;
    for (int i = 0; i < n && partner; i++)
        if (partner[i] >= 0) arap_unite(set, mesh->part[i], mesh->part[partner[i]]);
    for (int i = 0; i < n; i++) order[i] = arap_find_root(set, mesh->part[i]); /* for now */
    arap_group(n, order, visit, mesh->part_count, start, grouped);
    for (int p = 0; p < mesh->part_count; p++) {
        int first = start[p], own = start[p + 1] - first, stride = stride_of(own);
        for (int k = 0, place = 0; k < own; k++, place = (int)((place + (long long)stride) % own))
            order[first + k] = grouped[first + place];
    }
}

/* Prefetch the memory that a later vertex will read, because this memory is far away and reading it
 * would stall. */
static void fetch(const clustering *c, int k) {
    const arap_mesh *mesh = c->mesh;
    if (k + 8 >= mesh->count) return;
    int far = c->order[k + 8], near = c->order[k + 4], next = c->order[k + 2];
    __builtin_prefetch(c->cluster + far);
    __builtin_prefetch(mesh->ring + far);
    if (c->cluster[near] >= 0) return;
    __builtin_prefetch(mesh->neighbor + mesh->ring[near]);
    __builtin_prefetch(mesh->kind + mesh->ring[near]);
    __builtin_prefetch(mesh->v + 3 * (size_t)near);
    if (c->cluster[next] >= 0) return;
    for (size_t e = mesh->ring[next]; e < mesh->ring[next + 1]; e++) {
        __builtin_prefetch(mesh->v + 3 * (size_t)mesh->neighbor[e]);
        __builtin_prefetch(c->cluster + mesh->neighbor[e]);
    }
}

/* Number the clusters of all vertices. Partners' clusters are numbered together. */
static void cluster_vertices(const clustering *c, arap_coarse *out) {
    for (int i = 0; i < c->mesh->count; i++) c->cluster[i] = -1;
    for (int k = 0; k < c->mesh->count; k++) {
        int i = c->order[k];
        fetch(c, k);
        if (c->cluster[i] >= 0) continue;
        int own = out->count++, image = partner_of(c, i), other = own;
        c->cluster[i] = own;
        out->seed[own] = i;
        if (image >= 0 && image != i) {
            other = out->count++;
            c->cluster[image] = other;
            out->seed[other] = image;
        }
        for (int taken = 1; taken < MAXIMUM && !c->whole[c->mesh->part[i]]; taken++) {
            int near = nearest_free(c, i);
            if (near < 0) break;
            c->cluster[near] = own;
            image = partner_of(c, i) < 0 ? -1 : partner_of(c, near);
            if (image < 0 || image == near) continue;
            c->cluster[image] = other;
            taken += own == other;
        }
    }
}

/* Number the clusters by their first vertices, because strides scatter them: vertices close in
 * memory thus stay close on the next level. The next level visits clusters in reverse order of
 * creation. seed (clusters) replaces the current one. */
static void renumber(int n, int *seed, arap_coarse *out) {
    int count = 0, *made = out->made;
    for (int k = 0; k < out->count; k++) made[k] = -1;
    for (int i = 0; i < n; i++) {
        int k = out->cluster[i];
        if (made[k] < 0) made[k] = count++;
        out->cluster[i] = made[k];
    }
    for (int k = 0; k < count; k++) seed[made[k]] = out->seed[k];
    for (int k = 0; k < count / 2; k++) {
        int other = made[k];
        made[k] = made[count - 1 - k];
        made[count - 1 - k] = other;
    }
    out->seed = seed;
}

/* Compute the means of the clusters, and the remaining triangles and wires. joined: a triangle
 * between two clusters becomes an edge. */
static void build(const arap_mesh *mesh, int joined, int *sizes, arap_coarse *out) {
    memset(sizes, 0, (size_t)out->count * sizeof *sizes);
    memset(out->vertices, 0, 3 * (size_t)out->count * sizeof *out->vertices);
    for (int i = 0; i < mesh->count; i++) {
        int k = out->cluster[i];
        sizes[k]++;
        for (int c = 0; c < 3; c++) out->vertices[3 * k + c] += mesh->v[3 * (size_t)i + (size_t)c];
    }
    for (int k = 0; k < out->count; k++)
        for (int c = 0; c < 3; c++)
            out->vertices[3 * k + c] =
                mesh->center[c] + mesh->diagonal * out->vertices[3 * k + c] / sizes[k];
    for (size_t t = mesh->surface_count; t < mesh->triangle_count; t++) {
        int *corner = out->triangles + 3 * out->triangle_count;
        for (int c = 0; c < 3; c++) corner[c] = out->cluster[mesh->triangles[3 * t + (size_t)c]];
        int first = corner[0], other = corner[1] == first ? corner[2] : corner[1];
        int is_face = first != corner[1] && corner[1] != corner[2] && corner[2] != first;
        out->triangle_count += (size_t)is_face;
        if (is_face || !joined || other == first) continue;
        out->edges[2 * out->edge_count] = first;
        out->edges[2 * out->edge_count++ + 1] = other;
    }
    for (size_t t = 0; t < mesh->tet_count; t++) {
        int corner[4], count = 0;
        for (int c = 0; c < 4; c++) {
            int k = out->cluster[mesh->tets[4 * t + (size_t)c]], known = 0;
            for (int d = 0; d < count; d++) known |= corner[d] == k;
            if (!known) corner[count++] = k;
        }
        if (count == 4) memcpy(out->tets + 4 * out->tet_count++, corner, 4 * sizeof(int));
        if (count == 3) memcpy(out->triangles + 3 * out->triangle_count++, corner, 3 * sizeof(int));
        if (count == 2) memcpy(out->edges + 2 * out->edge_count++, corner, 2 * sizeof(int));
    }
    for (size_t e = 0; e < mesh->wire_count - mesh->link_count; e++) {
        int *end = out->edges + 2 * out->edge_count;
        for (int c = 0; c < 2; c++) end[c] = out->cluster[mesh->wires[2 * e + (size_t)c]];
        out->edge_count += end[0] != end[1];
    }
    for (size_t e = mesh->wire_count - mesh->link_count; e < mesh->wire_count; e++) {
        int *end = out->links + 2 * out->link_count++;
        for (int c = 0; c < 2; c++) end[c] = out->cluster[mesh->wires[2 * e + (size_t)c]];
    }
    out->layer_count = mesh->layer_count;
}

/* Find the parts that keep all vertices (parts); sizes (parts): number of vertices. Returns whether
 * small parts dominate. */
static int choose_whole(const arap_mesh *mesh, const int *sizes, char *whole) {
    int small = 0;
    for (int i = 0; i < mesh->count; i++) small += mesh->main[i] && sizes[mesh->part[i]] < MINIMUM;
    int many = small >= MANY && small > mesh->main_count / 2;
    for (int p = 0; p < mesh->part_count; p++) whole[p] = sizes[p] < (many ? FEW : MINIMUM);
    return many;
}

arap_status arap_coarsen(arap_context *context, const arap_mesh *mesh, const int *group,
                         const int *partner, const int *visit, int scattered, arap_coarse *out) {
    size_t n = (size_t)mesh->count;
    arap_arena arena = {0};
    int *sizes = ARAP_TAKE_ZERO(&arena, n, int), *rank = ARAP_TAKE(&arena, n, int);
    int *order = ARAP_TAKE(&arena, 2 * n, int),
        *sets = ARAP_TAKE(&arena, 2 * (size_t)mesh->part_count + 1, int);
    char *whole = ARAP_TAKE_ZERO(&arena, mesh->part_count, char),
         *surface = ARAP_TAKE_ZERO(&arena, n, char);
    *out = (arap_coarse){0};
    out->cluster = ARAP_TAKE(&out->arena, n, int);
    out->seed = ARAP_TAKE(&arena, n, int); /* for now */
    out->triangles = ARAP_TAKE(&out->arena, 3 * (mesh->triangle_count + mesh->tet_count), int);
    out->edges = ARAP_TAKE(
        &out->arena,
        2 * (mesh->wire_count - mesh->link_count + mesh->tet_count + mesh->triangle_count), int);
    out->links = ARAP_TAKE(&out->arena, 2 * mesh->link_count, int);
    out->tets = ARAP_TAKE(&out->arena, 4 * mesh->tet_count, int);
    arap_status status = arap_arena_status(&arena, &context->error, "the coarse mesh");
    if (!status) status = arap_arena_status(&out->arena, &context->error, "the coarse mesh");
    if (status) goto done;
    for (size_t i = 0; i < n; i++) sizes[mesh->part[i]]++;
    int joined = choose_whole(mesh, sizes, whole);
    for (size_t k = 0; k < 3 * mesh->surface_count; k++) surface[mesh->triangles[k]] = 1;
    for (size_t k = 0; k < n; k++) rank[visit[k]] = (int)k;
    if (!scattered) scatter(mesh, partner, visit, sets, sets + mesh->part_count, order + n, order);
    clustering c = {mesh, group, partner, scattered ? visit : order,
                    rank, whole, surface, out->cluster};
    cluster_vertices(&c, out);
    out->vertices = ARAP_TAKE(&out->arena, 3 * (size_t)out->count, double);
    out->made = ARAP_TAKE(&out->arena, out->count, int);
    int *seed = ARAP_TAKE(&out->arena, out->count, int);
    status = arap_arena_status(&out->arena, &context->error, "the coarse mesh");
    if (status) goto done;
    renumber(mesh->count, seed, out);
    build(mesh, joined, sizes, out);

done:
    arap_arena_clear(&arena);
    if (status) arap_coarse_clear(out);
    return status;
}

void arap_coarse_clear(arap_coarse *coarse) {
    arap_arena_clear(&coarse->arena);
    *coarse = (arap_coarse){0};
}

/* Sum the rows of the clusters around vertex i in `sum` (bones, initially zero). Returns the number
 * of bones in `listed`. */
static int blend_row(const arap_mesh *mesh, const arap_coarse *coarse,
                     const arap_influences *weights, int i, double *sum, int *listed) {
    int count = 0;
    for (size_t r = mesh->ring[i]; r <= mesh->ring[i + 1]; r++) {
        int own = r == mesh->ring[i + 1];
        if (!own && !joins(mesh, r)) continue;
        int k = coarse->cluster[own ? i : mesh->neighbor[r]];
        for (size_t e = weights->start[k]; e < weights->start[k + 1]; e++) {
            if (!(weights->weight[e] > 0)) continue;
            if (sum[weights->bone[e]] == 0) listed[count++] = weights->bone[e];
            sum[weights->bone[e]] += weights->weight[e];
        }
    }
    for (int a = 1; a < count; a++) { /* bones ascending */
        int b = listed[a], at = a;
        for (; at > 0 && listed[at - 1] > b; at--) listed[at] = listed[at - 1];
        listed[at] = b;
    }
    return count;
}

/* Build the rows of a chunk one after another. */
typedef struct chunk_rows {
    int *bone;
    double *weight;
    size_t fill, room;
} chunk_rows;

typedef struct prolongation {
    const arap_mesh *mesh;
    const arap_coarse *coarse;
    const arap_influences *weights;
    arap_influences *out;
    int bones, *sizes, *listed; /* listed: (workers, bones) */
    double *sum;                /* (workers, bones) */
    chunk_rows *rows;           /* (chunks) */
    char *failed;               /* (chunks) no memory */
} prolongation;

/* Make room for another row. Returns 0 if memory runs out. */
static int make_room(chunk_rows *rows, int count) {
    if (rows->fill + (size_t)count <= rows->room) return 1;
    size_t room = 2 * (rows->fill + (size_t)count) + 4 * CHUNK;
    int *bone = arap_realloc(rows->bone, room, sizeof *bone);
    if (bone) rows->bone = bone;
    double *weight = arap_realloc(rows->weight, room, sizeof *weight);
    if (weight) rows->weight = weight;
    if (!bone || !weight) return 0;
    rows->room = room;
    return 1;
}

static void prolong_chunk(void *data, int chunk, int worker) {
    const prolongation *p = data;
    int end = arap_chunk_end(chunk, CHUNK, p->mesh->count);
    int *listed = p->listed + (size_t)worker * arap_apart((size_t)p->bones);
    double *sum = p->sum + (size_t)worker * arap_apart((size_t)p->bones);
    chunk_rows *rows = &p->rows[chunk];
    for (int i = chunk * CHUNK; i < end; i++) {
        int count = blend_row(p->mesh, p->coarse, p->weights, i, sum, listed);
        int kept = make_room(rows, count) ? count : 0;
        if (kept < count) p->failed[chunk] = 1;
        p->sizes[i] = kept;
        for (int k = 0; k < kept; k++) {
            rows->bone[rows->fill] = listed[k];
            rows->weight[rows->fill++] = sum[listed[k]];
        }
        for (int k = 0; k < count; k++) sum[listed[k]] = 0;
    }
}

static void copy_chunk(void *data, int chunk, int worker) {
    const prolongation *p = data;
    const chunk_rows *rows = &p->rows[chunk];
    int first = chunk * CHUNK, last = arap_chunk_end(chunk, CHUNK, p->mesh->count);
    size_t begin = p->out->start[first];
    (void)worker;
    if (!rows->fill) return;
    memcpy(p->out->bone + begin, rows->bone, rows->fill * sizeof *rows->bone);
    memcpy(p->out->weight + begin, rows->weight, rows->fill * sizeof *rows->weight);
    arap_influences_normalize_rows(p->out, first, last);
}

arap_status arap_prolong(arap_context *context, const arap_mesh *mesh, const arap_coarse *coarse,
                         const arap_influences *weights, int bones, arap_influences *out) {
    size_t room = (size_t)context->threads * arap_apart((size_t)bones);
    int chunks = arap_chunks(mesh->count, CHUNK);
    arap_arena arena = {0};
    prolongation p = {.mesh = mesh,
                      .coarse = coarse,
                      .weights = weights,
                      .out = out,
                      .bones = bones,
                      .sizes = ARAP_TAKE(&arena, mesh->count, int),
                      .listed = ARAP_TAKE(&arena, room, int),
                      .sum = ARAP_TAKE_ZERO(&arena, room, double),
                      .rows = ARAP_TAKE_ZERO(&arena, chunks, chunk_rows),
                      .failed = ARAP_TAKE_ZERO(&arena, chunks, char)};
    arap_status status = arap_arena_status(&arena, &context->error, "the weights");
    if (status) goto done;
    status = arap_parallel_short(context, chunks, prolong_chunk, &p);
    if (!status && memchr(p.failed, 1, (size_t)chunks))
        status = arap_fail_memory(&context->error, "the weights");
    if (!status) status = arap_influences_create(context, mesh->count, p.sizes, out);
    if (!status) status = arap_parallel_short(context, chunks, copy_chunk, &p);

done:
    for (int k = 0; k < chunks && p.rows; k++) {
        arap_free(p.rows[k].bone);
        arap_free(p.rows[k].weight);
    }
    arap_arena_clear(&arena);
    return status;
}
