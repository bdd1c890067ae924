/* Transfer of weights: see transfer.h.
 *
 * If a vertex of the target matches (match.c), its weights are those of the source at the nearest
 * point. Each row is first normalized to sum to 1, and weights are interpolated linearly in a
 * triangle. At all other vertices, weights are continued over the target (inpaint.c), clipped to be
 * >= 0, and normalized to sum to 1. An island of the target in which nothing matches takes the
 * weights of the nearest points, at any distance, so a button follows the surface behind it.
 * Islands are joined by faces and wires.
 *
 * Both meshes are welded, so that seams do not open. Among coincident source vertices, the first
 * one with weights is used. If influences are limited, the largest ones are kept.
 *
 * Matching takes O(n log f), and the u unmatched vertices take about O(u^1.5). Takes 8 bytes of
 * memory for each vertex of the target and each bone that the source uses. Fails on out-of-memory,
 * if the source has no weighted triangles, and if nothing matches. */
#include "transfer/transfer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "transfer/pair.h"
#include "weights/influences.h"
#include "weights/rows.h"

#define MIN_WEIGHT 1e-4 /* smaller weights are omitted if they come from inpainting */

arap_status arap_match_surfaces(arap_context *context, const arap_geometry *source,
                                const arap_geometry *target, const arap_transfer_settings *settings,
                                const arap_matches *out) {
    arap_pair t = {0};
    arap_status status = arap_pair_match(context, source, target, settings, out, &t);
    arap_pair_clear(&t);
    return status;
}

static double row_sum(const arap_sparse_weights *rows, int i) {
    double sum = 0;
    for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) sum += rows->weight[e];
    return sum;
}

/* Store in *out the triangles whose corners all have weights; release with arap_free. */
static arap_status take_weighted(arap_context *context, const arap_geometry *source,
                                 const arap_sparse_weights *rows, arap_geometry *out,
                                 int **triangles) {
    *out = *source;
    *triangles = ARAP_NEW(int, 3 * source->triangle_count);
    if (!*triangles) return arap_fail_memory(&context->error, "the source");
    out->triangles = *triangles;
    out->triangle_count = 0;
    for (size_t t = 0; t < source->triangle_count; t++) {
        const int *tri = source->triangles + 3 * t;
        int weighted = 1;
        for (int c = 0; c < 3; c++)
            weighted &= tri[c] < 0 || tri[c] >= source->vertex_count || row_sum(rows, tri[c]) > 0;
        if (weighted) memcpy(*triangles + 3 * out->triangle_count++, tri, 3 * sizeof *tri);
    }
    if (source->triangle_count && !out->triangle_count)
        return arap_fail(&context->error, ARAP_BAD_VALUE,
                         "the source has no weights: none of its faces has weights at all corners");
    return ARAP_OK;
}

/* Assign columns to bones, -1 for those without weights in the source. Returns the number of
 * columns. */
static int number_columns(const arap_sparse_weights *rows, int vertices, int bones, int *column) {
    int count = 0;
    for (int b = 0; b < bones; b++) column[b] = -1;
    for (long long e = 0; e < rows->start[vertices]; e++)
        if (rows->weight[e] > 0) column[rows->bone[e]] = 0;
    for (int b = 0; b < bones; b++)
        if (column[b] == 0) column[b] = count++;
    return count;
}

/* The caller's first vertex with weights among those welded into v. */
static int weighted_vertex(const arap_mesh *mesh, const arap_sparse_weights *rows, int v) {
    int i = mesh->first[v];
    while (i >= 0 && !(row_sum(rows, i) > 0)) i = mesh->next[i];
    return i < 0 ? mesh->first[v] : i;
}

