/* Checks weights supplied by a caller: see sparse_weights.h. Takes O(vertices x row^2). Fails at
 * the first invalid bone or weight. */
#include "weights/sparse_weights.h"

#define MAX_WEIGHT 1e30 /* cannot overflow when summed */

arap_status arap_check_sparse_weights(arap_error *error, const arap_sparse_weights *rows,
                                      int vertices, int bones) {
    for (int i = 0; i < vertices; i++)
        for (long long e = rows->start[i]; e < rows->start[i + 1]; e++) {
            if (rows->bone[e] < 0 || rows->bone[e] >= bones)
                return arap_fail(
                    error, ARAP_BAD_VALUE,
                    "the weights of vertex %d refer to bone %d, but there are %d bones", i,
                    rows->bone[e], bones);
            if (!(rows->weight[e] >= 0 && rows->weight[e] < MAX_WEIGHT))
                return arap_fail(error, ARAP_BAD_VALUE,
                                 "the weight of vertex %d for bone %d is %g: not a weight", i,
                                 rows->bone[e], rows->weight[e]);
            for (long long f = rows->start[i]; f < e; f++)
                if (rows->bone[f] == rows->bone[e])
                    return arap_fail(error, ARAP_BAD_VALUE,
                                     "the weights of vertex %d refer to bone %d twice", i,
                                     rows->bone[e]);
        }
    return ARAP_OK;
}
