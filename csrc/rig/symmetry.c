/* The symmetry map: see symmetry.h.
 *
 * A point x has its image at S x = x - 2 (n . x - d) n. Two vertices are partners if each is the
 * vertex nearest to the other's image, within a quarter of the mean length of its edges. From these
 * pairs, further pairs grow along edges. Neighbors of two partners become partners if one is at the
 * image of the other, within half the length of the edge, and the pairs that fit best come first
 * (pair_growth.h). The halves may therefore differ slightly, as in sculpted bodies. Some vertices
 * are near an image by chance, especially if the halves have different faces. Partners must
 * therefore have at least half of their edges in common. Requiring all edges would be too strict,
 * because a quad may be split along the other diagonal on the other side. This test is repeated
 * until all pairs pass, and two thirds of each connected part must have partners. All other
 * vertices have no partners and are solved without symmetry.
 *
 * Symmetric weights satisfy w(i, b) = w(j, b') for partners i, j and b, b'. The rows of partners
 * become images of each other and share their unknowns in the global step (shared_rows.h). After
 * each step of the solver, the weights of partners become the mean of both sides. This averaging
 * removes rounding differences due to clipping and summation order. A vertex moved by a bone
 * without a partner cannot be symmetric.
 *
 * Positions are looked up in cells (cells.h) in O(n), or in a tree in O(n log n) if cells are
 * crowded or some edges are far longer than most. Vertices are processed in parallel. All other
 * steps take O(edges x ring). The rows of patterns are processed in parallel, each as a set of
 * bits, in O(influences + bones / 64). Fails on out-of-memory, for invalid partners and for a plane
 * without direction. */
#include "rig/symmetry.h"

#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "mesh/bvh.h"
#include "mesh/cells.h"
#include "rig/pair_growth.h"

/* maximum distance of a partner from the image of a vertex, relative to the vertex's mean edge */
#define NEAR 0.25
#define ALONG 0.5     /* the same, relative to an edge that leads to the vertex */
#define LONE 0.001    /* NEAR for a vertex without edges, a share of the diagonal */
#define CELL 4        /* size of a cell, in mean reaches of vertices, */
#define LARGER 4      /* and of larger ones, in cells */
#define MIN_CELL 1e-6 /* and its minimum, as a share of the diagonal */
#define CHUNK 64
#define MANY 256 /* the same for a task that only computes means */

#define UNKNOWN ARAP_CELLS_CROWDED

static arap_status check_partner(arap_error *error, const arap_reflection *reflection,
                                 const arap_skeleton *s, int b) {
    int other = reflection->bone_partners[b];
    if (other < -1 || other >= s->count)
        return arap_fail(error, ARAP_BAD_VALUE,
                         "the mirror partner of bone %d is %d, but there are %d bones", b, other,
                         s->count);
    if (other < 0) return ARAP_OK;
    if (reflection->bone_partners[other] != b)
        return arap_fail(error, ARAP_BAD_VALUE,
                         "the mirror partner of bone %d is %d, but that of %d is %d", b, other,
                         other, reflection->bone_partners[other]);
    if ((arap_deforming(s, b) < 0) != (arap_deforming(s, other) < 0))
        return arap_fail(error, ARAP_BAD_VALUE,
                         "only one of the mirror partners %d and %d is a deform bone", b, other);
    if (s->kinds[b] != s->kinds[other] || s->bendy_segments[b] != s->bendy_segments[other] ||
        s->stretch[b] != s->stretch[other])
        return arap_fail(error, ARAP_BAD_VALUE,
                         "the mirror partners %d and %d are bones of different kinds", b, other);
    return ARAP_OK;
}

