/* Creates the work space of the local step: see local_step.h and local_step_state.h.
 *
 * The bones of each one-ring (or of the rings of a cluster) are found once for all steps, except
 * for rings that are never visited (mirror_reuse.h). Each thread has work space for the widest
 * one-ring, so a step allocates nothing. Takes O(edges x influences) time, and stores one double
 * per directed edge and influence plus two per influence. Fails on out-of-memory only. */
#include "energy/local_step_state.h"

#include <string.h>

#include "base/memory.h"

#define CHUNK 16
#define CLUSTER_CHUNK 4
#define SURVEYED 128 /* visits of a task that only collects bones */

/* The bones of the visits of a chunk, one after another. */
typedef struct bone_list {
    int *bone;
    size_t fill, room;
} bone_list;

typedef struct survey {
    arap_local_step *local_step;
    int *seen;       /* (workers, columns) last visit in which a column occurred, plus 1 */
    bone_list *list; /* (chunks) */
    char *failed;    /* (chunks) no memory */
} survey;

typedef struct ring_bones {
    int *seen, mark, *list, count;
} ring_bones;

static void take_bone(ring_bones *ring, int bone) {
    if (ring->seen[bone] == ring->mark) return;
    ring->seen[bone] = ring->mark;
    ring->list[ring->count++] = bone;
}

static void take_row(ring_bones *ring, const arap_local_step *p, int k) {
    for (size_t e = p->in->start[k]; e < p->in->start[k + 1]; e++)
        if (arap_local_step_spine(p, p->in->bone[e]) < 0) take_bone(ring, p->in->bone[e]);
}

/* In the order in which local_step.c encounters them. */
static void take_ring(ring_bones *ring, const arap_local_step *p, int i) {
    const arap_spring *spring;
    take_row(ring, p, i);
    for (size_t r = p->mesh->ring[i]; r < p->mesh->ring[i + 1]; r++)
        take_row(ring, p, p->mesh->neighbor[r]);
    for (int left = arap_mesh_springs(p->mesh, i, &spring); left; left--, spring++)
        for (int k = 0; k < 2 && spring->share[k] > 0; k++) take_bone(ring, spring->column[k]);
}

/* Make room for the bones of another visit. Returns 0 if memory runs out. */
static int make_room(bone_list *list, size_t columns) {
    if (list->room - list->fill >= columns) return 1;
    size_t room = 2 * list->room + 4 * SURVEYED + columns;
    int *bone = arap_realloc(list->bone, room, sizeof *bone);
    if (!bone) return 0;
    list->bone = bone;
    list->room = room;
    return 1;
}

static void survey_chunk(void *data, int chunk, int worker) {
    const survey *s = data;
    arap_local_step *p = s->local_step;
    size_t columns = (size_t)p->packed->columns;
    bone_list *list = &s->list[chunk];
    int end = arap_chunk_end(chunk, SURVEYED, p->visits);
    for (int c = chunk * SURVEYED; c < end; c++) {
        int size;
        const int *vertex = arap_cluster_members(p->clusters, &c, &size);
        if (p->mirror_reuse && p->mirror_reuse->of && p->mirror_reuse->unvisited[c])
            continue; /* nor later */
        if (!make_room(list, columns)) {
            s->failed[chunk] = 1;
            return;
        }
        ring_bones ring = {.seen = s->seen + (size_t)worker * arap_apart(columns),
                           .mark = c + 1,
                           .list = list->bone + list->fill};
        for (int m = 0; m < size; m++) take_ring(&ring, p, vertex[m]);
        p->start[c + 1] = (size_t)ring.count;
        list->fill += (size_t)ring.count;
    }
}

static void join_chunk(void *data, int chunk, int worker) {
    const survey *s = data;
    const bone_list *list = &s->list[chunk];
    (void)worker;
    if (list->fill)
        memcpy(s->local_step->bone + s->local_step->start[chunk * SURVEYED], list->bone,
               list->fill * sizeof *list->bone);
}

/* Collect the bones of all visits; widest: the maximum for one visit. */
static arap_status survey_rings(arap_context *context, arap_local_step *p, int *widest) {
    arap_arena arena = {0};
    size_t room = (size_t)context->threads * arap_apart((size_t)p->packed->columns);
    int chunks = arap_chunks(p->visits, SURVEYED), failed = 0;
    survey s = {.local_step = p,
                .seen = ARAP_TAKE_ZERO(&arena, room, int),
                .list = ARAP_TAKE_ZERO(&arena, chunks, bone_list),
                .failed = ARAP_TAKE_ZERO(&arena, chunks, char)};
    *widest = 0;
    p->start = ARAP_TAKE_ZERO(&p->arena, p->visits + 1, size_t);
    arap_status status = arap_arena_status(&arena, &context->error, "the local step");
    if (!status) status = arap_arena_status(&p->arena, &context->error, "the local step");
    if (!status) status = arap_parallel_short(context, chunks, survey_chunk, &s);
    if (status) goto done;
    for (int chunk = 0; chunk < chunks; chunk++) failed |= s.failed[chunk];
    if (failed) status = arap_fail_memory(&context->error, "the local step");
    for (int c = 0; c < p->visits && !status; c++) {
        if ((int)p->start[c + 1] > *widest) *widest = (int)p->start[c + 1];
        p->start[c + 1] += p->start[c];
    }
    if (status) goto done;
    p->bone = ARAP_TAKE(&p->arena, p->start[p->visits], int);
    status = arap_arena_status(&p->arena, &context->error, "the local step");
    if (!status) status = arap_parallel_short(context, chunks, join_chunk, &s);

done:
    for (int chunk = 0; chunk < chunks && s.list; chunk++) arap_free(s.list[chunk].bone);
    arap_arena_clear(&arena);
    return status;
}

