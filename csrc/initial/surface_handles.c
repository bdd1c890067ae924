/* Handles of bones on a surface: see handles.h.
 *
 * Bounded biharmonic weights are defined inside a volume, which contains the bones. A surface, a
 * sheet or a wire has no vertices on its bones, so some of its vertices must represent the bones.
 * The vertices nearest to a bone form its cell. The handles of the bone are the core of this cell.
 * The core consists of the vertices whose distance from other cells, along edges, is at least CORE
 * times the largest such distance in the cell. On a limb, the core is a band around the middle of
 * the bone. At the end of a chain, such as a hand or a head, the core is the tip. Between parallel
 * bones, the core is a strip that leaves room for both sides. The weight of the bone is 1 on its
 * band and fades between bands. A wider core makes limbs stiffer and bends sharper, and a narrower
 * core does the opposite. With a CORE of 0.5, strain on hands is a third higher and the drift of
 * limbs is halved. With 0.85, strain and drift are about the same as with heat.
 *
 * Vertices that do not see their nearest bone belong to the cell of the next vertex along edges
 * that sees its nearest bone, and do not become handles. Vertices at equal distance from several
 * bones belong to no cell, except to the cell of a bone that is not the nearest bone anywhere else.
 * Examples are coincident bones and a tiny bone at a joint. On an island without a border, all
 * vertices are handles. On an island far from all bones, all vertices are handles of the nearest
 * bone.
 *
 * Takes O(edges log edges). Fails only on out-of-memory. */
#include "initial/handles.h"

#include <math.h>

#include "base/memory.h"
#include "base/vec3.h"
#include "initial/heat.h"
#include "mesh/paths.h"

#define CORE 0.85
#define UNKNOWN -1
#define BORDER -2

typedef struct cells {
    const arap_mesh *mesh;
    const arap_visibility *visibility;
    arap_visits waiting;
    char *shines;     /* (count) */
    int *rigid_bone;  /* (count) */
    char *has_own;    /* (bones) nearest to a vertex with no equally near bone */
    int *label;       /* (count) bone of the cell, UNKNOWN or BORDER */
    double *distance; /* (count) */
    double *depth;    /* (bones) distance of the vertex of the cell farthest from other cells */
} cells;

arap_status arap_add_handle(arap_context *context, arap_handles *list, int vertex, int bone) {
    for (int h = 0; h < list->count && list->bones[vertex]; h++)
        if (list->handle[h].vertex == vertex && list->handle[h].bone == bone) return ARAP_OK;
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 256;
        struct arap_handle *grown = arap_realloc(list->handle, (size_t)capacity, sizeof *grown);
        if (!grown) return arap_fail_memory(&context->error, "the handles of bones");
        list->handle = grown;
        list->capacity = capacity;
    }
    list->handle[list->count++] = (struct arap_handle){vertex, bone};
    list->bones[vertex]++;
    return ARAP_OK;
}

void arap_handles_clear(arap_handles *handles) {
    arap_free(handles->handle);
    arap_free(handles->bones);
    *handles = (arap_handles){0};
}

static double length_of(const cells *c, int i, size_t e) {
    double edge[3];
    arap_mesh_edge(c->mesh, i, e, edge);
    return sqrt(arap_dot(edge, edge));
}

/* Find shortest paths along edges from the finite distances: either into everything except borders,
 * propagating labels, or from labeled vertices within their cells. Returns 0, or -1 if memory runs
 * out. */
static int search(cells *c, int spreads_labels) {
    int failed = 0;
    for (int i = 0; i < c->mesh->count && !failed; i++)
        if (isfinite(c->distance[i])) failed = arap_visits_add(&c->waiting, c->distance[i], i);
    while (c->waiting.count && !failed) {
        arap_visit v = arap_visits_take(&c->waiting);
        int label = c->label[v.vertex];
        if (v.distance > c->distance[v.vertex]) continue;
        for (size_t e = c->mesh->ring[v.vertex]; e < c->mesh->ring[v.vertex + 1] && !failed; e++) {
            int to = c->mesh->neighbor[e];
            int open = spreads_labels ? c->label[to] != BORDER : label < 0 || c->label[to] == label;
            double distance = v.distance + length_of(c, v.vertex, e);
            if (!open || !(distance < c->distance[to])) continue;
            c->distance[to] = distance;
            if (spreads_labels) c->label[to] = label;
            failed = arap_visits_add(&c->waiting, distance, to);
        }
    }
    return failed;
}

