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
    size_t room = (size_t)context->threads * arap_apart((size_t)p->packed->columns);
    int chunks = arap_chunks(p->visits, SURVEYED), failed = 0;
    survey s = {.local_step = p,
                .seen = ARAP_NEW_ZERO(int, room),
                .list = ARAP_NEW_ZERO(bone_list, chunks),
                .failed = ARAP_NEW_ZERO(char, chunks)};
    arap_status status = ARAP_OK;
    *widest = 0;
    p->start = ARAP_NEW_ZERO(size_t, p->visits + 1);
    if (!s.seen || !s.list || !s.failed || !p->start) goto no_memory;
    status = arap_parallel_short(context, chunks, survey_chunk, &s);
    if (status) goto done;
    for (int chunk = 0; chunk < chunks; chunk++) failed |= s.failed[chunk];
    if (failed) goto no_memory;
    for (int c = 0; c < p->visits; c++) {
        if ((int)p->start[c + 1] > *widest) *widest = (int)p->start[c + 1];
        p->start[c + 1] += p->start[c];
    }
    p->bone = ARAP_NEW(int, p->start[p->visits]);
    if (!p->bone) goto no_memory;
    status = arap_parallel_short(context, chunks, join_chunk, &s);
    goto done;

no_memory:
    status = arap_fail_memory(&context->error, "the local step");
done:
    for (int chunk = 0; chunk < chunks && s.list; chunk++) arap_free(s.list[chunk].bone);
    arap_free(s.list);
    arap_free(s.failed);
    arap_free(s.seen);
    return status;
}

static void free_workspaces(arap_workspace *workspaces, int count) {
    if (!workspaces) return;
    for (int t = 0; t < count; t++) {
        arap_free(workspaces[t].where);
        arap_free(workspaces[t].moment);
        arap_free(workspaces[t].product);
        arap_free(workspaces[t].weight);
        arap_free(workspaces[t].scaled);
        arap_free(workspaces[t].scratch);
        arap_free(workspaces[t].stretch_place);
        arap_free(workspaces[t].stretch_weight);
        arap_free(workspaces[t].pair);
        arap_free(workspaces[t].own);
    }
    arap_free(workspaces);
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

static arap_workspace *create_workspaces(int count, int widest, int max, int bones) {
    arap_workspace *workspaces = ARAP_NEW_ZERO(arap_workspace, count);
    for (int t = 0; workspaces && t < count; t++) {
        arap_workspace *ws = &workspaces[t];
        ws->where = ARAP_NEW(int, bones);
        ws->moment = ARAP_NEW(arap_v4, 4 * widest);
        ws->product = ARAP_NEW(arap_v4, 3 * widest);
        ws->weight = ARAP_NEW(double, widest);
        ws->scaled = ARAP_NEW(double, 12 * widest + 1);
        ws->scratch = arap_alloc((size_t)widest, ARAP_KERNEL_SCRATCH);
        ws->stretch_place = ARAP_NEW(int, widest);
        ws->stretch_weight = ARAP_NEW(double, widest);
        ws->pair = ARAP_NEW(arap_spine_pair, max);
        ws->own = ARAP_NEW(arap_own_spine, max);
        if (!ws->where || !ws->moment || !ws->product || !ws->weight || !ws->scaled ||
            !ws->scratch || !ws->stretch_place || !ws->stretch_weight || !ws->pair || !ws->own) {
            free_workspaces(workspaces, count);
            return NULL;
        }
    }
    return workspaces;
}

arap_status arap_local_step_create(arap_context *context, const arap_mesh *mesh,
                                   const arap_packed_poses *packed,
                                   const arap_influences *influences,
                                   const arap_rotation_clusters *clusters,
                                   const arap_mirror_reuse *mirror_reuse, arap_local_step **out) {
    arap_local_step *p = *out = ARAP_NEW_ZERO(arap_local_step, 1);
    arap_status status = ARAP_OK;
    int widest;
    if (!p) goto no_memory;
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
        if (arap_bendy_expand(context, &packed->source->bendy, influences, &p->columns))
            goto no_memory;
        p->in = influences = &p->columns;
        p->column_side = ARAP_NEW(double, influences->start[influences->count]);
        if (!p->column_side) goto no_memory;
    }
    if (packed->source->spines.count) p->place = packed->source->spines.place;
    if (packed->source->spines.count || packed->source->stretches.count) {
        p->excess = ARAP_NEW(double, mesh->count);
        if (!p->excess) goto no_memory;
    }
    if (mesh->spring_start) {
        size_t springs = mesh->spring_start[mesh->count];
        p->anchored = ARAP_NEW(double, mesh->count);
        p->strain = ARAP_NEW(double, springs);
        p->last_anchor = ARAP_NEW(double, 4 * springs);
        if (!p->anchored || !p->strain || !p->last_anchor) goto no_memory;
    }
    status = survey_rings(context, p, &widest);
    if (status) goto failed;
    p->workspaces = create_workspaces(context->threads, widest, max_pairs(p), packed->columns);
    p->slot = ARAP_NEW(size_t, mesh->count);
    p->own = ARAP_NEW(double, influences->start[influences->count]);
    p->last = ARAP_NEW(double, influences->start[influences->count]);
    p->moved = ARAP_NEW(char, mesh->count);
    if (!p->workspaces || !p->slot || !p->own || !p->last || !p->moved) goto no_memory;
    size_t slots = 0;
    for (int k = 0; k < mesh->count; k++) {
        p->slot[k] = slots;
        slots +=
            (mesh->ring[k + 1] - mesh->ring[k]) * (influences->start[k + 1] - influences->start[k]);
    }
    p->incoming = ARAP_NEW(double, slots);
    if (!p->incoming) goto no_memory;
    return ARAP_OK;

no_memory:
    status = arap_fail_memory(&context->error, "the local step");
failed:
    arap_local_step_free(p);
    *out = NULL;
    return status;
}

void arap_local_step_free(arap_local_step *local_step) {
    if (!local_step) return;
    free_workspaces(local_step->workspaces, local_step->workers);
    arap_free(local_step->slot);
    arap_free(local_step->incoming);
    arap_free(local_step->start);
    arap_free(local_step->bone);
    arap_free(local_step->own);
    arap_free(local_step->last);
    arap_free(local_step->last_anchor);
    arap_free(local_step->moved);
    arap_free(local_step->excess);
    arap_free(local_step->anchored);
    arap_free(local_step->strain);
    arap_influences_clear(&local_step->columns);
    arap_free(local_step->column_side);
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
