/* The elimination order: see smoothness.h.
 *
 * A symmetric mesh is folded along its plane, so a pair of partners becomes one vertex with the
 * neighbors of both. The resulting graph, which is the graph of the matrix, is ordered. In addition
 * to the ordering itself, this takes O(edges), or O(edges x unknowns of a vertex^2) with the graph
 * of the unknowns. Fails on out-of-memory, and for too many edges. */
#include "solver/smoothness.h"

#include "base/memory.h"
#include "linalg/factor.h"

/* Build the folded graph of the vertices `own`, numbered by `number` (vertices). Returns its
 * size. */
static int fold(int count, const size_t *ring, const int *neighbor, const int *partner, int *number,
                int *own, int *seen, size_t *start, int *folded) {
    int size = 0;
    size_t fill = 0;
    for (int i = 0; i < count; i++) {
        int other = partner[i];
        if (other < 0 || other >= i) {
            seen[size] = -1;
            own[size] = i;
            number[i] = size++;
        } else
            number[i] = number[other];
    }
    for (int k = 0; k < size; k++) {
        int other = partner[own[k]];
        start[k] = fill;
        seen[k] = k;
        for (int side = 0; side < 1 + (other > own[k]); side++) {
            int i = side ? other : own[k];
            for (size_t r = ring[i]; r < ring[i + 1]; r++) {
                int near = number[neighbor[r]];
                if (seen[near] == k) continue;
                seen[near] = k;
                folded[fill++] = near;
            }
        }
    }
    start[size] = fill;
    return size;
}

static arap_status order(arap_context *context, int count, const int *unknowns, const size_t *ring,
                         const int *neighbor, int *out) {
    return unknowns ? arap_order_of_unknowns(context, count, unknowns, ring, neighbor, out)
                    : arap_fill_reducing_order(context, count, ring, neighbor, out);
}

arap_status arap_elimination_order(arap_context *context, int count, const size_t *ring,
                                   const int *neighbor, const int *partner, const int *unknowns,
                                   int *out) {
    arap_arena arena = {0};
    if (!partner) return order(context, count, unknowns, ring, neighbor, out);
    size_t n = (size_t)count;
    int *work = ARAP_TAKE(&arena, 5 * n, int), *folded = ARAP_TAKE(&arena, ring[n], int);
    size_t *start = ARAP_TAKE(&arena, n + 1, size_t);
    arap_status status = arap_arena_status(&arena, &context->error, "the elimination order");
    if (status) goto done;
    int *own = work + n, *seen = work + 2 * n, *half = work + 3 * n, *sizes = work + 4 * n;
    int size = fold(count, ring, neighbor, partner, work, own, seen, start, folded);
    for (int k = 0; k < size && unknowns; k++) sizes[k] = unknowns[own[k]];
    status = order(context, size, unknowns ? sizes : NULL, start, folded, half);
    for (int k = 0, fill = 0; k < size && !status; k++) {
        int i = own[half[k]];
        out[fill++] = i;
        if (partner[i] > i) out[fill++] = partner[i];
    }

done:
    arap_arena_clear(&arena);
    return status;
}
