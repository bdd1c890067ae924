/* The function embed of the module: see the stubs. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of the functions called. */
#include <limits.h>

#include "mesh/embed.h"
#include "python/functions.h"

PyObject *arap_py_embed(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "embed",
                                             .names = "vertices tets points * threads"};
    arap_call call;
    if (arap_open(&call, &signature, module, args, kwargs, NULL)) return arap_close(&call);
    npy_intp n = arap_input_size(&call.in, 'n'), cells = arap_input_size(&call.in, 't');
    npy_intp count = arap_input_size(&call.in, 'k'), corners[2] = {count, 4};
    if (!cells || cells > INT_MAX || count > INT_MAX)
        PyErr_SetString(PyExc_ValueError, cells ? "there are too many tets or points"
                                                : "there are no tets to embed points in");
    else if (!arap_check_finite(call.in.vertices, 3 * n, "vertices") &&
             !arap_check_finite(call.in.points, 3 * count, "points"))
        arap_check_indices(call.in.tets, cells, 4, n, "tets");
    int *tet = arap_new_result(&call, NPY_INT, 1, &count, NULL);
    double *bary = arap_new_result(&call, NPY_DOUBLE, 2, corners, NULL),
           *distance = arap_new_result(&call, NPY_DOUBLE, 1, &count, NULL);
    if (!distance) return arap_close(&call);
    ARAP_BEGIN_WORK
    call.status = arap_embed(&call.run.context, (size_t)n, call.in.vertices, call.in.tets,
                             (size_t)cells, (int)count, call.in.points, tet, bary, distance);
    ARAP_END_WORK
    return arap_close(&call);
}
