/* Proximity links: see links.h.
 *
 * Buttons, eyes, teeth, hair cards and layers of clothing are separate parts, which no edge of the
 * energy ties to the body. Wire edges therefore link every part to the nearest other part
 * (docs/energy.md, section 1). Each vertex of the part searches for the nearest triangle of another
 * part. With d0 the smallest distance found,
 *   - vertices within d0 + TOUCHING x (size of the part) are linked, such as the root of a hair
 *     card, the neck of a head, or all of a button;
 *   - vertices within d0 + LAYERED x size over a surface that faces the same way are also linked. A
 *     jacket is therefore linked to the body, but one thigh is not linked to the other.
 * Links between layers of cloth (layers.c) are stronger than the others (rings.c). A link leads to
 * the corner of the triangle with the largest barycentric coordinate. Parts that are farther than
 * FAR from everything else stay loose. In the next round, parts that have been joined count as one
 * part. The rounds end when no further parts are joined. With a single round, two parts could be
 * linked only to each other.
 *
 * Takes O(vertices of the smaller parts x log triangles), at most log2(parts) times, because a
 * vertex searches again if the part that it found has been joined to its own. A sample of a part's
 * vertices bounds the searches of its other vertices, and each search starts from the previous
 * result. The bounds do not change the links. Fails only on out-of-memory or when cancelled. */
#include "mesh/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sets.h"
#include "base/vec3.h"
#include "mesh/bvh.h"

#define FAR 0.05      /* share of the mesh size, see mesh.h */
#define TOUCHING 0.02 /* share of the size of the part; twice its radius about the mean vertex */
#define LAYERED 0.1
#define ROUNDING 1e-7 /* smaller differences are ignored because regular shapes have many ties */
/* share of the squared distance by which a point may be farther and still count as nearest */
#define CLOSE 1.0001
/* one vertex in this many searches before the others, which bounds their searches */
#define SAMPLE 8
#define CHUNK 32

enum { NONE = -1, UNKNOWN = -2 };

typedef struct query {
    double distance; /* to the nearest triangle of another cluster, INFINITY if out of reach */
    int triangle;    /* NONE: out of reach, UNKNOWN: not yet searched, or not far enough */
} query;

typedef struct cluster_facts {
    double mean[3], radius2, nearest; /* of its vertices; the size is invariant under rotation */
    size_t triangles;
    int vertices;
} cluster_facts;

typedef struct linking {
    const arap_mesh *mesh;
    arap_bvh *faces;
    double *vertex_normal; /* (count, 3) area-weighted, not unit */
    const int *cluster;    /* (parts) */
    arap_sheet *sheets;    /* (parts) or NULL: layers are not separated */
    char *is_layer;        /* (links) so far */
    int largest;           /* cluster that does not search for others */
    cluster_facts *facts;  /* (parts) of clusters */
    query *queries;        /* (count) */
} linking;

/* That of a triangle. */
static int cluster_of(const linking *l, int t) {
    return l->cluster[l->mesh->part[l->mesh->triangles[3 * (size_t)t]]];
}

/* Whether the triangle found by vertex i is still the nearest. The number of other clusters only
 * decreases. */
static int still_holds(const linking *l, int i, int cluster) {
    int t = l->queries[i].triangle;
    return t == NONE || (t >= 0 && cluster_of(l, t) != cluster);
}

/* Find the nearest triangle for vertex i within the reach of its cluster and, if `last` is a
 * triangle near it, hardly farther than that one. */
static void ask(const linking *l, int i, int cluster, int last) {
    const arap_mesh *mesh = l->mesh;
    const double *p = mesh->v + 3 * (size_t)i;
    const cluster_facts *f = &l->facts[cluster];
    double max = FAR * mesh->size;
    double layered = CLOSE * (f->nearest + LAYERED * 2 * sqrt(f->radius2)) + ROUNDING;
    int may_be_farther = layered < max;
    if (may_be_farther) max = layered;
    double d2 = max * max;
    if (last >= 0 && cluster_of(l, last) != cluster)
        d2 = fmin(d2, CLOSE * arap_face_distance(mesh, last, p) + ROUNDING * ROUNDING);
    int t = arap_bvh_nearest(l->faces, p, cluster, arap_face_distance, mesh, &d2);
    l->queries[i] =
        t >= 0 ? (query){sqrt(d2), t} : (query){INFINITY, may_be_farther ? UNKNOWN : NONE};
}

/* Search for the vertices whose result is no longer valid: only `samples`, or all. */
static void ask_chunk(const linking *l, int chunk, int samples) {
    const arap_mesh *mesh = l->mesh;
    int end = arap_chunk_end(chunk, CHUNK, mesh->count), last = NONE;
    for (int i = chunk * CHUNK; i < end; i++) {
        int cluster = l->cluster[mesh->part[i]];
        if (cluster == l->largest || !still_holds(l, i, cluster))
            l->queries[i] = (query){INFINITY, UNKNOWN};
        if (cluster == l->largest || l->queries[i].triangle != UNKNOWN) continue;
        if (samples && i % SAMPLE) continue;
        ask(l, i, cluster, last);
        if (l->queries[i].triangle >= 0) last = l->queries[i].triangle;
    }
}

