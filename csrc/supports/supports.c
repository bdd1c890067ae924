/* Influence maps: see supports.h.
 *
 * Pruning is sequential in the order of all weights (ties by vertex, then bone):
 * O(entries log entries). The rest is O(influences of the one-rings). Fails without memory only. */
#include "supports/supports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec3.h"

typedef struct sorted_entry {
    double weight;
    size_t entry;
    int vertex;
} sorted_entry;

static int by_weight(const void *a, const void *b) {
    const sorted_entry *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Dropping entry e of vertex i would leave a smaller weight of its bone next to nothing. */
static int makes_minimum(const arap_mesh *mesh, const arap_influences *in, const char *keep, int i,
                         size_t e) {
    for (size_t r = mesh->ring[i]; r < mesh->ring[i + 1]; r++) {
        ptrdiff_t other = arap_find_influence(in, mesh->neighbor[r], in->bone[e]);
        if (other >= 0 && keep[other] && in->weight[other] < in->weight[e]) return 1;
    }
    return 0;
}

arap_status arap_prune(arap_context *context, const arap_mesh *mesh, const arap_influences *in,
                       const arap_pruning *pruning, char *keep) {
    size_t entries = in->start[in->count];
    sorted_entry *sorted = ARAP_NEW(sorted_entry, entries);
    double *sum = ARAP_NEW_ZERO(double, in->count), *largest = ARAP_NEW_ZERO(double, in->count);
    int *left = ARAP_NEW(int, in->count);
    arap_status status = ARAP_OK;
    if (!sorted || !sum || !largest || !left) {
        status = arap_fail_memory(&context->error, "the influence maps");
        goto done;
    }
    for (int i = 0; i < in->count; i++) {
        left[i] = (int)(in->start[i + 1] - in->start[i]);
        for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
            sorted[e] = (sorted_entry){in->weight[e], e, i};
            sum[i] += in->weight[e];
            largest[i] = fmax(largest[i], in->weight[e]);
        }
    }
    memset(keep, 1, entries);
    qsort(sorted, entries, sizeof *sorted, by_weight);
    for (size_t s = 0; s < entries; s++) {
        int i = sorted[s].vertex;
        size_t e = sorted[s].entry;
        double w = sorted[s].weight;
        if (in->locked[e] || left[i] - 1 < pruning->least || sum[i] - w <= pruning->kept_sum ||
            w >= pruning->relative * largest[i] || makes_minimum(mesh, in, keep, i, e))
            continue;
        keep[e] = 0;
        left[i]--;
        sum[i] -= w;
    }

done:
    arap_free(sorted);
    arap_free(sum);
    arap_free(largest);
    arap_free(left);
    return status;
}

arap_status arap_choose_supports(arap_context *context, const arap_mesh *mesh,
                                 const arap_skeleton *skeleton, const arap_influences *in,
                                 const arap_pruning *pruning, arap_influences *out) {
    int n = in->count, bones = skeleton->deform_count;
    char *keep = ARAP_NEW(char, in->start[n]), *set = ARAP_NEW_ZERO(char, bones);
    int *scratch = ARAP_NEW(int, bones), *sizes = ARAP_NEW_ZERO(int, n);
    arap_status status = ARAP_OK;
    if (!keep || !set || !scratch || !sizes) {
        status = arap_fail_memory(&context->error, "the influence maps");
        goto done;
    }
    status = arap_prune(context, mesh, in, pruning, keep);
    if (status) goto done;
    /* Two passes over the same sets: sizes, then entries. */
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int i = 0; i < n; i++) {
            size_t begin = in->start[i], end = in->start[i + 1];
            int kept = 0;
            for (size_t e = begin; e < end; e++) {
                set[in->bone[e]] = keep[e];
                kept += keep[e];
            }
            int added = kept > 1 ? arap_skeleton_span(skeleton, set, scratch) : 0;
            int from = added ? 0 : in->bone[begin], to = added ? bones - 1 : in->bone[end - 1];
            sizes[i] = arap_take_set(in, i, from, to, set, fill ? out : NULL);
        }
        if (!fill) status = arap_influences_create(context, n, sizes, out);
    }
    if (!status) arap_influences_normalize(out);

done:
    arap_free(keep);
    arap_free(set);
    arap_free(scratch);
    arap_free(sizes);
    return status;
}

arap_status arap_widen_influences(arap_context *context, const arap_mesh *mesh,
                                  const arap_influences *in, int bones, arap_barred_fn barred,
                                  const void *data, arap_influences *out) {
    int n = in->count;
    int *sizes = ARAP_NEW_ZERO(int, n);
    char *set = ARAP_NEW_ZERO(char, bones);
    arap_status status = ARAP_OK;
    if (!sizes || !set) {
        status = arap_fail_memory(&context->error, "the influence maps");
        goto done;
    }
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int i = 0; i < n; i++) {
            int open = 0;
            for (size_t e = in->start[i]; e < in->start[i + 1]; e++) {
                set[in->bone[e]] = 1;
                open |= !in->locked[e];
            }
            for (size_t r = mesh->ring[i]; open && r < mesh->ring[i + 1]; r++) {
                int k = mesh->neighbor[r];
                for (size_t e = in->start[k]; e < in->start[k + 1]; e++)
                    if (!barred || !barred(data, i, in->bone[e])) set[in->bone[e]] = 1;
            }
            sizes[i] = arap_take_set(in, i, 0, bones - 1, set, fill ? out : NULL);
        }
        if (!fill) status = arap_influences_create(context, n, sizes, out);
    }

done:
    arap_free(sizes);
    arap_free(set);
    return status;
}
