/* Making the work space of the local step: see local_step.h and pass.h.
 *
 * Everything is as large as the widest union of influences of a one-ring (or of the rings of a
 * cluster) needs, once for each thread, so that a step allocates nothing. O(edges x influences)
 * time, one double per directed edge and influence. Fails without memory only. */
#include "energy/pass.h"

#include <string.h>

#include "base/memory.h"

#define CHUNK 64
#define CLUSTER_CHUNK 16

/* Influences of vertex k that are new to the union numbered `mark`. */
static int count_new(const arap_influences *in, int k, int mark, int *seen) {
    int count = 0;
    for (size_t e = in->start[k]; e < in->start[k + 1]; e++) {
        count += seen[in->bone[e]] != mark;
        seen[in->bone[e]] = mark;
    }
    return count;
}

/* Size of the union of the influences of each one-ring, or those of a cluster, the largest. */
static int widest_union(const arap_mesh *mesh, const arap_influences *in,
                        const arap_rotation_clusters *clusters, int *seen) {
    int widest = 0;
    for (int c = 0; c < (clusters ? clusters->count : mesh->count); c++) {
        int size, count = 0;
        const int *vertex = arap_cluster_members(clusters, &c, &size);
        for (int m = 0; m < size; m++) {
            count += count_new(in, vertex[m], c + 1, seen);
            for (size_t r = mesh->ring[vertex[m]]; r < mesh->ring[vertex[m] + 1]; r++)
                count += count_new(in, mesh->neighbor[r], c + 1, seen);
            const arap_spoke *spoke;
            for (int left = arap_mesh_spokes(mesh, vertex[m], &spoke); left; left--, spoke++)
                for (int k = 0; k < 2; k++) {
                    count += seen[spoke->column[k]] != c + 1;
                    seen[spoke->column[k]] = c + 1;
                }
        }
        if (count > widest) widest = count;
    }
    return widest;
}

static void free_workspaces(arap_workspace *workspaces, int count) {
    if (!workspaces) return;
    for (int t = 0; t < count; t++) {
        arap_free(workspaces[t].where);
        arap_free(workspaces[t].bone);
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

/* Influences of spines on the vertices of a one-ring, the most. */
static int most_pairs(const arap_pass *p) {
    const arap_influences *in = p->in;
    int most = 0;
    for (int i = 0; i < in->count && p->place; i++) {
        int count = 0;
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++)
            count += arap_pass_spine(p, in->bone[e]) >= 0;
        for (size_t r = p->mesh->ring[i]; r < p->mesh->ring[i + 1]; r++) {
            int k = p->mesh->neighbor[r];
            for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
                count += arap_pass_spine(p, in->bone[e]) >= 0;
        }
        if (count > most) most = count;
    }
    return most;
}

static arap_workspace *create_workspaces(int count, int widest, int most, int bones) {
    arap_workspace *workspaces = ARAP_NEW_ZERO(arap_workspace, count);
    for (int t = 0; workspaces && t < count; t++) {
        arap_workspace *ws = &workspaces[t];
        ws->where = ARAP_NEW(int, bones);
        ws->bone = ARAP_NEW(int, widest);
        ws->moment = ARAP_NEW(double, 12 * widest);
        ws->product = ARAP_NEW(double, 12 * widest);
        ws->weight = ARAP_NEW(double, widest);
        ws->scaled = ARAP_NEW(double, 12 * widest);
        ws->scratch = arap_alloc((size_t)widest, ARAP_KERNEL_SCRATCH);
        ws->stretch_place = ARAP_NEW(int, widest);
        ws->stretch_weight = ARAP_NEW(double, widest);
        ws->pair = ARAP_NEW(arap_spine_pair, most);
        ws->own = ARAP_NEW(arap_own_spine, most);
        if (!ws->where || !ws->bone || !ws->moment || !ws->product || !ws->weight || !ws->scaled ||
            !ws->scratch || !ws->stretch_place || !ws->stretch_weight || !ws->pair || !ws->own) {
            free_workspaces(workspaces, count);
            return NULL;
        }
        for (int b = 0; b < bones; b++) ws->where[b] = -1;
    }
    return workspaces;
}

arap_status arap_pass_create(arap_context *context, const arap_mesh *mesh,
                             const arap_packed_poses *packed, const arap_influences *in,
                             const arap_rotation_clusters *clusters, arap_pass **out) {
    arap_pass *p = *out = ARAP_NEW_ZERO(arap_pass, 1);
    int *seen = ARAP_NEW_ZERO(int, packed->columns);
    if (!p || !seen) goto no_memory;
    p->mesh = mesh;
    p->packed = packed;
    p->in = p->caller = in;
    p->clusters = clusters;
    p->chunk = clusters ? CLUSTER_CHUNK : CHUNK;
    p->kernel = packed->precision == ARAP_SINGLE ? arap_kernel_single() : arap_kernel_double();
    p->workers = context->threads;
    if (packed->source->bendy.count) {
        if (arap_bendy_expand(context, &packed->source->bendy, in, &p->columns)) goto no_memory;
        p->in = in = &p->columns;
        p->column_side = ARAP_NEW(double, in->start[in->count]);
        if (!p->column_side) goto no_memory;
    }
    if (packed->source->spines.count) p->place = packed->source->spines.place;
    if (packed->source->spines.count || packed->source->stretches.count) {
        p->excess = ARAP_NEW(double, mesh->count);
        if (!p->excess) goto no_memory;
    }
    if (mesh->spoke_start) {
        p->anchored = ARAP_NEW(double, mesh->count);
        p->strain = ARAP_NEW(double, mesh->spoke_start[mesh->count]);
        if (!p->anchored || !p->strain) goto no_memory;
    }
    p->workspaces = create_workspaces(context->threads, widest_union(mesh, in, clusters, seen),
                                      most_pairs(p), packed->columns);
    p->slot = ARAP_NEW(size_t, mesh->count);
    if (!p->workspaces || !p->slot) goto no_memory;
    size_t slots = 0;
    for (int k = 0; k < mesh->count; k++) {
        p->slot[k] = slots;
        slots += (mesh->ring[k + 1] - mesh->ring[k]) * (in->start[k + 1] - in->start[k]);
    }
    p->incoming = ARAP_NEW(double, slots);
    if (!p->incoming) goto no_memory;
    arap_free(seen);
    return ARAP_OK;

no_memory:
    arap_free(seen);
    arap_pass_free(p);
    *out = NULL;
    return arap_fail_memory(&context->error, "the local step");
}

void arap_pass_free(arap_pass *p) {
    if (!p) return;
    free_workspaces(p->workspaces, p->workers);
    arap_free(p->slot);
    arap_free(p->incoming);
    arap_free(p->excess);
    arap_free(p->anchored);
    arap_free(p->strain);
    arap_influences_clear(&p->columns);
    arap_free(p->column_side);
    arap_free(p);
}

const double *arap_pass_excess(const arap_pass *p) { return p->excess; }

const double *arap_pass_anchored(const arap_pass *p) { return p->anchored; }

const double *arap_pass_spokes(const arap_pass *p) { return p->strain; }