/* Give each vertex without a label the label of the nearest labeled vertex along edges. */
static int flood_labels(cells *c) {
    for (int i = 0; i < c->mesh->count; i++) c->distance[i] = c->label[i] >= 0 ? 0 : INFINITY;
    return search(c, 1);
}

/* The bone whose cell contains vertex i, based on information at the vertex itself. */
static int own_label(const cells *c, int i) {
    const int *nearest = c->visibility->nearest + (size_t)i * ARAP_MAX_SHARED;
    if (c->rigid_bone[i] >= 0) return c->rigid_bone[i];
    if (!c->shines[i]) return UNKNOWN;
    if (c->visibility->nearest_count[i] == 1) return nearest[0];
    for (int s = 0; s < c->visibility->nearest_count[i]; s++)
        if (!c->has_own[nearest[s]]) return nearest[s];
    return BORDER;
}

static int label_vertices(cells *c) {
    for (int i = 0; i < c->mesh->count; i++)
        if (c->shines[i] && c->visibility->nearest_count[i] == 1)
            c->has_own[c->visibility->nearest[(size_t)i * ARAP_MAX_SHARED]] = 1;
    for (int i = 0; i < c->mesh->count; i++) c->label[i] = own_label(c, i);
    return flood_labels(c);
}

/* Initialize distances to other cells: half of an edge that leads to one. */
static int measure_depth(cells *c) {
    for (int i = 0; i < c->mesh->count; i++) {
        c->distance[i] = c->label[i] < 0 ? 0 : INFINITY;
        for (size_t e = c->mesh->ring[i]; e < c->mesh->ring[i + 1]; e++) {
            int other = c->label[c->mesh->neighbor[e]];
            if (other >= 0 && other != c->label[i])
                c->distance[i] = fmin(c->distance[i], length_of(c, i, e) / 2);
        }
    }
    if (search(c, 0)) return -1;
    for (int i = 0; i < c->mesh->count; i++)
        if (c->label[i] >= 0 && c->shines[i] && isfinite(c->distance[i]))
            c->depth[c->label[i]] = fmax(c->depth[c->label[i]], c->distance[i]);
    return 0;
}

/* Add the handles of a cell, or of the bones that are nearest nowhere else and share the
 * position. */
static arap_status claim_core(arap_context *context, const cells *c, int i, arap_handles *list) {
    int bone = c->label[i], count = c->visibility->nearest_count[i];
    arap_status status = arap_add_handle(context, list, i, bone);
    for (int s = 0; s < count && !c->has_own[bone] && c->rigid_bone[i] < 0 && !status; s++) {
        int other = c->visibility->nearest[(size_t)i * ARAP_MAX_SHARED + (size_t)s];
        if (!c->has_own[other]) status = arap_add_handle(context, list, i, other);
    }
    return status;
}

arap_status arap_find_cores(arap_context *context, const arap_mesh *mesh,
                            const arap_skeleton *skeleton, const arap_visibility *visibility,
                            arap_handles *out) {
    arap_arena arena = {0};
    size_t n = (size_t)mesh->count, bones = (size_t)skeleton->deform_count;
    arap_islands_report report = {0};
    cells c = {.mesh = mesh,
               .visibility = visibility,
               .shines = ARAP_TAKE(&arena, n, char),
               .rigid_bone = ARAP_TAKE(&arena, n, int),
               .has_own = ARAP_TAKE_ZERO(&arena, bones, char),
               .label = ARAP_TAKE(&arena, n, int),
               .distance = ARAP_TAKE(&arena, n, double),
               .depth = ARAP_TAKE_ZERO(&arena, bones, double)};
    arap_status status = arap_arena_status(&arena, &context->error, "the handles of bones");
    if (!status)
        status = arap_judge_islands(context, mesh, visibility, c.shines, c.rigid_bone, &report);
    if (status) goto done;
    if (label_vertices(&c) || measure_depth(&c))
        status = arap_fail_memory(&context->error, "the handles of bones");
    for (int i = 0; i < mesh->count && !status; i++)
        if (c.label[i] >= 0 && c.shines[i] && c.distance[i] >= CORE * c.depth[c.label[i]])
            status = claim_core(context, &c, i, out);

done:
    arap_islands_report_clear(&report);
    arap_visits_clear(&c.waiting);
    arap_arena_clear(&arena);
    return status;
}