arap_status arap_symmetry_bones(arap_context *context, const arap_reflection *reflection,
                                const arap_skeleton *skeleton, const arap_mesh *mesh,
                                arap_symmetry *symmetry) {
    const double *point = reflection->point, *normal = reflection->normal;
    double length = sqrt(arap_dot(normal, normal));
    if (!isfinite(arap_dot(point, point)))
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the mirror plane has the point (%g, %g, %g)", point[0], point[1],
                         point[2]);
    if (!(length > 0 && isfinite(length)))
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the mirror plane has the normal (%g, %g, %g): not a direction", normal[0],
                         normal[1], normal[2]);
    for (int b = 0; b < skeleton->count; b++) {
        arap_status status = check_partner(&context->error, reflection, skeleton, b);
        if (status) return status;
    }
    for (int c = 0; c < 3; c++) {
        symmetry->normal[c] = normal[c] / length;
        symmetry->offset += symmetry->normal[c] * (point[c] - mesh->center[c]) / mesh->diagonal;
    }
    symmetry->bone = ARAP_TAKE(&symmetry->arena, skeleton->deform_count, int);
    for (int d = 0; d < skeleton->deform_count && symmetry->bone; d++) {
        int other = reflection->bone_partners[skeleton->deform_bone[d]];
        symmetry->bone[d] = other < 0 ? -1 : arap_deforming(skeleton, other);
        symmetry->bone_count += other >= 0;
    }
    return arap_arena_status(&symmetry->arena, &context->error, "the symmetry map");
}

void arap_symmetry_clear(arap_symmetry *symmetry) {
    arap_arena_clear(&symmetry->arena);
    *symmetry = (arap_symmetry){0};
}

void arap_reflect_rotation(const arap_symmetry *symmetry, const double *in, double *out) {
    double rows[9], column[3], image[3];
    for (int r = 0; r < 3; r++) arap_reflect(symmetry, in + 3 * r, 0, rows + 3 * r);
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++) column[r] = rows[3 * r + c];
        arap_reflect(symmetry, column, 0, image);
        for (int r = 0; r < 3; r++) out[3 * r + c] = image[r];
    }
}

void arap_reflect_rotation_vector(const arap_symmetry *symmetry, const double *in, double *out) {
    arap_reflect(symmetry, in, 0, out);
    for (int c = 0; c < 3; c++) out[c] = -out[c];
}

typedef struct match_task {
    const arap_mesh *mesh;
    const arap_symmetry *symmetry;
    arap_cells cells; /* of the vertices */
    arap_bvh *bvh;    /* used if cells cannot be used */
    double *reach;    /* (vertices) maximum distance of partners from their images */
    int *nearest;     /* (vertices) vertex nearest to the image, ARAP_CELLS_NONE or UNKNOWN */
} match_task;

static double point_distance(const void *data, int index, const double *p) {
    const arap_mesh *mesh = data;
    return arap_distance2(mesh->v + 3 * (size_t)index, p);
}

/* Links are not edges of the caller's mesh and need not be symmetric. */
static double reach(const arap_mesh *mesh, int i) {
    double sum = 0, edge[3];
    int count = 0;
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        if (arap_mesh_is_link(mesh, e)) continue;
        arap_mesh_edge(mesh, i, e, edge);
        sum += sqrt(arap_dot(edge, edge));
        count++;
    }
    return count ? NEAR * sum / count : LONE;
}

static void reach_chunk(void *data, int chunk, int worker) {
    const match_task *task = data;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, task->mesh->count); i++)
        task->reach[i] = reach(task->mesh, i), task->nearest[i] = UNKNOWN;
}

/* Search in cells: UNKNOWN if they are crowded, or contain no near vertex but do not cover the
 * whole distance. */
static void match_chunk(void *data, int chunk, int worker) {
    const match_task *task = data;
    const arap_mesh *mesh = task->mesh;
    double max = task->cells.size;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, mesh->count); i++) {
        if (task->nearest[i] != UNKNOWN) continue;
        double image[3], r = task->reach[i];
        arap_reflect(task->symmetry, mesh->v + 3 * (size_t)i, task->symmetry->offset, image);
        int found = arap_cells_nearest(&task->cells, image, r < max ? r : max);
        if (found >= 0 || (found == ARAP_CELLS_NONE && r <= max)) task->nearest[i] = found;
    }
}

