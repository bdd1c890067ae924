/* The function embed of the module: see the stubs. Arguments are copied and the work runs
 * without the GIL. Cost and failures are those of the functions called. */
#include <limits.h>

#include "mesh/embed.h"
#include "python/error.h"
#include "python/functions.h"
#include "python/input.h"

/* 0, or -1 with an exception that names the first index out of range. */
static int check_tets(const int *tets, npy_intp count, npy_intp vertices) {
    for (npy_intp i = 0; i < 4 * count; i++) {
        if (tets[i] >= 0 && tets[i] < vertices) continue;
        PyErr_Format(PyExc_ValueError, "tets[%zd, %zd] is %d, but there are %zd vertices", i / 4,
                     i % 4, tets[i], vertices);
        return -1;
    }
    return 0;
}

PyObject *arap_py_embed(PyObject *module, PyObject *args, PyObject *kwargs) {
    static const arap_signature signature = {.function = "embed",
                                             .names = "vertices tets points * threads"};
    PyObject *tet = NULL, *bary = NULL, *distance = NULL;
    arap_inputs in;
    arap_py_context run;
    arap_status status;
    if (arap_open(&signature, args, kwargs, NULL, &in, &run)) goto done;
    npy_intp n = arap_input_size(&in, 'n'), cells = arap_input_size(&in, 't');
    npy_intp count = arap_input_size(&in, 'k'), sizes[2] = {count, 4};
    if (!cells || cells > INT_MAX || count > INT_MAX) {
        PyErr_SetString(PyExc_ValueError, cells ? "there are too many tets or points"
                                                : "there are no tets to embed points in");
        goto done;
    }
    if (arap_check_finite(in.vertices, 3 * n, "vertices") ||
        arap_check_finite(in.points, 3 * count, "points") || check_tets(in.tets, cells, n))
        goto done;
    tet = arap_new_ints(1, &count, NULL);
    bary = tet ? arap_new_doubles(2, sizes, NULL) : NULL;
    distance = bary ? arap_new_doubles(1, &count, NULL) : NULL;
    if (!distance) goto done;
    int *to_tet = PyArray_DATA((PyArrayObject *)tet);
    double *to_bary = PyArray_DATA((PyArrayObject *)bary),
           *to_distance = PyArray_DATA((PyArrayObject *)distance);
    ARAP_BEGIN_WORK
    status = arap_embed(&run.context, (size_t)n, in.vertices, in.tets, (size_t)cells, (int)count,
                        in.points, to_tet, to_bary, to_distance);
    ARAP_END_WORK
    if (status) arap_raise(PyModule_GetState(module), &run.context);

done:
    arap_inputs_release(&in);
    if (!PyErr_Occurred()) return Py_BuildValue("(NNN)", tet, bary, distance);
    Py_XDECREF(tet);
    Py_XDECREF(bary);
    Py_XDECREF(distance);
    return NULL;
}