static void sample_chunk(void *data, int chunk, int worker) {
    (void)worker;
    ask_chunk(data, chunk, 1);
}

static void query_chunk(void *data, int chunk, int worker) {
    (void)worker;
    ask_chunk(data, chunk, 0);
}

/* The corner with the largest barycentric coordinate; among equal ones, the nearest to the mean of
 * its cluster, then the lowest vertex. If the nearest point is on an edge of several triangles, all
 * of these triangles have this corner. */
static int nearest_corner(const linking *l, const int *tri, const double *bary) {
    const double *mean = l->facts[l->cluster[l->mesh->part[tri[0]]]].mean;
    double far[3];
    int best = 0;
    for (int c = 0; c < 3; c++) far[c] = arap_distance2(l->mesh->v + 3 * (size_t)tri[c], mean);
    for (int c = 1; c < 3; c++) {
        if (bary[c] < bary[best] - ROUNDING) continue;
        int is_tie = bary[c] <= bary[best] + ROUNDING;
        if (is_tie && far[c] > far[best] + ROUNDING) continue;
        if (is_tie && far[c] > far[best] - ROUNDING && tri[c] > tri[best]) continue;
        best = c;
    }
    return tri[best];
}

/* Whether the surface at vertex i faces the same way as at a point of a triangle. Perpendicular
 * surfaces do not. The normal is interpolated, so it is the same for all triangles at an edge. */
static int face_alike(const linking *l, int i, const int *tri, const double *bary) {
    const double *own = l->vertex_normal + 3 * (size_t)i;
    double there[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) {
        const double *normal = l->vertex_normal + 3 * (size_t)tri[c];
        double length = sqrt(arap_dot(normal, normal));
        for (int k = 0; k < 3 && length > 0; k++) there[k] += bary[c] * normal[k] / length;
    }
    return arap_dot(own, there) > ROUNDING * sqrt(arap_dot(own, own));
}

/* Whether a link between vertex i and a triangle connects layers. */
static int joins_layers(const linking *l, int i, int t, const double *bary) {
    const arap_mesh *mesh = l->mesh;
    int there = mesh->part[mesh->triangles[3 * (size_t)t]];
    return l->sheets && arap_are_layers(&l->sheets[mesh->part[i]], &l->sheets[there]) &&
           arap_lies_on(mesh, l->vertex_normal, i, t, bary);
}

/* Their sizes. */
static void measure_clusters(linking *l) {
    const arap_mesh *mesh = l->mesh;
    cluster_facts *facts = l->facts;
    for (int p = 0; p < mesh->part_count; p++)
        facts[p] = (cluster_facts){.nearest = INFINITY, .triangles = facts[p].triangles};
    for (int i = 0; i < mesh->count; i++) {
        cluster_facts *f = &facts[l->cluster[mesh->part[i]]];
        for (int c = 0; c < 3; c++) f->mean[c] += mesh->v[3 * (size_t)i + (size_t)c];
        f->vertices++;
    }
    for (int p = 0; p < mesh->part_count; p++)
        for (int c = 0; c < 3 && facts[p].vertices; c++) facts[p].mean[c] /= facts[p].vertices;
    for (int i = 0; i < mesh->count; i++) {
        cluster_facts *f = &facts[l->cluster[mesh->part[i]]];
        f->radius2 = fmax(f->radius2, arap_distance2(mesh->v + 3 * (size_t)i, f->mean));
    }
}

/* Compute the minimum distance of each cluster from the results of its vertices. */
static void find_nearest(linking *l) {
    const arap_mesh *mesh = l->mesh;
    for (int i = 0; i < mesh->count; i++) {
        cluster_facts *f = &l->facts[l->cluster[mesh->part[i]]];
        f->nearest = fmin(f->nearest, l->queries[i].distance);
    }
}

/* Run one round, which links every cluster to its nearest others and merges them. */
static arap_status link_round(arap_context *context, linking *l, int *parent, int *links,
                              size_t *count) {
    const arap_mesh *mesh = l->mesh;
    int chunks = arap_chunks(mesh->count, CHUNK);
    measure_clusters(l);
    arap_status status = arap_parallel_short(context, chunks, sample_chunk, l);
    if (!status) find_nearest(l);
    if (!status) status = arap_parallel_short(context, chunks, query_chunk, l);
    if (status) return status;
    find_nearest(l);
    for (int i = 0; i < mesh->count; i++) {
        const query *q = &l->queries[i];
        if (q->triangle < 0) continue;
        const cluster_facts *f = &l->facts[l->cluster[mesh->part[i]]];
        double size = 2 * sqrt(f->radius2), beyond = q->distance - f->nearest;
        if (beyond > LAYERED * size + ROUNDING) continue;
        const int *tri = mesh->triangles + 3 * (size_t)q->triangle;
        double bary[3];
        arap_nearest_on_face(mesh, q->triangle, mesh->v + 3 * (size_t)i, bary);
        if (beyond > TOUCHING * size + ROUNDING && !face_alike(l, i, tri, bary)) continue;
        int to = nearest_corner(l, tri, bary);
        l->is_layer[*count] = (char)joins_layers(l, i, q->triangle, bary);
        links[2 * *count] = i;
        links[2 * (*count)++ + 1] = to;
        arap_unite(parent, mesh->part[i], mesh->part[to]);
    }
    return status;
}