/* By the tree, the rest. */
static void match_rest(void *data, int chunk, int worker) {
    const match_task *task = data;
    const arap_mesh *mesh = task->mesh;
    (void)worker;
    for (int i = chunk * CHUNK; i < arap_chunk_end(chunk, CHUNK, mesh->count); i++) {
        if (task->nearest[i] != UNKNOWN) continue;
        double image[3], distance2 = task->reach[i] * task->reach[i];
        arap_reflect(task->symmetry, mesh->v + 3 * (size_t)i, task->symmetry->offset, image);
        task->nearest[i] = arap_bvh_nearest(task->bvh, image, -1, point_distance, mesh, &distance2);
    }
}

static arap_status make_tree(arap_context *context, match_task *task) {
    size_t n = (size_t)task->mesh->count;
    double *boxes = ARAP_NEW(double, 6 * n);
    if (!boxes) return arap_fail_memory(&context->error, "the symmetry map");
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 6; c++) boxes[6 * i + c] = task->mesh->v[3 * i + c % 3];
    arap_status status = arap_bvh_build(context, &task->bvh, n, boxes, NULL);
    arap_free(boxes);
    return status;
}

static size_t count_unknown(const match_task *task) {
    size_t count = 0;
    for (int i = 0; i < task->mesh->count; i++) count += task->nearest[i] == UNKNOWN;
    return count;
}

/* Search in cells of a size that suits most vertices, then in larger ones. */
static arap_status look_into_cells(arap_context *context, match_task *task) {
    int n = task->mesh->count, chunks = arap_chunks(n, CHUNK);
    double sum = 0;
    arap_status status = arap_parallel_short(context, chunks, reach_chunk, task);
    for (int i = 0; i < n && !status; i++) sum += task->reach[i];
    double size = fmax(CELL * sum / n, MIN_CELL);
    for (int k = 0; k < 2 && !status && count_unknown(task); k++, size *= LARGER) {
        status = arap_cells_create(context, n, task->mesh->v, size, &task->cells);
        if (!status) status = arap_parallel_short(context, chunks, match_chunk, task);
        arap_cells_clear(&task->cells);
    }
    return status;
}

static arap_status match_positions(arap_context *context, const arap_mesh *mesh,
                                   arap_symmetry *symmetry) {
    arap_arena arena = {0};
    match_task task = {.mesh = mesh,
                       .symmetry = symmetry,
                       .reach = ARAP_TAKE(&arena, mesh->count, double),
                       .nearest = ARAP_TAKE(&arena, mesh->count, int)};
    arap_status status = arap_arena_status(&arena, &context->error, "the symmetry map");
    if (status) goto done;
    status = look_into_cells(context, &task);
    if (!status && count_unknown(&task)) {
        status = make_tree(context, &task);
        if (!status)
            status =
                arap_parallel_short(context, arap_chunks(mesh->count, CHUNK), match_rest, &task);
    }
    for (int i = 0; i < mesh->count && !status; i++) {
        int other = task.nearest[i];
        symmetry->vertex[i] = other >= 0 && task.nearest[other] == i ? other : -1;
    }

done:
    arap_bvh_free(task.bvh);
    arap_arena_clear(&arena);
    return status;
}

/* Whether at least half of the edges of vertex i are images of its partner's edges. */
static int edges_match(const arap_mesh *mesh, const int *partner, int i) {
    int count = 0, matched = 0, j = partner[i];
    for (size_t e = mesh->ring[i]; e < mesh->ring[i + 1]; e++) {
        if (arap_mesh_is_link(mesh, e)) continue;
        int image = partner[mesh->neighbor[e]];
        size_t f = image < 0 ? mesh->ring[j + 1] : arap_mesh_find_edge(mesh, j, image);
        count++;
        matched += f < mesh->ring[j + 1] && mesh->neighbor[f] == image;
    }
    return 2 * matched >= count;
}