/* Maximum number of spine influences on the vertices of a one-ring. */
static int max_pairs(const arap_local_step *p) {
    const arap_influences *in = p->in;
    int max = 0;
    for (int i = 0; i < in->count && p->place; i++) {
        int count = 0;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            count += arap_local_step_spine(p, in->bone[e]) >= 0;
        for (size_t r = p->mesh->ring[i]; r < p->mesh->ring[i + 1]; r++) {
            int k = p->mesh->neighbor[r];
            for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
                count += arap_local_step_spine(p, in->bone[e]) >= 0;
        }
        if (count > max) max = count;
    }
    return max;
}

static void create_workspaces(arap_local_step *p, int widest, int max) {
    p->workspaces = ARAP_TAKE(&p->arena, p->workers, arap_workspace);
    for (int t = 0; t < p->workers && p->workspaces; t++)
        p->workspaces[t] =
            (arap_workspace){.where = ARAP_TAKE(&p->arena, p->packed->columns, int),
                             .moment = ARAP_TAKE(&p->arena, 4 * widest, arap_v4),
                             .product = ARAP_TAKE(&p->arena, 3 * widest, arap_v4),
                             .weight = ARAP_TAKE(&p->arena, widest, double),
                             .scaled = ARAP_TAKE(&p->arena, 12 * widest + 1, double),
                             .scratch = arap_take(&p->arena, (size_t)widest, ARAP_KERNEL_SCRATCH),
                             .stretch_place = ARAP_TAKE(&p->arena, widest, int),
                             .stretch_weight = ARAP_TAKE(&p->arena, widest, double),
                             .pair = ARAP_TAKE(&p->arena, max, arap_spine_pair),
                             .own = ARAP_TAKE(&p->arena, max, arap_own_spine)};
}

arap_status arap_local_step_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_packed_poses *packed,
                                   const arap_influences *influences,
                                   const arap_rotation_clusters *clusters,
                                   const arap_mirror_reuse *mirror_reuse, arap_local_step **out) {
    arap_local_step *p = *out = ARAP_NEW_ZERO(arap_local_step, 1);
    arap_status status = ARAP_OK;
    int widest;
    if (!p) return arap_fail_memory(&context->error, "the local step");
    p->mesh = mesh;
    p->packed = packed;
    p->in = p->caller = influences;
    p->clusters = clusters;
    p->mirror_reuse = mirror_reuse;
    p->visits = clusters ? clusters->count : mesh->count;
    p->chunk = clusters ? CLUSTER_CHUNK : CHUNK;
    p->filled = -1;
    p->kernel = packed->precision == ARAP_SINGLE ? arap_kernel_single() : arap_kernel_double();
    p->workers = context->threads;
    if (packed->source->bendy.count) {
        status = arap_bendy_expand(context, &packed->source->bendy, influences, &p->columns);
        if (status) goto failed;
        p->in = influences = &p->columns;
        p->column_side = ARAP_TAKE(&p->arena, influences->start[influences->count], double);
    }
    if (packed->source->spines.count) p->place = packed->source->spines.place;
    if (packed->source->spines.count || packed->source->stretches.count)
        p->excess = ARAP_TAKE(&p->arena, mesh->count, double);
    if (mesh->spring_start) {
        size_t springs = mesh->spring_start[mesh->count];
        p->anchored = ARAP_TAKE(&p->arena, mesh->count, double);
        p->strain = ARAP_TAKE(&p->arena, springs, double);
        p->last_anchor = ARAP_TAKE(&p->arena, 4 * springs, double);
    }
    status = survey_rings(context, p, &widest);
    if (status) goto failed;
    create_workspaces(p, widest, max_pairs(p));
    p->slot = ARAP_TAKE(&p->arena, mesh->count, size_t);
    p->own = ARAP_TAKE(&p->arena, influences->start[influences->count], double);
    p->last = ARAP_TAKE(&p->arena, influences->start[influences->count], double);
    p->moved = ARAP_TAKE(&p->arena, mesh->count, char);
    size_t slots = 0;
    for (int k = 0; k < mesh->count && p->slot; k++) {
        p->slot[k] = slots;
        slots +=
            (mesh->ring[k + 1] - mesh->ring[k]) * (influences->start[k + 1] - influences->start[k]);
    }
    p->incoming = ARAP_TAKE(&p->arena, slots, double);
    status = arap_arena_status(&p->arena, &context->error, "the local step");
    if (!status) return ARAP_OK;

failed:
    arap_local_step_free(p);
    *out = NULL;
    return status;
}

void arap_local_step_free(arap_local_step *local_step) {
    if (!local_step) return;
    arap_arena_clear(&local_step->arena);
    arap_influences_clear(&local_step->columns);
    arap_free(local_step);
}

const double *arap_local_step_excess(const arap_local_step *local_step) {
    return local_step->excess;
}

const double *arap_local_step_anchored(const arap_local_step *local_step) {
    return local_step->anchored;
}

const double *arap_local_step_springs(const arap_local_step *local_step) {
    return local_step->strain;
}

long arap_local_step_visits(const arap_local_step *local_step) {
    long sum = 0;
    for (int t = 0; t < local_step->workers; t++) sum += local_step->workspaces[t].visits;
    return sum;
}