/* Cluster of each part from the union-find, and the cluster with the most triangles. */
static void name_clusters(const arap_mesh *mesh, int *parent, int *cluster, cluster_facts *facts,
                          int *largest) {
    for (int p = 0; p < mesh->part_count; p++) {
        cluster[p] = arap_find_root(parent, p);
        facts[p].triangles = 0;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++)
        facts[cluster[mesh->part[mesh->triangles[3 * t]]]].triangles++;
    *largest = 0;
    for (int p = 0; p < mesh->part_count; p++)
        if (facts[p].triangles > facts[*largest].triangles) *largest = p;
}

/* Links between layers are moved to the end. Otherwise, the order is kept. */
static arap_status sort_links(arap_context *context, const linking *l, arap_links *links) {
    size_t at = 0, other = 0;
    for (size_t k = 0; k < links->count; k++) links->layers += (size_t)l->is_layer[k];
    if (!links->layers) return ARAP_OK;
    int *pair = ARAP_NEW(int, 2 * links->count);
    if (!pair) return arap_fail_memory(&context->error, "links between parts");
    other = links->count - links->layers;
    for (size_t k = 0; k < links->count; k++)
        memcpy(pair + 2 * (l->is_layer[k] ? other++ : at++), links->pair + 2 * k, 2 * sizeof *pair);
    arap_free(links->pair);
    links->pair = pair;
    return ARAP_OK;
}

void arap_links_clear(arap_links *links) {
    arap_free(links->pair);
    *links = (arap_links){0};
}

arap_status arap_link_parts(arap_context *context, const arap_mesh *mesh, const arap_joints *joints,
                            arap_links *links, arap_bvh **faces) {
    arap_status status = ARAP_OK;
    size_t n = (size_t)mesh->count, parts = (size_t)mesh->part_count, capacity = n;
    arap_arena arena = {0};
    int *cluster = ARAP_TAKE(&arena, parts, int), *parent = ARAP_TAKE(&arena, parts, int);
    cluster_facts *facts = ARAP_TAKE(&arena, parts, cluster_facts);
    linking l = {.mesh = mesh,
                 .vertex_normal = ARAP_TAKE(&arena, 3 * n, double),
                 .cluster = cluster,
                 .sheets = joints ? ARAP_TAKE(&arena, parts, arap_sheet) : NULL,
                 .facts = facts,
                 .queries = ARAP_TAKE(&arena, n, query)};
    *links = (arap_links){0};
    if (arena.failed) goto no_memory;
    if (parts < 2 || !mesh->triangle_count) goto done;
    arap_vertex_normals(mesh, l.vertex_normal);
    for (size_t p = 0; p < parts; p++) parent[p] = cluster[p] = (int)p;
    for (size_t i = 0; i < n; i++) l.queries[i] = (query){INFINITY, UNKNOWN};
    status = arap_face_bvh(context, mesh, cluster, &l.faces);
    if (!status && joints) status = arap_find_sheets(context, mesh, joints, l.sheets);
    while (!status) {
        int *grown = arap_realloc(links->pair, 2 * capacity, sizeof(int));
        if (grown) links->pair = grown;
        char *known = arap_realloc(l.is_layer, capacity, sizeof(char));
        if (known) l.is_layer = known;
        if (!grown || !known) goto no_memory;
        name_clusters(mesh, parent, cluster, facts, &l.largest);
        arap_face_bvh_tag(mesh, cluster, l.faces);
        size_t before = links->count;
        status = link_round(context, &l, parent, links->pair, &links->count);
        if (!status) status = arap_progress(context, "links between parts", 1);
        if (status || links->count == before) break;
        capacity = links->count + n;
    }
    if (!status) status = sort_links(context, &l, links);
    if (status) goto done;
    /* The number of parts joined to another, without the core of the largest cluster. */
    for (size_t p = 0; p < parts; p++) links->parts += arap_find_root(parent, (int)p) != (int)p;
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "links between parts");
done:
    if (faces && !status) {
        *faces = l.faces;
        l.faces = NULL;
    }
    arap_bvh_free(l.faces);
    arap_arena_clear(&arena);
    arap_free(l.is_layer);
    if (status) arap_links_clear(links);
    return status;
}