/* Determine which vertices keep the partners that were found. */
typedef struct edge_task {
    const arap_mesh *mesh;
    const int *found;
    char *match;
} edge_task;

static void edge_chunk(void *data, int chunk, int worker) {
    const edge_task *t = data;
    int end = arap_chunk_end(chunk, CHUNK, t->mesh->count);
    (void)worker;
    for (int i = chunk * CHUNK; i < end; i++)
        t->match[i] = t->found[i] < 0 || edges_match(t->mesh, t->found, i);
}

/* Remove the partner found for vertex i, and vice versa, and add both vertices to the list. */
static int drop(arap_symmetry *symmetry, const int *found, int i, int *dropped, int count) {
    const int both[2] = {i, found[i]};
    for (int k = 0; k < 2; k++) {
        if (symmetry->vertex[both[k]] < 0) continue;
        symmetry->vertex[both[k]] = -1;
        dropped[count++] = both[k];
    }
    return count;
}

/* Remove partners from vertices that were near by chance, because their edges do not match. The
 * edges of their neighbors may then no longer match either, so the test is repeated. */
static arap_status drop_chance(arap_context *context, arap_symmetry *symmetry,
                               const arap_mesh *mesh) {
    arap_arena arena = {0};
    int *found = ARAP_TAKE(&arena, mesh->count, int),
        *dropped = ARAP_TAKE(&arena, mesh->count, int), count = 0;
    char *match = ARAP_TAKE(&arena, mesh->count, char);
    arap_status status = arap_arena_status(&arena, &context->error, "the symmetry map");
    if (status) goto done;
    memcpy(found, symmetry->vertex, (size_t)mesh->count * sizeof *found);
    status = arap_parallel_short(context, arap_chunks(mesh->count, CHUNK), edge_chunk,
                                 &(edge_task){mesh, found, match});
    for (int i = 0; i < mesh->count && !status; i++)
        if (!match[i]) count = drop(symmetry, found, i, dropped, count);
    for (int next = 0; next < count;) {
        int end = count;
        for (int d = next; d < end; d++) found[dropped[d]] = -1;
        for (; next < end; next++)
            for (size_t e = mesh->ring[dropped[next]]; e < mesh->ring[dropped[next] + 1]; e++) {
                int k = mesh->neighbor[e];
                if (symmetry->vertex[k] >= 0 && !edges_match(mesh, found, k))
                    count = drop(symmetry, found, k, dropped, count);
            }
    }

done:
    arap_arena_clear(&arena);
    return status;
}

/* Remove partners from whole parts in which too few vertices have one. */
static arap_status drop_parts(arap_context *context, arap_symmetry *symmetry,
                              const arap_mesh *mesh) {
    int *left = ARAP_NEW_ZERO(int, mesh->part_count); /* > 0: too few have a partner */
    if (!left) return arap_fail_memory(&context->error, "the symmetry map");
    for (int i = 0; i < mesh->count; i++) left[mesh->part[i]] += symmetry->vertex[i] < 0 ? 2 : -1;
    for (int i = 0; i < mesh->count; i++) {
        int j = symmetry->vertex[i];
        if (j >= 0 && (left[mesh->part[i]] > 0 || left[mesh->part[j]] > 0))
            symmetry->vertex[i] = symmetry->vertex[j] = -1;
    }
    arap_free(left);
    return ARAP_OK;
}