/* values (columns, vertices of the target), zeroed, at the known vertices. */
static void take_over(const arap_pair *t, const arap_sparse_weights *rows, const char *known,
                      const int *column, double *values) {
    size_t n = (size_t)t->target.count;
    for (size_t i = 0; i < n; i++) {
        if (!known[i]) continue;
        const int *tri = t->source.triangles + 3 * (size_t)t->match.triangle[i];
        for (int c = 0; c < 3; c++) {
            int from = weighted_vertex(&t->source, rows, tri[c]);
            double share = t->match.bary[3 * i + (size_t)c], sum = row_sum(rows, from);
            for (long long e = rows->start[from]; e < rows->start[from + 1]; e++)
                if (rows->weight[e] > 0)
                    values[(size_t)column[rows->bone[e]] * n + i] +=
                        share * (rows->weight[e] / sum);
        }
    }
}

/* Mark the largest `max` weights of a vertex in keep (columns); 0: all. */
static void choose(const double *values, size_t n, int columns, double min, int max, char *keep) {
    int count = 0, largest = 0;
    for (int c = 0; c < columns; c++) {
        keep[c] = values[(size_t)c * n] > min;
        count += keep[c];
        if (values[(size_t)c * n] > values[(size_t)largest * n]) largest = c;
    }
    if (!count) keep[largest] = 1, count = 1;
    for (; max && count > max; count--) {
        int smallest = -1;
        for (int c = 0; c < columns; c++)
            if (keep[c] && (smallest < 0 || values[(size_t)c * n] <= values[(size_t)smallest * n]))
                smallest = c;
        keep[smallest] = 0;
    }
}

/* Build the rows of the caller's vertices. */
static arap_status gather(arap_context *context, const arap_pair *t, const char *known, int bones,
                          const int *column, int columns, int max, const double *values,
                          arap_influences *out) {
    size_t n = (size_t)t->target.count;
    arap_rows rows = {0};
    char *keep = ARAP_NEW(char, columns);
    arap_status status = keep ? arap_rows_create(context, t->target.input_count, &rows)
                              : arap_fail_memory(&context->error, "the weights of the target");
    for (int i = 0; i < t->target.input_count && !status; i++) {
        size_t v = (size_t)t->target.weld[i];
        choose(values + v, n, columns, known[v] ? 0 : MIN_WEIGHT, max, keep);
        status = arap_rows_next(context, &rows, (size_t)columns);
        for (int b = 0; b < bones && !status; b++)
            if (column[b] >= 0 && keep[column[b]])
                arap_rows_add(&rows, b, values[(size_t)column[b] * n + v], 0);
    }
    status = arap_rows_end(status, &rows, out);
    if (!status) arap_influences_normalize(out);
    arap_free(keep);
    return status;
}

arap_status arap_transfer_weights(arap_context *context, const arap_geometry *source,
                                  const arap_sparse_weights *rows, int bones,
                                  const arap_geometry *target,
                                  const arap_transfer_settings *settings, const arap_matches *out,
                                  arap_influences *weights) {
    arap_arena arena = {0};
    arap_pair t = {0};
    arap_geometry weighted;
    int *triangles = NULL, *column = NULL, columns = 0;
    char *known = NULL;
    double *values = NULL;
    arap_status status = take_weighted(context, source, rows, &weighted, &triangles);
    if (!status) status = arap_pair_match(context, &weighted, target, settings, out, &t);
    if (status) goto done;
    column = ARAP_TAKE(&arena, bones, int);
    known = ARAP_TAKE(&arena, t.target.count, char);
    status = arap_arena_status(&arena, &context->error, "the weights of the target");
    if (!status) status = arap_pair_known(context, &t, settings, known);
    if (status) goto done;
    columns = number_columns(rows, source->vertex_count, bones, column);
    values = ARAP_TAKE_ZERO(&arena, (size_t)columns * (size_t)t.target.count, double);
    status = arap_arena_status(&arena, &context->error, "the weights of the target");
    if (status) goto done;
    take_over(&t, rows, known, column, values);
    status = arap_inpaint(context, &t.target, known, columns, values);
    if (!status)
        status = gather(context, &t, known, bones, column, columns, settings->max_influences,
                        values, weights);

done:
    arap_free(triangles);
    arap_arena_clear(&arena);
    arap_pair_clear(&t);
    return status;
}