arap_status arap_symmetry_vertices(arap_context *context, const arap_mesh *mesh, int plane,
                                   arap_symmetry *symmetry) {
    symmetry->vertices = mesh->count;
    symmetry->vertex = ARAP_TAKE(&symmetry->arena, mesh->count, int);
    symmetry->symmetric = ARAP_TAKE_ZERO(&symmetry->arena, mesh->count, char);
    arap_status status = arap_arena_status(&symmetry->arena, &context->error, "the symmetry map");
    if (!status) status = match_positions(context, mesh, symmetry);
    if (!status) status = arap_grow_pairs(context, mesh, ARAP_GROWTH_PLACES, ALONG, symmetry);
    if (!status) status = drop_chance(context, symmetry, mesh);
    if (!status && arap_is_nearly_symmetric(mesh, symmetry)) {
        status = arap_grow_partners(context, mesh, symmetry);
        if (!status) status = drop_chance(context, symmetry, mesh);
    }
    if (!status) status = drop_parts(context, symmetry, mesh);
    for (int i = 0; i < mesh->count && !status && !plane; i++)
        if (symmetry->vertex[i] == i) symmetry->vertex[i] = -1;
    return status;
}

/* A row that is being assembled: half of the weights of its bones. */
typedef struct shared {
    uint64_t *set; /* (bones / 64) */
    double *sum;   /* (bones) where set */
} shared;

typedef struct sharing {
    arap_symmetry *symmetry;
    const arap_influences *in;
    arap_influences *out;
    arap_excluded_fn excluded;
    const void *data;
    int words, *sizes;
    shared *row; /* (workers), empty */
} sharing;

static void add_half(shared *row, int bone, double weight) {
    uint64_t bit = 1ull << (bone % 64), *word = &row->set[bone / 64];
    row->sum[bone] = (*word & bit ? row->sum[bone] : 0) + 0.5 * weight;
    *word |= bit;
}

/* Store in `row` the row that vertex i shares with its partner. Returns 0 if the two cannot be
 * symmetric. This is the case if they have locked weights, or bones that have no partner or are
 * excluded on the other side. */
static int share_row(const sharing *s, int i, shared *row) {
    const arap_influences *in = s->in;
    const int *partner = s->symmetry->bone;
    int j = s->symmetry->vertex[i];
    if (j < 0) return 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (in->locked[e] || partner[in->bone[e]] < 0) return 0;
    for (size_t e = in->start[j]; e < in->start[j + 1]; e++)
        if (in->locked[e] || partner[in->bone[e]] < 0) return 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        add_half(row, in->bone[e], in->weight[e]);
    for (size_t e = in->start[j]; e < in->start[j + 1]; e++)
        add_half(row, partner[in->bone[e]], in->weight[e]);
    return 1;
}

/* Move the bones of `row` in ascending order to `bone`, with their weights. Returns their number,
 * or -1 if one is excluded on its side. */
static int take_row(const sharing *s, int i, shared *row, int *bone, double *weight) {
    int j = s->symmetry->vertex[i], count = 0, excluded = 0;
    for (int word = 0; word < s->words; word++)
        for (; row->set[word]; row->set[word] &= row->set[word] - 1) {
            int b = 64 * word + __builtin_ctzll(row->set[word]);
            excluded |= s->excluded && (s->excluded(s->data, i, b) ||
                                        s->excluded(s->data, j, s->symmetry->bone[b]));
            if (bone) {
                bone[count] = b;
                weight[count] = row->sum[b];
            }
            count++;
        }
    return excluded ? -1 : count;
}

static void share_chunk(void *data, int chunk, int worker) {
    const sharing *s = data;
    const arap_influences *in = s->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    shared *row = &s->row[worker];
    for (int i = chunk * CHUNK; i < end; i++) {
        size_t begin = in->start[i], own = in->start[i + 1] - begin;
        int count = share_row(s, i, row) ? take_row(s, i, row, NULL, NULL) : -1;
        s->symmetry->symmetric[i] = count >= 0;
        s->sizes[i] = count >= 0 ? count : (int)own;
    }
}

static void fill_chunk(void *data, int chunk, int worker) {
    const sharing *s = data;
    const arap_influences *in = s->in;
    int end = arap_chunk_end(chunk, CHUNK, in->count);
    for (int i = chunk * CHUNK; i < end; i++) {
        size_t begin = in->start[i], own = in->start[i + 1] - begin, at = s->out->start[i];
        if (s->symmetry->symmetric[i]) {
            share_row(s, i, &s->row[worker]);
            take_row(s, i, &s->row[worker], s->out->bone + at, s->out->weight + at);
            continue;
        }
        memcpy(s->out->bone + at, in->bone + begin, own * sizeof *in->bone);
        memcpy(s->out->weight + at, in->weight + begin, own * sizeof *in->weight);
        memcpy(s->out->locked + at, in->locked + begin, own);
    }
}

arap_status arap_symmetry_patterns(arap_context *context, arap_symmetry *symmetry, int bones,
                                   arap_excluded_fn excluded, const void *data,
                                   arap_influences *in) {
    arap_arena arena = {0};
    int n = in->count, chunks = arap_chunks(n, CHUNK), words = (bones + 63) / 64;
    size_t workers = (size_t)context->threads;
    uint64_t *sets = ARAP_TAKE_ZERO(&arena, workers * arap_apart((size_t)words), uint64_t);
    double *sums = ARAP_TAKE(&arena, workers * arap_apart((size_t)bones), double);
    arap_influences out = {0};
    sharing s = {.symmetry = symmetry,
                 .in = in,
                 .out = &out,
                 .excluded = excluded,
                 .data = data,
                 .words = words,
                 .sizes = ARAP_TAKE(&arena, n, int),
                 .row = ARAP_TAKE(&arena, workers, shared)};
    arap_status status =
        arap_arena_status(&arena, &context->error, "the mirrored influence patterns");
    if (status) goto done;
    for (size_t w = 0; w < workers; w++)
        s.row[w] =
            (shared){sets + w * arap_apart((size_t)words), sums + w * arap_apart((size_t)bones)};
    status = arap_parallel_short(context, chunks, share_chunk, &s);
    if (!status) status = arap_influences_create(context, n, s.sizes, &out);
    if (!status) status = arap_parallel_short(context, chunks, fill_chunk, &s);
    if (status) goto done;
    arap_influences_clear(in);
    *in = out;

done:
    if (status) arap_influences_clear(&out);
    arap_arena_clear(&arena);
    return status;
}

int arap_are_images(const arap_symmetry *symmetry, const arap_influences *in, int i, int j) {
    if (in->start[i + 1] - in->start[i] != in->start[j + 1] - in->start[j]) return 0;
    for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
        if (arap_find_influence(in, j, symmetry->bone[in->bone[e]]) < 0) return 0;
    return 1;
}

typedef struct mean_task {
    const arap_symmetry *symmetry;
    arap_influences *in;
} mean_task;

/* The lower of two partners processes both. */
static void mean_chunk(void *data, int chunk, int worker) {
    const mean_task *task = data;
    const arap_symmetry *symmetry = task->symmetry;
    arap_influences *in = task->in;
    int end = arap_chunk_end(chunk, MANY, symmetry->vertices);
    (void)worker;
    for (int i = chunk * MANY; i < end; i++) {
        int j = arap_symmetry_image(symmetry, i);
        if (j < i || !arap_are_images(symmetry, in, i, j))
            continue; /* idle bones are on one side */
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            size_t other = (size_t)arap_find_influence(in, j, symmetry->bone[in->bone[e]]);
            in->weight[e] = in->weight[other] = 0.5 * (in->weight[e] + in->weight[other]);
        }
    }
}

arap_status arap_symmetry_weights(arap_context *context, const arap_symmetry *symmetry,
                                  arap_influences *in) {
    return arap_parallel_short(context, arap_chunks(symmetry->vertices, MANY), mean_chunk,
                               &(mean_task){symmetry, in});
}
